"""Reads the model to be decompiled, in whatever form it is given, as an onnx-ir model."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import onnx
import onnx_ir as ir

from onnxsmith.errors import DecompileError
from onnxsmith.graphs import beyond, files
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
    """The model behind a path, a proto, an onnx-ir model or one of ours."""
    if isinstance(model, str | os.PathLike):
        proto, place = files.read(cast("str | os.PathLike[str]", model))
        held, types = beyond.from_proto(proto, repr(str(place)), place.parent)
        return Given(held, place, types)
    place: Path | None = None
    if isinstance(model, Model):
        place = model.place
        model = model.proto if model.is_proto_only else model.ir
    if isinstance(model, onnx.ModelProto):
        held, types = beyond.from_proto(model, "the ModelProto")
        return Given(held, place, types)
    if isinstance(model, ir.Model):
        return Given(model, place)
    raise DecompileError(
        f"decompile takes a model, not {type(model).__name__}",
        help="give it a path, a ModelProto, an onnx_ir.Model or an onnxsmith.Model",
    )
