"""In which precision the loops of universal functions compute: float16 in float32, as numpy does."""

from __future__ import annotations

from collections.abc import Callable

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import converted
from onnxsmith.numpy.ufunc import ComplexLoop, RealLoop
from onnxsmith.types.dtypes import DType


def in_single(loop: RealLoop) -> RealLoop:
    """A loop that is given float16 in float32; its results are rounded once, at the end."""

    def call(*inputs: Tensor) -> Tensor | tuple[Tensor, ...]:
        return loop(
            *[converted(each, DType.FLOAT) if each.dtype is DType.FLOAT16 else each for each in inputs]
        )

    return call


def in_double(loop: RealLoop) -> RealLoop:
    """A loop that is given all numbers in double precision."""

    def call(*inputs: Tensor) -> Tensor | tuple[Tensor, ...]:
        return loop(*[converted(each, DType.DOUBLE) for each in inputs])

    return call


def by_digits(few: RealLoop, all_digits: RealLoop) -> RealLoop:
    """A loop in double precision: of float16 and float32 one that is right to their digits, and shorter."""

    def call(*inputs: Tensor) -> Tensor | tuple[Tensor, ...]:
        if inputs[0].dtype is DType.DOUBLE:
            return all_digits(*inputs)
        return few(*[converted(each, DType.DOUBLE) for each in inputs])

    return call


def complex_in_double(loop: Callable[..., Field]) -> ComplexLoop:
    """A loop of complex numbers whose parts are given in double precision."""

    def call(*inputs: Field) -> Field:
        return loop(*[each.cast(DType.DOUBLE) for each in inputs])

    return call


def by_precision(single: str, double: RealLoop) -> RealLoop:
    """An operator of ONNX for numbers up to float32, and a function for float64, which it has no kernel for."""

    def call(x: Tensor) -> Tensor | tuple[Tensor, ...]:
        return double(x) if x.dtype is DType.DOUBLE else getattr(op, single)(x)

    return in_single(call)
