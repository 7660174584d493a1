"""Operators that slide a window: convolutions and pooling, with padding, strides and dilations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.inference.call import Call, Result, rule, tensor
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension, Shape, sizes_differ

_POOLS = ("MaxPool", "AveragePool", "LpPool")


@dataclass(frozen=True, slots=True)
class Window:
    """The attributes that convolutions and pooling share, one entry per spatial axis."""

    kernel: tuple[Dimension, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[int, ...]
    auto_pad: str
    rounds_up: bool = False


def read_window(call: Call, kernel: Sequence[Dimension]) -> Window:
    """Read and check the attributes for a kernel of known rank."""
    rank = len(kernel)
    lists: dict[str, tuple[int, ...]] = {}
    for name in ("strides", "dilations"):
        listed = call.integers(name)
        given = lists[name] = (1,) * rank if listed is None else listed
        if len(given) != rank:
            raise call.attribute_error(
                name, f"needs {rank} entries in {name}, one per spatial axis, not {given}"
            )
        if min(given, default=1) < 1:
            raise call.attribute_error(name, f"needs positive {name}, not {given}")
    listed = call.integers("pads")
    pads = (0,) * (2 * rank) if listed is None else listed
    if len(pads) != 2 * rank:
        raise call.attribute_error(
            "pads", f"needs {2 * rank} entries in pads (all beginnings, then all ends), not {pads}"
        )
    if min(pads, default=0) < 0:
        raise call.attribute_error("pads", f"needs pads that are not negative, not {pads}")
    rounds_up = call.integer("ceil_mode", 0) != 0
    auto_pad = call.string("auto_pad", "NOTSET") or "NOTSET"
    return Window(tuple(kernel), lists["strides"], lists["dilations"], pads, auto_pad, rounds_up)


def slide(call: Call, position: int, spatial: Shape, window: Window) -> Shape:
    """The spatial shape of the output."""
    rank = len(window.kernel)
    out: list[Dimension] = []
    for axis, size in enumerate(spatial):
        stride, dilation, kernel = window.strides[axis], window.dilations[axis], window.kernel[axis]
        if window.auto_pad in ("SAME_UPPER", "SAME_LOWER"):
            out.append(symbolic.ceildiv(size, stride))
            continue
        before, after = (
            (0, 0) if window.auto_pad == "VALID" else (window.pads[axis], window.pads[axis + rank])
        )
        extent = symbolic.add(symbolic.mul(symbolic.sub(kernel, 1), dilation), 1)
        room = symbolic.sub(symbolic.add(size, before + after), extent)
        if isinstance(room, int) and room < 0:
            if call.op.name in _POOLS:  # runtimes let it pass, and differ on the size
                out.append(None)
                continue
            padding = f" with {before + after} of padding" if before + after else ""
            raise call.shape_error(
                f"cannot fit a window of {extent} into axis {axis + 2} of {call.described(position)}{padding}",
                position,
            )
        if window.rounds_up:
            out.append(_rounded_up(call, size, room, stride, before, after, extent))
        else:
            out.append(symbolic.add(symbolic.floordiv(room, stride), 1))
    return tuple(out)


def _rounded_up(
    call: Call, size: Dimension, room: Dimension, stride: int, before: int, after: int, extent: Dimension
) -> Dimension:
    """ceil_mode: one more window, unless it would start in the padding at the end."""
    count = symbolic.add(symbolic.ceildiv(room, stride), 1)
    if isinstance(size, int) and isinstance(count, int):
        if (count - 1) * stride < size + before:
            return count
        # Before opset 22 onnx counts the last window, ONNX Runtime does not.
        return count - 1 if call.op.since_version >= 22 else None
    # The last window cannot start in the padding when the stride and the padding fit in one window.
    return count if isinstance(extent, int) and stride + after <= extent else None


def _weights(call: Call, x: int, w: int) -> tuple[Shape | None, Shape | None]:
    """The shapes of input and weights, where each is plausible alone."""
    shape, weights = call.shape(x), call.shape(w)
    if shape is not None and len(shape) < 2:
        raise call.shape_error(f"needs a batch and a channel axis, not {call.described(x)}", x)
    if weights is not None and len(weights) < 2:
        raise call.shape_error(f"needs weights with two axes at least, not {call.described(w)}", w)
    if shape is not None and weights is not None and len(shape) != len(weights):
        raise call.shape_error(
            f"needs {call.input_name(x)} and {call.input_name(w)} of one rank, "
            f"not {call.described(x)} and {call.described(w)}"
        )
    return shape, weights


def _convolved(call: Call, x: int, w: int) -> Shape | None:
    shape, weights = _weights(call, x, w)
    group = call.integer("group", 1)
    kernel = call.integers("kernel_shape")
    if shape is None or (weights is None and kernel is None):
        rank = len(weights) if weights is not None else len(shape) if shape is not None else None
        if rank is None:
            return None
        batch = None if shape is None else shape[0]
        return (batch, None if weights is None else weights[0], *(None,) * (rank - 2))
    sizes: Sequence[Dimension] = kernel if kernel is not None else (weights or ())[2:]
    if len(sizes) != len(shape) - 2:
        raise call.attribute_error(
            "kernel_shape", f"cannot use kernel_shape={tuple(sizes)} on {call.described(x)}"
        )
    window = read_window(call, sizes)
    # After what ranks decide: a model finds that before it knows sizes, and one mistake is told first everywhere.
    if weights is not None:
        _check_channels(call, x, w, shape[1], weights[1], group)
        if 0 in weights[1:]:
            raise call.shape_error(f"has nothing to convolve with: {call.described(w)}", w)
    return (shape[0], None if weights is None else weights[0], *slide(call, x, shape[2:], window))


def _check_channels(call: Call, x: int, w: int, channels: Dimension, taken: Dimension, group: int) -> None:
    if isinstance(channels, int) and isinstance(taken, int) and channels != taken * group:
        groups = f" with group={group}" if group != 1 else ""
        raise call.shape_error(
            f"cannot apply {call.described(w)} to {call.described(x)}{groups}: "
            f"the weights take {taken * group} channels, the input has {channels}"
        )


@rule("Conv", "DeformConv")
@rule("FusedConv", domain="com.microsoft")
def conv(call: Call) -> Result:
    return (tensor(call.dtype(0, 1), _convolved(call, 0, 1)),)


@rule("ConvInteger")
def conv_integer(call: Call) -> Result:
    return (tensor(DType.INT32, _convolved(call, 0, 1)),)


@rule("QLinearConv")
def qlinear_conv(call: Call) -> Result:
    return (tensor(call.dtype(7), _convolved(call, 0, 3)),)


@rule("ConvTranspose")
def conv_transpose(call: Call) -> Result:
    dtype = call.dtype(0, 1)
    shape, weights = _weights(call, 0, 1)
    if shape is None or weights is None:
        rank = len(weights or shape or ())
        return (
            tensor(dtype, (None if shape is None else shape[0], *(None,) * (rank - 1)) if rank else None),
        )
    channels, taken = shape[1], weights[0]
    if sizes_differ(channels, taken):
        raise call.shape_error(
            f"cannot apply {call.described(1)} to {call.described(0)}: "
            f"the weights take {taken} channels, the input has {channels}"
        )
    if 0 in weights:
        raise call.shape_error(f"has nothing to convolve with: {call.described(1)}", 1)
    out_channels = symbolic.mul(weights[1], call.integer("group", 1))
    given = call.integers("kernel_shape")
    kernel: Sequence[Dimension] = weights[2:] if given is None else given
    if len(kernel) != len(shape) - 2:
        raise call.attribute_error(
            "kernel_shape", f"cannot use kernel_shape={tuple(kernel)} on {call.described(0)}"
        )
    window = read_window(call, kernel)
    rank = len(kernel)
    for name, counts in (("output_padding", (0, rank)), ("output_shape", (0, rank, rank + 2))):
        listed = call.integers(name)
        if listed is not None and len(listed) not in counts:
            raise call.attribute_error(
                name, f"needs {rank} entries in {name}, one per spatial axis, not {listed}"
            )
    fixed = call.integers("output_shape")
    if fixed:
        return (tensor(dtype, (shape[0], out_channels, *fixed[-rank:])),)
    extra = call.integers("output_padding") or (0,) * rank
    spatial: list[Dimension] = []
    for axis, size in enumerate(shape[2:]):
        stride = window.strides[axis]
        extent = symbolic.add(symbolic.mul(symbolic.sub(window.kernel[axis], 1), window.dilations[axis]), 1)
        if window.auto_pad in ("SAME_UPPER", "SAME_LOWER"):
            # Where a window is smaller than the stride, runtimes do not agree on what is left over.
            covers = symbolic.is_at_least(symbolic.add(extent, extra[axis]), stride)
            spatial.append(symbolic.mul(size, stride) if covers else None)
            continue
        pads = 0 if window.auto_pad == "VALID" else window.pads[axis] + window.pads[axis + rank]
        reach = symbolic.add(symbolic.mul(symbolic.sub(size, 1), stride), extent)
        spatial.append(symbolic.add(reach, extra[axis] - pads))
    return (tensor(dtype, (shape[0], out_channels, *spatial)),)


@rule(*_POOLS)
def pool(call: Call) -> Result:
    shape, dtype = call.shape(0), call.dtype(0)
    kernel = call.integers("kernel_shape")
    if kernel is None:
        return None
    if shape is None:
        out: Shape | None = (None,) * (len(kernel) + 2)
    elif len(shape) != len(kernel) + 2:
        raise call.shape_error(
            f"cannot slide a window of {len(kernel)} axes (kernel_shape={kernel}) over {call.described(0)}: "
            f"it needs rank {len(kernel) + 2}",
            0,
        )
    else:
        window = read_window(call, kernel)
        _check_that_there_is_something(call, shape)
        out = (*shape[:2], *slide(call, 0, shape[2:], window))
    return tensor(dtype, out), tensor(DType.INT64, out)


@rule("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(call: Call) -> Result:
    shape = call.shape(0)
    if shape is not None and len(shape) < 2:
        raise call.shape_error(f"needs a batch and a channel axis, not {call.described(0)}", 0)
    if shape is None:
        return (tensor(call.dtype(0), None),)
    _check_that_there_is_something(call, shape)
    return (tensor(call.dtype(0), (*shape[:2], *(1,) * (len(shape) - 2))),)


def _check_that_there_is_something(call: Call, shape: Shape) -> None:
    """Pictures without elements have no maximum, though a mean; where there is no picture, none is asked for."""
    # Of more than three spatial dimensions it is a reduction to runtimes, whose maximum of nothing is the least number.
    rank = len(shape)
    needs_some = call.op.name == "MaxPool" or (call.op.name == "GlobalMaxPool" and rank <= 5)
    if needs_some and 0 in shape[1:] and isinstance(shape[0], int) and shape[0]:
        raise call.shape_error(f"has nothing to pool: {call.described(0)}", 0)


@rule("RoiAlign")
def roi_align(call: Call) -> Result:
    shape, boxes, batches = call.shape(0), call.shape(1), call.shape(2)
    for position, wanted, what in (
        (0, 4, "pictures of two dimensions"),
        (1, 2, "a row for each region"),
        (2, 1, "a vector of places"),
    ):
        given = call.shape(position)
        if given is not None and len(given) != wanted:
            raise call.shape_error(f"needs {what}, not {call.described(position)}", position)
    if boxes is not None and isinstance(boxes[1], int) and boxes[1] != 4:
        raise call.shape_error(f"needs regions of four numbers, not {call.described(1)}", 1)
    if boxes is not None and batches is not None and symbolic.compare_equal(boxes[0], batches[0]) is False:
        raise call.shape_error(
            f"needs one of batch_indices for each region, not {call.described(2)} for {call.described(1)}", 2
        )
    count = boxes[0] if boxes else batches[0] if batches else None
    size = (call.integer("output_height", 1), call.integer("output_width", 1))
    return (
        tensor(call.dtype(0), (count, shape[1] if shape is not None and len(shape) > 1 else None, *size)),
    )


@rule("MaxRoiPool")
def max_roi_pool(call: Call) -> Result:
    shape, boxes, size = call.shape(0), call.shape(1), call.integers("pooled_shape")
    if size is None:
        return None
    return (
        tensor(
            call.dtype(0),
            (boxes[0] if boxes else None, shape[1] if shape and len(shape) > 1 else None, *size),
        ),
    )


@rule("MaxUnpool")
def max_unpool(call: Call) -> Result:
    shape, dtype, places = call.shape(0), call.dtype(0), call.shape(1)
    if shape is not None and places is not None and len(shape) != len(places):
        raise call.shape_error(
            f"needs one index for each element, not {call.described(1)} for {call.described(0)}", 1
        )
    kernel = call.integers("kernel_shape")
    if shape is not None and kernel is not None and len(kernel) != len(shape) - 2:
        message = f"cannot use kernel_shape={tuple(kernel)} on {call.described(0)}"
        raise call.attribute_error("kernel_shape", message)
    if call.input(2) is not None:
        size = call.entries(2)
        length = call.length(2)
        if shape is not None and length is not None and length != len(shape):
            raise call.shape_error(
                f"needs one size in output_shape for each dimension of {call.described(0)}, not {length}", 2
            )
        return (tensor(dtype, size if size is not None else None if shape is None else (None,) * len(shape)),)
    if shape is None or kernel is None:
        return (tensor(dtype, None),)
    window = read_window(call, kernel)
    spatial = tuple(
        symbolic.add(
            symbolic.mul(symbolic.sub(size, 1), window.strides[axis]),
            kernel[axis] - window.pads[axis] - window.pads[axis + len(kernel)],
        )
        for axis, size in enumerate(shape[2:])
    )
    return (tensor(dtype, (*shape[:2], *spatial)),)
