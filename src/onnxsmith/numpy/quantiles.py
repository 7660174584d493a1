"""Quantiles: `median`, `percentile`, `quantile`, all of numpy's methods, with weights, and those without NaN."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms import quantiles, reductions, values
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.errors import (
    AttributeTypeError,
    AttributeValueError,
    InputTypeError,
    ShapeError,
    TensorIndexError,
)
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import Axes, axes_of
from onnxsmith.numpy.cached_calls import cached_call
from onnxsmith.numpy.conversions import array_from, array_of, as_type, tensor_of
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.outputs import fitted, written
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.reductions import is_empty
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import Condition, require
from onnxsmith.numpy.reshaping import broadcast_to, expand_dims, transpose
from onnxsmith.numpy.sharing import detached
from onnxsmith.numpy.sizes import is_known
from onnxsmith.numpy.statistics import mean_type
from onnxsmith.numpy.without_nan import nanmean
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import shapes_differ


@recorded()
def _median(x: Array, axes: tuple[int, ...], dtype: NumpyDType, keepdims: bool, ignores_nan: bool) -> Array:
    rows = reductions.collected(tensor_of(x), axes)
    found = quantiles.median(rows, dtypes.onnx_type(dtype), ignores_nan=ignores_nan)
    return array_from(reductions.with_axes(found, axes, keepdims))


def _middle(a: ArrayLike, axis: Axes, out: Array | None, keepdims: bool, *, ignores_nan: bool) -> Array:
    x = array_of(a)
    if x.dtype.kind == "c":
        raise InputTypeError("the median of complex numbers is not there")
    dtype = mean_type(x.dtype)
    if not ignores_nan:
        _check_some(x, axes_of(axis, x.ndim))
    made = _median(x, axes_of(axis, x.ndim), dtype, bool(keepdims), ignores_nan)
    return written(_array_if(keepdims, made, x), out)


def _check_some(x: Array, axes: tuple[int, ...]) -> None:
    """Refuse, as numpy, over no axes of no elements."""
    if not axes and 0 in [each for each in x.shape if isinstance(each, int)]:
        raise ShapeError(f"an array of shape {tuple(x.shape)} has no elements, and no axes are named")


def _array_if(keepdims: bool, made: Array, x: Array) -> Array:
    """The result, which is no number if the dimensions are kept and there are none."""
    return detached(made) if keepdims and not x.ndim else made


@public("median")
@cached_call()
def median(
    a: ArrayLike,
    axis: Axes = None,
    out: Array | None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """The median over axes: the element in the middle, or the mean of the two there.

    >>> import onnxsmith.numpy as xp
    >>> xp.median(xp.asarray([3, 1, 2, 10]))
    Array(2.5)
    """
    return _middle(a, axis, out, keepdims, ignores_nan=False)


@public("nanmedian")
@cached_call()
def nanmedian(
    a: ArrayLike,
    axis: Axes = None,
    out: Array | None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """The median over axes, NaN left out.

    >>> import onnxsmith.numpy as xp
    >>> xp.nanmedian(xp.asarray([xp.nan, 3.0, 2.0]))
    Array(2.5)
    """
    return _middle(a, axis, out, keepdims, ignores_nan=True)


# -- quantiles -------------------------------------------------------------------------------------------


@recorded()
def _quantile(
    x: Array,
    q: Array,
    axes: tuple[int, ...],
    dtype: NumpyDType,
    method: quantiles.Method,
    keepdims: bool,
    is_percent: bool,
    ignores_nan: bool,
) -> Array:
    rows = reductions.collected(tensor_of(x), axes)
    parts = op.Reshape(tensor_of(q), [-1])
    if is_percent:
        parts = op.Div(parts, values.like(100, parts))
    found = quantiles.quantile(rows, parts, method, dtypes.onnx_type(dtype), ignores_nan=ignores_nan)
    return _placed(found, q, axes, keepdims)


@recorded()
def _weighted(
    x: Array,
    q: Array,
    weights: Array,
    axes: tuple[int, ...],
    keepdims: bool,
    is_percent: bool,
    ignores_nan: bool,
) -> Array:
    rows, counted = (reductions.collected(tensor_of(each), axes) for each in (x, weights))
    parts = op.Reshape(tensor_of(q), [-1])
    if is_percent:
        parts = op.Div(parts, values.like(100, parts))
    wide, many = (values.converted(each, DType.DOUBLE) for each in (parts, counted))
    return _placed(quantiles.weighted_quantile(rows, wide, many, ignores_nan=ignores_nan), q, axes, keepdims)


def _placed(found: Tensor, q: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    # The quantiles stand along the last axis, and are to be first.
    last = values.rank_of(found) - 1
    found = op.Transpose(found, perm=[last, *range(last)])
    if keepdims and axes:
        found = op.Unsqueeze(found, [each + 1 for each in sorted(axes)])
    if q.ndim == 1:
        return array_from(found)
    if q.ndim == 0:
        return array_from(op.Squeeze(found, [0]))
    shape = op.Concat(op.Shape(tensor_of(q)), op.Shape(found, start=1), axis=0)
    return array_from(op.Reshape(found, shape, allowzero=1))


def _found(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axes,
    out: Array | None,
    method: str,
    keepdims: bool,
    weights: ArrayLike | None,
    *,
    is_percent: bool,
    ignores_nan: bool,
) -> Array:
    x = array_of(a)
    if x.dtype.kind == "c":
        raise AttributeTypeError("complex numbers have no quantiles")
    if weights is not None and method != "inverted_cdf":
        raise AttributeValueError(
            f"the method {method!r} takes no weights",
            help='say method="inverted_cdf"',
            culprit=("attribute", "weights"),
        )
    if method not in quantiles.METHODS:
        raise AttributeValueError(
            f"there is no method {method!r}",
            help=f"there are {', '.join(quantiles.METHODS)}",
            culprit=("attribute", "method"),
        )
    part = array_of(q)
    if part.dtype.kind == "c":
        raise AttributeTypeError("q is of real numbers")
    if part.ndim > 2:
        raise AttributeValueError("q is a scalar or has one dimension", culprit=("attribute", "q"))
    if not part.is_symbolic:
        known = np.asarray(part)
        if not ((known >= 0) & (known <= (100 if is_percent else 1))).all():
            raise AttributeValueError(
                f"q is not between 0 and {100 if is_percent else 1}", culprit=("attribute", "q")
            )
    else:
        said = (
            "Percentiles must be in the range [0, 100]"
            if is_percent
            else "Quantiles must be in the range [0, 1]"
        )
        require(lambda: _is_fraction(part, 100 if is_percent else 1), ValueError(said))
    axes = axes_of(axis, x.ndim)
    if ignores_nan and is_empty(x):
        return nanmean(x, axis, None, out, keepdims)  # as numpy, whatever q is
    _check_some(x, axes)
    if not x.is_symbolic and any(x.shape[each] == 0 for each in axes):
        raise TensorIndexError("no elements have no quantiles")
    if weights is not None:
        many = _weights_of(x, array_of(weights), axes, axis is None)
        work = mean_type(part.dtype)
        return written(
            _weighted(x, as_type(part, work), many, axes, bool(keepdims), is_percent, ignores_nan), out
        )
    is_whole = part.dtype.kind in "biu" and not is_percent and method == "linear"
    if is_whole:
        method = "lower"  # a whole fraction is at an end, and takes what stands there
    work = mean_type(part.dtype)
    if method in quantiles.TAKEN:
        dtype = x.dtype
    elif x.dtype.kind == "b":
        raise InputTypeError("truth values have no quantiles between them")
    elif dtypes.is_scalar(q):
        dtype = mean_type(x.dtype)
    else:
        dtype = np.promote_types(x.dtype, work)
    if not part.is_symbolic:
        part = Array(np.asarray(part).astype(work))  # no session for a number
    made = _quantile(x, as_type(part, work), axes, dtype, method, bool(keepdims), is_percent, ignores_nan)
    if ignores_nan and made.ndim > 1:
        made = detached(made, is_plain=False)  # numpy finds them axis by axis, and moves the first one there
    return written(_array_if(keepdims, made, x), out)


def _is_fraction(part: Array, most: int) -> Condition:
    given = values.converted(tensor_of(part), DType.DOUBLE)
    return (given >= 0) & (given <= most)


def _weights_of(x: Array, weights: Array, axes: tuple[int, ...], is_all: bool) -> Array:
    """A weight for each element: given for each, or along the axes."""
    if weights.dtype.kind == "c":
        raise InputTypeError("weights are real numbers")
    if not weights.is_symbolic and (np.asarray(weights) < 0).any():
        raise AttributeValueError("weights are not negative", culprit=("attribute", "weights"))
    if weights.is_symbolic:
        require(lambda: weights >= 0, ValueError("Weights must be non-negative."))
    is_open = not is_known((*weights.shape, *x.shape))
    if is_open and weights.ndim == x.ndim and axes != tuple(sorted(axes)):
        raise ShapeError(
            "whether there is a weight for each element, or for each along the axes, is known only when the model runs",
            help="name the axes in order",
        )
    if not shapes_differ(weights.shape, x.shape):
        return fitted(weights, x)
    if is_all:
        raise InputTypeError("weights of another shape need an axis")
    if shapes_differ(weights.shape, [x.shape[each] for each in axes]):
        raise ShapeError(
            f"weights of the shape {weights.shape} do not fit an array of {x.shape} along {axes}"
        )
    turned = transpose(weights, [axes.index(each) for each in sorted(axes)])
    others = tuple(k for k in range(x.ndim) if k not in axes)
    return broadcast_to(expand_dims(turned, others) if others else turned, tuple(x.shape))


@public("quantile")
@cached_call()
def quantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axes = None,
    out: Array | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
) -> Array:
    """Quantiles over axes, for fractions between 0 and 1; several of them are the first dimension.

    >>> import onnxsmith.numpy as xp
    >>> xp.quantile(xp.asarray([1.0, 2.0, 5.0]), 0.75)
    Array(3.5)
    """
    return _found(a, q, axis, out, method, keepdims, weights, is_percent=False, ignores_nan=False)


@public("percentile")
@cached_call()
def percentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axes = None,
    out: Array | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
) -> Array:
    """Quantiles over axes, for percentages between 0 and 100.

    >>> import onnxsmith.numpy as xp
    >>> xp.percentile(xp.asarray([1.0, 2.0, 5.0]), 75)
    Array(3.5)
    """
    return _found(a, q, axis, out, method, keepdims, weights, is_percent=True, ignores_nan=False)


@public("nanquantile")
@cached_call()
def nanquantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axes = None,
    out: Array | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
) -> Array:
    """`quantile` with NaN left out.

    >>> import onnxsmith.numpy as xp
    >>> xp.nanquantile(xp.asarray([xp.nan, 3.0, 2.0]), 0.5)
    Array(2.5)
    """
    return _found(a, q, axis, out, method, keepdims, weights, is_percent=False, ignores_nan=True)


@public("nanpercentile")
@cached_call()
def nanpercentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: Axes = None,
    out: Array | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
) -> Array:
    """`percentile` with NaN left out.

    >>> import onnxsmith.numpy as xp
    >>> xp.nanpercentile(xp.asarray([xp.nan, 3.0, 2.0]), 50)
    Array(2.5)
    """
    return _found(a, q, axis, out, method, keepdims, weights, is_percent=True, ignores_nan=True)
