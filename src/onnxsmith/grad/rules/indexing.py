"""Operators that pick elements by position, and those that put them there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Array
from onnxsmith.grad.broadcasting import as_type_of, filled_like
from onnxsmith.grad.operators import op
from onnxsmith.grad.scaling import chosen
from onnxsmith.grad.steps import Cotangents, Step, dtype_of, shape_of
from onnxsmith.grad.table import rule
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Shape


def size_along(x: Tensor, axis: int) -> Tensor:
    """One dimension of a tensor as a scalar."""
    part = op.Shape(x, start=axis) if axis == -1 else op.Shape(x, start=axis, end=axis + 1)
    return op.Squeeze(part, [0])


def placed_along(g: Tensor, places: Tensor, axis: int, x: Tensor) -> Tensor:
    """Zeros with the parts of `g` at places along an axis, each of which is named once at the most."""
    # For each place of the result where to take it from: a row of zeros behind all others, if from nowhere.
    count = op.Shape(places)
    nowhere = op.Expand(count, op.Shape(x, start=axis, end=axis + 1) if axis != -1 else op.Shape(x, start=-1))
    sources = op.ScatterElements(nowhere, places, op.Range(np.int64(0), op.Squeeze(count, [0]), np.int64(1)))
    shape = shape_of(x)
    assert shape is not None  # its rank has been asked for
    position = axis % len(shape)
    ends = np.zeros(2 * len(shape), np.int64)
    ends[len(shape) + position] = 1
    return op.Gather(op.Pad(g, ends), sources, axis=position)


@rule("Gather")
def gather(step: Step, g: Tensor) -> Cotangents:
    x, indices = step.input(0), step.input(1)
    rank, depth = step.rank(0), step.rank(1)
    axis = step.integer("axis") % rank
    order = [*range(axis, axis + depth), *range(axis), *range(axis + depth, rank + depth - 1)]
    updates = g if axis == 0 else op.Transpose(g, perm=order)
    zeros = filled_like(x, 0.0)
    front = [axis, *(k for k in range(rank) if k != axis)]
    target = zeros if axis == 0 else op.Transpose(zeros, perm=front)
    made = op.ScatterND(target, op.Unsqueeze(as_int64(indices), [-1]), updates, reduction="add")
    if axis:
        made = op.Transpose(made, perm=[int(each) for each in np.argsort(front)])
    return (as_type_of(made, x),)


def as_int64(indices: Tensor) -> Tensor:
    """Positions in the type that all operators take."""
    return indices if indices.dtype == np.int64 else op.Cast(indices, to=DType.INT64)


@rule("GatherElements")
def gather_elements(step: Step, g: Tensor) -> Cotangents:
    x, axis = step.input(0), step.integer("axis")
    zeros = filled_like(x, 0.0)
    return (as_type_of(op.ScatterElements(zeros, step.input(1), g, axis=axis, reduction="add"), x),)


@rule("GatherND")
def gather_parts(step: Step, g: Tensor) -> Cotangents:
    x = step.input(0)
    indices = _with_batches(step, step.integer("batch_dims"))
    return (as_type_of(op.ScatterND(filled_like(x, 0.0), indices, g, reduction="add"), x),)


def _with_batches(step: Step, batches: int) -> Tensor:
    """The indices of a GatherND with those of the batch in front of them."""
    indices = step.input(1)
    if not batches:
        return indices
    rank = step.rank(1)
    sizes = op.Concat(op.Shape(indices, start=0, end=rank - 1), np.array([1]), axis=0)
    columns: list[Tensor] = []
    for axis in range(batches):
        places = op.Range(np.int64(0), size_along(indices, axis), np.int64(1))
        column = op.Reshape(places, [-1 if k == axis else 1 for k in range(rank)])
        columns.append(op.Expand(column, sizes))
    return op.Concat(*columns, indices, axis=-1)


@dataclass(frozen=True, slots=True)
class _Places:
    """Where a scatter puts its updates: along an axis, or by whole indices where that is None."""

    indices: Tensor
    axis: int | None

    def put(self, x: Tensor, updates: Tensor, how: str = "none") -> Tensor:
        """A tensor with updates at the places."""
        if self.axis is None:
            return op.ScatterND(x, self.indices, updates, reduction=how)
        return op.ScatterElements(x, self.indices, updates, axis=self.axis, reduction=how)

    def take(self, x: Tensor) -> Tensor:
        """The elements at the places."""
        if self.axis is None:
            return op.GatherND(x, self.indices)
        return op.GatherElements(x, self.indices, axis=self.axis)


@rule("ScatterElements", "ScatterND")
def scatter(step: Step, g: Tensor) -> Cotangents:
    x, updates, y = step.input(0), step.input(2), step.output()
    places = _Places(step.input(1), step.integer("axis") if step.name == "ScatterElements" else None)
    how = step.text("reduction", "none")
    if how == "none":
        return (
            lambda: places.put(g, filled_like(updates, 0.0)),
            None,
            lambda: _of_last_written(step, places, places.take(g), x, updates),
        )
    if how == "add":
        return g, None, lambda: places.take(g)
    if how == "mul":
        return (
            lambda: g * places.put(filled_like(x, 1.0), updates, "mul"),
            None,
            lambda: places.take(g * x) * _product_of_others(places, x, updates),
        )
    is_kept = op.Equal(x, y)
    is_hit = op.Equal(updates, places.take(y))
    hits = places.put(filled_like(x, 0.0), op.Cast(is_hit, to=dtype_of(g)), "add")
    # Equal elements share, as those of a maximum do.
    share = g / op.Max(op.Cast(is_kept, to=dtype_of(g)) + hits, 1.0)
    return chosen(is_kept, share), None, lambda: chosen(is_hit, places.take(share))


def _of_last_written(step: Step, places: _Places, taken: Tensor, x: Tensor, updates: Tensor) -> Tensor:
    """The cotangents of updates, zero for those that another one has written over.

    Which is the last one is the runtime's choice: the numbers of the updates are put in the same way, and asked for.
    """
    if _is_one(shape_of(places.indices), places.axis) or _are_apart(step.content(1), places.axis):
        return taken
    shape = _leading(places, updates)
    count = op.ReduceProd(shape, keepdims=0)
    numbers = op.Reshape(op.Range(np.int64(0), count, np.int64(1)), shape, allowzero=1)
    whole = op.Shape(x)
    if places.axis is None:
        width = op.Squeeze(op.Shape(places.indices, start=-1), [0])
        whole = op.Slice(whole, np.array([0]), op.Unsqueeze(width, [0]))
    nobody = op.Expand(np.int64(-1), whole)
    is_last = op.Equal(places.take(places.put(nobody, numbers)), numbers)
    missing = step.rank(2) - (step.rank(1) - 1) if places.axis is None else 0
    if missing:
        is_last = op.Unsqueeze(is_last, np.arange(-missing, 0))
    return as_type_of(chosen(is_last, taken), updates)


def _leading(places: _Places, updates: Tensor) -> Tensor:
    """The shape of what is put as a whole: single elements, or slices."""
    return op.Shape(updates) if places.axis is not None else op.Shape(places.indices, end=-1)


def _is_one(shape: Shape | None, axis: int | None) -> bool:
    """True if there is only one update, so that no place is named twice."""
    if not shape:
        return False
    return shape[axis] == 1 if axis is not None else all(each == 1 for each in shape[:-1])


def _are_apart(indices: Array | None, axis: int | None) -> bool:
    """True if places are known, and none is named twice."""
    if indices is None or not indices.size or (indices < 0).any():
        return False
    if axis is None:
        rows = indices.reshape(-1, indices.shape[-1])
        return len(np.unique(rows, axis=0)) == len(rows)
    ordered = np.sort(indices, axis=axis)
    return not (np.diff(ordered, axis=axis) == 0).any()


def _product_of_others(places: _Places, x: Tensor, updates: Tensor) -> Tensor:
    """For each update the product of all others at its place: zeros are counted, so that nothing is divided by one."""
    is_zero = op.Equal(updates, 0.0)
    plain = op.Where(is_zero, 1.0, updates)
    product = places.take(places.put(filled_like(x, 1.0), plain, "mul"))
    zeros = op.Cast(is_zero, to=dtype_of(updates))
    others = places.take(places.put(filled_like(x, 0.0), zeros, "add")) - zeros
    return chosen(op.Equal(others, 0.0), product / plain)


# -- slices and padding --------------------------------------------------------------------------------------


@rule("Slice")
def slice_(step: Step, g: Tensor) -> Cotangents:
    x, rank = step.input(), step.rank()
    starts, given, steps = (step.content(k) for k in (1, 3, 4))
    has_steps = step.has(4) and (steps is None or any(int(each) != 1 for each in steps))
    axes = _axes_of_slice(step, rank, given)
    if has_steps:
        return (_by_places(step, g) if axes is None else _spread(step, g, axes),)
    pads = None if starts is None or axes is None else _known_pads(x, g, axes, [int(each) for each in starts])
    if pads is not None:
        return (as_type_of(op.Pad(g, pads), x),)
    return (_between_zeros(step, g, step.input(3) if axes is None else np.array(axes, np.int64)),)


def _axes_of_slice(step: Step, rank: int, given: Array | None) -> list[int] | None:
    """The axes that are cut, counted from the front; None where only the model knows them."""
    if given is not None:
        return [int(each) % rank for each in given]
    if step.has(3):
        return None
    shape = shape_of(step.input(1))
    return list(range(shape[0])) if shape and isinstance(shape[0], int) else None


def _known_pads(x: Tensor, g: Tensor, axes: list[int], starts: list[int]) -> Array | None:
    """How many zeros stand before and behind a slice; None where sizes are open."""
    whole, part = shape_of(x), shape_of(g)
    assert whole is not None  # its rank has been asked for
    pads = np.zeros(2 * len(whole), np.int64)
    for axis, start in zip(axes, starts, strict=True):
        size, length = whole[axis], None if part is None else part[axis]
        if not isinstance(size, int) or not isinstance(length, int):
            return None
        begin = min(max(start + size if start < 0 else start, 0), size)
        pads[axis] = begin
        pads[len(whole) + axis] = size - begin - length
    return pads


def _between_zeros(step: Step, g: Tensor, axes: Tensor | Array) -> Tensor:
    """The cotangent of a slice without steps whose bounds only the model knows."""
    x, starts = step.input(0), as_int64(step.input(1))
    sizes, lengths = op.Gather(op.Shape(x), axes), op.Gather(op.Shape(g), axes)
    first = op.Where(starts < 0, starts + sizes, starts)
    begin = op.Min(op.Max(first, np.int64(0)), sizes)
    pads = op.Concat(begin, sizes - begin - lengths, axis=0)
    return as_type_of(op.Pad(g, pads, None, axes), x)


def _spread(step: Step, g: Tensor, axes: list[int]) -> Tensor:
    """The cotangent of a slice with steps: each axis is put back to its places, one after the other."""
    x = step.input(0)
    bounds = [step.input(k) for k in (1, 2, 4)]
    for k, axis in enumerate(axes):
        start, end, stride = (op.Slice(each, [k], [k + 1]) for each in bounds)
        everything = op.Range(np.int64(0), size_along(x, axis), np.int64(1))
        g = placed_along(g, op.Slice(everything, start, end, _like(start, [0]), stride), axis, x)
    return as_type_of(g, x)


def _like(bound: Tensor, numbers: list[int]) -> Array:
    """Integers in the type of a bound: all that cut a slice have one."""
    return np.array(numbers, np.int32 if bound.dtype == np.int32 else np.int64)


def _by_places(step: Step, g: Tensor) -> Tensor:
    """The cotangent of a slice of which nothing is known: the places of all elements are sliced likewise."""
    x = step.input(0)
    places = op.Slice(_places_of(x), *(step.input(k) for k in (1, 2, 3, 4)))
    return _put_back(x, places, g)


def _places_of(x: Tensor) -> Tensor:
    """The place of each element in a row of all."""
    return op.Reshape(op.Range(np.int64(0), op.Size(x), np.int64(1)), op.Shape(x), allowzero=1)


def _put_back(x: Tensor, places: Tensor, g: Tensor, **how: str) -> Tensor:
    """Zeros in the shape of x, and cotangents in their places in a row of all elements."""
    flat = filled_like(op.Reshape(x, [-1]), 0.0)
    made = op.ScatterElements(flat, op.Reshape(places, [-1]), op.Reshape(g, [-1]), **how)
    return as_type_of(op.Reshape(made, op.Shape(x), allowzero=1), x)


@rule("Pad")
def pad(step: Step, g: Tensor) -> Cotangents:
    mode = step.text("mode", "constant")
    x, pads = step.input(0), step.input(1)
    if mode != "constant":
        return (_folded(step, g, mode),)
    inside = op.Pad(g, op.Neg(pads), None, step.optional(3))

    def of_value() -> Tensor:
        total = op.ReduceSum(g, keepdims=0) - op.ReduceSum(inside, keepdims=0)
        return op.Reshape(total, op.Shape(step.input(2)))

    return as_type_of(inside, x), None, of_value


def _folded(step: Step, g: Tensor, mode: str) -> Tensor:
    """The cotangent of padding with elements of the tensor: they are added up where they come from."""
    x = step.input(0)
    places = op.Pad(_places_of(x), step.input(1), None, step.optional(3), mode=mode)
    return _put_back(x, places, g, reduction="add")


# -- choices -------------------------------------------------------------------------------------------------


@rule("Compress")
def compress(step: Step, g: Tensor) -> Cotangents:
    x, condition = step.input(0), step.input(1)
    places = op.Reshape(op.NonZero(condition), [-1])
    axis = step.attribute("axis")
    if axis is None:
        flat = op.Reshape(x, [-1])
        return (as_type_of(op.Reshape(placed_along(g, places, 0, flat), op.Shape(x), allowzero=1), x),)
    return (as_type_of(placed_along(g, places, step.integer("axis") % step.rank(), x), x),)


@rule("TopK")
def greatest(step: Step, g: Tensor | None, _: Tensor | None) -> Cotangents:
    x = step.input()
    axis = step.integer("axis", -1)
    if g is None:
        return ()
    return (as_type_of(op.ScatterElements(filled_like(x, 0.0), step.output(1), g, axis=axis), x),)
