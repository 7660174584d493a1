"""Polynomials by their coefficients, the highest power first: `polyval`, `polyadd`, `polyder`, `polyfit`, `vander`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.complex_numbers.field import Field, alike, where
from onnxsmith.algorithms.complex_numbers.loops import Step, loop
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.errors import (
    AttributeTypeError,
    AttributeValueError,
    InputTypeError,
    ShapeError,
    TensorIndexError,
)
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike, SizeLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import index_of
from onnxsmith.numpy.conversions import array_from, array_of, as_type, tensors_of
from onnxsmith.numpy.filling import zeros, zeros_like
from onnxsmith.numpy.joining import concat
from onnxsmith.numpy.matrices.solving import lstsq
from onnxsmith.numpy.ranges import arange
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import require_at_least, require_same
from onnxsmith.numpy.reshaping import atleast_1d, reshape
from onnxsmith.numpy.sharing import detached
from onnxsmith.numpy.signals import convolve
from onnxsmith.numpy.sizes import Size, check_not_negative, size_of
from onnxsmith.numpy.trimming import leading, without_first
from onnxsmith.numpy.ufuncs.exponentials import sqrt


def _coefficients(p: ArrayLike) -> Array:
    array = cast(Array, atleast_1d(p))
    if array.ndim != 1:
        raise ShapeError(f"the coefficients of a polynomial are a vector, not {array.ndim} dimensions")
    return array


@recorded()
def _horner(p: Array, x: Array) -> Array:
    """From the highest coefficient: what there is times x, and the next one."""
    coefficients, at = tensors_of(p), tensors_of(x)
    like = Field(at.re, at.im if at.im is not None else coefficients.im)
    zero = at.map(lambda part: part * 0)
    zero = Field(values.filled(values.sizes_of(zero.re), 0, zero.dtype))

    def step(k: Tensor, fields: Sequence[Field], _: Sequence[Tensor]) -> Step:
        (made,) = fields
        mine = coefficients.map(op.Gather, k, axis=0)
        return Step([alike(made * at + mine, like)])

    count = values.size_of(coefficients.re, 0)
    return array_from(loop(count, [alike(zero, like)], [], step).fields[0])


@public("polyval")
def polyval(p: ArrayLike, x: ArrayLike) -> Array:
    """A polynomial at places.

    >>> import onnxsmith.numpy as xp
    >>> xp.polyval(xp.asarray([1, 0, 2]), xp.asarray([0, 1, 2]))
    Array([2, 3, 6])
    """
    coefficients, at = array_of(p), array_of(x)
    if coefficients.ndim != 1:
        raise (ShapeError if coefficients.ndim else InputTypeError)(
            f"the coefficients of a polynomial are a vector, not {coefficients.ndim} dimensions"
        )
    if 0 in [each for each in coefficients.shape if isinstance(each, int)]:
        return detached(zeros_like(at))
    dtype = dtypes.promoted([coefficients.dtype, at.dtype])
    return _horner(as_type(coefficients, dtype), as_type(at, dtype))


def _as_long(a1: ArrayLike, a2: ArrayLike) -> tuple[Array, Array]:
    x, y = _coefficients(a1), _coefficients(a2)
    longer, shorter = cast(Size, x.shape[0]), cast(Size, y.shape[0])
    rest = longer - shorter
    if not isinstance(rest, int):
        raise ShapeError("which polynomial is longer is known only when the model runs")
    if rest > 0:
        y = concat([zeros(rest, y.dtype), y])
    elif rest < 0:
        x = concat([zeros(-rest, x.dtype), x])
    return x, y


@public("polyadd")
def polyadd(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The sum of polynomials.

    >>> import onnxsmith.numpy as xp
    >>> xp.polyadd(xp.asarray([1, 2]), xp.asarray([3, 4, 5]))
    Array([3, 5, 7])
    """
    x, y = _as_long(a1, a2)
    return x + y


@public("polysub")
def polysub(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The difference of polynomials.

    >>> import onnxsmith.numpy as xp
    >>> xp.polysub(xp.asarray([1, 2]), xp.asarray([1, 1]))
    Array([0, 1])
    """
    x, y = _as_long(a1, a2)
    return x - y


@public("polymul")
def polymul(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The product of polynomials.

    >>> import onnxsmith.numpy as xp
    >>> xp.polymul(xp.asarray([1, 1]), xp.asarray([1, -1]))
    Array([ 1,  0, -1])
    """
    return convolve(leading(_coefficients(a1)), leading(_coefficients(a2)))


@recorded()
def _divided(u: Array, v: Array) -> tuple[Array, Array]:
    """Step by step, the multiple of the divisor that takes the highest power away."""
    rest, by = tensors_of(u), tensors_of(v)
    count = op.Size(rest.re) - op.Size(by.re) + 1
    length = op.Reshape(op.Max(count, np.int64(1)), [1])
    first = by.map(op.Gather, np.int64(0), axis=0)
    scale = Field(values.constant(values.like(1, first.re))) / first
    degree = op.Size(by.re)
    index = values.counted(values.size_of(rest.re, 0))
    quotient = rest.map(lambda part: op.Expand(values.like(0, part), length))

    def step(k: Tensor, fields: Sequence[Field], _: Sequence[Tensor]) -> Step:
        made, left = fields
        factor = scale * left.map(op.Gather, k, axis=0)
        place = index - k
        is_inside = (place >= 0) & (place < degree)
        inside = op.Where(is_inside, place, np.int64(0))
        taken = factor * by.map(op.Gather, inside, axis=0)
        here = op.Equal(values.counted(values.size_of(made.re, 0)), k)
        return Step([where(here, factor, made), where(is_inside, left - taken, left)])

    steps = op.Max(count, np.int64(0))
    found, left = loop(steps, [quotient, rest], [], step).fields
    size = op.Sqrt(left.squared_size()) if left.im is not None else abs(left.re)
    return array_from(found), array_from(without_first(left, size <= 1e-8))


@public("polydiv")
def polydiv(u: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """The quotient of polynomials, and what remains.

    >>> import onnxsmith.numpy as xp
    >>> xp.polydiv(xp.asarray([3.0, 5.0, 2.0]), xp.asarray([2.0, 1.0]))
    (Array([1.5 , 1.75]), Array([0.25]))
    """
    pair = [_coefficients(each) for each in (u, v)]
    for each in pair:
        size = each.shape[0]
        if isinstance(size, int) and not size:
            raise TensorIndexError("a polynomial has a coefficient at least")
        require_at_least(size, 1, IndexError("a polynomial has a coefficient at least"))
    dtype = dtypes.promoted([each.dtype for each in pair], [float])
    return _divided(*[as_type(each, dtype) for each in pair])


@public("polyder")
def polyder(p: ArrayLike, m: int = 1) -> Array:
    """The derivative of a polynomial, `m` times.

    >>> import onnxsmith.numpy as xp
    >>> xp.polyder(xp.asarray([1, 2, 3]))
    Array([2, 2])
    """
    if m < 0:
        raise AttributeValueError(
            f"a derivative is taken 0 times or more, not {m}", culprit=("attribute", "m")
        )
    made = _coefficients(p)
    for _ in range(m):
        made = made[:-1] * arange(made.shape[0] - 1, 0, -1)
    return made


@public("polyint")
def polyint(p: ArrayLike, m: int = 1, k: ArrayLike | None = None) -> Array:
    """The integral of a polynomial, `m` times, with constants.

    >>> import onnxsmith.numpy as xp
    >>> xp.polyint(xp.asarray([2.0, 3.0]))
    Array([1., 3., 0.])
    """
    if m < 0:
        raise AttributeValueError(
            f"an integral is taken 0 times or more, not {m}", culprit=("attribute", "m")
        )
    constants = (
        [0] * m
        if k is None
        else list(cast("Sequence[object]", k))
        if isinstance(k, list | tuple)
        else [k] * m
    )
    if len(constants) == 1:
        constants *= m
    if len(constants) < m:
        raise AttributeValueError(
            f"an integral taken {m} times has {m} constants, or one for all", culprit=("attribute", "k")
        )
    made = _coefficients(p)
    for each in constants[:m]:
        tail = reshape(as_type(array_of(each), dtypes.FLOAT64), (1,))
        made = concat([made / arange(made.shape[0], 0, -1), tail])
    return made


@public("vander")
def vander(x: ArrayLike, N: SizeLike | None = None, increasing: bool = False) -> Array:
    """The powers of numbers, a column each, the highest first unless they are `increasing`.

    >>> import onnxsmith.numpy as xp
    >>> xp.vander(xp.asarray([2, 3]), 3)
    Array([[4, 2, 1],
           [9, 3, 1]])
    """
    array = array_of(x)
    if array.ndim != 1:
        raise ShapeError(f"the numbers are a vector, not {array.ndim} dimensions")
    count = cast(Size, array.shape[0]) if N is None else size_of(N, "N")
    check_not_negative([count])
    powers = arange(count)
    wide = as_type(
        array,
        dtypes.promoted([array.dtype, np.dtype(np.int64)]) if array.dtype.kind in "biu" else array.dtype,
    )
    exponents = powers if increasing else powers[::-1]
    return wide[:, None] ** exponents[None, :]


@public("polyfit")
def polyfit(x: ArrayLike, y: ArrayLike, deg: int) -> Array:
    """The polynomial of a degree that is nearest to points, by least squares.

    >>> import onnxsmith.numpy as xp
    >>> xp.round(xp.polyfit(xp.asarray([0.0, 1.0, 2.0]), xp.asarray([1.0, 3.0, 5.0]), 1), 6)
    Array([2., 1.])
    """
    degree = index_of(deg)
    if degree is None:
        raise AttributeTypeError(
            f"a degree is an int, not {type(deg).__name__}", culprit=("attribute", "deg")
        )
    if degree < 0:
        raise AttributeValueError(f"a degree is 0 or more, not {deg}", culprit=("attribute", "deg"))
    places, values_ = array_of(x), array_of(y)
    if places.ndim != 1 or values_.ndim not in (1, 2):
        raise ShapeError("points are two vectors of one length")
    require_at_least(places.shape[0], 1, TypeError("expected non-empty vector for x"))
    require_same(places.shape[0], values_.shape[0], TypeError("expected x and y to have same length"))
    at = as_type(
        places, dtypes.promoted([places.dtype], [float]) if places.dtype.kind != "c" else places.dtype
    )
    matrix = vander(at, deg + 1)
    scale = sqrt((matrix * matrix).sum(axis=0))
    right = as_type(values_, dtypes.promoted([values_.dtype, at.dtype]))
    found = lstsq(matrix / scale, right, at.shape[0] * float(np.finfo(dtypes.part(at.dtype)).eps)).x
    return found / (scale if right.ndim == 1 else scale[:, None])
