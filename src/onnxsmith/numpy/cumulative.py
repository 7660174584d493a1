"""Running sums and products: `cumsum`, `cumprod`, `cumulative_sum`, `cumulative_prod`, and those without NaN."""

from __future__ import annotations

from onnxsmith.algorithms import cumulative, reductions, values
from onnxsmith.algorithms.complex_numbers.field import Field, where
from onnxsmith.algorithms.complex_numbers.products import running_product
from onnxsmith.errors import AttributeValueError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike, DTypeLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import axis_of
from onnxsmith.numpy.cached_calls import cached_call
from onnxsmith.numpy.conversions import array_from, array_of, as_type, tensors_of
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.outputs import written
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.reductions import sum_type
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.sorting import flattened
from onnxsmith.types.dtypes import DType


@recorded()
def _running(
    x: Array, axis: int, dtype: NumpyDType, is_product: bool, has_first: bool, ignores_nan: bool
) -> Array:
    field = tensors_of(as_type(x, dtype))
    neutral = values.as_tensor(1 if is_product else 0, field.dtype)
    if ignores_nan and field.dtype.is_float:
        field = where(field.is_nan(), Field(neutral), field)
    if field.dtype is DType.BOOL:
        whole = field.cast(DType.INT32)
        running = _product(whole, axis) if is_product else _sum(whole, axis)
        field = Field(values.converted(running.re, DType.BOOL))
    else:
        field = _product(field, axis) if is_product else _sum(field, axis)
    return array_from(reductions.with_first(field, axis, Field(neutral)) if has_first else field)


def _sum(x: Field, axis: int) -> Field:
    return x.map(cumulative.cumsum, axis)


def _product(x: Field, axis: int) -> Field:
    if x.im is None:
        return Field(cumulative.cumprod(x.re, axis))
    return running_product(x, axis)


def _made(
    a: ArrayLike,
    axis: int | None,
    dtype: DTypeLike | None,
    out: Array | None,
    *,
    is_product: bool,
    has_first: bool = False,
    ignores_nan: bool = False,
) -> Array:
    x, along = flattened(array_of(a), axis)
    kind = sum_type(x.dtype) if dtype is None else dtypes.read(dtype)
    return written(_running(x, along, kind, is_product, has_first, ignores_nan), out)


@public("cumsum")
@cached_call()
def cumsum(
    a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: Array | None = None
) -> Array:
    """The sum of all elements up to each along an axis, or of all in a row.

    >>> import onnxsmith.numpy as xp
    >>> xp.cumsum(xp.asarray([1, 2, 3]))
    Array([1, 3, 6])
    """
    return _made(a, axis, dtype, out, is_product=False)


@public("cumprod")
@cached_call()
def cumprod(
    a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: Array | None = None
) -> Array:
    """The product of all elements up to each along an axis, or of all in a row.

    >>> import onnxsmith.numpy as xp
    >>> xp.cumprod(xp.asarray([1, 2, 3]))
    Array([1, 2, 6])
    """
    return _made(a, axis, dtype, out, is_product=True)


@public("nancumsum")
def nancumsum(
    a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: Array | None = None
) -> Array:
    """`cumsum` with zeros in the place of NaN.

    >>> import onnxsmith.numpy as xp
    >>> xp.nancumsum(xp.asarray([2.0, xp.nan, 3.0]))
    Array([2., 2., 5.])
    """
    return _made(a, axis, dtype, out, is_product=False, ignores_nan=True)


@public("nancumprod")
def nancumprod(
    a: ArrayLike, axis: int | None = None, dtype: DTypeLike | None = None, out: Array | None = None
) -> Array:
    """`cumprod` with ones in the place of NaN.

    >>> import onnxsmith.numpy as xp
    >>> xp.nancumprod(xp.asarray([2.0, xp.nan, 3.0]))
    Array([2., 2., 6.])
    """
    return _made(a, axis, dtype, out, is_product=True, ignores_nan=True)


def _standard(
    x: ArrayLike,
    axis: int | None,
    dtype: DTypeLike | None,
    out: Array | None,
    include_initial: bool,
    *,
    is_product: bool,
) -> Array:
    array = array_of(x)
    if array.ndim == 0:
        array, _ = flattened(array, None)
    if axis is None:
        if array.ndim != 1:
            raise AttributeValueError(
                f"axis is needed for an array of {array.ndim} dimensions", culprit=("attribute", "axis")
            )
        axis = 0
    axis_of(axis, array.ndim)
    return _made(array, axis, dtype, out, is_product=is_product, has_first=bool(include_initial))


@public("cumulative_sum")
@cached_call()
def cumulative_sum(
    x: ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    include_initial: bool = False,
) -> Array:
    """The sum of all elements up to each along an axis; `include_initial` puts a zero before them.

    >>> import onnxsmith.numpy as xp
    >>> xp.cumulative_sum(xp.asarray([1, 2, 3]), include_initial=True)
    Array([0, 1, 3, 6])
    """
    return _standard(x, axis, dtype, out, include_initial, is_product=False)


@public("cumulative_prod")
@cached_call()
def cumulative_prod(
    x: ArrayLike,
    /,
    *,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    include_initial: bool = False,
) -> Array:
    """The product of all elements up to each along an axis; `include_initial` puts a one before them.

    >>> import onnxsmith.numpy as xp
    >>> xp.cumulative_prod(xp.asarray([1, 2, 3]), include_initial=True)
    Array([1, 1, 2, 6])
    """
    return _standard(x, axis, dtype, out, include_initial, is_product=True)
