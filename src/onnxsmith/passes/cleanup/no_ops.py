"""Nodes that give what they are given: left out."""

from __future__ import annotations

from collections.abc import Callable

import onnx_ir as ir

from onnxsmith.passes.editor import Attempt, Outcome
from onnxsmith.passes.values import (
    dimensions,
    fixed_shape,
    int_attribute,
    ints_attribute,
    made_by,
    rank,
    same_shape,
    text_attribute,
)

#: Larger constants are not looked through for being the same in every element.
_LOOKED_AT = 1 << 16
#: So far may an end of a slice be from being infinite, and still mean all of the dimension.
_ENDLESS = 2**31 - 1


def identity(at: Attempt) -> Outcome:
    """`Identity`."""
    value, result = at.input(0), at.node.outputs[0]
    if value is None:
        return None
    if result.is_graph_output():
        maker = value.producer()
        # A copy stays where it is what makes an input, a constant or another output an output.
        if maker is None or maker.graph is not at.node.graph or value.is_graph_output():
            return None
    return value


def cast(at: Attempt) -> Outcome:
    """`Cast` to the element type that there is."""
    value = at.input(0)
    if value is None or value.dtype is None:
        return None
    return value if int_attribute(at.node, "to", 0) == int(value.dtype) else None


def cast_like(at: Attempt) -> Outcome:
    """`CastLike` where the type is known: `Cast`, or nothing."""
    value, like = at.input(0), at.input(1)
    if value is None or like is None or like.dtype is None:
        return None
    if value.dtype == like.dtype:
        return value
    saturate = at.node.attributes.get("saturate")
    if like.dtype.is_floating_point() and like.dtype.bitwidth <= 8:
        return at.op("Cast", value, to=int(like.dtype), saturate=saturate)
    return at.op("Cast", value, to=int(like.dtype))


#: Element types by what they hold: to one whose set contains that of the other nothing is lost.
_INTEGERS = {
    **{ir.DataType[f"INT{bits}"]: (True, bits - 1) for bits in (8, 16, 32, 64)},
    **{ir.DataType[f"UINT{bits}"]: (False, bits) for bits in (8, 16, 32, 64)},
}
_FLOATS = {
    ir.DataType.FLOAT16: (11, 5), ir.DataType.BFLOAT16: (8, 8), ir.DataType.FLOAT: (24, 8), ir.DataType.DOUBLE: (53, 11)
}  # fmt: skip


def _holds_all_of(wide: ir.DataType, narrow: ir.DataType) -> bool:
    if wide == narrow or narrow == ir.DataType.BOOL:
        return wide == narrow or wide in _INTEGERS or wide in _FLOATS
    if narrow in _INTEGERS and wide in _INTEGERS:
        (signed, bits), (wide_signed, wide_bits) = _INTEGERS[narrow], _INTEGERS[wide]
        return wide_bits >= bits and (wide_signed or not signed)
    if narrow in _INTEGERS and wide in _FLOATS:
        return _FLOATS[wide][0] >= _INTEGERS[narrow][1]
    if narrow in _FLOATS and wide in _FLOATS:
        return all(a >= b for a, b in zip(_FLOATS[wide], _FLOATS[narrow], strict=True))
    return False


def cast_of_cast(at: Attempt) -> Outcome:
    """`Cast` of a `Cast` to a type that loses nothing: one `Cast`, or none."""
    inner = made_by(at.input(0), "Cast")
    source = None if inner is None else inner.inputs[0]
    if inner is None or source is None or source.dtype is None:
        return None
    middle, last = ir.DataType(int_attribute(inner, "to", 0)), ir.DataType(int_attribute(at.node, "to", 0))
    if not _holds_all_of(middle, source.dtype):
        return None
    return source if last == source.dtype else at.op("Cast", source, attributes=at.node.attributes)


def dropout(at: Attempt) -> Outcome:
    """`Dropout` that is not training."""
    if len(at.node.outputs) > 1 and any(
        each.uses() or each.is_graph_output() for each in at.node.outputs[1:]
    ):
        return None
    if at.version < 7:
        return at.input(0) if int_attribute(at.node, "is_test", 0) else None
    training = at.input(2)
    if training is not None:
        known = at.array(2, 1)
        if known is None or bool(known.reshape(())):
            return None
    return at.input(0)


def transpose(at: Attempt) -> Outcome:
    """`Transpose` that leaves every dimension in its place."""
    order = ints_attribute(at.node, "perm")
    value = at.input(0)
    if order is None:
        return value if rank(value) in (0, 1) else None
    return value if order == tuple(range(len(order))) else None


def reshape(at: Attempt) -> Outcome:
    """`Reshape` to the shape that there is."""
    value, result = at.input(0), at.node.outputs[0]
    if same_shape(value, result):
        return value
    wanted, given = at.numbers(1), dimensions(value)
    if wanted is None or given is None or len(wanted) != len(given):
        return None
    copies_zero = not int_attribute(at.node, "allowzero", 0)
    unknown = 0
    for size, own in zip(wanted, given, strict=True):
        if size == -1:
            unknown += 1
        elif not (size == own and size != 0) and not (size == 0 and copies_zero):
            return None
    # One size that is worked out is the only one left, unless another is 0.
    is_certain = unknown == 0 or (
        unknown == 1
        and all(isinstance(a, int) and a > 0 for s, a in zip(wanted, given, strict=True) if s != -1)
    )
    return value if is_certain else None


def expand(at: Attempt) -> Outcome:
    """`Expand` to the shape that there is."""
    value, wanted = at.input(0), at.numbers(1)
    if same_shape(value, at.node.outputs[0]):
        return value
    own = rank(value)
    if wanted is None or own is None or len(wanted) > own:
        return None
    return value if all(each == 1 for each in wanted) else None


def tile(at: Attempt) -> Outcome:
    """`Tile` that repeats everything once."""
    counts = at.numbers(1) if at.version >= 6 else None
    return at.input(0) if counts is not None and all(each == 1 for each in counts) else None


def pad(at: Attempt) -> Outcome:
    """`Pad` by nothing."""
    counts = at.numbers(1) if at.version >= 11 else ints_attribute(at.node, "pads")
    return at.input(0) if counts is not None and not any(counts) else None


def slice_all(at: Attempt) -> Outcome:
    """`Slice` of everything."""
    value = at.input(0)
    if at.version < 10:
        starts, ends = ints_attribute(at.node, "starts"), ints_attribute(at.node, "ends")
        axes, steps = ints_attribute(at.node, "axes"), None
    else:
        starts, ends = at.numbers(1), at.numbers(2)
        axes, steps = at.numbers(3), at.numbers(4)
        if (at.input(3) is not None and axes is None) or (at.input(4) is not None and steps is None):
            return None
    if starts is None or ends is None or len(starts) != len(ends):
        return None
    shape = dimensions(value)
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        axis = number if axes is None else axes[number]
        size = shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None
        if start != 0 or (steps is not None and steps[number] != 1):
            return None
        if end < _ENDLESS and not (isinstance(size, int) and end >= size):
            return None
    return value


def concat_of_one(at: Attempt) -> Outcome:
    """`Concat` of one tensor."""
    return at.input(0) if len(at.node.inputs) == 1 else None


def of_one(at: Attempt) -> Outcome:
    """`Sum`, `Max`, `Min` or `Mean` of one tensor."""
    return at.input(0) if len(at.node.inputs) == 1 else None


def _neutral(at: Attempt, position: int, number: float) -> Outcome:
    """The other operand, where one is a number throughout that changes nothing, and does not widen the shape."""
    other, value = at.input(1 - position), at.input(position)
    if other is None or not _is_throughout(at, position, number):
        return None
    extra, own = dimensions(value), dimensions(other)
    if extra is None:
        return None
    if own is not None and len(extra) <= len(own):
        behind = own[len(own) - len(extra) :]
        if all(size in (1, their) for size, their in zip(extra, behind, strict=True)):
            return other
    return other if extra == () or same_shape(other, at.node.outputs[0]) else None


def _is_throughout(at: Attempt, position: int, number: float) -> bool:
    """True if an input is a constant of one number, in every element."""
    array, value = at.array(position, _LOOKED_AT), at.input(position)
    if array is None or array.size == 0 or array.dtype.kind in "cOSUb":
        return False
    if value is not None and not at.edit.is_fixed(value):
        return False
    return float(array.reshape(-1)[0]) == number and bool((array == array.reshape(-1)[0]).all())


def plus_zero(at: Attempt) -> Outcome:
    """`x + 0`. A zero keeps its sign, which it would lose in the sum."""
    return _neutral(at, 1, 0) or _neutral(at, 0, 0)


def minus_zero(at: Attempt) -> Outcome:
    """`x - 0`."""
    return _neutral(at, 1, 0)


def times_one(at: Attempt) -> Outcome:
    """`x * 1`."""
    return _neutral(at, 1, 1) or _neutral(at, 0, 1)


def by_one(at: Attempt) -> Outcome:
    """`x / 1` and `x ** 1`."""
    value, exponent = at.input(0), at.input(1)
    if value is None or exponent is None:
        return None
    if at.node.op_type == "Pow" and value.dtype is None and at.version >= 12:
        return None
    return _neutral(at, 1, 1)


def twice(at: Attempt) -> Outcome:
    """`Not` of `Not`, `Neg` of `Neg`, `Reciprocal` of nothing of the kind."""
    inner = made_by(at.input(0), at.node.op_type)
    return None if inner is None else inner.inputs[0]


def same_again(at: Attempt) -> Outcome:
    """`Relu` of `Relu`, `Abs` of `Abs`, `Ceil` of `Ceil` and their like: once is enough."""
    return at.input(0) if made_by(at.input(0), at.node.op_type) is not None else None


def clip(at: Attempt) -> Outcome:
    """`Clip` of integers without bounds; of floats, it makes the largest number of infinity."""
    if at.node.outputs[0].dtype not in _INTEGERS:
        return None
    has_bounds = len([each for each in at.node.inputs[1:] if each is not None]) > 0
    if has_bounds or {"min", "max"} & set(at.node.attributes):
        return None
    return at.input(0)


def split_of_one(at: Attempt) -> Outcome:
    """`Split` into one part."""
    return at.input(0) if len(at.node.outputs) == 1 else None


#: Reductions that may do nothing.
_REDUCES_NOTHING = ("ReduceMax", "ReduceMin", "ReduceMean", "ReduceProd", "ReduceSum")


def reduce_nothing(at: Attempt) -> Outcome:
    """A reduction over no axes, which says that it then does nothing."""
    if not int_attribute(at.node, "noop_with_empty_axes", 0):
        return None
    axes = at.numbers(1)
    return at.input(0) if at.input(1) is None or axes == () else None


def squeeze_nothing(at: Attempt) -> Outcome:
    """`Squeeze` or `Unsqueeze` of no axes."""
    axes = at.numbers(1) if at.version >= 13 else ints_attribute(at.node, "axes")
    if axes is not None:
        return at.input(0) if not axes else None
    shape = fixed_shape(at.input(0))
    is_all = at.node.op_type == "Squeeze" and at.input(1) is None
    return at.input(0) if is_all and shape is not None and 1 not in shape else None


def flatten(at: Attempt) -> Outcome:
    """`Flatten` of what has two dimensions already."""
    return at.input(0) if rank(at.input(0)) == 2 and int_attribute(at.node, "axis", 1) in (1, -1) else None


def resize_nothing(at: Attempt) -> Outcome:
    """`Resize` or `Upsample` by 1."""
    place = 2 if at.node.op_type == "Resize" and at.version >= 11 else 1
    scales = at.array(place, 16)
    if scales is None or scales.size == 0 or not (scales == 1).all():
        return None
    plain = text_attribute(at.node, "coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize"
    return at.input(0) if plain else None


def where_known(at: Attempt) -> Outcome:
    """`Where` that is decided: the one side, if it has the shape of the result already."""
    condition = at.array(0)
    if condition is None or condition.size == 0 or condition.min() != condition.max():
        return None
    chosen = at.input(1 if bool(condition.reshape(-1)[0]) else 2)
    return chosen if same_shape(chosen, at.node.outputs[0]) else None


NO_OPS: dict[str, list[Callable[[Attempt], Outcome]]] = {
    "Identity": [identity],
    "Cast": [cast, cast_of_cast],
    "CastLike": [cast_like],
    "Dropout": [dropout],
    "Transpose": [transpose],
    "Reshape": [reshape],
    "Expand": [expand],
    "Tile": [tile],
    "Pad": [pad],
    "Slice": [slice_all],
    "Concat": [concat_of_one],
    **{each: [of_one] for each in ("Sum", "Max", "Min", "Mean")},
    "Add": [plus_zero],
    "Sub": [minus_zero],
    "Mul": [times_one],
    **{each: [by_one] for each in ("Div", "Pow")},
    **{each: [twice] for each in ("Not", "Neg")},
    **{each: [same_again] for each in ("Relu", "Abs", "Ceil", "Floor", "Round", "Sign")},
    "Clip": [clip],
    "Split": [split_of_one],
    **{each: [reduce_nothing] for each in _REDUCES_NOTHING},
    **{each: [squeeze_nothing] for each in ("Squeeze", "Unsqueeze")},
    "Flatten": [flatten],
    **{each: [resize_nothing] for each in ("Resize", "Upsample")},
    "Where": [where_known],
}
