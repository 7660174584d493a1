"""Functions of single elements that numpy has beside its universal functions: `clip`, `round`, `isclose`, `angle`."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special.bessel import i0 as modified_i0
from onnxsmith.core.semantics.number import Number, number
from onnxsmith.errors import AttributeValueError, InputTypeError
from onnxsmith.numpy import dtypes, outputs, sharing, ufunc_outputs
from onnxsmith.numpy.arguments import ArrayLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import Axes, axes_of
from onnxsmith.numpy.choosing import selected
from onnxsmith.numpy.conversions import array_from, array_of, as_type, tensor_of, tensors_of
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.sharing import detached
from onnxsmith.numpy.sizes import check_broadcast, is_known, product
from onnxsmith.numpy.ufunc_call import is_weak, kind_of
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import shapes_differ

#: numpy's universal functions, which call ours where an operand is an array of ours.
numpys: Any = np


def _written(made: Array, out: Array | None) -> Array:
    """A result, or the array that it was to be written to: as universal functions do, which numpy uses here."""
    return made if out is None else ufunc_outputs.written(made, outputs.checked_output(made, out), None)


@public("clip")
def clip(
    x: ArrayLike,
    /,
    min: ArrayLike | None = None,
    max: ArrayLike | None = None,
    out: Array | None = None,
    *,
    a_min: ArrayLike | None = None,
    a_max: ArrayLike | None = None,
) -> Array:
    """The elements held between two bounds, which numpy also calls `a_min` and `a_max`.

    >>> import onnxsmith.numpy as xp
    >>> xp.clip(xp.asarray([-1, 5, 9]), 0, 6)
    Array([0, 5, 6])
    """
    array = array_of(x)
    min, max = a_min if min is None else min, a_max if max is None else max
    if array.dtype.kind in "iu":  # bounds that no element reaches
        limits = np.iinfo(array.dtype)
        min = None if type(min) is int and min <= limits.min else _bound(min, limits.min, is_least=True)
        max = None if type(max) is int and max >= limits.max else _bound(max, limits.max, is_least=False)
    if min is None and max is None:
        return _written(+array, out)
    if min is not None and max is not None:  # as numpy, which chooses one element type for all three
        kinds = [kind_of(each if is_weak(each) else array_of(each)) for each in (array, min, max)]
        scalars = [each for each in kinds if isinstance(each, type)]
        typed = [each for each in kinds if not isinstance(each, type)]
        array = as_type(array, dtypes.promoted(typed, scalars))
    made = array if min is None else numpys.maximum(array, min)
    return _written(made if max is None else numpys.minimum(made, max), out)


def _bound(bound: ArrayLike | None, limit: int, *, is_least: bool) -> ArrayLike | None:
    """A bound that only the model knows, no farther than elements reach."""
    if not isinstance(bound, Number) or bound.kind != "int" or not -(2**63) < limit < 2**63 - 1:
        return bound
    given = bound.as_dtype(DType.INT64)
    return number((op.Max if is_least else op.Min)(given, np.int64(limit)))


@recorded()
def _rounded(x: Array, decimals: int) -> Array:
    """As numpy does it: scaled, rounded to even, scaled back."""

    def of_tensor(part: Tensor) -> Tensor:
        if decimals == 0:
            return op.Round(part)
        small = values.dtype_of(part) is DType.FLOAT16
        wide = values.converted(part, DType.FLOAT) if small else part
        factor = values.like(10.0 ** abs(decimals), wide)
        scaled = wide * factor if decimals > 0 else op.Div(wide, factor)
        whole = op.Round(scaled)
        made = op.Div(whole, factor) if decimals > 0 else whole * factor
        return values.converted(made, values.dtype_of(part))

    return array_from(tensors_of(x).map(of_tensor))


@public("around")
@public("round")
def round(x: ArrayLike, /, decimals: int = 0, out: Array | None = None) -> Array:
    """The elements rounded to a number of decimals, halves to even.

    >>> import onnxsmith.numpy as xp
    >>> xp.round(xp.asarray([1.25, 2.75]), 1)
    Array([1.2, 2.8])
    """
    array = array_of(x)
    if array.dtype.kind == "b":
        if decimals:
            raise InputTypeError("truth values have no decimals to be rounded to")
        array = as_type(array, np.dtype(np.float16))
    if array.dtype.kind in "iu":
        if decimals >= 0:
            made = sharing.detached(array)
            return outputs.written(made.as_number() if array.is_number else made, out)
        wide = _rounded(as_type(array, dtypes.FLOAT64), decimals)
        # numpy computes with fractions, and puts these where they are to be written.
        return as_type(wide, array.dtype) if out is None else outputs.written(wide, out)
    return outputs.written(_rounded(array, int(decimals)), out)


@public("fix")
def fix(x: ArrayLike, out: Array | None = None) -> Array:
    """Rounded towards zero.

    >>> import onnxsmith.numpy as xp
    >>> xp.fix(xp.asarray([1.7, -1.7]))
    Array([ 1., -1.])
    """
    return _written(numpys.trunc(array_of(x)), out)


@public("nan_to_num")
def nan_to_num(
    x: ArrayLike,
    copy: bool = True,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Array:
    """With numbers in the place of NaN and infinities.

    >>> import onnxsmith.numpy as xp
    >>> xp.nan_to_num(xp.asarray([1.0, xp.nan]))
    Array([1., 0.])
    """
    array = array_of(x)
    if array.dtype.kind not in "fc":
        return sharing.detached(array) if copy else array
    made = _without_infinities(array, float(nan), posinf, neginf)
    return made if copy else _written(made, array)


@recorded()
def _without_infinities(x: Array, nan: float, most: float | None, least: float | None) -> Array:
    def of_tensor(part: Tensor) -> Tensor:
        limits = np.finfo(values.dtype_of(part).numpy)
        highest = values.like(float(limits.max) if most is None else most, part)
        lowest = values.like(float(limits.min) if least is None else least, part)
        made = op.Where(op.IsNaN(part), values.like(nan, part), part)
        made = op.Where(op.Equal(part, values.like(np.inf, part)), highest, made)
        return op.Where(op.Equal(part, values.like(-np.inf, part)), lowest, made)

    return array_from(tensors_of(x).map(of_tensor))


@public("angle")
def angle(z: ArrayLike, deg: bool = False) -> Array:
    """The angle of complex numbers, in radians or degrees.

    >>> import onnxsmith.numpy as xp
    >>> xp.angle(xp.asarray([1.0, 1j, -1.0]), deg=True)
    Array([  0.,  90., 180.])
    """
    array = array_of(z)
    if array.dtype.kind == "c":
        made = numpys.arctan2(array.imag, array.real)
    else:
        made = numpys.arctan2(0, array)
    return made * (180 / np.pi) if deg else made


#: Factors of the even powers of y in sin(y) / y, and up to where these are enough for DOUBLE.
_SERIES = [(-1) ** k / math.factorial(2 * k + 1) for k in range(9)]
_SERIES_BELOW = 0.5


@public("sinc")
def sinc(x: ArrayLike) -> Array:
    """sin(pi x) / (pi x), 1 at 0.

    >>> import onnxsmith.numpy as xp
    >>> xp.sinc(xp.asarray([0.0, 0.5]))
    Array([1.        , 0.63661977])
    """
    array = array_of(x)
    return _sinc(array if array.dtype.kind in "fc" else as_type(array, dtypes.FLOAT64))


@recorded()
def _sinc(x: Array) -> Array:
    # Near zero it is the sum of its series, whose derivatives of every order are those of the function.
    y = x * np.pi
    is_near = abs(y) < _SERIES_BELOW
    square = selected(is_near, y * y, 0)
    total = square * _SERIES[-1]
    for factor in _SERIES[-2:0:-1]:
        total = (total + factor) * square
    far = selected(is_near, 1, y)
    return selected(is_near, total + _SERIES[0], numpys.sin(far) / far)


@public("i0")
def i0(x: ArrayLike) -> Array:
    """The modified Bessel function of the first kind and order 0.

    >>> import onnxsmith.numpy as xp
    >>> xp.i0(xp.asarray(0.0))
    Array(1.)
    """
    array = array_of(x)
    if array.dtype.kind == "c":
        raise InputTypeError("numpy's i0 is not defined for complex numbers")
    return detached(_i0(array if array.dtype.kind == "f" else as_type(array, dtypes.FLOAT64)))


@recorded()
def _i0(x: Array) -> Array:
    tensor = tensor_of(x)
    return array_from(
        values.converted(modified_i0(values.converted(tensor, DType.DOUBLE)), values.dtype_of(tensor))
    )


# -- questions -------------------------------------------------------------------------------------------


@public("isclose")
def isclose(
    a: ArrayLike, b: ArrayLike, rtol: ArrayLike = 1e-05, atol: ArrayLike = 1e-08, equal_nan: bool = False
) -> Array:
    """Where two numbers are near: |a - b| is at most atol + rtol |b|.

    >>> import onnxsmith.numpy as xp
    >>> xp.isclose(xp.asarray([1.0, 2.0]), [1.0 + 1e-9, 2.1])
    Array([ True, False])
    """
    x, y = array_of(a), array_of(b)
    if y.dtype.kind not in "fc":
        y = as_type(y, dtypes.promoted([y.dtype], [float]))
    check_broadcast("arrays", x, y)
    return _close(x, y, array_of(rtol), array_of(atol), bool(equal_nan))


@recorded()
def _close(x: Array, y: Array, rtol: Array, atol: Array, equal_nan: bool) -> Array:
    within = abs(x - y) <= atol + rtol * abs(y)
    result = (within & numpys.isfinite(y)) | numpys.equal(x, y)
    if equal_nan:
        result = result | (numpys.isnan(x) & numpys.isnan(y))
    return result


@public("allclose")
def allclose(
    a: ArrayLike, b: ArrayLike, rtol: ArrayLike = 1e-05, atol: ArrayLike = 1e-08, equal_nan: bool = False
) -> Array:
    """True if all numbers of two arrays are near each other.

    >>> import onnxsmith.numpy as xp
    >>> xp.allclose(xp.asarray([1.0, 2.0]), [1.0, 2.0 + 1e-9])
    Array(True)
    """
    return cast(Array, isclose(a, b, rtol, atol, equal_nan).all())


@public("array_equal")
def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: bool = False) -> Array:
    """True if two arrays have the same shape and elements.

    >>> import onnxsmith.numpy as xp
    >>> xp.array_equal(xp.asarray([1, 2]), [1, 2])
    Array(True)
    """
    x, y = array_of(a1), array_of(a2)
    if shapes_differ(x.shape, y.shape):
        return Array(np.array(False)).as_number()
    fits: Array | None = None
    if not is_known((*x.shape, *y.shape)):
        fits, x, y = _in_rows(x, y)
    same = numpys.equal(x, y)
    if equal_nan and x.dtype.kind in "fc" and y.dtype.kind in "fc":
        same = same | (numpys.isnan(x) & numpys.isnan(y))
    return cast(Array, same.all() if fits is None else same.all() & fits)


@recorded()
def _in_rows(x: Array, y: Array) -> tuple[Array, Array, Array]:
    """A flag for arrays of one shape, and the elements of both in a row, as many as the shorter one has."""
    a, b = tensors_of(x), tensors_of(y)
    shapes = op.Equal(op.Shape(a.re), op.Shape(b.re))
    fits = op.Equal(op.ReduceSum(values.converted(shapes, DType.INT64), keepdims=0), values.rank_of(a.re))
    count = op.Reshape(op.Min(op.Size(a.re), op.Size(b.re)), [1])
    rows = [
        array_from(each.map(lambda part: op.Slice(op.Reshape(part, [-1]), [0], count, [0])))
        for each in (a, b)
    ]
    return array_from(fits), rows[0], rows[1]


@public("array_equiv")
def array_equiv(a1: ArrayLike, a2: ArrayLike) -> Array:
    """True if two arrays have the same elements once they are broadcast.

    >>> import onnxsmith.numpy as xp
    >>> xp.array_equiv(xp.asarray([1, 1]), 1)
    Array(True)
    """
    x, y = array_of(a1), array_of(a2)
    try:
        return cast(Array, numpys.equal(x, y).all())
    except ValueError:
        return Array(np.array(False)).as_number()


def _is_infinite(x: ArrayLike, sign: float, out: Array | None) -> Array:
    array = array_of(x)
    if array.dtype.kind == "c":
        raise AttributeValueError("complex numbers have no sign")
    return _written(numpys.equal(array, sign * np.inf), out)


@public("isposinf")
def isposinf(x: ArrayLike, out: Array | None = None) -> Array:
    """Where the elements are infinite and above 0.

    >>> import onnxsmith.numpy as xp
    >>> xp.isposinf(xp.asarray([xp.inf, 0.0]))
    Array([ True, False])
    """
    return _is_infinite(x, 1, out)


@public("isneginf")
def isneginf(x: ArrayLike, out: Array | None = None) -> Array:
    """Where the elements are infinite and below 0.

    >>> import onnxsmith.numpy as xp
    >>> xp.isneginf(xp.asarray([-xp.inf, 0.0]))
    Array([ True, False])
    """
    return _is_infinite(x, -1, out)


@public("iscomplex")
def iscomplex(x: ArrayLike) -> Array:
    """Where the imaginary part is not 0.

    >>> import onnxsmith.numpy as xp
    >>> xp.iscomplex(xp.asarray([1 + 0j, 1j]))
    Array([False,  True])
    """
    return numpys.not_equal(array_of(x).imag, 0)


@public("isreal")
def isreal(x: ArrayLike) -> Array:
    """Where the imaginary part is 0.

    >>> import onnxsmith.numpy as xp
    >>> xp.isreal(xp.asarray([1 + 0j, 1j]))
    Array([ True, False])
    """
    return numpys.equal(array_of(x).imag, 0)


@public("iscomplexobj")
def iscomplexobj(x: ArrayLike) -> bool:
    """True if the element type is complex.

    >>> import onnxsmith.numpy as xp
    >>> xp.iscomplexobj(xp.asarray([1 + 0j]))
    True
    """
    return array_of(x).dtype.kind == "c"


@public("isrealobj")
def isrealobj(x: ArrayLike) -> bool:
    """True if the element type is not complex.

    >>> import onnxsmith.numpy as xp
    >>> xp.isrealobj(xp.asarray([1.0]))
    True
    """
    return array_of(x).dtype.kind != "c"


@public("ndim")
def ndim(a: ArrayLike) -> int:
    """How many dimensions there are.

    >>> import onnxsmith.numpy as xp
    >>> xp.ndim(xp.asarray([[1, 2]]))
    2
    """
    return array_of(a).ndim


@public("shape")
def shape(a: ArrayLike) -> tuple[object, ...]:
    """The dimensions: ints, and numbers of the model where that decides.

    >>> import onnxsmith.numpy as xp
    >>> xp.shape(xp.asarray([[1, 2]]))
    (1, 2)
    """
    return array_of(a).shape


@public("size")
def size(a: ArrayLike, axis: Axes = None) -> int:
    """How many elements there are, in all or along axes.

    >>> import onnxsmith.numpy as xp
    >>> xp.size(xp.asarray([[1, 2]]))
    2
    """
    array = array_of(a)
    return cast(int, product([array.shape[each] for each in axes_of(axis, array.ndim)]))
