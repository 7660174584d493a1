"""Means and variances: `mean`, `var`, `std`, `average`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms import reductions, values
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import TensorOrArray, op
from onnxsmith.errors import (
    AttributeTypeError,
    AttributeValueError,
    DivisionByZeroError,
    InputTypeError,
    ShapeError,
)
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike, DTypeLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import Axes, axes_of
from onnxsmith.numpy.cached_calls import cached_call
from onnxsmith.numpy.conversions import array_from, array_of, as_type, tensor_of, tensors_of
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.outputs import written
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.reductions import MISSING, Missing, is_long, mask_of, masked
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import require, require_at_least, require_same
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import shapes_differ


def mean_type(dtype: NumpyDType) -> NumpyDType:
    """The element type of a mean: that of integers is float64."""
    return dtypes.FLOAT64 if dtype.kind in "biu" else dtype


def _count(x: Field, axes: Sequence[int], keepdims: bool, mask: Array | None) -> TensorOrArray:
    """How many elements count, in the element type of the parts."""
    if mask is None:
        return values.cast(reductions.count_along(x.re, axes), x.dtype)
    counts = op.Expand(values.converted(tensor_of(mask), DType.INT64), op.Shape(x.re))
    return values.converted(reductions.total(Field(counts), axes, keepdims).re, x.dtype)


def _mean(x: Field, axes: Sequence[int], keepdims: bool, mask: Array | None, is_long: bool) -> Field:
    count = _count(x, axes, keepdims, mask)
    added = reductions.total(masked(x, mask, 0), axes, keepdims, is_long=is_long)
    return divided(added, count)


def divided(total: Field, count: TensorOrArray) -> Field:
    """A sum divided by how many were added; as numpy, by a complex number where the sum is one.

    That makes both parts NaN where one is.
    """
    if total.im is None:
        return Field(op.Div(total.re, count))
    divisor = op.Identity(count)
    return total / Field(divisor, divisor - divisor)


@recorded()
def averaged(
    x: Array,
    axes: tuple[int, ...],
    dtype: NumpyDType,
    keepdims: bool,
    mask: Array | None = None,
    is_long: bool = False,
) -> Array:
    """The mean over axes, in an element type; computed in a wider one."""
    kind = dtypes.onnx_type(dtype)
    field = tensors_of(as_type(x, dtype) if dtype.kind != x.dtype.kind else x).cast(reductions.wider(kind))
    return array_from(_mean(field, axes, keepdims, mask, is_long).cast(kind))


@public("mean")
@cached_call()
def mean(
    a: ArrayLike,
    axis: Axes = None,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    keepdims: bool = False,
    *,
    where: ArrayLike = True,
) -> Array:
    """The mean over axes, or of all elements.

    >>> import onnxsmith.numpy as xp
    >>> xp.mean(xp.asarray([[1, 2], [3, 5]]), axis=1)
    Array([1.5, 4. ])
    """
    x = array_of(a)
    kind = mean_type(x.dtype) if dtype is None else dtypes.read(dtype)
    axes = axes_of(axis, x.ndim)
    return written(averaged(x, axes, kind, bool(keepdims), mask_of(where, x), is_long(x, axes)), out)


# -- variances -------------------------------------------------------------------------------------------


@recorded()
def spread(
    x: Array,
    axes: tuple[int, ...],
    dtype: NumpyDType,
    ddof: float,
    keepdims: bool,
    is_root: bool,
    mask: Array | None = None,
    mean: Array | None = None,
    is_long: bool = False,
) -> Array:
    """The variance over axes, or its square root; in an element type, computed in a wider one."""
    kind = dtypes.onnx_type(dtype)
    field = tensors_of(x).cast(reductions.wider(kind))
    middle = _mean(field, axes, True, mask, is_long) if mean is None else tensors_of(mean).cast(field.dtype)
    squares = Field((field - middle).squared_size())
    count = _count(field, axes, keepdims, mask) - values.like(ddof, field.re)
    added = reductions.total(masked(squares, mask, 0), axes, keepdims, is_long=is_long)
    result = op.Div(added.re, op.Max(count, values.like(0, field.re)))
    return array_from(values.converted(reductions.deviation_of(result) if is_root else result, kind))


def _spread(
    a: ArrayLike,
    axis: Axes,
    dtype: DTypeLike | None,
    out: Array | None,
    ddof: float,
    keepdims: bool,
    where: ArrayLike,
    mean: object,
    correction: object,
    *,
    is_root: bool,
) -> Array:
    x = array_of(a)
    if correction is not MISSING:
        if ddof:
            raise AttributeValueError(
                "ddof and correction are the same, and both are given", culprit=("attribute", "correction")
            )
        ddof = _number(correction, "correction")
    kind = dtypes.part(mean_type(x.dtype) if dtype is None else dtypes.read(dtype))
    if kind.kind != "f":
        raise InputTypeError(f"a variance is not computed in {kind.name}")
    axes = axes_of(axis, x.ndim)
    middle = None if mean is MISSING else array_of(mean)
    if middle is None and x.dtype.kind == "c" and dtype is not None and dtypes.read(dtype).kind == "f":
        # As numpy, which takes the mean in that type: of the real parts alone.
        middle = averaged(x.real.copy(), axes, kind, True, mask_of(where, x), is_long(x, axes))
    made = spread(
        x, axes, kind, float(ddof), bool(keepdims), is_root, mask_of(where, x), middle, is_long(x, axes)
    )
    return written(made, out)


def _number(value: object, name: str) -> float:
    if isinstance(value, int | float):
        return value
    raise AttributeTypeError(f"{name} is a number, not {type(value).__name__}", culprit=("attribute", name))


@public("var")
@cached_call()
def var(
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
    """The variance over axes, or of all elements; `ddof`, or `correction`, is taken from the number of elements.

    >>> import onnxsmith.numpy as xp
    >>> xp.var(xp.asarray([1.0, 2.0, 6.0]), correction=1)
    Array(7.)
    """
    return _spread(a, axis, dtype, out, ddof, keepdims, where, mean, correction, is_root=False)


@public("std")
@cached_call()
def std(
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
    """The standard deviation over axes, or of all elements: the square root of the variance.

    >>> import onnxsmith.numpy as xp
    >>> xp.std(xp.asarray([1.0, 5.0]))
    Array(2.)
    """
    return _spread(a, axis, dtype, out, ddof, keepdims, where, mean, correction, is_root=True)


# -- weights ---------------------------------------------------------------------------------------------


_NO_AXIS = "Axis must be specified when shapes of a and weights differ."


@recorded()
def _weighted(
    x: Array, weights: Array, axes: tuple[int, ...], dtype: NumpyDType, keepdims: bool
) -> tuple[Array, Array]:
    """The mean with weights, of the same shape or of that of the axes, and the sum of the weights."""
    kind = dtypes.onnx_type(dtype)
    field = tensors_of(as_type(x, dtype)).cast(reductions.wider(kind))
    factors = tensors_of(as_type(weights, dtype)).cast(field.dtype)
    if weights.ndim != x.ndim:
        others = [k for k in range(x.ndim) if k not in axes]
        order = [sorted(axes).index(each) for each in axes]
        factors = factors.map(
            lambda part: op.Unsqueeze(
                op.Transpose(part, perm=[order.index(k) for k in range(len(order))]), others
            )
        )
    shape = op.Shape(field.re)
    scale = reductions.total(factors.map(op.Expand, shape), axes, keepdims)
    result = reductions.total(field * factors, axes, keepdims) / scale
    return array_from(result.cast(kind)), array_from(scale.cast(kind))


@public("average")
def average(
    a: ArrayLike,
    axis: Axes = None,
    weights: ArrayLike | None = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Array | tuple[Array, Array]:
    """The mean over axes with weights; with `returned`, the sum of the weights, too.

    >>> import onnxsmith.numpy as xp
    >>> xp.average(xp.asarray([1.0, 2.0]), weights=xp.asarray([3, 1]))
    Array(1.25)
    """
    x = array_of(a)
    axes = axes_of(axis, x.ndim)
    kind = mean_type(x.dtype)
    if weights is None:
        made = averaged(x, axes, kind, bool(keepdims), None, is_long(x, axes))
        for each in made.shape:  # as numpy, which divides the number of elements by that of the results
            require_at_least(each, 1, ZeroDivisionError("division by zero"))
        if not returned:
            return made
        ones = as_type(_counted(x, axes, bool(keepdims)), kind)
        return made, ones
    given = array_of(weights)
    if axis is None and (given.ndim != x.ndim or not _fits(x, given, axes)):
        raise InputTypeError("weights of another shape need an axis")
    if given.ndim not in (x.ndim, len(axes)) or not _fits(x, given, axes):
        raise ShapeError(f"weights of the shape {given.shape} do not fit an array of {x.shape} along {axes}")
    said = "Shape of weights must be consistent with shape of a along specified axis."
    for mine, theirs in zip(
        given.shape, x.shape if given.ndim == x.ndim else [x.shape[k] for k in axes], strict=True
    ):
        require_same(mine, theirs, TypeError(_NO_AXIS) if axis is None else ValueError(said))
    kind = np.promote_types(np.promote_types(x.dtype, given.dtype), kind)
    made, scale = _weighted(x, given, axes, kind, bool(keepdims))
    # numpy adds up weights of fewer dimensions before it broadcasts them.
    is_nothing = given.ndim != x.ndim and not given.is_symbolic and not np.asarray(given).sum()
    if is_nothing or (not scale.is_symbolic and not np.asarray(scale).all()):
        raise DivisionByZeroError("the weights add up to zero, and nothing can be divided by that")
    if scale.is_symbolic:
        said = "Weights sum to zero, can't be normalized"
        require(lambda: scale != 0, ZeroDivisionError(said))
    return (made, scale) if returned else made


def _fits(x: Array, weights: Array, axes: Sequence[int]) -> bool:
    sizes = x.shape if weights.ndim == x.ndim else [x.shape[axis] for axis in axes]
    return not shapes_differ(weights.shape, sizes)


@recorded()
def _counted(x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    """How many elements stand over axes, in the shape of a reduction."""
    ones = values.filled(values.sizes_of(tensors_of(x).re), 1, DType.INT64)
    return array_from(reductions.total(Field(ones), axes, keepdims))
