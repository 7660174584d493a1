"""Sequences and optionals: what they hold, and what is taken out of them."""

from __future__ import annotations

from functools import reduce

from onnxsmith.errors import InferenceError
from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.inference.broadcasting import is_nothing, merge
from onnxsmith.schema.inference.call import Call, Result, rule, tensor
from onnxsmith.schema.inference.known import NOTHING, Known
from onnxsmith.schema.inference.protobuf import read_type
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import (
    UNKNOWN_TENSOR,
    AnyValueType,
    Dimension,
    OptionalType,
    SequenceType,
    Shape,
    TensorType,
)


def _element(call: Call, position: int = 0) -> TensorType:
    """The type of a sequence's elements."""
    known = call.input(position)
    if (
        known is not None
        and isinstance(known.type, SequenceType)
        and isinstance(known.type.element, TensorType)
    ):
        return known.type.element
    return UNKNOWN_TENSOR


def _check_place(call: Call, position: int) -> None:
    """Refuse a place in a sequence that is not one number. ONNX wants a scalar, and its own data has vectors of one."""
    shape = call.shape(position)
    if shape is not None and any(isinstance(each, int) and each != 1 for each in shape):
        raise call.shape_error(
            f"takes one number for the place, not {call.described(position)}", culprit=position
        )


@rule("SequenceConstruct")
def construct(call: Call) -> Result:
    positions = range(len(call.inputs))
    shapes = [call.shape(position) for position in positions]
    shape = reduce(merge, shapes) if shapes else None
    return (Known(SequenceType(TensorType(call.dtype(*positions), shape))),)


@rule("SequenceEmpty")
def empty(call: Call) -> Result:
    return (Known(SequenceType(TensorType(call.given_dtype("dtype") or DType.FLOAT, None))),)


@rule("SequenceAt")
def at(call: Call) -> Result:
    _check_place(call, 1)
    return (Known(_element(call)),)


@rule("SequenceInsert")
def insert(call: Call) -> Result:
    _check_place(call, 2)
    element, added = _element(call), call.tensor(1)
    if element.dtype is not None and added.dtype is not None and element.dtype is not added.dtype:
        raise InferenceError(
            f"SequenceInsert cannot put {added.described} into a sequence of {element.dtype.spelling}",
            culprit=1,
        )
    dtype = added.dtype if element.dtype is None else element.dtype
    return (Known(SequenceType(TensorType(dtype, merge(element.shape, added.shape)))),)


@rule("SequenceErase")
def erase(call: Call) -> Result:
    _check_place(call, 1)
    known = call.inputs[0]
    return None if known is None else (Known(known.type),)


@rule("SequenceLength")
def length(call: Call) -> Result:
    return (tensor(DType.INT64, ()),)


@rule("ConcatFromSequence")
def concat_from_sequence(call: Call) -> Result:
    element = _element(call)
    if element.shape is None:
        return (tensor(element.dtype, None),)
    is_new = call.integer("new_axis", 0) != 0
    rank = len(element.shape) + is_new
    axis = call.integer("axis", 0)
    if not -rank <= axis < rank:
        allowed = f"it is from {-rank} to {rank - 1}" if rank else "scalars have no axes to join along"
        raise call.attribute_error("axis", f"cannot use axis={axis} on {element.described}: {allowed}")
    axis = axis + rank if axis < 0 else axis
    rest = element.shape[axis:] if is_new else element.shape[axis + 1 :]
    return (tensor(element.dtype, (*element.shape[:axis], None, *rest)),)


@rule("SplitToSequence")
def split_to_sequence(call: Call) -> Result:
    shape, dtype = call.shape(0), call.dtype(0)
    if shape is None:
        return (Known(SequenceType(TensorType(dtype, None))),)
    axis = call.axis("axis", 0, 0, len(shape))
    if call.input(1) is None:
        keeps = call.integer("keepdims", 1) != 0
        out: Shape = (*shape[:axis], *((1,) if keeps else ()), *shape[axis + 1 :])
    else:
        out = (*shape[:axis], _part(call, shape[axis]), *shape[axis + 1 :])
    return (Known(SequenceType(TensorType(dtype, out))),)


def _part(call: Call, whole: Dimension) -> Dimension:
    """The size that all parts have; None where they differ or are not known."""
    given = call.shape(1)
    if given == ():
        size = call.entry(1)
        if size is None or size == 0:
            return None
        return size if symbolic.is_same(symbolic.mul(symbolic.floordiv(whole, size), size), whole) else None
    entries = call.entries(1)
    return entries[0] if entries and len(set(entries)) == 1 else None


@rule("Optional")
def optional(call: Call) -> Result:
    known = call.input(0)
    held: AnyValueType = UNKNOWN_TENSOR
    if known is not None:
        held = known.type
    elif (given := call.attribute("type")) is not None:
        held = given if isinstance(given, TensorType | SequenceType) else read_type(given)
    return (Known(OptionalType(held if isinstance(held, TensorType | SequenceType) else UNKNOWN_TENSOR)),)


@rule("OptionalGetElement")
def get_element(call: Call) -> Result:
    known = call.inputs[0]
    if known is None or is_nothing(known.type):
        return (NOTHING,)
    return (Known(known.type.element if isinstance(known.type, OptionalType) else known.type),)


@rule("OptionalHasElement")
def has_element(call: Call) -> Result:
    return (tensor(DType.BOOL, ()),)
