"""What a command raises becomes words and an exit code."""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any

import pytest

from onnxsmith.cli.exit_codes import FINDINGS, INTERRUPTED
from onnxsmith.cli.outcome import run_command


def outcome(error: BaseException) -> int:
    def run(options: Any, report: Any) -> int:
        raise error

    return run_command(SimpleNamespace(run=run), argparse.Namespace(json=False, quiet=False), "onnxsmith")


def test_memory_that_is_not_there_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(MemoryError("Unable to allocate 4.61 MiB")) == FINDINGS
    told = capsys.readouterr()
    assert "there is not enough memory for this: Unable to allocate 4.61 MiB" in told.err + told.out


def test_an_interrupted_command_has_a_code_of_its_own() -> None:
    assert outcome(KeyboardInterrupt()) == INTERRUPTED
