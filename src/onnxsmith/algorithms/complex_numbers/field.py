"""Real or complex tensors under one set of operators, so that an algorithm is written once for both.

A `Field` is a complex tensor as its two parts, or a real one whose imaginary part is None and costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Concatenate, ParamSpec

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.angles import atan2, hypot
from onnxsmith.algorithms.complex_numbers.pair import Complex, zeros_like
from onnxsmith.algorithms.operators import Tensor, TensorOperator, TensorOrArray, op
from onnxsmith.algorithms.values import constant, converted, dimensions_of, dtype_of, rank_of
from onnxsmith.core.value import Array
from onnxsmith.types.dtypes import DType

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Field:
    """A tensor with arithmetic; `im` is None for a real one."""

    re: Tensor
    im: Tensor | None = None

    @property
    def is_complex(self) -> bool:
        """True if there is an imaginary part."""
        return self.im is not None

    @property
    def dtype(self) -> DType:
        """The element type of the parts."""
        return dtype_of(self.re)

    @property
    def rank(self) -> int:
        """How many dimensions there are."""
        return rank_of(self.re)

    def map(
        self, function: Callable[Concatenate[Tensor, P], Tensor], *args: P.args, **options: P.kwargs
    ) -> Field:
        """A linear function of real tensors on each part, with more arguments that are the same for both."""
        re = function(self.re, *args, **options)
        return Field(re, None if self.im is None else function(self.im, *args, **options))

    def __add__(self, other: Field) -> Field:
        return _joined(self, other, op.Add)

    def __sub__(self, other: Field) -> Field:
        if self.im is None and other.im is not None:
            return Field(self.re - other.re, _like(-other.im, self.re))
        return _joined(self, other, op.Sub)

    def __neg__(self) -> Field:
        return self.map(op.Neg)

    def __mul__(self, other: Field) -> Field:
        return _product(self, other, op.Mul)

    def __matmul__(self, other: Field) -> Field:
        return _product(self, other, op.MatMul)

    def __truediv__(self, other: Field) -> Field:
        if other.im is None:
            return self.map(op.Div, other.re)
        return quotient(self, other)

    def conj(self) -> Field:
        """The complex conjugate."""
        return self if self.im is None else Field(self.re, -self.im)

    def transposed(self) -> Field:
        """The last two dimensions exchanged."""
        rank = self.rank
        return self.map(op.Transpose, perm=[*range(rank - 2), rank - 1, rank - 2])

    def adjoint(self) -> Field:
        """Transposed and conjugate."""
        return self.transposed().conj()

    def squared_size(self) -> Tensor:
        """The square of each element's absolute value, a real tensor."""
        square = self.re * self.re
        return square if self.im is None else square + self.im * self.im

    def size(self) -> Tensor:
        """Each element's absolute value, a real tensor; nothing overflows on the way."""
        if self.im is None:
            return abs(self.re)
        return hypot(self.re, self.im)

    def angle(self) -> Tensor:
        """Each element's angle, from -pi to pi, a real tensor; of a complex tensor."""
        return atan2(imaginary(self), self.re)

    def phase(self) -> Field:
        """Each element divided by its absolute value; one for zero."""
        if self.im is None:
            return Field(op.Where(self.re < 0, real(-1, self), real(1, self)))
        size = self.size()
        is_zero = op.Equal(size, real(0, self))
        safe = op.Where(is_zero, real(1, self), size)
        return Field(op.Where(is_zero, 1, op.Div(self.re, safe)), op.Div(self.im, safe))

    def is_nonzero(self) -> Tensor:
        """Where an element is not zero."""
        nonzero = ~op.Equal(self.re, real(0, self))
        return nonzero if self.im is None else nonzero | ~op.Equal(self.im, real(0, self))

    def is_nan(self) -> Tensor:
        """Where an element, or a part of it, is no number; of fractions."""
        holes = op.IsNaN(self.re)
        return holes if self.im is None else holes | op.IsNaN(self.im)

    def cast(self, dtype: DType) -> Field:
        """In another element type."""
        return self.map(converted, dtype)

    def as_value(self) -> Tensor | Complex:
        """As a tensor or a pair."""
        return self.re if self.im is None else Complex(self.re, self.im)

    def parts(self) -> list[Tensor]:
        """The one or two tensors."""
        return [self.re] if self.im is None else [self.re, self.im]


def field(value: Tensor | Complex, like: Field | None = None) -> Field:
    """A tensor or a pair as a `Field`; complex with a zero part if `like` is complex."""
    made = Field(value.real, value.imag) if isinstance(value, Complex) else Field(value)
    return made if like is None else alike(made, like)


def alike(value: Field, like: Field) -> Field:
    """A real value as a complex one if `like` is complex."""
    if value.im is not None or like.im is None:
        return value
    return Field(value.re, zeros_like(value.re))


def real(value: float, like: Field) -> Array:
    """A real number in the element type of the parts."""
    return np.asarray(value, like.dtype.numpy)


def number(value: float) -> Field:
    """A real number in double precision."""
    return Field(constant(np.float64(value)))


def imaginary(z: Field) -> Tensor:
    """The imaginary part of what is complex."""
    assert z.im is not None, "a real tensor has none"
    return z.im


def where(condition: TensorOrArray, x: Field, y: Field) -> Field:
    """Elements of one or the other. Zeros stand for a missing imaginary part."""
    re = values.where(condition, x.re, y.re)
    if x.im is None and y.im is None:
        return Field(re)
    zero = real(0, y if x.im is None else x)
    return Field(re, op.Where(condition, zero if x.im is None else x.im, zero if y.im is None else y.im))


def quotient(x: Field, y: Field) -> Field:
    """A quotient of complex numbers by Smith's method: the larger part of the divisor is divided out first."""
    by_real = op.Abs(y.re) >= op.Abs(y.im)
    larger, smaller = op.Where(by_real, y.re, y.im), op.Where(by_real, y.im, y.re)
    ratio = op.Div(smaller, larger)
    divisor = larger + smaller * ratio
    if x.im is None:
        re, im = op.Where(by_real, x.re, x.re * ratio), op.Where(by_real, x.re * ratio, x.re)
        return Field(op.Div(re, divisor), -op.Div(im, divisor))
    re = op.Where(by_real, x.re + x.im * ratio, x.re * ratio + x.im)
    im = op.Where(by_real, x.im - x.re * ratio, x.im * ratio - x.re)
    return Field(op.Div(re, divisor), op.Div(im, divisor))


def joined(tensors: Sequence[Field], axis: int) -> Field:
    """Tensors one after the other along an axis."""
    if not any(each.is_complex for each in tensors):
        return Field(op.Concat(*[each.re for each in tensors], axis=axis))
    like = next(each for each in tensors if each.is_complex)
    pairs = [alike(each, like) for each in tensors]
    return Field(
        op.Concat(*[each.re for each in pairs], axis=axis), op.Concat(*[each.im for each in pairs], axis=axis)
    )


def _joined(x: Field, y: Field, operator: TensorOperator) -> Field:
    re = operator(x.re, y.re)
    if x.im is None and y.im is None:
        return Field(re)
    if x.im is None or y.im is None:
        lone, other = (y.im, x.re) if x.im is None else (x.im, y.re)
        assert lone is not None  # one of the two is complex
        return Field(re, _like(lone, other))
    return Field(re, operator(x.im, y.im))


def _like(part: Tensor, other: Tensor) -> Tensor:
    """A part broadcast as a sum with a real tensor is."""
    shape = dimensions_of(part)
    if shape == other.type.shape and None not in shape:
        return part
    return op.Where(op.Equal(other, other), part, part)


def _product(x: Field, y: Field, operator: TensorOperator) -> Field:
    if x.im is None and y.im is None:
        return Field(operator(x.re, y.re))
    if y.im is None:
        return Field(operator(x.re, y.re), operator(x.im, y.re))
    if x.im is None:
        return Field(operator(x.re, y.re), operator(x.re, y.im))
    return Field(operator(x.re, y.re) - operator(x.im, y.im), operator(x.re, y.im) + operator(x.im, y.re))
