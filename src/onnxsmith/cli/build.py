"""`onnxsmith build file.py:function -o m.onnx`: the model of a function in a Python file."""

from __future__ import annotations

import argparse
import inspect
import re
import warnings
from typing import Any

from onnxsmith.cli.model_output import check_output, write_model
from onnxsmith.cli.program import find_object, load_program, taken_apart, the_one, torch_advice
from onnxsmith.cli.report import Report, Usage
from onnxsmith.cli.terminal import progress
from onnxsmith.cli.type_text import read_type, read_value, split_assignment
from onnxsmith.errors import AnnotationError, CallError, InvalidModelError, ModelWarning
from onnxsmith.graphs.model import Model
from onnxsmith.scripting.functions.decorators import script
from onnxsmith.scripting.functions.function import ScriptFunction


def run(options: argparse.Namespace, report: Report) -> int:
    """Build the model and write it."""
    check_output(options, report)
    file, name = taken_apart(options.function, "a function")
    with warnings.catch_warnings():
        # A module that is imported may hold a model that cannot work; a model that is written should not.
        warnings.simplefilter("error", ModelWarning)
        try:
            with progress(f"running {file}"):
                module = load_program(file)
            found = the_one(module, file) if name is None else find_object(module, name, file)
            with progress("building the model"):
                model = _make_model(found, options)
        except ModelWarning as warning:
            raise InvalidModelError(f"the model cannot work: {warning}") from None
    called = name or ("model" if isinstance(found, Model) else found.name)
    return write_model(model, options, report, f"{called.rpartition('.')[2]}.onnx")


def _make_model(found: Any, options: argparse.Namespace) -> Model:
    if isinstance(found, Model):
        return found
    if inspect.isfunction(found):
        found = script(found)
    if not isinstance(found, ScriptFunction):
        raise Usage(
            torch_advice(found, options.function)
            or f"{options.function} is a {type(found).__name__}, and no function or model"
        )
    input_types, attributes = _input_types(options.input_types), _attributes(found, options.attribute)
    try:
        return found.to_model(
            input_types=input_types,
            attributes=attributes,
            opset_version=options.opset,
            inline=options.inline,
        )
    except (AnnotationError, CallError) as error:
        error.help = _help_here(error.help)
        raise


def _help_here(text: str | None) -> str | None:
    """Help that speaks of a Python call, for somebody who stands at a command line."""
    if text is None:
        return None
    text = re.sub(r"\w+\.to_model\(attributes=\{'(\w+)': …\}\)", r"--attribute \1=…", text)
    return re.sub(r"to_model\(input_types=\{'(\w+)': (.*)\}\)", _as_option, text)


def _as_option(found: re.Match[str]) -> str:
    name, kind = found.groups()
    return f"--input-types '{name}={kind}'".replace("['", "[").replace("']", "]")


def _input_types(words: list[str]) -> Any:
    if not words:
        return None
    named = [word for word in words if "=" in word]
    if not named:
        return [read_type(word) for word in words]
    pairs = [split_assignment(word, "--input-types", "all types, or all name=type") for word in words]
    return {name: read_type(text) for name, text in pairs}


def _attributes(found: ScriptFunction, words: list[str]) -> dict[str, Any]:
    texts = {each.name for each in found.parameters.attributes if _is_text(each)}
    values: dict[str, Any] = {}
    for word in words:
        name, text = split_assignment(word, "--attribute", "name=value")
        values[name] = text if name in texts else read_value(text)
    return values


def _is_text(parameter: Any) -> bool:
    return (
        parameter.attribute is not None
        and parameter.attribute.scalar is str
        and not parameter.attribute.is_list
    )
