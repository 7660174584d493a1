"""`Weights`: the tensors of a model by name, from a file beside a module or from its text.

Nothing is loaded before it is needed, and what becomes part of a model is referred to, not copied.
"""

from __future__ import annotations

import base64
import binascii
import math
import os
import zlib
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
from numpy.typing import ArrayLike

from onnxsmith.diagnostics import clipped, did_you_mean
from onnxsmith.errors import UnreadableModelError, WeightError, boundary
from onnxsmith.graphs import beyond, files, safetensors_file
from onnxsmith.graphs.given_paths import path_of
from onnxsmith.graphs.ir_types import dimensions_of, ir_dtype, type_from_ir
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.weight_operators import StoredOperand
from onnxsmith.schema.inference.known import Known
from onnxsmith.source import caller_frame
from onnxsmith.types.dtypes import DType, refuse_masked
from onnxsmith.types.value_types import TensorType

#: Up to this many elements what is known of a weight carries its content: shapes are computed from small arrays.
_DATA_ELEMENTS = 64


class Weight(StoredOperand):
    """One tensor of `Weights`: an operand of operators, an array where one is asked for."""

    __slots__ = ("_known", "name", "tensor")

    def __init__(self, name: str, tensor: ir.TensorProtocol) -> None:
        self.name = name
        #: onnx-ir's tensor, which maps its file when it is first read.
        self.tensor = tensor
        self._known: Known | None = None

    @property
    def known(self) -> Known:
        if self._known is None:
            kind = type_from_ir(ir.TensorType(self.tensor.dtype), cast(Any, self.tensor.shape))
            is_small = math.prod(dimensions_of(self.tensor)) <= _DATA_ELEMENTS
            is_small = is_small and self.tensor.dtype != ir.DataType.STRING
            self._known = Known(kind, np.asarray(self.tensor.numpy()) if is_small else None)
        return self._known

    @property
    def type(self) -> TensorType:
        """Element type and shape."""
        return cast(TensorType, self.known.type)

    @property
    def dtype(self) -> DType:
        """The element type."""
        return DType(int(self.tensor.dtype))

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions."""
        return cast("tuple[int, ...]", self.type.shape)

    def describe(self, text: str) -> None:
        """Give the tensor a doc string."""
        # In place: a graph that was made before may hold the tensor.
        tensor = cast(Any, self.tensor)
        if isinstance(tensor, ir.TensorProtoTensor):
            tensor.raw.doc_string = text
            return
        tensor.doc_string = text
        if hasattr(tensor, "proto"):
            tensor.proto.values.doc_string = text

    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = np.asarray(self.tensor.numpy())
        return array if dtype is None else array.astype(dtype)

    def __repr__(self) -> str:
        return f"<weight {self.name!r}: {self.type!r}>"


class Weights(Mapping[str, Weight]):
    """Tensors by name.

    `Weights("model.safetensors")` and `Weights("model.onnx")` refer to a file beside the module that says so;
    `Weights({...})` holds a type with the elements, or with their bytes as base64 text, for each name. Several
    sources may be given.

    >>> from onnxsmith import FLOAT, Weights
    >>> weights = Weights({"bias": (FLOAT[2], [0.5, 1.5])})
    >>> weights["bias"]
    <weight 'bias': FLOAT[2]>
    """

    @boundary
    def __init__(self, *sources: str | os.PathLike[str] | Mapping[str, tuple[TensorType, Any]]) -> None:
        self._tensors: dict[str, Any] = {}
        self._made: dict[str, Weight] = {}
        caller = caller_frame()
        module_file: str | None = None if caller is None else caller.f_globals.get("__file__")
        for source in sources:
            held = source if isinstance(source, Mapping) else _read(_beside(source, module_file))
            self._tensors.update(held)

    @classmethod
    def of(cls, tensors: Mapping[str, ir.TensorProtocol]) -> Weights:
        """Weights that hold tensors of onnx-ir."""
        made = cls()
        made._tensors.update(tensors)
        return made

    @boundary
    def __getitem__(self, name: str) -> Weight:
        found = self._made.get(name)
        if found is None:
            if name not in self._tensors:
                raise WeightError(f"there is no weight {name!r}", help=did_you_mean(name, self._tensors))
            held = self._tensors[name]
            tensor = from_text(name, *cast("tuple[Any, Any]", held)) if isinstance(held, tuple) else held
            found = self._made[name] = Weight(name, tensor)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __repr__(self) -> str:
        return f"<{len(self)} weights>"


def _beside(place: str | os.PathLike[str], module_file: str | None) -> Path:
    folder = Path() if module_file is None else Path(module_file).parent
    return folder / path_of(place)


def _read(place: Path) -> Mapping[str, ir.TensorProtocol]:
    if place.suffix == ".safetensors":
        return safetensors_file.read(place)
    try:
        proto, place = files.read(place)
    except UnreadableModelError as error:
        raise WeightError(f"the weights cannot be read: {error.message}") from None
    model, _ = beyond.from_proto(proto, repr(str(place)), place.parent)
    return {
        name: value.const_value
        for name, value in model.graph.initializers.items()
        if value.const_value is not None
    }


def from_text(name: str, kind: TensorType, content: Any) -> ir.TensorProtocol:
    """The tensor of a type with its elements, or with their bytes as text."""
    if isinstance(content, dict):
        return _sparse(name, kind, cast("dict[str, Any]", content))
    if kind.dtype is None or kind.shape is None or not all(isinstance(each, int) for each in kind.shape):
        raise WeightError(f"the weight {name!r} has no full type: {kind!r}", help="FLOAT[2, 3]")
    shape = cast("tuple[int, ...]", kind.shape)
    if isinstance(content, str) and kind.dtype is not DType.STRING:
        return _from_bytes(name, kind.dtype, shape, content)
    if kind.dtype is DType.STRING:
        elements = [each if isinstance(each, bytes) else str(each).encode() for each in content]
        array = np.empty(len(elements), object)
        array[:] = elements
        return ir.StringTensor(array.reshape(shape), shape=ir.Shape(shape), name=name)
    refuse_masked(content)
    typed: Any = content if getattr(content, "dtype", None) == kind.dtype.numpy else None
    array = cast(
        "np.ndarray[Any, Any]", _elements(name, kind, content) if typed is None else np.asarray(typed)
    )
    try:
        return ir.Tensor(array.reshape(shape), dtype=ir_dtype(kind.dtype), name=name)
    except ValueError as error:
        raise WeightError(f"the weight {name!r} is not {kind!r}: {error}") from None


def _elements(name: str, kind: TensorType, content: ArrayLike) -> np.ndarray[Any, Any]:
    """Elements in their type, which may round them. Raises WeightError: numpy itself wraps, cuts and parses."""
    assert kind.dtype is not None
    try:
        given = np.array(content, object).reshape(-1).tolist()
        lost = [each for each in given if not _holds(kind.dtype, each)]
        if not lost:
            with np.errstate(over="ignore"):  # refused below
                array = np.array(given, kind.dtype.numpy)
            lost = [
                each
                for each, kept in zip(given, array, strict=True)
                if abs(each) < math.inf and not np.isfinite(kept)
            ]
            if not lost:
                return array
    except (TypeError, ValueError, OverflowError) as error:
        raise WeightError(f"the weight {name!r} is not {kind!r}: {error}") from None
    raise WeightError(
        f"the weight {name!r} is not {kind!r}: {kind.dtype.spelling} does not hold {clipped(repr(lost[0]), 40)}"
    )


def _holds(dtype: DType, element: Hashable) -> bool:
    """True if a number is of a kind that an element type has, and within the range of an integer type."""
    if dtype.kind == "complex" or isinstance(element, (complex, np.complexfloating)):
        return dtype.kind == "complex" and isinstance(element, (int, float, complex, np.number))
    if not isinstance(element, (int, float, np.bool_, np.integer, np.floating)):
        return False
    if dtype.is_float:
        return True
    bits = 1 if dtype.kind == "bool" else dtype.bits
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if dtype.kind == "signed" else (0, (1 << bits) - 1)
    number = cast(float, element)
    return bool(low <= number <= high and number == int(number))


def _sparse(name: str, kind: TensorType, parts: Mapping[str, Any]) -> ir.TensorProtocol:
    """A sparse tensor: its type, with the elements that are not zero and where they are."""
    from onnxsmith.graphs.sparse_tensor import SparseTensor  # with onnx-ir, which is heavy

    try:
        values, indices = (from_text(f"{name}.{part}", *parts[part]) for part in ("values", "indices"))
    except (KeyError, TypeError):
        raise WeightError(
            f"the sparse weight {name!r} needs values and indices",
            help='(FLOAT[9], {"values": (FLOAT[2], [1.0, 2.0]), "indices": (INT64[2], [0, 5])})',
        ) from None
    proto = onnx.SparseTensorProto(dims=cast("tuple[int, ...]", kind.shape))
    proto.values.CopyFrom(ir.to_proto(values))
    proto.values.name = parts.get("name", "")
    proto.indices.CopyFrom(ir.to_proto(indices))
    return SparseTensor(proto)


def _from_bytes(name: str, dtype: DType, shape: tuple[int, ...], text: str) -> ir.TensorProtocol:
    size = -(-int(np.prod(shape)) * dtype.bits // 8)
    try:
        # No more is unpacked than the type says there is: a text may claim to be short and be endless.
        content = zlib.decompressobj().decompress(base64.b64decode(text, validate=True), size + 1)
    except (binascii.Error, zlib.error, ValueError) as error:
        raise WeightError(f"the text of the weight {name!r} is damaged: {error}") from None
    if len(content) != size:
        raise WeightError(
            f"the text of the weight {name!r} does not have the bytes of {dtype.name}{list(shape)}"
        )
    return tensor_of_bytes(name, dtype, shape, content)


def tensor_of_bytes(name: str, dtype: DType, shape: tuple[int, ...], content: bytes) -> ir.TensorProtocol:
    """A tensor whose elements lie in these bytes as ONNX packs them."""
    proto = onnx.TensorProto(name=name, data_type=int(dtype), dims=shape, raw_data=content)
    return ir.TensorProtoTensor(proto)


def to_text(tensor: ir.TensorProtocol) -> str:
    """The bytes of a tensor as text that `Weights` reads."""
    return base64.b64encode(zlib.compress(tensor.tobytes(), 6)).decode("ascii")
