"""Operators that give a tensor another shape by its content: `Reshape`, `Expand`, `Tile`, `DepthToSpace`."""

from __future__ import annotations

from collections.abc import Sequence

from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.inference.broadcasting import broadcast_dimension
from onnxsmith.schema.inference.call import Call, Result, rule, tensor
from onnxsmith.schema.inference.content import moved
from onnxsmith.schema.inference.known import Data, Known
from onnxsmith.types.value_types import Dimension, Shape, TensorType, describe_shape, sizes_differ


@rule("Reshape")
def reshape(call: Call) -> Result:
    dtype, shape = call.dtype(0), call.shape(0)
    target: Sequence[Dimension] | None = (
        call.entries(1) if call.op.since_version >= 5 else call.integers("shape")
    )
    if target is None:
        rank = call.length(1)
        return (tensor(dtype, None if rank is None else (None,) * rank),)
    out = _reshaped(call, shape, tuple(target))
    return (Known(TensorType(dtype, out), moved(call.inputs[0], out)),)


def _reshaped(call: Call, shape: Shape | None, target: tuple[Dimension, ...]) -> Shape:
    keeps_zero = call.integer("allowzero", 0) != 0
    out: list[Dimension] = []
    copied: set[int] = set()
    open_axis: int | None = None
    for position, each in enumerate(target):
        if each == -1:
            if open_axis is not None:
                raise call.shape_error(f"has more than one -1 in shape {target}", 1)
            open_axis = position
        elif isinstance(each, int) and each < -1:
            raise call.shape_error(f"cannot make the dimension {each} in shape {target}", 1)
        elif each == 0 and not keeps_zero:
            if shape is not None and position >= len(shape):
                raise call.shape_error(
                    f"copies dimension {position} of {call.described(0)}, which has {len(shape)} "
                    f"(a 0 in shape {target} stands for the input's dimension)",
                    1,
                )
            copied.add(position)
            each = None if shape is None else shape[position]
        out.append(each)
    if open_axis is None:
        return _matched(call, shape, tuple(out), target)
    out[open_axis] = None
    if shape is not None:
        left = [each for position, each in enumerate(shape) if position not in copied]
        right = [
            each for position, each in enumerate(out) if position not in copied and position != open_axis
        ]
        out[open_axis] = _missing_dimension(call, left, right, target)
    return tuple(out)


def _missing_dimension(
    call: Call, left: Sequence[Dimension], right: Sequence[Dimension], target: tuple[Dimension, ...]
) -> Dimension:
    """The size of -1: the elements of the input divided by those of the other dimensions."""
    left, right = _uncancelled(left, right)
    total, known = symbolic.product(left), symbolic.product(right)
    if isinstance(total, int) and isinstance(known, int):
        if known == 0:  # zero elements over zero elements: any size would do
            return None
        if total % known:
            raise _cannot_reshape(call, target)
    return symbolic.floordiv(total, known)


def _uncancelled(
    left: Sequence[Dimension], right: Sequence[Dimension]
) -> tuple[list[Dimension], list[Dimension]]:
    """Both without the names that stand on both sides, of which a 0 makes both products 0; unknown ones stay."""
    first, second = list(left), list(right)
    for each in left:
        if isinstance(each, str) and each in second:
            first.remove(each)
            second.remove(each)
    return first, second


def _matched(call: Call, shape: Shape | None, out: Shape, target: tuple[Dimension, ...]) -> Shape:
    """The target itself; refused where the number of elements differs, and its one unknown entry found."""
    if shape is None:
        return out
    left, right = _uncancelled(shape, out)
    if right.count(None) == 1 and None not in left:
        position = out.index(None)
        total, known = symbolic.product(shape), symbolic.product(each for each in out if each is not None)
        if not symbolic.is_at_least(
            known, 1
        ):  # where another is 0, there are no elements whatever this one is
            return out
        is_odd = isinstance(total, int) and isinstance(known, int) and total % known != 0
        return (*out[:position], None if is_odd else symbolic.floordiv(total, known), *out[position + 1 :])
    total, known = symbolic.product(left), symbolic.product(right)
    # Where one side has no elements, names on both sides may stand for the 0 that the other one needs.
    may_be_empty = len(left) < len(shape) and 0 in (total, known)
    if sizes_differ(total, known) and not may_be_empty:
        raise _cannot_reshape(call, target)
    return out


def _cannot_reshape(call: Call, target: tuple[Dimension, ...]) -> Exception:
    size = symbolic.product(call.shape(0) or ())
    elements = "its elements" if size is None else f"its {size} elements"
    return call.shape_error(
        f"cannot reshape {call.described(0)} to {describe_shape(target)}: {elements} do not fit", 1
    )


@rule("Expand")
def expand(call: Call) -> Result:
    shape, dtype, target = call.shape(0), call.dtype(0), call.entries(1)
    listed = call.shape(1)
    if listed is not None and len(listed) != 1:
        raise call.shape_error(f"needs a list of sizes, not {call.described(1)}", 1)
    if target is None:
        rank = call.length(1)
        if rank is None or shape is None:
            return (tensor(dtype, None),)
        rank = max(rank, len(shape))
        # A size of the input that is neither 1 nor unknown survives whatever it is expanded to.
        kept = tuple(each if isinstance(each, int) and each != 1 else None for each in shape)
        return (tensor(dtype, (None,) * (rank - len(shape)) + kept),)
    if shape is None:
        return (tensor(dtype, None),)
    rank = max(len(shape), len(target))
    left = (1,) * (rank - len(shape)) + shape
    right = (1,) * (rank - len(target)) + target
    out: list[Dimension] = []
    for position, (size, wanted) in enumerate(zip(left, right, strict=True)):
        if isinstance(wanted, int) and wanted < 0:  # not in the specification, and runtimes differ
            out.append(size if isinstance(size, int) and size != 1 else None)
            continue
        if sizes_differ(size, wanted) and size != 1 and wanted != 1:
            raise call.shape_error(
                f"cannot expand {call.described(0)} to {describe_shape(target)}: "
                f"axis {position - rank} is {size}, not {wanted} or 1",
                1,
            )
        out.append(broadcast_dimension(size, wanted))
    known = call.inputs[0]
    data: Data = None
    if known is not None and isinstance(known.data, int | str) and len(out) == 1 and isinstance(out[0], int):
        data = (known.data,) * out[0] if out[0] <= 64 else None
    return (Known(TensorType(dtype, tuple(out)), data),)


@rule("Tile", since=6)
def tile(call: Call) -> Result:
    shape, dtype, repeats = call.shape(0), call.dtype(0), call.entries(1)
    if shape is None:
        rank = call.length(1)
        return (tensor(dtype, None if rank is None else (None,) * rank),)
    if repeats is None:
        return (tensor(dtype, (None,) * len(shape)),)
    if len(repeats) != len(shape):
        raise call.shape_error(
            f"needs one entry of repeats per axis of {call.described(0)}, not {describe_shape(repeats)}", 1
        )
    return (
        tensor(dtype, tuple(symbolic.mul(size, times) for size, times in zip(shape, repeats, strict=True))),
    )


@rule("DepthToSpace", "SpaceToDepth")
def exchange_depth(call: Call) -> Result:
    shape, dtype = call.shape(0), call.dtype(0)
    size = call.integer("blocksize", 1)
    if size < 1:
        raise call.attribute_error("blocksize", f"needs a positive blocksize, not {size}")
    if shape is None or len(shape) != 4:
        if shape is not None:
            raise call.shape_error(f"needs an input of rank 4, not {call.described(0)}", 0)
        return (tensor(dtype, (None,) * 4),)
    batch, depth, height, width = shape
    if call.op.name == "DepthToSpace":
        if isinstance(depth, int) and depth % (size * size):
            raise call.shape_error(
                f"cannot split the {depth} channels of {call.described(0)} into blocks of {size} by {size}", 0
            )
        out = (symbolic.floordiv(depth, size * size), symbolic.mul(height, size), symbolic.mul(width, size))
    else:
        for axis, extent in ((2, height), (3, width)):
            if isinstance(extent, int) and extent % size:
                raise call.shape_error(
                    f"cannot split axis {axis} of {call.described(0)} into blocks of {size}", 0
                )
        out = (
            symbolic.mul(depth, size * size),
            symbolic.floordiv(height, size),
            symbolic.floordiv(width, size),
        )
    return (tensor(dtype, (batch, *out)),)
