"""A `SessionModel` in the form that ONNX Runtime takes: the serialized graph, and where its weights lie.

Weights in files are named to it, and it maps them; weights in memory are handed over as values over that memory. None
is copied here, and no file is written.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx

from onnxsmith.graphs.run_values import Array
from onnxsmith.graphs.session_model import Content, FilePart, SessionModel, SessionWeight
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.onnxruntime_api import OrtValue
from onnxsmith.types.dtypes import DType


@dataclass(frozen=True, slots=True)
class HandedOver:
    """The arguments of `create_session`: the graph, the weights in memory, the folder of those in files."""

    graph: bytes
    weights: Mapping[str, tuple[Array, OrtValue]]
    folder: str | None


def hand_over(model: SessionModel) -> HandedOver:
    """Where the weights of a model lie, as ONNX Runtime wants to be told."""
    apart = model.apart() if model.weights else ()
    if not apart:
        return HandedOver(model.proto.SerializeToString(), {}, None)
    folder = _common_folder([weight.part for _, weight in apart if weight.part is not None])
    proto = onnx.ModelProto()
    proto.CopyFrom(model.proto)  # the graph alone: the weights are not in it
    values: dict[str, tuple[Array, OrtValue]] = {}
    for tensor, weight in SessionModel(proto, model.weights).apart():
        if folder is not None and weight.part is not None:
            _refer(tensor, weight.part, folder)
        else:
            values[tensor.name] = _value(tensor, weight)
    return HandedOver(proto.SerializeToString(), values, folder)


def _common_folder(parts: Sequence[FilePart]) -> str | None:
    """A folder that all files lie in or below; None when there is none, or ONNX Runtime would not take it."""
    if not parts or not onnxruntime_api.takes_folders():
        return None
    try:
        return os.path.commonpath({os.path.dirname(each.path) for each in parts})
    except ValueError:  # on different drives
        return None


def _refer(tensor: onnx.TensorProto, part: FilePart, folder: str) -> None:
    location = os.path.relpath(part.path, folder).replace(os.sep, "/")
    entries = {"location": location, "offset": str(part.offset), "length": str(part.length)}
    tensor.ClearField("external_data")
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)


def _value(tensor: onnx.TensorProto, weight: SessionWeight) -> tuple[Array, OrtValue]:
    dtype = DType(tensor.data_type)
    array = _shaped(weight.read(), dtype, tuple(tensor.dims))
    return array, onnxruntime_api.value_over(array, dtype)


def _shaped(content: Content, dtype: DType, shape: tuple[int, ...]) -> Array:
    """The content under its shape. For what is smaller than a byte nothing but its address and shape is right."""
    if dtype.bits < 8:
        # ONNX Runtime asks an array for its shape and works out by itself how few bytes that takes.
        strides = tuple(int(np.prod(shape[axis + 1 :])) for axis in range(len(shape)))
        return np.lib.stride_tricks.as_strided(content, shape, strides, writeable=False)
    return content.view(np.dtype(f"u{dtype.bits // 8}")).reshape(shape)
