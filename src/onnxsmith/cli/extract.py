"""`onnxsmith extract m.onnx --inputs a --outputs b -o part.onnx`: the part of a model between some of its values."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from onnxsmith.cli.model_output import beside, check_output, made_of, write_model
from onnxsmith.cli.report import Report, Usage
from onnxsmith.cli.type_text import read_type
from onnxsmith.passes.surgery import extract
from onnxsmith.types.value_types import AnyValueType


def run(options: argparse.Namespace, report: Report) -> int:
    """Cut the part out and write it."""
    check_output(options, report)
    inputs = None if options.inputs is None else _inputs(options.inputs)
    part = made_of(options, "cutting", lambda model: extract(model, inputs, options.outputs))
    return write_model(part, options, report, beside(options.model, "part"), {"file": options.model})


def _inputs(words: Sequence[str]) -> Sequence[str] | Mapping[str, AnyValueType]:
    """Names, with types where some are given."""
    pairs = [word.partition("=") for word in words]
    typed = {name: read_type(text) for name, separator, text in pairs if separator}
    plain = [name for name, separator, _ in pairs if not separator]
    if typed and plain:
        raise Usage(f"give all inputs with a type, or none: {plain[0]} has none")
    return typed or plain
