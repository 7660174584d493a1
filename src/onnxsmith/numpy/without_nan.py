"""Reductions that leave NaN out: `nansum`, `nanprod`, `nanmax`, `nanmin`, `nanmean`, `nanvar`, `nanstd`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms import extremes, reductions, values
from onnxsmith.algorithms.complex_numbers.field import Field, where
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.errors import AttributeValueError, InputTypeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike, DTypeLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import Axes, axes_of
from onnxsmith.numpy.conversions import array_from, array_of, tensor_of, tensors_of
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.outputs import written
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.reductions import MISSING, Missing, check_not_empty, mask_of
from onnxsmith.numpy.reductions import max as plain_max
from onnxsmith.numpy.reductions import min as plain_min
from onnxsmith.numpy.reductions import prod as plain_prod
from onnxsmith.numpy.reductions import sum as plain_sum
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.statistics import divided, mean_type
from onnxsmith.numpy.statistics import mean as plain_mean
from onnxsmith.numpy.statistics import std as plain_std
from onnxsmith.numpy.statistics import var as plain_var
from onnxsmith.types.dtypes import DType


@recorded()
def _replaced(x: Array, value: float) -> Array:
    """An array with a number in the place of NaN."""
    field = tensors_of(x)
    return array_from(where(field.is_nan(), Field(values.constant(values.like(value, field.re))), field))


def _without(a: object, value: float) -> Array:
    x = array_of(a)
    return _replaced(x, value) if x.dtype.kind in "fc" else x


@public("nansum")
def nansum(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: ArrayLike | Missing = MISSING,
    where: ArrayLike = True,
) -> Array:
    """The sum over axes with zeros in the place of NaN.

    >>> import onnxsmith.numpy as xp
    >>> xp.nansum(xp.asarray([1.0, xp.nan, 2.0]))
    Array(3.)
    """
    return plain_sum(_without(a, 0), axis, dtype, out, keepdims, initial, where)


@public("nanprod")
def nanprod(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: ArrayLike | Missing = MISSING,
    where: ArrayLike = True,
) -> Array:
    """The product over axes with ones in the place of NaN.

    >>> import onnxsmith.numpy as xp
    >>> xp.nanprod(xp.asarray([xp.nan, 3.0, 2.0]))
    Array(6.)
    """
    return plain_prod(_without(a, 1), axis, dtype, out, keepdims, initial, where)


# -- extremes --------------------------------------------------------------------------------------------


@recorded()
def _extreme(
    x: Array, axes: tuple[int, ...], keepdims: bool, is_max: bool, initial: Array | None, mask: Array | None
) -> Array:
    field = tensors_of(x)
    holes = field.is_nan()
    worst = values.as_tensor((extremes.lowest if is_max else extremes.highest)(field.dtype), field.dtype)
    known = where(holes, Field(worst, None if field.im is None else worst), field)
    first = None if initial is None else tensors_of(initial).cast(field.dtype)
    if mask is not None and first is not None:
        known = where(tensor_of(mask), known, first)
        holes = holes & tensor_of(mask)
    found = extremes.extreme(known, axes, keepdims, is_max=is_max, first=first)
    if first is not None:
        return array_from(found)
    nan = Field(values.constant(values.like(np.nan, field.re)))
    return array_from(where(reductions.all_true(holes, axes, keepdims), nan, found))


def _reduced(
    a: ArrayLike,
    axis: Axes,
    out: Array | None,
    keepdims: bool,
    initial: ArrayLike | Missing,
    mask: ArrayLike,
    *,
    is_max: bool,
) -> Array:
    x = array_of(a)
    if x.dtype.kind not in "fc":
        return (plain_max if is_max else plain_min)(x, axis, out, keepdims, initial, mask)
    axes = axes_of(axis, x.ndim)
    test = mask_of(mask, x)
    first = None if initial is MISSING else array_of(initial)
    if first is None:
        if test is not None:
            raise AttributeValueError("where= needs initial=", culprit=("attribute", "where"))
        check_not_empty(x, axes, "the greatest" if is_max else "the least")
    return written(_extreme(x, axes, bool(keepdims), is_max, first, test), out)


@public("nanmax")
def nanmax(
    a: ArrayLike,
    axis: Axes = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: ArrayLike | Missing = MISSING,
    where: ArrayLike = True,
) -> Array:
    """The greatest element over axes, NaN left out; NaN where there is nothing else.

    >>> import onnxsmith.numpy as xp
    >>> xp.nanmax(xp.asarray([xp.nan, 3.0, 2.0]))
    Array(3.)
    """
    return _reduced(a, axis, out, keepdims, initial, where, is_max=True)


@public("nanmin")
def nanmin(
    a: ArrayLike,
    axis: Axes = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: ArrayLike | Missing = MISSING,
    where: ArrayLike = True,
) -> Array:
    """The least element over axes, NaN left out; NaN where there is nothing else.

    >>> import onnxsmith.numpy as xp
    >>> xp.nanmin(xp.asarray([xp.nan, 3.0, 2.0]))
    Array(2.)
    """
    return _reduced(a, axis, out, keepdims, initial, where, is_max=False)


# -- means and variances ---------------------------------------------------------------------------------


def _counts(counted: Tensor, axes: Sequence[int], keepdims: bool, dtype: DType) -> Tensor:
    whole = reductions.total(Field(values.converted(counted, DType.INT64)), axes, keepdims).re
    return values.converted(whole, dtype)


def _counted(x: Field, mask: Array | None) -> Tensor:
    """The elements that count: no NaN, and not left out."""
    is_number = ~x.is_nan()
    return is_number if mask is None else is_number & tensor_of(mask)


def _mean(x: Field, counted: Tensor, axes: Sequence[int], keepdims: bool) -> Field:
    zero = Field(values.constant(values.like(0, x.re)))
    return divided(
        reductions.total(where(counted, x, zero), axes, keepdims), _counts(counted, axes, keepdims, x.dtype)
    )


@recorded()
def _averaged(
    x: Array, axes: tuple[int, ...], dtype: NumpyDType, keepdims: bool, mask: Array | None
) -> Array:
    kind = dtypes.onnx_type(dtype)
    field = tensors_of(x).cast(reductions.wider(kind))
    return array_from(_mean(field, _counted(field, mask), axes, keepdims).cast(kind))


@public("nanmean")
def nanmean(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> Array:
    """The mean over axes, NaN left out.

    >>> import onnxsmith.numpy as xp
    >>> xp.nanmean(xp.asarray([1.0, xp.nan, 2.0]))
    Array(1.5)
    """
    x = array_of(a)
    if x.dtype.kind not in "fc":
        return plain_mean(x, axis, dtype, out, keepdims, where=where)
    kind = x.dtype if dtype is None else dtypes.read(dtype)
    if kind.kind not in "fc":
        raise InputTypeError(f"a mean of {x.dtype.name} is not of {kind.name}")
    return written(_averaged(x, axes_of(axis, x.ndim), kind, bool(keepdims), mask_of(where, x)), out)


@recorded()
def _spread(
    x: Array,
    axes: tuple[int, ...],
    dtype: NumpyDType,
    ddof: float,
    keepdims: bool,
    is_root: bool,
    mask: Array | None,
    mean: Array | None,
) -> Array:
    kind = dtypes.onnx_type(dtype)
    field = tensors_of(x).cast(reductions.wider(kind))
    counted = _counted(field, mask)
    middle = _mean(field, counted, axes, True) if mean is None else tensors_of(mean).cast(field.dtype)
    squares = Field((field - middle).squared_size())
    zero = Field(values.constant(values.like(0, field.re)))
    added = reductions.total(where(counted, squares, zero), axes, keepdims).re
    count = _counts(counted, axes, keepdims, field.dtype) - values.like(ddof, field.re)
    # As numpy: without a degree of freedom there is no variance.
    result = op.Where(count > zero.re, op.Div(added, count), np.nan)
    return array_from(values.converted(reductions.deviation_of(result) if is_root else result, kind))


def _varied(
    a: object,
    axis: Axes,
    dtype: DTypeLike | None,
    out: Array | None,
    ddof: float,
    keepdims: bool,
    mask: ArrayLike,
    mean: ArrayLike | Missing,
    correction: ArrayLike | Missing,
    *,
    is_root: bool,
) -> Array:
    x = array_of(a)
    if x.dtype.kind not in "fc":
        plain = plain_std if is_root else plain_var
        return plain(x, axis, dtype, out, ddof, keepdims, where=mask, mean=mean, correction=correction)
    if correction is not MISSING:
        if ddof or not isinstance(correction, int | float):
            raise AttributeValueError(
                "give ddof or correction, a number", culprit=("attribute", "correction")
            )
        ddof = correction
    kind = dtypes.part(mean_type(x.dtype) if dtype is None else dtypes.read(dtype))
    if kind.kind != "f":
        raise InputTypeError(f"a variance is not computed in {kind.name}")
    middle = None if mean is MISSING else array_of(mean)
    axes = axes_of(axis, x.ndim)
    return written(
        _spread(x, axes, kind, float(ddof), bool(keepdims), is_root, mask_of(mask, x), middle), out
    )


@public("nanvar")
def nanvar(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
    mean: ArrayLike | Missing = MISSING,
    correction: ArrayLike | Missing = MISSING,
) -> Array:
    """The variance over axes, NaN left out.

    >>> import onnxsmith.numpy as xp
    >>> xp.nanvar(xp.asarray([xp.nan, 3.0, 1.0]))
    Array(1.)
    """
    return _varied(a, axis, dtype, out, ddof, keepdims, where, mean, correction, is_root=False)


@public("nanstd")
def nanstd(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
    mean: ArrayLike | Missing = MISSING,
    correction: ArrayLike | Missing = MISSING,
) -> Array:
    """The standard deviation over axes, NaN left out.

    >>> import onnxsmith.numpy as xp
    >>> xp.nanstd(xp.asarray([xp.nan, 3.0, 1.0]))
    Array(1.)
    """
    return _varied(a, axis, dtype, out, ddof, keepdims, where, mean, correction, is_root=True)
