"""Reads the model to be decompiled, in whatever form it is given, as an onnx-ir model."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import onnx_ir as ir

from onnxsmith.errors import DecompileError
from onnxsmith.graphs import beyond
from onnxsmith.graphs.given_models import read_given
from onnxsmith.graphs.model import Model
from onnxsmith.types.value_types import AnyValueType


@dataclass(slots=True)
class Given:
    """A model, with what onnx-ir has no place for."""

    model: ir.Model
    #: The file that it was read from.
    place: Path | None = None
    #: Types of inputs and outputs that onnx-ir does not know.
    types: dict[str, AnyValueType] = field(default_factory=dict[str, AnyValueType])


def read(model: Any) -> Given:
    """The model that was given, in any form."""
    place: Path | None = None
    if isinstance(model, Model):
        place = model.place
        model = model.proto if model.is_proto_only else model.ir
    given = read_given(model)
    if given is not None:
        folder = None if given.place is None else given.place.parent
        held, types = beyond.from_proto(given.proto, given.called, folder)
        return Given(held, given.place or place, types)
    if isinstance(model, ir.Model):
        return Given(model, place)
    raise DecompileError(
        f"decompile takes a model, not {type(model).__name__}",
        help="give it a Model, a path, bytes, an open file, a ModelProto or an onnx-ir model",
    )
