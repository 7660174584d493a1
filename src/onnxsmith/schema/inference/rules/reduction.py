"""Reductions along axes, `ArgMax`/`ArgMin`, and running totals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.inference.call import Call, Result, rule, tensor
from onnxsmith.schema.inference.known import Data, Known
from onnxsmith.schema.inference.rules.elementwise import same_as_input
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension, Shape, TensorType

_AXES_ARE_INPUT_SINCE = 18


@rule("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin")
@rule("ReduceProd", "ReduceSum", "ReduceSumSquare")
def reduce_axes(call: Call) -> Result:
    keeps = call.integer("keepdims", 1) != 0
    shape, dtype = call.shape(0), call.dtype(0)
    since = 13 if call.op.name == "ReduceSum" else _AXES_ARE_INPUT_SINCE
    source: str | int = 1 if call.op.since_version >= since else "axes"
    axes: Sequence[Dimension] | None = call.integers("axes") if source == "axes" else call.entries(1)
    listed = call.shape(1) if source == 1 and call.input(1) is not None else None
    if listed is not None and len(listed) > 1:
        raise call.shape_error(f"needs a list of axes, not {call.described(1)}", 1)
    if source == 1 and call.input(1) is not None and axes is None:
        return (tensor(dtype, _unknown_axes(shape, call.shape(1), keeps)),)
    if not axes:
        if call.integer("noop_with_empty_axes", 0):
            return (tensor(dtype, shape),)
        if shape is None:
            return (tensor(dtype, None if keeps else ()),)
        out: Shape | None = (1,) * len(shape) if keeps else ()
        return (Known(TensorType(dtype, out), None if keeps else _total(call)),)
    numbers = [each for each in axes if isinstance(each, int)]
    if shape is None or len(numbers) < len(axes):
        return (tensor(dtype, _unknown_axes(shape, (len(axes),), keeps)),)
    if not shape and all(each in (0, -1) for each in numbers):  # runtimes let a scalar pass
        return (tensor(dtype, ()),)
    reduced = call.check_axes(numbers, source, len(shape), may_repeat=True)
    out = _without(shape, reduced, keeps)
    return (Known(TensorType(dtype, out), _total(call) if len(shape) == 1 and not keeps else None),)


@rule("ArgMax", "ArgMin")
def arg_reduce(call: Call) -> Result:
    shape = call.shape(0)
    keeps = call.integer("keepdims", 1) != 0
    if shape is None:
        return (tensor(DType.INT64, None),)
    if not shape and call.integer("axis", 0) in (0, -1):
        return (tensor(DType.INT64, ()),)
    axis = call.axis("axis", 0, 0, len(shape))
    return (tensor(DType.INT64, _without(shape, (axis,), keeps)),)


@rule("CumSum", "CumProd")
def running_total(call: Call) -> Result:
    shape, axis = call.shape(0), call.entry(1)
    if shape is not None and isinstance(axis, int):
        call.check_axes((axis,), 1, len(shape))
    return same_as_input(call)


def _without(shape: Shape, axes: Sequence[int], keeps: bool) -> Shape:
    if keeps:
        return tuple(1 if position in axes else each for position, each in enumerate(shape))
    return tuple(each for position, each in enumerate(shape) if position not in axes)


def _unknown_axes(shape: Shape | None, axes_shape: Shape | None, keeps: bool) -> Shape | None:
    """The output if the reduced axes are not known."""
    if shape is None:
        return None
    if keeps:
        return tuple(1 if each == 1 else None for each in shape)
    count = axes_shape[0] if axes_shape is not None and len(axes_shape) == 1 else None
    # More than one may name the same axis.
    return (None,) * (len(shape) - 1) if count == 1 and shape else None


_FOLDS: dict[str, Callable[[Dimension, Dimension], Dimension]] = {
    "ReduceProd": symbolic.mul,
    "ReduceSum": symbolic.add,
    "ReduceMax": symbolic.maximum,
    "ReduceMin": symbolic.minimum,
}


def _total(call: Call) -> Data:
    """The content of a vector reduced to a scalar: the product of a shape."""
    fold = _FOLDS.get(call.op.name)
    entries = None if fold is None else call.entries(0)
    return reduce(fold, entries) if fold is not None and entries else None
