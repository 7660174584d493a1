"""Where elements stand: `argmax`, `argmin`, `nonzero`, `argwhere`, `flatnonzero`."""

# pyright: reportPrivateUsage=false
# How an array holds its elements is the business of this package, and no attribute that users see.

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms import extremes, reductions, values
from onnxsmith.algorithms.complex_numbers.field import Field, where
from onnxsmith.algorithms.operators import op
from onnxsmith.errors import ShapeError
from onnxsmith.numpy.arguments import ArrayLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import axis_of
from onnxsmith.numpy.cached_calls import cached_call
from onnxsmith.numpy.conversions import array_from, array_of, tensor_of, tensors_of
from onnxsmith.numpy.outputs import of_places
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import require, require_at_least
from onnxsmith.numpy.sharing import detached
from onnxsmith.numpy.sorting import flat
from onnxsmith.types.dtypes import DType


@recorded()
def _place(x: Array, axis: int | None, keepdims: bool, is_max: bool, ignores_nan: bool) -> Array:
    field = tensors_of(x)
    axes = list(range(x.ndim)) if axis is None else [axis]
    rows = field.map(reductions.collected, axes)
    along = values.rank_of(rows.re) - 1
    if ignores_nan and x.dtype.kind in "fc":
        dtype = values.dtype_of(rows.re)
        worst = values.as_tensor(extremes.lowest(dtype) if is_max else extremes.highest(dtype), dtype)
        instead = Field(worst, None if rows.im is None else worst)
        rows = where(rows.is_nan(), instead, rows)
    place = op.Squeeze(extremes.extreme_place(rows, along, is_max=is_max), [along])
    return array_from(reductions.with_axes(place, axes, keepdims))


def _found(
    a: ArrayLike, axis: object, out: Array | None, keepdims: bool, *, is_max: bool, ignores_nan: bool = False
) -> Array:
    x = array_of(a)
    along = None if axis is None else axis_of(axis, x.ndim) if x.ndim else _of_scalar(axis)
    if not x.is_symbolic:
        shape = x.shape
        if (0 in shape) if along is None else (shape[along] == 0):
            raise ShapeError("where there are no elements, there is no greatest or least one")
        if ignores_nan and x.dtype.kind in "fc":
            holes = np.isnan(np.asarray(x))
            if holes.all(axis=along).any():
                raise ShapeError("all elements are NaN, and there is no greatest or least one")
    else:
        _require_one(x, along, is_max=is_max, ignores_nan=ignores_nan)
    return of_places(_place(x, along, bool(keepdims), is_max, ignores_nan), out)


def _require_one(x: Array, axis: int | None, *, is_max: bool, ignores_nan: bool) -> None:
    """There is an element that counts, where only the model knows."""
    empty = ValueError(f"attempt to get {'argmax' if is_max else 'argmin'} of an empty sequence")
    for each in range(x.ndim) if axis is None else [axis]:
        require_at_least(x.shape[each], 1, empty)
    if ignores_nan and x.dtype.kind in "fc":
        axes = tuple(range(x.ndim)) if axis is None else (axis,)
        require(
            lambda: reductions.any_true(~tensors_of(x).is_nan(), axes, False),
            ValueError("All-NaN slice encountered"),
        )


def _of_scalar(axis: object) -> None:
    """The axis of a scalar: numpy takes 0 and -1 for the one that there would be."""
    axis_of(axis, 1)


@public("argmax")
@cached_call()
def argmax(
    a: ArrayLike, axis: int | None = None, out: Array | None = None, *, keepdims: bool = False
) -> Array:
    """Where the first greatest element stands along an axis, or among all; NaN is greater than everything.

    >>> import onnxsmith.numpy as xp
    >>> xp.argmax(xp.asarray([[1, 5], [7, 4]]), axis=1)
    Array([1, 0])
    """
    return _found(a, axis, out, keepdims, is_max=True)


@public("argmin")
@cached_call()
def argmin(
    a: ArrayLike, axis: int | None = None, out: Array | None = None, *, keepdims: bool = False
) -> Array:
    """Where the first least element stands along an axis, or among all; NaN is less than everything.

    >>> import onnxsmith.numpy as xp
    >>> xp.argmin(xp.asarray([[1, 5], [7, 4]]))
    Array(0)
    """
    return _found(a, axis, out, keepdims, is_max=False)


@public("nanargmax")
def nanargmax(
    a: ArrayLike, axis: int | None = None, out: Array | None = None, *, keepdims: bool = False
) -> Array:
    """Where the first greatest element stands, NaN left out.

    >>> import onnxsmith.numpy as xp
    >>> xp.nanargmax(xp.asarray([xp.nan, 3.0, 2.0]))
    Array(1)
    """
    return _found(a, axis, out, keepdims, is_max=True, ignores_nan=True)


@public("nanargmin")
def nanargmin(
    a: ArrayLike, axis: int | None = None, out: Array | None = None, *, keepdims: bool = False
) -> Array:
    """Where the first least element stands, NaN left out.

    >>> import onnxsmith.numpy as xp
    >>> xp.nanargmin(xp.asarray([xp.nan, 3.0, 2.0]))
    Array(2)
    """
    return _found(a, axis, out, keepdims, is_max=False, ignores_nan=True)


# -- what is not zero ------------------------------------------------------------------------------------


@recorded()
def _nonzero(x: Array) -> tuple[Array, ...]:
    is_true = tensor_of(x) if x.dtype.kind == "b" else tensors_of(x).is_nonzero()
    places = op.NonZero(is_true)
    return tuple(array_from(op.Gather(places, np.int64(k), axis=0)) for k in range(x.ndim))


@public("nonzero")
@cached_call()
def nonzero(a: ArrayLike) -> tuple[Array, ...]:
    """Where elements are not zero: their places along each dimension.

    >>> import onnxsmith.numpy as xp
    >>> xp.nonzero(xp.asarray([[3, 0], [0, 4]]))
    (Array([0, 1]), Array([0, 1]))
    """
    x = array_of(a)
    if x.ndim == 0:
        raise ShapeError(
            "a scalar has no places that are not zero", help="xp.nonzero(xp.atleast_1d(x)), if that is meant"
        )
    if x.ndim == 1:
        return _nonzero(x)
    # numpy's are the columns of one array, and not side by side: `ravel` makes a copy of one.
    if not x.is_symbolic:
        places = _places(x)
        return tuple(places[:, k] for k in range(x.ndim))
    found = _nonzero(x)
    for each in found:
        each._is_plain = False
    return found


@recorded()
def _places(x: Array) -> Array:
    is_true = tensor_of(x) if x.dtype.kind == "b" else tensors_of(x).is_nonzero()
    if x.ndim:
        return array_from(op.Transpose(op.NonZero(is_true), perm=[1, 0]))
    count = op.Reshape(values.converted(is_true, DType.INT64), [1])
    return array_from(op.Expand(np.int64(0), op.Concat(count, np.array([0]), axis=0)))


@public("argwhere")
@cached_call()
def argwhere(a: ArrayLike) -> Array:
    """Where elements are not zero: a row for each.

    >>> import onnxsmith.numpy as xp
    >>> xp.argwhere(xp.asarray([[3, 0], [0, 4]]))
    Array([[0, 0],
           [1, 1]])
    """
    x = array_of(a)
    places = _places(x)
    # numpy's are the columns of an array of their own, transposed: `ravel` makes a copy of them.
    return places if x.ndim < 2 else detached(places, is_plain=False)


@public("flatnonzero")
@cached_call()
def flatnonzero(a: ArrayLike) -> Array:
    """Where elements are not zero, all counted in a row.

    >>> import onnxsmith.numpy as xp
    >>> xp.flatnonzero(xp.asarray([[0, 3], [0, 4]]))
    Array([1, 3])
    """
    return nonzero(flat(array_of(a)))[0]
