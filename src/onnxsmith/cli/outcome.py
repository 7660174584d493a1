"""Carrying out a command: what it raises becomes words and an exit code."""

from __future__ import annotations

import argparse
import logging
from contextlib import nullcontext
from typing import Protocol

from onnxsmith.cli import standard_output, terminal
from onnxsmith.cli.exit_codes import FINDINGS, GOOD, INTERRUPTED, USAGE
from onnxsmith.cli.report import Report, Usage
from onnxsmith.cli.standard_output import LostOutputError
from onnxsmith.errors import OnnxsmithError


class CommandModule(Protocol):
    """The module of a command."""

    def run(self, options: argparse.Namespace, report: Report) -> int:
        """Do it; the result is the exit code."""
        ...


def run_command(command: CommandModule, options: argparse.Namespace, launcher: str) -> int:
    """Run a command and return the exit code; `launcher` is the file that started us."""
    report = Report(launcher, bool(options.json), bool(options.quiet))
    # A stranger's model may be odd; what is wrong with it we say ourselves.
    logging.getLogger("onnx_ir").setLevel(logging.ERROR)
    status = GOOD
    try:
        with terminal.silence() if report.is_quiet else nullcontext(), standard_output.for_results():
            status = _status(command, options, report)
        standard_output.flush()
    except BrokenPipeError:  # whoever read our output has seen enough
        standard_output.give_up()
    except LostOutputError as lost:
        standard_output.give_up()
        report.stopped(str(lost))
        status = FINDINGS
    return status


def _status(command: CommandModule, options: argparse.Namespace, report: Report) -> int:
    """The exit code; what stopped the command is said."""
    try:
        return command.run(options, report)
    except (BrokenPipeError, LostOutputError):
        raise
    except Usage as usage:
        report.usage(str(usage))
        return USAGE
    except OnnxsmithError as error:
        report.error(error)
        return FINDINGS
    except MemoryError as error:  # the file asks for more than there is
        report.stopped(f"there is not enough memory for this: {error or 'the machine gives no more'}")
        return FINDINGS
    except Exception as error:
        if not report.is_users(error):
            raise  # a mistake of ours, with all there is to know about it
        report.error(error)
        return FINDINGS
    except KeyboardInterrupt:
        return INTERRUPTED
