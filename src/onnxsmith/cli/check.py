"""`onnxsmith check`: a model against ONNX's rules, or every script of a Python file."""

from __future__ import annotations

import argparse
import contextlib
import warnings
from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

import onnx

from onnxsmith.cli.exit_codes import FINDINGS, GOOD, USAGE
from onnxsmith.cli.program import load_program, scripts_of
from onnxsmith.cli.reading import load_model
from onnxsmith.cli.report import Report, Usage, usage_entry
from onnxsmith.cli.streams import STREAM, check_words, shown
from onnxsmith.cli.terminal import progress
from onnxsmith.errors import (
    AnnotationError,
    CallError,
    InvalidModelError,
    OnnxsmithError,
    RuntimeSupportWarning,
)
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.model_runtime import model_runtime
from onnxsmith.graphs.node_counts import operators_in
from onnxsmith.graphs.runtime_support import warn_of_runtime
from onnxsmith.graphs.soundness import broken_rule, check_rules
from onnxsmith.scripting.functions.decorators import collecting
from onnxsmith.scripting.functions.function import ScriptFunction
from onnxsmith.types.value_types import TensorType


def run(options: argparse.Namespace, report: Report) -> int:
    """Check the files; 1 when there are findings. Warnings leave the exit code as it is."""
    check_words(options.files)
    results: list[dict[str, Any]] = []
    lines: list[str] = []
    status = GOOD
    for file in options.files:
        told: list[str] = []
        try:
            with progress(f"checking {shown(file)}"):
                checked, found = _check(file, options, told)
        except Usage as usage:
            status = USAGE
            error = usage_entry(str(usage))
            results.append({"file": file, "checked": [], "findings": [], "warnings": [], "error": error})
            if not report.as_json:
                report.usage_words(str(usage))
            continue
        findings = [report.finding(each) for each in found]
        results.append({"file": file, "checked": checked, "findings": findings, "warnings": told})
        status = max(status, FINDINGS if found else GOOD)
        if not report.as_json:
            report.warnings([f"{shown(file)}: {each}" for each in told])
            report.findings(found)
        count = len(found) + sum(len(each.others) for each in found if isinstance(each, OnnxsmithError))
        verdict = "good" if not found else f"{count} finding{'s' * (count != 1)}"
        lines.append(f"{shown(file)}: {verdict}" + (f" ({', '.join(checked)})" if checked else ""))
    if lines or report.as_json:
        report.result(results, "\n".join(lines))
    return status


def _check(file: str, options: argparse.Namespace, told: list[str]) -> tuple[list[str], list[Exception]]:
    """The names of the scripts that were checked, and the errors that were found; warnings go to `told`."""
    if Path(file).suffix == ".py":
        return check_program(file, told)
    try:
        model = load_model(file)
        with _recorded(told):
            if file == STREAM:
                model.check()
            else:
                _check_file(file, model)
        if options.runtime:
            # Not model.runner(): a model that is refused says so when it runs, on its inputs.
            model_runtime().load(
                model.handed_over(), None, lambda refusal, feeds: None, lambda error, feeds: error
            )
    except OnnxsmithError as error:
        return [], [error]
    return [], []


@contextlib.contextmanager
def _recorded(told: list[str]) -> Generator[None]:
    """Collect what is warned of the runtime, which names a node of the model and no line of a program."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RuntimeSupportWarning)  # it is what the command is run for
        yield
    for each in caught:
        if issubclass(each.category, RuntimeSupportWarning):
            told.append(str(each.message))
        else:
            warnings.showwarning(each.message, each.category, each.filename, each.lineno)


def _check_file(file: str, model: Model) -> None:
    """Check the rules on a file, and on the model that it holds whether the runtime gets it right."""
    try:
        # By its path, so that a model of any size can be checked.
        check_rules(cast(Any, onnx).load_model(file, load_external_data=False), file)
    except Exception as error:
        raise broken_rule(error, model.proto, repr(file)) from None
    warn_of_runtime(model.opset_imports.get("", 0), operators_in(model.ir), model.handed_over)


def check_program(file: str, told: list[str]) -> tuple[list[str], list[Exception]]:
    """The names of the scripts in a file, and all that is wrong with them; warnings of models go to `told`."""
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
                _check_script(each, told)
            except Exception as error:  # one of ours, or the user's own that only shows when it is staged
                found.append(error)
    unique: dict[int, Exception] = {id(each): each for each in [*collected, *found]}
    return names, list(unique.values())


def _check_script(each: ScriptFunction, told: list[str]) -> None:
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
            with _recorded(told):
                model.check()
        except InvalidModelError as error:
            error.labels = ()
            raise error.locate(each.definition) from None
