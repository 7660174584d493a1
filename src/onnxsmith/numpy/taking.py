"""Elements at places that arrays name: `take`, `take_along_axis`, `put_along_axis`, `put`."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.errors import InputTypeError, ShapeError, TensorIndexError
from onnxsmith.numpy import index_bounds, reads, sharing
from onnxsmith.numpy.arguments import ArrayLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import axis_of
from onnxsmith.numpy.choosing import check_mode, row_or_axis
from onnxsmith.numpy.conversions import array_from, array_of, constant_of, tensor_of, tensors_of
from onnxsmith.numpy.outputs import of_places
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import require, require_known, require_same, require_together
from onnxsmith.numpy.reshaping import broadcast_sizes
from onnxsmith.numpy.sizes import Size, is_known, is_surely_same, sized
from onnxsmith.numpy.sorting import flat, flattened
from onnxsmith.types.dtypes import DType


def _index(indices: ArrayLike, name: str = "indices") -> Array:
    index = array_of(indices)
    if index.dtype.kind == "f" and not index.is_symbolic and 0 in index.shape:
        return Array(np.zeros(index.shape, np.int64))  # an empty list has no element type of its own
    if index.dtype.kind not in "iub":
        raise InputTypeError(f"{name} is of integers, not of {index.dtype.name}")
    return index


def _check_bounds(index: Array, x: Array, axis: int) -> None:
    """Refuse places outside of an axis, where all is known; a runtime would name a node that nobody wrote."""
    if index.is_symbolic or x.is_symbolic:
        if index_bounds.are_noted() or reads.is_noted_read():
            index_bounds.note_place(x.shape[axis], index, axis)
        return
    known, size = np.asarray(index), x.shape[axis]
    wrong = known[(known < -size) | (known >= size)] if known.dtype.kind != "b" else known[:0]
    if wrong.size:
        raise TensorIndexError(f"index {wrong[0]} is out of bounds for axis {axis}, which has size {size}")


def _placed(index: Tensor, length: values.Size, mode: str) -> Tensor:
    """Places as INT64, within bounds unless they are to be refused."""
    place = values.converted(index, DType.INT64)
    if mode == "raise":
        return place
    size = values.as_tensor(length, DType.INT64)
    if mode == "wrap":
        # No place at all may be taken from an axis without elements; any other is then out of bounds.
        is_positive = isinstance(length, int) and length > 0
        return op.Mod(place, size if is_positive else op.Max(size, np.int64(1)))
    return op.Min(op.Max(place, 0), size - 1)


@recorded()
def _taken(x: Array, index: Array, axis: int, mode: str) -> Array:
    field = tensors_of(x)
    place = _placed(tensor_of(index), values.size_of(field.re, axis), mode)
    return array_from(field.map(op.Gather, place, axis=axis))


@public("take")
def take(
    a: ArrayLike,
    indices: ArrayLike,
    /,
    axis: int | None = None,
    out: Array | None = None,
    mode: str = "raise",
) -> Array:
    """The slices along an axis at some places; elements of all in a row for None.

    >>> import onnxsmith.numpy as xp
    >>> xp.take(xp.asarray([[1, 2], [3, 4]]), xp.asarray([1, 0]), axis=1)
    Array([[2, 1],
           [4, 3]])
    """
    index = _index(indices)
    check_mode(mode)
    x, along = row_or_axis(array_of(a), axis)
    if mode == "raise":
        _check_bounds(index, x, along)
        return of_places(reads.marked(_taken(x, index, along, mode)), out)
    if not x.is_symbolic and x.shape[along] == 0 and (index.is_symbolic or index.size):
        raise TensorIndexError("nothing can be taken from an axis without elements")
    return of_places(_taken(x, index, along, mode), out)


# -- along an axis ---------------------------------------------------------------------------------------


def _together(part: Tensor, place: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """A tensor and places along one of its axes, the other dimensions broadcast."""
    rank = values.rank_of(part)
    mine, theirs = op.Shape(part), op.Shape(place)
    shape = op.Where(op.Equal(mine, np.int64(1)), theirs, mine)
    is_axis = np.arange(rank) == axis
    return (
        op.Expand(part, op.Where(is_axis, mine, shape)),
        op.Expand(place, op.Where(is_axis, theirs, shape)),
    )


@recorded()
def _taken_along(x: Array, index: Array, axis: int, is_same: bool) -> Array:
    place = values.converted(tensor_of(index), DType.INT64)

    def of_part(part: Tensor) -> Tensor:
        whole, where = (part, place) if is_same else _together(part, place, axis)
        return op.GatherElements(whole, where, axis=axis)

    return array_from(tensors_of(x).map(of_part))


def _pairs_across(x: Array, index: Array, axis: int) -> list[tuple[Size, Size]]:
    """Sizes of an array and of indices along all dimensions but one."""
    return [(a, b) for k, (a, b) in enumerate(zip(x.shape, index.shape, strict=True)) if k != axis]


def _check_across(x: Array, index: Array, axis: int) -> bool:
    """Refuse shapes that do not go together; whether the others are the same already."""
    if index.ndim != x.ndim:
        raise ShapeError(f"indices have {index.ndim} dimensions, and the array {x.ndim}")
    pairs = _pairs_across(x, index, axis)
    known = [(a, b) for a, b in pairs if isinstance(a, int) and isinstance(b, int)]
    for a, b in known:
        if a != b and 1 not in (a, b):
            raise TensorIndexError(f"indices of shape {index.shape} do not fit an array of shape {x.shape}")
    for a, b in pairs:
        require_together(a, b, IndexError("shape mismatch: the indices do not broadcast with the array"))
    return len(known) == len(pairs) and all(a == b for a, b in known)


def _check_bounds_along(x: Array, index: Array, axis: int) -> None:
    """Refuse places outside of an axis, unless there is surely no element across it."""
    if not any(0 in pair for pair in _pairs_across(x, index, axis) if all(isinstance(a, int) for a in pair)):
        _check_bounds(index, x, axis)


@public("take_along_axis")
def take_along_axis(arr: ArrayLike, indices: ArrayLike, /, axis: int | None = -1) -> Array:
    """Elements at places along an axis, for each place across it: what `argsort` gives brings them in order.

    >>> import onnxsmith.numpy as xp
    >>> xp.take_along_axis(xp.asarray([[1, 2], [3, 4]]), xp.asarray([[1], [0]]), axis=1)
    Array([[2],
           [3]])
    """
    index = _index(indices)
    if axis is None and index.ndim != 1:
        raise ShapeError("without an axis, indices have one dimension")
    x, along = flattened(array_of(arr), axis)
    is_same = _check_across(x, index, along)
    _check_bounds(index, x, along)
    return reads.marked(_taken_along(x, index, along, is_same))


def _filling(new: Array, x: Array, index: Array, axis: int) -> Array:
    """Values that broadcast to indices, which broadcast with the array across the axis; leading 1s are left out."""
    error = ValueError("shape mismatch: the values do not broadcast to the shape of the indices")
    more = max(new.ndim - index.ndim, 0)
    for size in new.shape[:more]:
        require_same(size, 1, error)
    new = new.reshape(new.shape[more:]) if more else new
    across = tuple(1 if k == axis else size for k, size in enumerate(x.shape))
    for sizes in zip(new.shape[::-1], across[::-1], index.shape[::-1], strict=False):
        _require_to_fill(*sizes, error)
    return new


def _require_to_fill(mine: Size, across: Size, places: Size, error: Exception) -> None:
    """A size broadcasts to what two others broadcast to."""
    wide = [each for each in (across, places) if not isinstance(each, int) or each != 1]
    if (isinstance(mine, int) and mine == 1) or (wide and all(is_surely_same(mine, each) for each in wide)):
        return
    if is_known((mine, *wide)):
        require_known(False, error)

    def fits() -> Tensor:
        wanted = broadcast_sizes([(across,), (places,)])[0]
        return op.Equal(sized(mine), np.int64(1)) | op.Equal(sized(mine), sized(wanted))

    require(fits, error)


@recorded()
def _put_along(x: Array, index: Array, new: Array, axis: int) -> Array:
    place = values.converted(tensor_of(index), DType.INT64)
    field, given = tensors_of(x), tensors_of(new)

    def of_part(part: Tensor, update: Tensor) -> Tensor:
        where = _together(part, place, axis)[1]
        return op.ScatterElements(part, where, op.Expand(update, op.Shape(where)), axis=axis)

    if field.im is None or given.im is None:
        return array_from(of_part(field.re, given.re))
    return array_from(Field(of_part(field.re, given.re), of_part(field.im, given.im)))


@public("put_along_axis")
def put_along_axis(arr: Array, indices: ArrayLike, values: ArrayLike, axis: int | None) -> None:
    """Write elements at places along an axis, in place.

    >>> import onnxsmith.numpy as xp
    >>> x = xp.asarray([[1, 2], [3, 4]])
    >>> xp.put_along_axis(x, xp.asarray([[1], [0]]), 9, axis=1)
    >>> x
    Array([[1, 9],
           [9, 4]])
    """
    if not isinstance(arr, Array):  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
        raise InputTypeError(f"only an array of onnxsmith.numpy is written to, not {type(arr).__name__}")
    index, new = _index(indices), constant_of(values, arr.dtype)
    if axis is None:
        row = flat(sharing.detached(arr))
        _check_across(row, index, 0)
        new = _filling(new, row, index, 0)
        _check_bounds(index, row, 0)
        sharing.replace(arr, _shaped(_put_along(row, index, new, 0), sharing.detached(arr)))
        return
    along = axis_of(axis, arr.ndim)
    _check_across(arr, index, along)
    new = _filling(new, arr, index, along)
    _check_bounds_along(arr, index, along)
    if not index.is_symbolic and not index.size:
        return
    sharing.replace(arr, _put_along(sharing.detached(arr), index, new, along))


@recorded()
def _shaped(x: Array, like: Array) -> Array:
    shape = op.Shape(tensors_of(like).re)
    return array_from(tensors_of(x).map(op.Reshape, shape, allowzero=1))


@recorded()
def _put(x: Array, index: Array, new: Array, mode: str) -> Array:
    field, given = tensors_of(x), tensors_of(new)
    row = field.map(op.Reshape, [-1])
    place = op.Reshape(tensor_of(index), [-1])
    place = _placed(place, values.size_of(row.re, 0), mode)
    # Values are repeated as often as there are places.
    count = op.Max(op.Size(given.re), 1)
    which = op.Mod(op.Range(np.int64(0), op.Size(place), np.int64(1)), count)

    def of_part(part: Tensor, update: Tensor) -> Tensor:
        some = op.Gather(op.Reshape(update, [-1]), which)
        return op.ScatterElements(part, place, some, axis=0)

    shape = op.Shape(field.re)
    made = Field(
        of_part(row.re, given.re),
        None if row.im is None or given.im is None else of_part(row.im, given.im),
    )
    return array_from(made.map(op.Reshape, shape, allowzero=1))


@public("put")
def put(a: Array, ind: ArrayLike, v: ArrayLike, mode: str = "raise") -> None:
    """Write elements at places, all counted in a row, in place; the values are repeated if they are fewer.

    >>> import onnxsmith.numpy as xp
    >>> x = xp.asarray([1, 2, 3])
    >>> xp.put(x, [0, 2], [7, 8])
    >>> x
    Array([7, 2, 8])
    """
    if not isinstance(a, Array):  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
        raise InputTypeError(f"only an array of onnxsmith.numpy is written to, not {type(a).__name__}")
    index, new = _index(ind, "ind"), constant_of(v, a.dtype)
    check_mode(mode)
    if not a.is_symbolic and not a.size and (index.is_symbolic or index.size):
        raise TensorIndexError("an array without elements has none to be replaced")
    require(
        lambda: op.Greater(sized(a.size), 0) | op.Equal(sized(index.size), 0),
        IndexError("cannot replace elements of an empty array"),
    )
    if any(not each.is_symbolic and not each.size for each in (new, index)):
        return  # as numpy: nothing is written
    if mode == "raise":
        _check_bounds(index, flat(sharing.detached(a)), 0)
    sharing.replace(a, _put(sharing.detached(a), index, new, mode))
