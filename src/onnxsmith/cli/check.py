"""`onnxsmith check`: a model against ONNX's rules, or every script of a Python file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, cast

import onnx

from onnxsmith.cli.exit_codes import FINDINGS, GOOD, USAGE
from onnxsmith.cli.program import load_program, scripts_of
from onnxsmith.cli.reading import load_model
from onnxsmith.cli.report import Report, Usage, usage_entry
from onnxsmith.cli.streams import STREAM, check_words, shown
from onnxsmith.cli.terminal import progress
from onnxsmith.errors import AnnotationError, CallError, InvalidModelError, OnnxsmithError
from onnxsmith.graphs.model import checker_words
from onnxsmith.graphs.model_runtime import model_runtime
from onnxsmith.graphs.soundness import check_rules
from onnxsmith.scripting.functions.decorators import collecting
from onnxsmith.scripting.functions.function import ScriptFunction
from onnxsmith.types.value_types import TensorType


def run(options: argparse.Namespace, report: Report) -> int:
    """Check the files; 1 when there are findings."""
    check_words(options.files)
    results: list[dict[str, Any]] = []
    lines: list[str] = []
    status = GOOD
    for file in options.files:
        try:
            with progress(f"checking {shown(file)}"):
                checked, found = _check(file, options)
        except Usage as usage:
            status = USAGE
            results.append({"file": file, "checked": [], "findings": [], "error": usage_entry(str(usage))})
            if not report.as_json:
                report.usage_words(str(usage))
            continue
        results.append(
            {"file": file, "checked": checked, "findings": [report.finding(each) for each in found]}
        )
        status = max(status, FINDINGS if found else GOOD)
        if not report.as_json:
            report.findings(found)
        count = len(found) + sum(len(each.others) for each in found if isinstance(each, OnnxsmithError))
        verdict = "good" if not found else f"{count} finding{'s' * (count != 1)}"
        lines.append(f"{shown(file)}: {verdict}" + (f" ({', '.join(checked)})" if checked else ""))
    if lines or report.as_json:
        report.result(results, "\n".join(lines))
    return status


def _check(file: str, options: argparse.Namespace) -> tuple[list[str], list[Exception]]:
    """The names of the scripts that were checked, and the errors that were found."""
    if Path(file).suffix == ".py":
        return check_program(file)
    try:
        model = load_model(file)
        if file == STREAM:
            model.check()
        else:
            _check_file(file)
        if options.runtime:
            # Not model.runner(): a model that is refused says so when it runs, on its inputs.
            model_runtime().load(model.handed_over(), None, lambda refusal, feeds: None)
    except OnnxsmithError as error:
        return [], [error]
    return [], []


def _check_file(file: str) -> None:
    try:
        # By its path, so that a model of any size can be checked.
        check_rules(cast(Any, onnx).load_model(file, load_external_data=False), file)
    except Exception as error:
        raise InvalidModelError(f"{file!r} is not valid: {checker_words(error)}") from None


def check_program(file: str) -> tuple[list[str], list[Exception]]:
    """The names of the scripts in a file, and all that is wrong with them."""
    found: list[Exception] = []
    names: list[str] = []
    with collecting() as collected:
        try:
            module = load_program(file)
        except Usage:
            raise
        except Exception as error:  # whatever the user's file raises
            return [], [*collected, error]
        for name, each in scripts_of(module):
            names.append(name)
            try:
                _check_script(each)
            except Exception as error:  # one of ours, or the user's own that only shows when it is staged
                found.append(error)
    unique: dict[int, Exception] = {id(each): each for each in [*collected, *found]}
    return names, list(unique.values())


def _check_script(each: ScriptFunction) -> None:
    """Check what could not be checked when it was decorated; a script whose types are known must make a valid model."""
    each.check()
    try:
        model = each.to_model()
    except (AnnotationError, CallError):  # types or attributes that only an export knows
        return
    # ONNX wants a shape for what goes in and out of a model; FLOAT[...] has none, and runtimes do without.
    ports = (*model.inputs, *model.outputs)
    if all(not isinstance(port.type, TensorType) or port.type.shape is not None for port in ports):
        try:
            model.check()
        except InvalidModelError as error:
            error.labels = ()
            raise error.locate(each.definition) from None
