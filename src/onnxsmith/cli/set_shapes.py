"""`onnxsmith set-shapes m.onnx batch=1 -o fixed.onnx`: other sizes and names for dimensions, and shapes for inputs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from onnxsmith.cli.model_output import beside, check_output, made_of, write_model
from onnxsmith.cli.report import Report
from onnxsmith.cli.type_text import split_assignment
from onnxsmith.passes.surgery import with_shapes


def run(options: argparse.Namespace, report: Report) -> int:
    """Set the shapes and write the model."""
    check_output(options, report)
    shapes: dict[str, int | str | Sequence[int | str | None]] = {}
    for word in options.shapes:
        name, text = split_assignment(word, "a shape", "name=shape")
        shapes[name] = _shape(text)
    shaped = made_of(options, "working out the shapes of", lambda model: with_shapes(model, shapes))
    return write_model(shaped, options, report, beside(options.model, "shaped"), {"file": options.model})


def _shape(text: str) -> int | str | Sequence[int | str | None]:
    """A size or a name; several, each with a comma behind it or between, are a shape."""
    if "," not in text:
        return _dimension(text)
    parts = text.removesuffix(",").split(",")
    return [None if each.strip() == "_" else _dimension(each) for each in parts]


def _dimension(text: str) -> int | str:
    text = text.strip()
    return int(text) if text.removeprefix("-").isdecimal() else text
