# pyright: basic
"""Tensors made from nothing: of one value, of numbers in a row, of a diagonal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onnxsmith.core.value import Value
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast, constant, filled, int64s
from onnxsmith.types.dtypes import DType

#: Those whose first argument, if any, is only looked at for its shape, and the value they are filled with.
CONSTANTS = {
    "aten.zeros.default": 0,
    "aten.zeros_like.default": 0,
    "aten.new_zeros.default": 0,
    "aten.zero.default": 0,
    "aten.ones.default": 1,
    "aten.ones_like.default": 1,
    "aten.new_ones.default": 1,
    # What an empty tensor holds is nobody's business; zero is as good as anything.
    "aten.empty.memory_format": 0,
    "aten.empty_like.default": 0,
    "aten.new_empty.default": 0,
    "aten.empty_strided.default": 0,
    "aten.new_empty_strided.default": 0,
    "aten.empty_permuted.default": 0,
}


@translates(*CONSTANTS, lifts=False)
def of_one_value(call: Call, *_: Any, **__: Any) -> Any:
    return filled(call.output_shape(), CONSTANTS[call.overload], call.dtype)


@translates("aten.full.default")
def full(call: Call, size: Sequence[Any], value: Any, **_: Any) -> Any:
    return filled(call.output_shape(), value, call.dtype)


@translates("aten.full_like.default", "aten.fill.Scalar", "aten.fill.Tensor")
def full_like(call: Call, x: Any, value: Any, **_: Any) -> Any:
    return filled(call.output_shape(), value, call.dtype)


@translates("aten.new_full.default")
def new_full(call: Call, x: Any, size: Sequence[Any], value: Any, **_: Any) -> Any:
    return filled(call.output_shape(), value, call.dtype)


@translates("aten.copy.default")
def copy(call: Call, x: Any, source: Any, non_blocking: bool = False) -> Any:
    return op.Expand(cast(source, call.dtype), int64s(call.output_shape()))


@translates("aten.scalar_tensor.default")
def scalar_tensor(call: Call, value: Any, **_: Any) -> Any:
    return filled([], value, call.dtype)


@translates("aten.arange.default")
def arange(call: Call, end: Any, **_: Any) -> Any:
    return _range(call, 0, end, 1)


@translates("aten.arange.start")
def arange_start(call: Call, start: Any, end: Any, **_: Any) -> Any:
    return _range(call, start, end, 1)


@translates("aten.arange.start_step")
def arange_step(call: Call, start: Any, end: Any, step: Any = 1, **_: Any) -> Any:
    return _range(call, start, end, step)


def _range(call: Call, start: Any, end: Any, step: Any) -> Any:
    dtype = call.dtype
    (length,) = call.output_shape()
    if all(isinstance(each, int | float) for each in (start, end, step)) and isinstance(length, int):
        counted = np.arange(length, dtype=np.float64 if dtype.is_float else np.int64)
        return constant((start + counted * step).astype(dtype.numpy))
    # Positions are counted in whole numbers, so that a float step does not add up its rounding.
    positions = op.Range(np.int64(0), cast(length, DType.INT64), np.int64(1))
    is_plain = isinstance(start, int) and start == 0 and isinstance(step, int) and step == 1
    if is_plain:
        return cast(positions, dtype)
    working = DType.INT64 if dtype.is_integer else dtype
    return cast(op.Add(cast(start, working), op.Mul(cast(positions, working), cast(step, working))), dtype)


@translates("aten.eye.default")
def eye(call: Call, n: Any, **_: Any) -> Any:
    return _eye(call)


@translates("aten.eye.m")
def eye_m(call: Call, n: Any, m: Any, **_: Any) -> Any:
    return _eye(call)


def _eye(call: Call) -> Any:
    rows, columns = call.output_shape()
    if isinstance(rows, int) and isinstance(columns, int):
        return constant(np.eye(rows, columns, dtype=call.dtype.numpy))
    return cast(op.EyeLike(filled([rows, columns], 0, DType.FLOAT)), call.dtype)


@translates("aten.tril.default", lifts=True)
def tril(call: Call, x: Any, diagonal: Any = 0) -> Any:
    return _triangle(x, diagonal, 0)


@translates("aten.triu.default", lifts=True)
def triu(call: Call, x: Any, diagonal: Any = 0) -> Any:
    return _triangle(x, diagonal, 1)


def _triangle(x: Any, diagonal: Any, upper: int) -> Any:
    if not isinstance(x, Value) or x.dtype is not DType.BOOL:  # type: ignore[attr-defined]
        return op.Trilu(x, cast(diagonal, DType.INT64), upper=upper)
    return cast(op.Trilu(cast(x, DType.INT64), cast(diagonal, DType.INT64), upper=upper), DType.BOOL)
