"""Tensors made from nothing: of one value, of numbers in a row, of a diagonal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.algorithms.operators import Tensor, TensorOrArray, op
from onnxsmith.algorithms.values import Numeric, Size, constant, counted, expand, filled, reshape
from onnxsmith.core.value import Array
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Argument, Given, Translated
from onnxsmith.torch.library.registry import translates, translates_both
from onnxsmith.torch.library.values import cast
from onnxsmith.torch.size_arithmetic import greatest
from onnxsmith.types.dtypes import DType

HALVES = (DType.FLOAT16, DType.BFLOAT16)

#: Those whose first argument, if any, is only looked at for its shape, and the value they are filled with.
CONSTANTS = {
    "aten.zeros.default": 0,
    "aten.zeros_like.default": 0,
    "aten.new_zeros.default": 0,
    "aten.zero.default": 0,
    "aten._new_zeros_with_same_feature_meta.default": 0,  # of a forward derivative
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


def _filled(call: Call, value: Numeric | Complex) -> Given:
    """A result of one value, real or complex."""
    shape, dtype = call.output_shape(), call.dtype
    if isinstance(value, Complex | complex):
        real, imag = value.real, value.imag
    else:
        real, imag = value, 0
    if not call.is_complex:
        return filled(shape, real, dtype)
    return Complex(filled(shape, real, dtype), filled(shape, imag, dtype))


def _real_or_complex(call: Call, real: Tensor) -> Given:
    """A real tensor as the result that torch has: with an imaginary part of zero if that is complex."""
    return Complex(real, filled(call.output_shape(), 0, call.dtype)) if call.is_complex else real


@translates_both(*CONSTANTS)
def of_one_value(call: Call, *_: Argument, **__: Argument) -> Given:
    return _filled(call, CONSTANTS[call.overload])


@translates_both("aten.full.default")
def full(call: Call, size: Sequence[Size], value: Numeric | Complex, **_: Argument) -> Given:
    return _filled(call, value)


@translates_both("aten.full_like.default", "aten.fill.Scalar", "aten.fill.Tensor")
def full_like(call: Call, x: Given, value: Numeric | Complex, **_: Argument) -> Given:
    return _filled(call, value)


@translates_both("aten.new_full.default")
def new_full(call: Call, x: Given, size: Sequence[Size], value: Numeric | Complex, **_: Argument) -> Given:
    return _filled(call, value)


@translates_both("aten.scalar_tensor.default")
def scalar_tensor(call: Call, value: Numeric | Complex, **_: Argument) -> Given:
    return _filled(call, value)


@translates_both("aten.copy.default")
def copy(call: Call, x: Given, source: Given, non_blocking: bool = False) -> Given:
    shape = call.output_shape()
    if not isinstance(source, Complex):
        return _real_or_complex(call, expand(cast(source, call.dtype), shape))
    real, imag = (expand(cast(each, call.dtype), shape) for each in (source.real, source.imag))
    return Complex(real, imag) if call.is_complex else real


@translates("aten.arange.default", "aten.arange.start", "aten.arange.start_step", by_name=True)
def arange(call: Call, end: Numeric, start: Numeric = 0, step: Numeric = 1, **_: Argument) -> Translated:
    dtype = call.dtype
    (length,) = call.output_shape()
    if dtype.is_integer:  # torch cuts off the ends and the step of whole numbers, after it has counted them
        start, step = (int(each) if isinstance(each, float) else each for each in (start, step))
    if (
        isinstance(start, int | float)
        and isinstance(end, int | float)
        and isinstance(step, int | float)
        and isinstance(length, int)
    ):
        counted: Array = np.arange(length, dtype=np.float64 if dtype.is_float else np.int64)
        return constant((start + counted * step).astype(dtype.numpy))
    # Positions are counted in whole numbers, so that a float step does not add up its rounding.
    positions = op.Range(np.int64(0), cast(length, DType.INT64), np.int64(1))
    is_plain = isinstance(start, int) and start == 0 and isinstance(step, int) and step == 1
    if is_plain:
        return cast(positions, dtype)
    working = DType.INT64 if dtype.is_integer else dtype
    return cast(op.Add(cast(start, working), op.Mul(cast(positions, working), cast(step, working))), dtype)


LINSPACES = ("default", "Tensor_Tensor", "Tensor_Scalar", "Scalar_Tensor")


@translates(*(f"aten.linspace.{each}" for each in LINSPACES))
def linspace(call: Call, start: Numeric, end: Numeric, steps: Size, **_: Argument) -> Translated:
    if call.is_complex:
        raise call.refuse("complex steps")
    dtype = call.dtype
    # Whole numbers are stepped through in double precision and cut off, after their ends are.
    working = DType.DOUBLE if dtype.is_integer else DType.FLOAT if dtype in HALVES else dtype
    ends = [cast(cast(each, dtype), working) if dtype.is_integer else each for each in (start, end)]
    return cast(_stepped(*ends, steps=call.output_shape()[0], dtype=working), dtype)


@translates(*(f"aten.logspace.{each}" for each in LINSPACES))
def logspace(
    call: Call, start: Numeric, end: Numeric, steps: Size, base: float = 10.0, **_: Argument
) -> Translated:
    if call.is_complex or base < 0:
        raise call.refuse("complex steps, or powers of a negative number")
    ends = [cast(each, call.dtype) if call.dtype.is_integer else each for each in (start, end)]
    exponents = _stepped(*ends, steps=call.output_shape()[0], dtype=DType.DOUBLE)
    return cast(op.Pow(cast(base, DType.DOUBLE), exponents), call.dtype)


def _stepped(first: Numeric | Array, last: Numeric | Array, *, steps: Size, dtype: DType) -> Tensor:
    """Equal steps from one number to another: the first half counted from the start, the rest from the end."""
    start, end = (
        cast(reshape(each, []) if isinstance(each, Tensor) else each, dtype) for each in (first, last)
    )
    first_half, count = greatest(steps // 2, 1), greatest(steps - 1, 1)
    positions = counted(steps)
    step = op.Div(_tensor(end) - start, cast(count, dtype))
    forward = op.Add(start, step * cast(positions, dtype))
    remaining = op.Sub(cast(steps - 1, DType.INT64), positions)
    backward = op.Sub(end, step * cast(remaining, dtype))
    return op.Where(positions < cast(first_half, DType.INT64), forward, backward)


def _tensor(value: TensorOrArray) -> Tensor:
    return value if isinstance(value, Tensor) else constant(value)


@translates("aten.eye.default", "aten.eye.m")
def eye(call: Call, n: Size, m: Size | None = None, **_: Argument) -> Given:
    rows, columns = call.output_shape()
    if isinstance(rows, int) and isinstance(columns, int):
        return _real_or_complex(call, constant(np.eye(rows, columns, dtype=call.dtype.numpy)))
    diagonal = op.EyeLike(filled([rows, columns], 0, DType.FLOAT))
    return _real_or_complex(call, cast(diagonal, call.dtype))


@translates("aten.tril.default", "aten.triu.default", lifts=True)
def triangle(call: Call, x: Tensor, diagonal: Size = 0) -> Translated:
    upper = int(call.overload == "aten.triu.default")
    if x.dtype is not DType.BOOL:
        return op.Trilu(x, cast(diagonal, DType.INT64), upper=upper)
    return cast(op.Trilu(cast(x, DType.INT64), cast(diagonal, DType.INT64), upper=upper), DType.BOOL)


@translates("aten.tril_indices.default")
def tril_indices(call: Call, rows: int, columns: int, offset: int = 0, **_: Argument) -> Translated:
    return constant(np.stack(np.nonzero(np.tri(rows, columns, offset))).astype(call.dtype.numpy))


@translates("aten.triu_indices.default")
def triu_indices(call: Call, rows: int, columns: int, offset: int = 0, **_: Argument) -> Translated:
    return constant(np.stack(np.nonzero(1 - np.tri(rows, columns, offset - 1))).astype(call.dtype.numpy))
