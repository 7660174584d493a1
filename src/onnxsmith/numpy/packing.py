"""Bits in bytes: `packbits`, `unpackbits`."""

from __future__ import annotations

from typing import cast

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.operators import op
from onnxsmith.errors import AttributeValueError, InputTypeError
from onnxsmith.numpy.arguments import ArrayLike, check_choice
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_from, array_of, tensor_of, tensors_of
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import require_at_least
from onnxsmith.numpy.sizes import Size, size_of
from onnxsmith.numpy.sorting import flattened
from onnxsmith.types.dtypes import DType


def _weights(bitorder: str) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    powers = 1 << np.arange(8, dtype=np.int32)
    return powers if bitorder == "little" else powers[::-1].copy()


@recorded()
def _packed(x: Array, axis: int, bitorder: str) -> Array:
    bits = values.converted(tensors_of(x).is_nonzero(), DType.INT32)
    bits = values.with_last(bits, axis)
    rank = values.rank_of(bits)
    size = values.as_tensor(values.size_of(bits, rank - 1), DType.INT64)
    more = op.Mod(-size, np.int64(8))
    pads = op.Concat(np.zeros(2 * rank - 1, np.int64), op.Reshape(more, [1]), axis=0)
    whole = op.Pad(bits, pads, np.int32(0))
    count = op.Reshape(op.Div(size + more, np.int64(8)), [1])
    shape = op.Concat(op.Shape(whole, end=-1), count, np.array([8], np.int64), axis=0)
    parts = op.Reshape(whole, shape, allowzero=1) * _weights(bitorder)
    made = op.ReduceSum(parts, [rank], keepdims=0)
    return array_from(values.converted(values.with_last(made, axis), DType.UINT8))


@public("packbits")
def packbits(a: ArrayLike, /, axis: int | None = None, bitorder: str = "big") -> Array:
    """Eight truth values along an axis in each byte; the last byte is filled up with zeros.

    >>> import onnxsmith.numpy as xp
    >>> xp.packbits(xp.asarray([True, False, False, True, False, False, False, True]))
    Array([145], dtype=uint8)
    """
    array = array_of(a)
    if array.dtype.kind not in "biu":
        raise InputTypeError(f"bits are truth values or integers, not {array.dtype.name}")
    check_choice("bitorder", bitorder, "big", "little")
    x, along = flattened(array, axis)
    return _packed(x, along, bitorder)


@recorded("count")
def _unpacked(x: Array, axis: int, count: Size | None, bitorder: str) -> Array:
    whole = values.with_last(values.converted(tensor_of(x), DType.INT32), axis)
    column = op.Unsqueeze(whole, [-1])
    bits = op.Mod(op.Div(column, _weights(bitorder)), np.int32(2))
    length = op.Reshape(op.Shape(whole, start=-1) * np.array([8], np.int64), [1])
    flat = op.Reshape(bits, op.Concat(op.Shape(whole, end=-1), length, axis=0), allowzero=1)
    if count is not None:
        wanted = op.Reshape(values.as_tensor(count, DType.INT64), [1])
        # Counted from the end where it is negative; filled up with zeros where there are fewer.
        wanted = op.Where(wanted < np.array([0]), op.Max(length + wanted, np.array([0])), wanted)
        rank = values.rank_of(flat)
        more = op.Max(wanted - length, np.array([0]))
        flat = op.Pad(flat, op.Concat(np.zeros(2 * rank - 1, np.int64), more, axis=0), np.int32(0))
        flat = op.Slice(flat, [0], wanted, [-1])
    return array_from(values.converted(values.with_last(flat, axis), DType.UINT8))


@public("unpackbits")
def unpackbits(
    a: ArrayLike, /, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Array:
    """The eight bits of each byte along an axis, all of them or as many as are asked for.

    >>> import onnxsmith.numpy as xp
    >>> xp.unpackbits(xp.asarray([145], dtype=xp.uint8))
    Array([1, 0, 0, 1, 0, 0, 0, 1], dtype=uint8)
    """
    array = array_of(a)
    if array.dtype != np.uint8:
        raise InputTypeError(f"bits are those of uint8, not of {array.dtype.name}")
    check_choice("bitorder", bitorder, "big", "little")
    x, along = flattened(array, axis)
    wanted = None if count is None else size_of(count, "count")
    size = x.shape[along]
    if isinstance(wanted, int) and isinstance(size, int) and wanted < -8 * size:
        raise AttributeValueError(f"there are no {-wanted} bits to leave out", culprit=("attribute", "count"))
    if wanted is not None:
        left = cast(Size, 8 * size + wanted)
        require_at_least(left, 0, ValueError("-count larger than number of elements"))
    return _unpacked(x, along, wanted, bitorder)
