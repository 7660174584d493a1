"""Operators that work element by element: one input, two or more with broadcasting, comparisons, `Where`."""

from __future__ import annotations

from collections.abc import Sequence

from onnxsmith.schema.inference.broadcasting import Mismatch, broadcast, broadcast_all
from onnxsmith.schema.inference.call import Call, Result, rule, tensor
from onnxsmith.schema.inference.content import choose, elementwise
from onnxsmith.schema.inference.known import Known
from onnxsmith.schema.re2_pattern import missing_in_re2
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Shape, TensorType


@rule(
    *("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Celu", "Cos", "Cosh", "Elu", "Erf", "Exp", "Gelu"),
    *(
        "HardSigmoid",
        "HardSwish",
        "LeakyRelu",
        "Log",
        "Mish",
        "Relu",
        "Selu",
        "Shrink",
        "Sigmoid",
        "Sign",
        "Sin",
    ),
    *("Sinh", "Softplus", "Softsign", "Swish", "Tan", "Tanh", "ThresholdedRelu", "BitwiseNot", "Clip"),
)
def same_as_input(call: Call) -> Result:
    """The output has the type of the first input."""
    known = call.inputs[0]
    if known is None or known.data is None:
        return None if known is None else (known,)
    return (Known(known.type),)


@rule("Neg", "Abs", "Floor", "Ceil", "Round", "Sqrt", "Reciprocal", "Not")
def unary_with_content(call: Call) -> Result:
    """The same, for operators that shape arithmetic uses."""
    known = call.inputs[0]
    if known is None or known.data is None:
        return None if known is None else (known,)
    return (Known(known.type, elementwise(call.op.name, (known,), call.dtype(0))),)


@rule("IsNaN", "IsInf")
@rule("Equal", "Less", "Greater", "And", "Or", "Xor", before=7)
def test_each_element(call: Call) -> Result:
    return (tensor(DType.BOOL, call.shape(0)),)


@rule("RegexFullMatch")
def match_each_element(call: Call) -> Result:
    missing = missing_in_re2(call.string("pattern", ""))
    if missing is not None:
        raise call.attribute_error("pattern", f"takes patterns of RE2, which has no {missing}")
    return (tensor(DType.BOOL, call.shape(0)),)


@rule("Add", "Sub", "Mul", "Div", since=7)
@rule("Mod", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "StringConcat")
def broadcast_two(call: Call) -> Result:
    left, right = call.inputs
    if left is None or right is None:
        return None
    first, second = left.type, right.type
    if not isinstance(first, TensorType) or not isinstance(second, TensorType):
        return None
    shape, dtype = first.shape, first.dtype
    if shape == second.shape and shape is not None and dtype is not None and left.data is None:
        return (left,)
    dtype = second.dtype if dtype is None else dtype
    out = TensorType(dtype, _broadcast_pair(call, shape, second.shape))
    if left.data is None or right.data is None or (call.op.name == "Mod" and call.integer("fmod", 0)):
        return (Known(out),)
    return (Known(out, elementwise(call.op.name, (left, right), dtype)),)


@rule("Equal", "Less", "Greater", "And", "Or", "Xor", since=7)
@rule("LessOrEqual", "GreaterOrEqual")
def compare_two(call: Call) -> Result:
    out = TensorType(DType.BOOL, _broadcast_pair(call, call.shape(0), call.shape(1)))
    return (Known(out, elementwise(call.op.name, call.inputs, DType.BOOL)),)


@rule("Pow", since=7)
def power(call: Call) -> Result:
    dtype = call.dtype(0)
    out = TensorType(dtype, _broadcast_pair(call, call.shape(0), call.shape(1)))
    return (Known(out, elementwise("Pow", call.inputs, dtype)),)


@rule("Max", "Min", "Sum", "Mean", since=8)
def broadcast_many(call: Call) -> Result:
    positions = range(len(call.inputs))
    dtype = call.dtype(*positions)
    out = TensorType(dtype, broadcast_inputs(call, positions))
    inputs, name = call.inputs, call.op.name
    if name == "Mean" or any(each is None or each.data is None for each in inputs):
        return (Known(out),)
    total = inputs[0]
    for each in inputs[1:]:
        total = Known(out, elementwise("Add" if name == "Sum" else name, (total, each), dtype))
    return (Known(out, None if total is None else total.data),)


@rule("Where")
def where(call: Call) -> Result:
    shape = broadcast_inputs(call, (0, 1, 2))
    return (Known(TensorType(call.dtype(1, 2), shape), choose(call.input(0), call.input(1), call.input(2))),)


@rule("PRelu")
def prelu(call: Call) -> Result:
    """The slope is broadcast to X; that X has a dimension of 1 where the slope has more is overlooked by runtimes."""
    shape, slope = call.shape(0), call.shape(1)
    if call.op.since_version >= 7 and shape is not None and slope is not None:
        result = _broadcast_pair(call, shape, slope)
        if result is not None and len(result) > len(shape):
            raise call.shape_error(
                f"cannot broadcast {call.described(1)} to {call.described(0)}: it has more dimensions", 1
            )
        if result is not None:
            shape = tuple(
                wide if size == 1 and isinstance(wide, int) else size
                for size, wide in zip(shape, result, strict=True)
            )
    return (tensor(call.dtype(0, 1), shape),)


@rule("Add", "Sub", "Mul", "Div", "Pow", before=7)
@rule("Max", "Min", "Sum", "Mean", before=8)
def shape_of_first(call: Call) -> Result:
    """Before broadcasting was numpy's, the output had the first input's shape."""
    return (tensor(call.dtype(*range(len(call.inputs))), call.shape(0)),)


def _broadcast_pair(call: Call, left: Shape | None, right: Shape | None) -> Shape | None:
    if left is None or right is None:
        return None
    try:
        return broadcast(left, right)
    except Mismatch as mismatch:
        raise broadcast_error(call, 0, 1, mismatch) from None


def broadcast_inputs(call: Call, positions: Sequence[int]) -> Shape | None:
    """The shape that several inputs are broadcast to."""
    try:
        return broadcast_all([call.shape(position) for position in positions])
    except Mismatch:
        pass
    # Which two do not fit, for the message.
    for later, right in enumerate(positions):
        for left in positions[:later]:
            try:
                broadcast_all([call.shape(left), call.shape(right)])
            except Mismatch as mismatch:
                raise broadcast_error(call, left, right, mismatch) from None
    return None


def broadcast_error(call: Call, left: int, right: int, mismatch: Mismatch) -> Exception:
    """Two inputs that cannot be broadcast."""
    where = "the last dimensions" if mismatch.axis == -1 else f"the dimensions at axis {mismatch.axis}"
    return call.shape_error(
        f"cannot broadcast {call.described(left)} with {call.described(right)}: "
        f"{where} are {mismatch.left} and {mismatch.right}"
    )
