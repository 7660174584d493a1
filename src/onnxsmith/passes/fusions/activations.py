"""Activations that models spell out: both forms of Gelu, and bounds."""

from __future__ import annotations

import math

import onnx_ir as ir

from onnxsmith.passes.editor import Attempt, Editor, Outcome
from onnxsmith.passes.fusions.expressions import is_close, plus_number, product_of
from onnxsmith.passes.values import made_by, only_for, rank

#: Where `Gelu` is.
_GELU_VERSION = 20
_FLOATS = (ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.BFLOAT16, ir.DataType.DOUBLE)


def gelu(at: Attempt) -> Outcome:
    """`x * 0.5 * (1 + erf(x / sqrt(2)))`, or the same with tanh, in any order: `Gelu`."""
    if at.version < _GELU_VERSION:
        return None
    edit = at.edit
    whole = product_of(edit, at.node.outputs[0], at.node)
    if whole.number != 0.5 or len(whole.factors) != 2:
        return None
    for x, gate in (whole.factors, whole.factors[::-1]):
        if x.dtype not in _FLOATS:
            continue
        one = plus_number(edit, gate)
        if one is None or one[1] != 1:
            continue
        error = only_for(one[0], "Erf")
        if error is not None and _is_root_half(edit, error.inputs[0], x):
            return at.op("Gelu", x)
        curve = only_for(one[0], "Tanh")
        if curve is not None and _is_cubic(edit, curve.inputs[0], x):
            return at.op("Gelu", x, approximate="tanh")
    return None


def _is_root_half(edit: Editor, value: ir.Value | None, x: ir.Value) -> bool:
    inner = product_of(edit, value)
    return inner.factors == [x] and is_close(inner.number, math.sqrt(0.5), x.dtype)


def _is_cubic(edit: Editor, value: ir.Value | None, x: ir.Value) -> bool:
    """Whether a value is `sqrt(2 / pi) * (x + 0.044715 * x**3)`."""
    outer = product_of(edit, value)
    if not is_close(outer.number, math.sqrt(2 / math.pi), x.dtype):
        return False
    if len(outer.factors) == 1:
        total = only_for(outer.factors[0], "Add")
        if total is None:
            return False
        left, right = total.inputs
        return (left is x and _is_power(edit, right, x, 3)) or (right is x and _is_power(edit, left, x, 3))
    rest = outer.without(x)
    if rest is None or len(rest) != 1:
        return False
    one = plus_number(edit, rest[0])
    return one is not None and one[1] == 1 and _is_power(edit, one[0], x, 2)


def _is_power(edit: Editor, value: ir.Value | None, x: ir.Value, exponent: int) -> bool:
    """Whether a value is `0.044715 * x**exponent`."""
    product = product_of(edit, value)
    if not is_close(product.number, 0.044715, x.dtype):
        return False
    total = 0.0
    for each in product.factors:
        power = only_for(each, "Pow")
        if each is x:
            total += 1
        elif power is not None and power.inputs[0] is x:
            total += edit.number_beside(power.inputs[1], x) or 0.0
        else:
            return False
    return total == exponent


def clip_of_relu(at: Attempt) -> Outcome:
    """`Clip` of `Relu`: one `Clip`, from 0."""
    inner = only_for(at.input(0), "Relu")
    if inner is None or at.version < 11:
        return None
    low = 0.0 if at.input(1) is None else at.number(1)
    x = inner.inputs[0]
    if low is None or x is None:
        return None
    bound = at.like(max(low, 0.0), x)
    return None if bound is None else at.op("Clip", x, bound, at.input(2))


def minimum_of_maximum(at: Attempt) -> Outcome:
    """`Min(Max(x, a), b)` of two numbers, the first of which is not larger: `Clip`."""
    if at.version < 12 or len(at.node.inputs) != 2 or at.node.outputs[0].dtype not in _FLOATS:
        return None
    for value, upper in (at.node.inputs, at.node.inputs[::-1]):
        inner = only_for(value, "Max")
        high = at.edit.number(upper)
        if inner is None or high is None or upper is None or len(inner.inputs) != 2 or rank(upper) != 0:
            continue
        for x, lower in (inner.inputs, inner.inputs[::-1]):
            low = at.edit.number(lower)
            if low is not None and low <= high and rank(lower) == 0 and not at.edit.is_constant(x):
                return at.op("Clip", x, lower, upper)
    return None


def softmax_as_one(at: Attempt) -> Outcome:
    """`Exp(LogSoftmax(x))`: `Softmax`."""
    inner = made_by(at.input(0), "LogSoftmax")
    if inner is None or at.version < 13:
        return None
    return at.op("Softmax", inner.inputs[0], attributes=inner.attributes)


ACTIVATIONS = {
    "Mul": [gelu],
    "Div": [gelu],
    "Clip": [clip_of_relu],
    "Min": [minimum_of_maximum],
    "Exp": [softmax_as_one],
}
