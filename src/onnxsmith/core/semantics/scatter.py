"""Writing into a tensor, as ONNX does it: a new one by `Concat` or `ScatterND`, or a choice between two by `Where`.

Takes a parsed subscript; what users write is in `updates`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np

from onnxsmith.core import portable
from onnxsmith.core.demands import is_noted
from onnxsmith.core.operands import dtype_of, is_array, is_static, rank_of, shape_of
from onnxsmith.core.operator_protocols import StandardOperators
from onnxsmith.core.semantics import arithmetic, dimensions, indexing
from onnxsmith.core.semantics.index_arrays import check_mask, demand_fit, merge_axes, stacked
from onnxsmith.core.semantics.index_items import (
    FULL,
    Indices,
    Item,
    Mask,
    NewAxis,
    Position,
    Range,
    consumed,
)
from onnxsmith.core.semantics.index_slices import check_position
from onnxsmith.core.value import Array, Operand, Size, TensorOrArray, TensorValue
from onnxsmith.errors import OperatorNotInOpsetError, ShapeError, TensorIndexError
from onnxsmith.schema.inference import symbolic
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension, Shape, describe_shape

Reduction: TypeAlias = Literal["none", "add", "mul", "min", "max"]

#: A scalar repeated this often is a constant; more, and the model repeats it. So it is with places.
_CONSTANT_ELEMENTS = 256


def write(
    op: StandardOperators, x: TensorValue, items: list[Item], value: Operand, reduction: Reduction
) -> TensorValue:
    """`x` with `value` at the place that one item for every dimension names, alone or combined with what is there."""
    shape = cast("Shape", shape_of(x))
    _check_items(items, shape)
    if (chosen := _by_choice(op, x, items, value, reduction)) is not None:
        return chosen
    cut = next((position + 1 for position in reversed(range(len(items))) if items[position] is not FULL), 0)
    indexed, axes = items[:cut], sum(map(consumed, items[:cut]))
    if not indexed:
        new = value if reduction == "none" else _COMBINE[reduction](op, x, value)
        may_grow = _may_exceed(shape_of(new), shape)
        new = _broadcast(op, new, shape, lambda: dimensions_tensor(op, x, 0))
        if new is None:
            return x
        made = _as_tensor(op, new, x)
        # A tensor is never broadcast to the value that is written to it: with more elements, the model fails.
        return portable.reshape(op, made, dimensions_tensor(op, x, 0)) if may_grow else made
    if reduction == "none" and (joined := _by_joining(op, x, items, value)) is not None:
        return joined
    if reduction != "none" and not _can_reduce(op, reduction):
        if not _is_unique(indexed, shape[:axes]):
            raise OperatorNotInOpsetError(
                f"an update that may name a place twice needs ScatterND with reduction={reduction!r}, "
                f"which opset {op.version} does not have",
                help="use opset 18 or later",
            )
        there = indexing.get_items(x, items)
        return write(op, x, items, _COMBINE[reduction](op, there, value), "none")
    if reduction != "none" and (dtype := dtype_of(x)) in (DType.FLOAT16, DType.BFLOAT16):
        # ONNX Runtime's ScatterND does not combine half floats.
        wide = value.astype(np.float32) if is_array(value) else op.Cast(value, to=DType.FLOAT)
        return op.Cast(_scatter(op, op.Cast(x, to=DType.FLOAT), indexed, axes, wide, reduction), to=dtype)
    return _scatter(op, x, indexed, axes, value, reduction)


def _as_tensor(op: StandardOperators, value: Operand, like: TensorValue) -> TensorValue:
    """A value that takes the place of a whole tensor: an array in its stead would go on computing by numpy's rules."""
    if isinstance(value, TensorValue):
        return value
    if not like.is_symbolic:
        return op.Expand(value, op.Shape(like))  # an operator on a running tensor gives one
    return portable.cast_like(op, value, like) if dtype_of(value, like) is None else op.Identity(value)


def _check_items(items: Sequence[Item], shape: Shape) -> None:
    axis = 0
    for item in items:
        if isinstance(item, Position):
            check_position(item.number, axis, shape[axis])
        elif isinstance(item, Mask):
            check_mask(item, axis, shape)
        axis += consumed(item)


_COMBINE: dict[str, Callable[[StandardOperators, Operand, Operand], TensorValue]] = {
    "add": lambda op, a, b: arithmetic.add(a, b),
    "mul": lambda op, a, b: arithmetic.multiply(a, b),
    "min": lambda op, a, b: op.Min(a, b),
    "max": lambda op, a, b: op.Max(a, b),
}


def _by_choice(
    op: StandardOperators, x: TensorValue, items: Sequence[Item], value: Operand, reduction: Reduction
) -> TensorValue | None:
    """A scalar where a mask is true is a choice between two tensors; None when it is not that."""
    rank = cast(int, rank_of(x))
    mask = items[0] if items else None
    if not isinstance(mask, Mask) or not mask.shape or rank_of(value) != 0:
        return None
    if any(each is not FULL for each in items[1:]):
        return None
    missing = rank - len(mask.shape)
    condition = mask.value
    if missing:
        axes = range(len(mask.shape), rank)
        condition = (
            condition.reshape(*condition.shape, *(1,) * missing)
            if is_array(condition)
            else portable.unsqueeze(op, condition, tuple(axes))
        )
    new = value if reduction == "none" else _COMBINE[reduction](op, x, value)
    if dtype_of(x) is DType.BOOL:  # ONNX Runtime's Where does not choose truth values
        return op.Or(op.And(condition, new), op.And(op.Not(condition), x))
    return op.Where(condition, new, x)


# -- between what stays ----------------------------------------------------------------------------------


class _Cut(NamedTuple):
    """Where a part of an axis lies: what stays before it, and what stays after it and is taken in two steps."""

    before: Range | None
    after: tuple[Range, ...]


def _by_joining(
    op: StandardOperators, x: TensorValue, items: Sequence[Item], value: Operand
) -> TensorValue | None:
    """Slices without steps are written by joining what stays with what is new; None where that is not it.

    `ScatterND` wants each place as a number, and copies element by element.
    """
    shape = cast("Shape", shape_of(x))
    axis = next((each for each, item in enumerate(items) if item is not FULL), 0)
    if not all(isinstance(each, Range) for each in items) or _is_small(items, shape):
        return None
    cuts = [_cut(cast(Range, item), size) for item, size in zip(items, shape, strict=True)]
    cut = cuts[axis]
    if cut is None or None in cuts:
        return None

    def part(item: Item, of: TensorValue = x) -> TensorValue:
        return indexing.get_items(of, [item if each == axis else FULL for each in range(len(items))])

    there = part(items[axis])
    new = write(op, there, [FULL if each == axis else item for each, item in enumerate(items)], value, "none")
    pieces = [] if cut.before is None else [part(cut.before)]
    pieces.append(new)
    if cut.after:
        rest = x
        for item in cut.after:
            rest = part(item, rest)
        pieces.append(rest)
    if len(pieces) == 1:
        return new
    made = op.Concat(*pieces, axis=axis)
    own = shape_of(made)
    if own is not None and all(symbolic.is_same(a, b) for a, b in zip(own, shape, strict=True)):
        return made
    return portable.reshape(op, made, dimensions_tensor(op, x, 0), keeps_zero=True)


def _is_small(items: Sequence[Item], shape: Shape) -> bool:
    """True if the places are known and few, so that a constant names them."""
    cut = next((each + 1 for each in reversed(range(len(items))) if items[each] is not FULL), 0)
    places = _static_count(items[:cut], shape[:cut])
    return places is not None and places <= _CONSTANT_ELEMENTS


def _static_count(items: Sequence[Item], shape: Shape) -> int | None:
    if not is_static(shape):
        return None
    count = 1
    for item, size in zip(items, shape, strict=True):
        bounds = (item.start, item.stop, item.step) if isinstance(item, Range) else (None,) * 3
        if any(isinstance(each, TensorValue) for each in bounds):
            return None
        count *= len(range(*slice(*bounds).indices(size)))
    return count


def _cut(item: Range, size: Dimension) -> _Cut | None:
    """The range that a slice leaves, for any size; None where no single rule gives it for all sizes."""
    start, stop = item.start, item.stop
    if item.step is not None and not (isinstance(item.step, int) and item.step == 1):
        return None
    is_known = all(each is None or isinstance(each, int) for each in (start, stop))
    if is_known and isinstance(size, int):
        start, stop, _ = slice(start, stop).indices(size)
        stop = None if max(start, stop) == size else max(start, stop)
    if isinstance(start, int) and start == 0:
        start = None
    before = None if start is None else Range(None, start)
    if stop is None:
        return _Cut(before, ())
    if start is None:
        return _Cut(before, (Range(stop, None),))
    if not isinstance(start, int) or not isinstance(stop, int):
        return None
    if (start < 0) == (stop < 0):
        return _Cut(before, (Range(max(start, stop), None),))
    # From the front to the end's: in a short axis the two may pass each other, and what stays does not come twice.
    return _Cut(before, (Range(start, None), Range(stop, None))) if start > 0 else None


def _can_reduce(op: StandardOperators, reduction: str) -> bool:
    attribute = op.ScatterND.definition.attributes.get("reduction")
    return attribute is not None and (attribute.choices is None or reduction in attribute.choices)


def _is_unique(indexed: Sequence[Item], shape: Shape) -> bool:
    if not any(isinstance(each, Indices) for each in indexed):
        return True
    places = _static_places(indexed, shape)
    return places is not None and np.unique(places).size == places.size


# -- where ---------------------------------------------------------------------------------------------


class _Target(NamedTuple):
    """Coordinates into the leading axes of `tensor`, and the shape that they name there."""

    tensor: TensorValue
    coordinates: TensorOrArray
    places: TensorOrArray | None  # an array or tensor whose shape is the indexed part of the result's


def _static_places(indexed: Sequence[Item], shape: Shape) -> Array | None:
    """The number of each place that is named, counted through the leading axes; None when it is not known now."""
    if not is_static(shape):
        return None
    parts: list[Any] = []
    for item in indexed:
        if isinstance(item, Position):
            parts.append(item.number)
        elif isinstance(item, Range):
            parts.append(slice(item.start, item.stop, item.step))
        elif isinstance(item, Indices | Mask):
            parts.append(item.value)
        else:
            parts.append(None if isinstance(item, NewAxis) else ...)
    if any(not isinstance(each, int | np.ndarray | None) for each in indexing.tensors_in(indexed)):
        return None
    sizes = shape
    try:
        return np.arange(int(np.prod(sizes)), dtype=np.int64).reshape(sizes)[tuple(parts)]
    except IndexError as error:  # numpy names the index, the dimension and its size
        raise TensorIndexError(str(error)) from None


def _scatter(
    op: StandardOperators,
    x: TensorValue,
    indexed: list[Item],
    axes: int,
    value: Operand,
    reduction: Reduction,
) -> TensorValue:
    shape = cast("Shape", shape_of(x))
    rest = shape[axes:]
    places = _static_places(indexed, shape[:axes])
    attributes = {} if reduction == "none" else {"reduction": reduction}
    if places is not None:
        named = places.shape
        updates = _broadcast(op, value, (*places.shape, *rest), lambda: _rest_tensor(op, named, x, axes))
        if updates is None:
            return x
        places, updates = _last_of_each(op, places, updates, rest, reduction)
        if axes:
            sizes = cast("tuple[int, ...]", shape[:axes])
            coordinates = np.stack(np.unravel_index(places, sizes), axis=-1) if places.size else None
            coordinates = np.zeros((*places.shape, axes), np.int64) if coordinates is None else coordinates
            return op.ScatterND(x, coordinates.astype(np.int64), updates, **attributes)
        return _squeezed(op, op.ScatterND(_merged(op, x, 0), places[..., np.newaxis], updates, **attributes))
    if all(isinstance(each, Position | Indices) for each in indexed):
        values = [
            each.number if isinstance(each, Position) else cast(Indices, each).value for each in indexed
        ]
        arrays = [np.array(each, np.int64) if isinstance(each, int) else each for each in values]
        coordinates = stacked(op, arrays)
        target = _Target(x, coordinates, None)
    else:
        target = _by_numbers(op, x, indexed, axes)
    there = cast("Shape", shape_of(target.coordinates))[:-1]
    updates = _broadcast(
        op, value, (*there, *rest), lambda: _rest_of_coordinates(op, target.coordinates, x, axes)
    )
    if updates is None:
        return x
    result = op.ScatterND(target.tensor, target.coordinates, updates, **attributes)
    if target.tensor is x:
        return result
    if axes == 0:
        return _squeezed(op, result)
    return portable.reshape(op, result, dimensions_tensor(op, x, 0), keeps_zero=True)


def _by_numbers(op: StandardOperators, x: TensorValue, indexed: list[Item], axes: int) -> _Target:
    """Number the places, index the numbers in the same way, and write into the tensor with its axes merged."""
    if axes == 0:
        numbers: TensorOrArray = np.zeros((), np.int64)
    elif axes == 1:
        numbers = _count(op, dimensions.dimension(x, 0))
    else:
        count = symbolic.product(cast("Shape", shape_of(x))[:axes])
        total = count if isinstance(count, int) else _product(op, portable.shape_part(op, x, 0, axes))
        shape = cast("Shape", shape_of(x))[:axes]
        sizes = portable.integers(shape) if is_static(shape) else None
        target = portable.shape_part(op, x, 0, axes) if sizes is None else sizes
        numbers = portable.reshape(op, _count(op, total), target, keeps_zero=sizes is None or 0 in sizes)
    places = indexing.get_items(numbers, indexed)
    merged = x if axes == 1 else _merged(op, x, axes)
    return _Target(merged, portable.unsqueeze(op, places, (-1,)), places)


def _count(op: StandardOperators, count: Size) -> TensorOrArray:
    zero, one = np.array(0, np.int64), np.array(1, np.int64)
    return np.arange(count) if isinstance(count, int) else op.Range(zero, count, one)


def _product(op: StandardOperators, sizes: TensorValue) -> TensorValue:
    return portable.reduce(op, "Prod", sizes, (0,), False)


def _merged(op: StandardOperators, x: TensorValue, axes: int) -> TensorValue:
    return portable.unsqueeze(op, x, (0,)) if axes == 0 else merge_axes(op, x, 0, axes)


def _squeezed(op: StandardOperators, x: TensorValue) -> TensorValue:
    return portable.squeeze(op, x, (0,))


# -- what ----------------------------------------------------------------------------------------------


def dimensions_tensor(op: StandardOperators, x: TensorValue, first: int) -> TensorOrArray:
    """The dimensions of a tensor from one on, as a 1-D tensor; an array when they are known."""
    shape = cast("Shape", shape_of(x))[first:]
    if is_static(shape):
        return portable.integers(shape)
    return portable.shape_part(op, x, first)


def _rest_tensor(op: StandardOperators, named: tuple[int, ...], x: TensorValue, axes: int) -> TensorValue:
    return op.Concat(portable.integers(named), dimensions_tensor(op, x, axes), axis=0)


def _rest_of_coordinates(
    op: StandardOperators, coordinates: TensorOrArray, x: TensorValue, axes: int
) -> TensorValue:
    named = portable.shape_part(op, coordinates, 0, -1)
    rank = cast(int, rank_of(x))
    return named if axes == rank else op.Concat(named, dimensions_tensor(op, x, axes), axis=0)


def _broadcast(
    op: StandardOperators, value: Operand, shape: Shape, shape_tensor: Callable[[], TensorOrArray]
) -> Operand | None:
    """A value in the shape of the place it goes to, as numpy's assignment does it; None where that holds nothing."""
    own = shape_of(value)
    if own is not None:
        own, value = _without_leading_ones(op, own, value, len(shape))
        _check_broadcast(own, shape)
        if 0 in shape:
            _demand_broadcast(op, value, own, shape, shape_tensor)
            return None
        if len(own) == len(shape) and all(symbolic.is_same(a, b) for a, b in zip(own, shape, strict=True)):
            return value
    if is_static(shape):
        sizes = shape
        if is_array(value) and np.prod(sizes) <= _CONSTANT_ELEMENTS:
            return np.broadcast_to(value, sizes).copy()
        return op.Expand(value, portable.integers(sizes))
    return op.Expand(value, shape_tensor())


def _demand_broadcast(
    op: StandardOperators, value: Operand, own: Shape, shape: Shape, shape_tensor: Callable[[], TensorOrArray]
) -> None:
    """A value fits into a place without elements, where it is not written."""
    if not is_noted():
        return
    error = ValueError("could not broadcast the value to the shape of the place it goes to")
    for axis in range(-len(own), 0):
        if own[axis] == 1 or symbolic.is_same(own[axis], shape[axis]):
            continue
        there = shape[axis]
        wanted = there if isinstance(there, int) else op.Gather(shape_tensor(), np.array(axis, np.int64))
        demand_fit(op, (dimensions.dimension(cast(TensorValue, value), axis), wanted), error, is_mutual=False)


def _may_exceed(own: Shape | None, shape: Shape) -> bool:
    """True if a value may turn out to be larger than the place it goes to, in a dimension."""
    if own is None:
        return True
    aligned = zip(reversed(own), reversed(shape), strict=False)
    return any(mine != 1 and not symbolic.is_same(mine, there) for mine, there in aligned)


def _without_leading_ones(
    op: StandardOperators, own: Shape, value: Operand, rank: int
) -> tuple[Shape, Operand]:
    extra = len(own) - rank
    if extra <= 0 or any(isinstance(each, int) and each != 1 for each in own[:extra]):
        return own, value
    if is_array(value):
        return own[extra:], value.reshape(value.shape[extra:])
    return own[extra:], portable.squeeze(op, value, tuple(range(extra)))


def _check_broadcast(own: Shape, shape: Shape) -> None:
    def fits(mine: Dimension, there: Dimension) -> bool:
        return not isinstance(mine, int) or not isinstance(there, int) or mine in (1, there)

    aligned = zip(reversed(own), reversed(shape), strict=False)
    if len(own) > len(shape) or not all(fits(a, b) for a, b in aligned):
        raise ShapeError(
            f"a value of shape {describe_shape(own)} cannot be broadcast to {describe_shape(shape)}, "
            "the shape of the place it goes to"
        )


def _last_of_each(
    op: StandardOperators, places: Array, updates: Operand, rest: Shape, reduction: Reduction
) -> tuple[Array, Operand]:
    """Each place once, with the last of what goes there: ONNX does not say which of several it takes."""
    flat = places.reshape(-1)
    if reduction != "none" or np.unique(flat).size == flat.size:
        return places, updates
    last = {int(place): position for position, place in enumerate(flat)}
    kept = np.array(sorted(last.values()), np.int64)
    if is_array(updates):
        return flat[kept], updates.reshape(flat.size, *updates.shape[places.ndim :])[kept]
    if places.ndim != 1:
        updates = merge_axes(op, updates, 0, places.ndim)
    return flat[kept], op.Gather(updates, kept)
