"""Operators that read or change a shape and leave the elements alone: `Shape`, `Reshape`, `Transpose`, `Squeeze`."""

from __future__ import annotations

from collections.abc import Sequence

from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.inference.broadcasting import broadcast_dimension
from onnxsmith.schema.inference.call import Call, Result, rule, tensor
from onnxsmith.schema.inference.content import as_array, from_array
from onnxsmith.schema.inference.known import Data, Known
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension, Shape, TensorType, describe_shape


@rule("Identity")
def identity(call: Call) -> Result:
    known = call.inputs[0]
    return None if known is None else (known,)


@rule("Shape")
def shape_of(call: Call) -> Result:
    shape = call.shape(0)
    if shape is None:
        return (tensor(DType.INT64, (None,)),)
    if call.attributes:
        rank = len(shape)
        start, end = call.integer("start", 0), call.integer("end", rank)
        shape = shape[start:end]  # both are clamped to the rank, as Python's slices are
    return (Known(TensorType(DType.INT64, (len(shape),)), shape),)


@rule("Size")
def size_of(call: Call) -> Result:
    shape = call.shape(0)
    return (Known(TensorType(DType.INT64, ()), None if shape is None else symbolic.product(shape)),)


@rule("Reshape")
def reshape(call: Call) -> Result:
    dtype, shape = call.dtype(0), call.shape(0)
    target: Sequence[Dimension] | None = (
        call.entries(1) if call.op.since_version >= 5 else call.integers("shape")
    )
    if target is None:
        length = call.shape(1)
        rank = length[0] if length is not None and len(length) == 1 else None
        return (tensor(dtype, (None,) * rank if isinstance(rank, int) else None),)
    out = _reshaped(call, shape, tuple(target))
    return (Known(TensorType(dtype, out), _moved(call, out)),)


def _reshaped(call: Call, shape: Shape | None, target: tuple[Dimension, ...]) -> Shape:
    keeps_zero = call.integer("allowzero", 0) != 0
    out: list[Dimension] = []
    open_axis: int | None = None
    for position, each in enumerate(target):
        if each == -1:
            if open_axis is not None:
                raise call.shape_error(f"has more than one -1 in shape {target}", ("input", 1))
            open_axis = position
        elif isinstance(each, int) and each < -1:
            raise call.shape_error(f"cannot make the dimension {each} in shape {target}", ("input", 1))
        elif each == 0 and not keeps_zero:
            if shape is not None and position >= len(shape):
                raise call.shape_error(
                    f"copies dimension {position} of {call.described(0)}, which has {len(shape)} "
                    f"(a 0 in shape {target} stands for the input's dimension)",
                    ("input", 1),
                )
            each = None if shape is None else shape[position]
        out.append(each)
    if open_axis is None:
        return _matched(call, shape, tuple(out), target)
    if shape is not None:
        rest = out[:open_axis] + out[open_axis + 1 :]
        out[open_axis] = _missing_dimension(call, shape, rest, target)
    else:
        out[open_axis] = None
    return tuple(out)


def _missing_dimension(
    call: Call, shape: Shape, rest: Sequence[Dimension], target: tuple[Dimension, ...]
) -> Dimension:
    """What -1 stands for: the elements of the input over those of the other dimensions."""
    left, right = _uncancelled(shape, rest)
    total, known = symbolic.product(left), symbolic.product(right)
    if total is None or known is None:
        return None
    if isinstance(total, int) and isinstance(known, int):
        if known == 0:  # zero elements over zero elements: any size would do
            return None
        if total % known:
            raise _cannot_reshape(call, target)
        return total // known
    return symbolic.floordiv(total, known)


def _uncancelled(
    left: Sequence[Dimension], right: Sequence[Dimension]
) -> tuple[list[Dimension], list[Dimension]]:
    """Both without the names that stand on both sides; a name is never zero, and unknown ones cancel nothing."""
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
        total, known = symbolic.product(left), symbolic.product(each for each in right if each is not None)
        if isinstance(total, int) and isinstance(known, int):
            found = total // known if known and total % known == 0 else None
        else:
            found = symbolic.floordiv(total, known) if known != 0 else None
        return (*out[:position], found, *out[position + 1 :])
    total, known = symbolic.product(left), symbolic.product(right)
    if isinstance(total, int) and isinstance(known, int) and total != known:
        raise _cannot_reshape(call, target)
    return out


def _cannot_reshape(call: Call, target: tuple[Dimension, ...]) -> Exception:
    size = symbolic.product(call.shape(0) or ())
    elements = "its elements" if size is None else f"its {size} elements"
    return call.shape_error(
        f"cannot reshape {call.described(0)} to {describe_shape(target)}: {elements} do not fit", ("input", 1)
    )


def _moved(call: Call, shape: Shape | None) -> Data:
    """The content of the input under another shape."""
    known = call.inputs[0]
    if known is None or known.data is None or shape is None:
        return None
    data = known.data
    if isinstance(data, tuple) and len(shape) <= 1:
        return data if shape == (len(data),) else data[0] if not shape and len(data) == 1 else None
    if isinstance(data, int | str) and len(shape) <= 1:
        return data if not shape else (data,) if shape == (1,) else None
    array = as_array(known)
    if array is None or not all(isinstance(each, int) for each in shape):
        return None
    try:
        return from_array(array.reshape([each for each in shape if isinstance(each, int)]))
    except ValueError:
        return None


@rule("Flatten")
def flatten(call: Call) -> Result:
    shape, dtype = call.shape(0), call.dtype(0)
    if shape is None:
        return (tensor(dtype, (None, None)),)
    rank = len(shape)
    axis = call.integer("axis", 1)
    if not -rank <= axis <= rank:
        raise call.attribute_error(
            "axis", f"cannot use axis={axis} on {call.described(0)}: it is from {-rank} to {rank}"
        )
    axis = axis + rank if axis < 0 else axis
    return (tensor(dtype, (symbolic.product(shape[:axis]), symbolic.product(shape[axis:]))),)


@rule("Squeeze")
def squeeze(call: Call) -> Result:
    shape, dtype = call.shape(0), call.dtype(0)
    source: str | int = 1 if call.op.since_version >= 13 else "axes"
    axes: Sequence[Dimension] | None = call.entries(1) if source == 1 else call.integers("axes")
    if source == 1 and call.input(1) is not None and (axes is None or None in axes):
        count = call.shape(1)
        size = count[0] if count is not None and len(count) == 1 else None
        known = shape is not None and isinstance(size, int) and 0 < size <= len(shape)
        out = (None,) * (len(shape) - size) if known and shape is not None and isinstance(size, int) else None
        return (tensor(dtype, out),)
    if shape is None:
        return (tensor(dtype, None),)
    if not axes:
        if not all(isinstance(each, int) for each in shape) or (axes is not None and 1 in shape):
            # No axes means all of size 1; an empty list of them means that to some runtimes, to others none.
            return (tensor(dtype, None),)
        out = tuple(each for each in shape if each != 1)
    else:
        numbers = [each for each in axes if isinstance(each, int)]
        removed = call.check_axes(numbers, source, 0, len(shape), may_repeat=True)
        for axis in removed:
            size = shape[axis]
            if isinstance(size, int) and size != 1:
                message = f"cannot drop axis {axis} of {call.described(0)}: its size is {size}, not 1"
                raise call.axes_error(source, message)
        out = tuple(each for position, each in enumerate(shape) if position not in removed)
    return (Known(TensorType(dtype, out), _moved(call, out)),)


@rule("Unsqueeze")
def unsqueeze(call: Call) -> Result:
    shape, dtype = call.shape(0), call.dtype(0)
    source: str | int = 1 if call.op.since_version >= 13 else "axes"
    axes: Sequence[Dimension] | None = call.entries(1) if source == 1 else call.integers("axes")
    if axes is None and isinstance(entry := call.entry(1), int):  # a scalar, which runtimes accept
        axes = (entry,)
    numbers = None if axes is None else [each for each in axes if isinstance(each, int)]
    if axes is None or numbers is None or len(numbers) < len(axes) or shape is None:
        count = call.shape(1) if axes is None else (len(axes),)
        size = count[0] if count is not None and len(count) == 1 else None
        known = shape is not None and isinstance(size, int)
        out = (None,) * (len(shape) + size) if known and shape is not None and isinstance(size, int) else None
        return (tensor(dtype, out),)
    rank = len(shape) + len(numbers)
    for axis in numbers:
        if not -rank <= axis < rank:
            allowed = f"an axis of the result is from {-rank} to {rank - 1}"
            raise call.axes_error(source, f"cannot put axis {axis} into {call.described(0)}: {allowed}")
    added = {axis + rank if axis < 0 else axis for axis in numbers}
    if len(added) < len(numbers):
        raise call.axes_error(source, f"names an axis twice in axes={tuple(numbers)}")
    rest = iter(shape)
    out = tuple(1 if position in added else next(rest) for position in range(rank))
    return (Known(TensorType(dtype, out), _moved(call, out)),)


@rule("Transpose")
def transpose(call: Call) -> Result:
    shape, dtype = call.shape(0), call.dtype(0)
    order = call.integers("perm")
    if shape is None:
        return (tensor(dtype, None if order is None else (None,) * len(order)),)
    if order is None:
        return (tensor(dtype, shape[::-1]),)
    if sorted(order) != list(range(len(shape))):
        raise call.attribute_error(
            "perm",
            f"cannot use perm={order} on {call.described(0)}: it names each of the axes "
            f"0 to {len(shape) - 1} once"
            if shape
            else f"cannot use perm={order} on a scalar",
        )
    return (tensor(dtype, tuple(shape[axis] for axis in order)),)


@rule("Expand")
def expand(call: Call) -> Result:
    shape, dtype, target = call.shape(0), call.dtype(0), call.entries(1)
    if target is None:
        length = call.shape(1)
        rank = length[0] if length is not None and len(length) == 1 else None
        if not isinstance(rank, int) or shape is None:
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
        if isinstance(size, int) and isinstance(wanted, int) and size != wanted and size != 1 and wanted != 1:
            raise call.shape_error(
                f"cannot expand {call.described(0)} to {describe_shape(target)}: "
                f"axis {position - rank} is {size}, not {wanted} or 1",
                ("input", 1),
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
        length = call.shape(1)
        rank = length[0] if length is not None and len(length) == 1 else None
        return (tensor(dtype, (None,) * rank if isinstance(rank, int) else None),)
    if repeats is None:
        return (tensor(dtype, (None,) * len(shape)),)
    if len(repeats) != len(shape):
        raise call.shape_error(
            f"needs one entry of repeats per axis of {call.described(0)}, not {describe_shape(repeats)}",
            ("input", 1),
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
            raise call.shape_error(f"needs an input of rank 4, not {call.described(0)}", ("input", 0))
        return (tensor(dtype, (None,) * 4),)
    batch, depth, height, width = shape
    if call.op.name == "DepthToSpace":
        if isinstance(depth, int) and depth % (size * size):
            raise call.shape_error(
                f"cannot split the {depth} channels of {call.described(0)} into blocks of {size} by {size}",
                ("input", 0),
            )
        out = (symbolic.floordiv(depth, size * size), symbolic.mul(height, size), symbolic.mul(width, size))
    else:
        for axis, extent in ((2, height), (3, width)):
            if isinstance(extent, int) and extent % size:
                raise call.shape_error(
                    f"cannot split axis {axis} of {call.described(0)} into blocks of {size}", ("input", 0)
                )
        out = (
            symbolic.mul(depth, size * size),
            symbolic.floordiv(height, size),
            symbolic.floordiv(width, size),
        )
    return (tensor(dtype, (batch, *out)),)
