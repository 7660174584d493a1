"""Elements in another order or place: `flip`, `roll`, `rot90`, `delete`, `insert`, `diagonal`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.errors import AttributeValueError, ShapeError, TensorIndexError
from onnxsmith.numpy import sharing
from onnxsmith.numpy.arguments import ArrayLike, ShapeLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import Axes, axes_of, axis_of
from onnxsmith.numpy.conversions import array_from, array_of, tensors_of
from onnxsmith.numpy.ranges import counted
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import require_same
from onnxsmith.numpy.reshaping import moveaxis, reshape, transpose
from onnxsmith.numpy.sizes import Size, shape_of
from onnxsmith.types.dtypes import DType


@public("flip")
def flip(x: ArrayLike, /, axis: Axes = None) -> Array:
    """The elements in reverse order along axes, all unless they are named: a view.

    >>> import onnxsmith.numpy as xp
    >>> xp.flip(xp.asarray([1, 2, 3]))
    Array([3, 2, 1])
    """
    array = array_of(x)
    axes = axes_of(axis, array.ndim)
    return array[tuple(slice(None, None, -1) if k in axes else slice(None) for k in range(array.ndim))]


@public("fliplr")
def fliplr(x: ArrayLike) -> Array:
    """The columns in reverse order: a view.

    >>> import onnxsmith.numpy as xp
    >>> xp.fliplr(xp.asarray([[1, 2], [3, 4]]))
    Array([[2, 1],
           [4, 3]])
    """
    return flip(_of_rank(x, 2), 1)


@public("flipud")
def flipud(x: ArrayLike) -> Array:
    """The rows in reverse order: a view.

    >>> import onnxsmith.numpy as xp
    >>> xp.flipud(xp.asarray([[1, 2], [3, 4]]))
    Array([[3, 4],
           [1, 2]])
    """
    return flip(_of_rank(x, 1), 0)


def _of_rank(x: ArrayLike, rank: int) -> Array:
    array = array_of(x)
    if array.ndim < rank:
        raise ShapeError(f"the array has {array.ndim} dimensions, and {rank} are needed")
    return array


@public("rot90")
def rot90(x: ArrayLike, k: int = 1, axes: Sequence[int] = (0, 1)) -> Array:
    """Turned by a quarter, `k` times, in the plane of two axes: a view.

    >>> import onnxsmith.numpy as xp
    >>> xp.rot90(xp.asarray([[1, 2], [3, 4]]))
    Array([[2, 4],
           [1, 3]])
    """
    array = _of_rank(x, 2)
    first, second = axes_of(axes, array.ndim, "axes")
    turns = k % 4
    if turns == 0:
        return array[...]
    if turns == 2:
        return flip(array, (first, second))
    order = list(range(array.ndim))
    order[first], order[second] = second, first
    return transpose(flip(array, second), order) if turns == 1 else flip(transpose(array, order), second)


@public("roll")
def roll(x: ArrayLike, /, shift: ShapeLike, axis: Axes = None) -> Array:
    """The elements moved along axes; those that leave at one end come in at the other.

    >>> import onnxsmith.numpy as xp
    >>> xp.roll(xp.asarray([1, 2, 3]), 1)
    Array([3, 1, 2])
    """
    array = array_of(x)
    shifts = shape_of(shift, "shift")
    if axis is None:
        return reshape(_rolled(reshape(array, -1), sum(shifts), 0), array.shape)
    given = (axis,) if not isinstance(axis, Sequence) else axis
    axes = [axis_of(each, array.ndim) for each in given]
    if len(axes) != len(shifts):
        if 1 not in (len(axes), len(shifts)):
            raise AttributeValueError("there are as many shifts as axes", culprit=("attribute", "shift"))
        count = len(axes) if len(shifts) == 1 else len(shifts)
        axes, shifts = (axes * count)[:count], (shifts * count)[:count]
    if not array.ndim:
        raise ShapeError("a number has no axes to be moved along")
    for places, each in zip(shifts, axes, strict=True):
        array = _rolled(array, places, each)
    return array if axes else sharing.detached(array)


@recorded("places")
def _rolled(x: Array, places: Size, axis: int) -> Array:
    def of_tensor(part: Tensor) -> Tensor:
        size = values.cast(values.size_of(part, axis), DType.INT64)
        moved = counted(cast(Size, values.size_of(part, axis))) - values.cast(
            cast(values.Size, places), DType.INT64
        )
        # With an empty dimension there is no place to ask for, and no size to divide by.
        return op.Gather(part, op.Mod(moved, op.Max(size, np.int64(1))), axis=axis)

    return array_from(tensors_of(x).map(of_tensor))


# -- without some, with more -----------------------------------------------------------------------------


@public("delete")
def delete(x: ArrayLike, obj: ArrayLike, axis: int | None = None) -> Array:
    """An array without the elements that an index names along an axis.

    >>> import onnxsmith.numpy as xp
    >>> xp.delete(xp.asarray([1, 2, 3]), 1)
    Array([1, 3])
    """
    array = array_of(x)
    if axis is None:
        array, axis = reshape(array, -1), 0
    place = axis_of(axis, array.ndim)
    if isinstance(obj, bool | np.bool_) or (
        isinstance(obj, Array | np.ndarray) and obj.dtype.kind == "b" and obj.ndim != 1
    ):
        raise AttributeValueError(
            "a mask of what to leave out has one dimension", culprit=("attribute", "obj")
        )
    if isinstance(obj, list | tuple) and obj and all(isinstance(each, bool | np.bool_) for each in obj):
        obj = array_of(obj)
    size = array.shape[place]
    whole = np.ones(size, np.bool_) if isinstance(size, int) else None
    if whole is not None and not (isinstance(obj, Array) and obj.is_symbolic):
        chosen: Any = np.asarray(obj) if isinstance(obj, Array) else obj
        if isinstance(chosen, list | tuple):
            chosen = np.asarray(cast("list[int]", chosen))
            chosen = chosen.astype(np.int64) if chosen.size == 0 else chosen
        try:
            whole[chosen] = False
        except IndexError as error:
            raise TensorIndexError(
                f"{obj!r} names an element that a dimension of size {size} does not have"
            ) from error
        return array[(*(slice(None),) * place, whole)]
    if isinstance(obj, Array) and obj.dtype.kind == "b" and obj.ndim == 1:
        said = "boolean array argument obj to delete must be one dimensional and match the axis length"
        require_same(obj.shape[0], cast(Size, size), ValueError(said))
    keep = Array(cast(Any, op.Expand(np.array([True]), values.int64s([cast(values.Size, size)]))))
    keep[cast(Any, obj)] = False
    return array[(*(slice(None),) * place, keep)]


# -- diagonals -------------------------------------------------------------------------------------------


@recorded("offset")
def _diagonal(x: Array, offset: Size) -> Array:
    """The diagonal of the last two dimensions: places that both indices have."""

    def of_tensor(part: Tensor) -> Tensor:
        rank = values.rank_of(part)
        rows, columns = (
            values.cast(values.size_of(part, axis), DType.INT64) for axis in (rank - 2, rank - 1)
        )
        shift = values.cast(cast(values.Size, offset), DType.INT64)
        below = op.Max(op.Neg(shift), 0)
        right = op.Max(shift, np.int64(0))
        count = op.Max(op.Min(op.Sub(rows, below), op.Sub(columns, right)), 0)
        index = counted(cast(Size, count.as_number()))
        flat = (index + below) * columns + (index + right)
        ahead = [values.size_of(part, axis) for axis in range(rank - 2)]
        merged = op.Reshape(
            part,
            values.int64s([*ahead, values.size_of(part, rank - 2) * values.size_of(part, rank - 1)]),
            allowzero=1,
        )
        return op.Gather(merged, flat, axis=rank - 2)

    return array_from(tensors_of(x).map(of_tensor))


@public("diagonal")
def diagonal(x: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The diagonals of the matrices in two dimensions; a view that cannot be written to, as numpy's.

    >>> import onnxsmith.numpy as xp
    >>> xp.diagonal(xp.asarray([[1, 2], [3, 4]]))
    Array([1, 4])
    """
    array = _of_rank(x, 2)
    first, second = axis_of(axis1, array.ndim, "axis1"), axis_of(axis2, array.ndim, "axis2")
    if first == second:
        raise AttributeValueError("a diagonal is in two different dimensions")
    made = sharing.view(
        moveaxis(array, (first, second), (-2, -1)),
        lambda base: _diagonal(base, offset),
        lambda base, part: base,  # it is never written to
        lambda layout: layout.diagonal(offset, -2, -1),
        is_plain=False,
    )
    made.lock("it is a diagonal")
    return made


@public("linalg.diagonal")
def matrix_diagonal(x: ArrayLike, /, *, offset: int = 0) -> Array:
    """The diagonals of the matrices in the last two dimensions.

    >>> import onnxsmith.numpy as xp
    >>> xp.linalg.diagonal(xp.asarray([[1, 2], [3, 4]]))
    Array([1, 4])
    """
    return diagonal(x, offset, -2, -1)


@recorded("k")
def _diagonal_matrix(x: Array, k: Size) -> Array:
    def of_tensor(part: Tensor) -> Tensor:
        shift = values.cast(cast(values.Size, k), DType.INT64)
        size = values.cast(values.size_of(part, 0), DType.INT64)
        side = cast(Size, op.Add(size, op.Abs(shift)).as_number())
        row, column = op.Unsqueeze(counted(side), [1]), op.Unsqueeze(counted(side), [0])
        on_it = op.Equal(row + shift, column)
        # Outside the diagonal any element will do: it is not taken.
        padded = op.Concat(part, values.like(0, part).reshape(1), axis=0)
        place = op.Clip(column - op.Max(shift, np.int64(0)), np.int64(0), size)
        taken = op.Gather(padded, op.Expand(place, op.Shape(on_it)), axis=0)
        return op.Where(on_it, taken, values.like(0, part))

    return array_from(tensors_of(x).map(of_tensor))


@public("diag")
def diag(v: ArrayLike, k: int = 0) -> Array:
    """The diagonal of a matrix, or the matrix with a diagonal.

    >>> import onnxsmith.numpy as xp
    >>> xp.diag(xp.asarray([1, 2]))
    Array([[1, 0],
           [0, 2]])
    """
    array = array_of(v)
    if array.ndim == 2:
        return diagonal(array, k)
    if array.ndim != 1:
        raise ShapeError(f"a vector or a matrix is needed, not {array.ndim} dimensions")
    return _diagonal_matrix(array, k)


@public("diagflat")
def diagflat(v: ArrayLike, k: int = 0) -> Array:
    """The matrix with all elements on a diagonal.

    >>> import onnxsmith.numpy as xp
    >>> xp.diagflat([[1, 2]])
    Array([[1, 0],
           [0, 2]])
    """
    return diag(reshape(v, -1), k)
