"""Where the weights of a decompiled model lie: in a safetensors file, in the model's own file, or in the text."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import onnx_ir as ir

from onnxsmith.decompiling.layout import Text, call, dictionary, lines, string
from onnxsmith.decompiling.literals import says_exactly, tuple_of, type_text, typed_elements
from onnxsmith.errors import DecompileError
from onnxsmith.graphs import safetensors_file
from onnxsmith.graphs.identity import tensor_key
from onnxsmith.graphs.ir_types import dimensions_of
from onnxsmith.graphs.sparse_tensor import SparseTensor
from onnxsmith.graphs.weights import to_text
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

if TYPE_CHECKING:
    from onnxsmith.decompiling.module_writer import ModuleWriter
    from onnxsmith.decompiling.reading import Given

#: Tensors below this many bytes are not worth a look whether they are equal.
_COMPARED_BYTES = 1024


class Held:
    """A file that holds weights: how the module names it, and which weights it has."""

    def __init__(self, name: str, keys: set[str]) -> None:
        self.name = name
        self.keys = keys


def safetensors_name(writer: ModuleWriter, place: Path) -> Held | None:
    """A safetensors file for the weights, as the module refers to it; None where there are none for it."""
    tensors = _storable(writer)
    return Held(place.name, set(tensors)) if tensors else None


def write_safetensors(writer: ModuleWriter, place: Path, *, overwrite: bool) -> None:
    """Write all weights that such a file can hold, equal ones once; not over other ones, unless that is wanted."""
    safetensors_file.write(_shared(_storable(writer)), place, overwrite=overwrite)


def _storable(writer: ModuleWriter) -> dict[str, ir.TensorProtocol]:
    """The weights but for text and what is sparse."""
    return {
        key: tensor
        for key, tensor in writer.weights.items()
        if tensor.dtype != ir.DataType.STRING and not isinstance(tensor, SparseTensor)
    }


def _shared(tensors: dict[str, ir.TensorProtocol]) -> dict[str, ir.TensorProtocol]:
    """The same tensors, with one object for all that are equal. Only those of one type and size are compared."""
    groups: dict[Any, list[str]] = defaultdict(list)
    for key, tensor in tensors.items():
        dimensions = dimensions_of(tensor)
        if math.prod(dimensions) * tensor.dtype.itemsize >= _COMPARED_BYTES:
            groups[int(tensor.dtype), dimensions].append(key)
    result = dict(tensors)
    for keys in groups.values():
        if len(keys) == 1:
            continue
        first_of: dict[Hashable, str] = {}
        # The first bytes tell nearly all tensors apart, and cost next to nothing.
        starts: dict[bytes, list[str]] = defaultdict(list)
        for key in keys:
            starts[cast(Any, tensors[key].numpy()).reshape(-1)[:64].tobytes()].append(key)
        for same_start in starts.values():
            for key in same_start if len(same_start) > 1 else ():
                result[key] = tensors[first_of.setdefault(tensor_key(tensors[key]), key)]
    return result


def external_name(given: Given, folder: Path | None = None) -> Held:
    """The model's own file, as the module refers to it."""
    if given.place is None:
        raise DecompileError(
            'weights="external" leaves the weights in the model\'s file, and this model was not read from one',
            help='give the path of the model, or say weights="safetensors"',
        )
    place = given.place.resolve()
    name = str(place) if folder is None else os.path.relpath(place, folder.resolve())
    return Held(name, {key for key in given.model.graph.initializers if key})


def in_text(writer: ModuleWriter, held: Held | None) -> list[str]:
    """`weights = Weights(…)`: a file, what stands in the text, or both."""
    if not writer.weights:
        return []
    items: list[Text] = []
    keys = list(writer.weights)
    if held is not None:
        items.append(string(held.name))
        keys = [key for key in keys if key not in held.keys]
    if keys:
        entries = [(string(key), _weight_text(writer.weights[key], writer.used)) for key in keys]
        items.append(dictionary(entries))
    return lines("weights = ", call("Weights", items), "", 0)


def _weight_text(tensor: ir.TensorProtocol, used: set[str]) -> Text:
    """A type with elements, if there are few, or with bytes."""
    if isinstance(tensor, SparseTensor):
        parts = (("values", tensor.proto.values), ("indices", tensor.proto.indices))
        entries = [(string(name), _weight_text(ir.TensorProtoTensor(part), used)) for name, part in parts]
        if tensor.proto.values.name:
            entries.append((string("name"), string(tensor.proto.values.name)))
        kind = TensorType(DType(int(tensor.dtype)), tuple(tensor.proto.dims))
        return tuple_of([type_text(kind, used), dictionary(entries)])
    if says_exactly(tensor):
        return tuple_of(list(typed_elements(tensor, used)))
    kind = TensorType(DType(int(tensor.dtype)), dimensions_of(tensor))
    return tuple_of([type_text(kind, used), string(to_text(tensor))])
