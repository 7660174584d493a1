"""A tensor as a Python value: `bool(x)`, `int(x)`, `len(x)`, `for row in x`.

An eager tensor has its value. A traced one has it where it is known when the graph is made; elsewhere the error says
what to write instead, from what the user wrote.
"""

from __future__ import annotations

import ast
import math
import textwrap
from typing import Any, Literal, NamedTuple

from onnxsmith.core.operands import content_of, dtype_of, operators_for, shape_of
from onnxsmith.core.semantics.numpy_calls import operator_for, unknown_size
from onnxsmith.core.target import ACTIVE
from onnxsmith.core.value import Array, TensorValue
from onnxsmith.errors import DTypeNotAllowedError, LiteralError, OnnxsmithError, ShapeError, TracedValueError
from onnxsmith.schema.promote import refuse_past_end
from onnxsmith.source import Span, caller_span, iterated_span, line_of, parse, parse_expression
from onnxsmith.types.value_types import describe_shape

Wanted = Literal["item", "bool", "int", "float", "complex", "index"]


def item(x: TensorValue, wanted: Wanted = "item") -> Any:
    """The one element as a Python value; raises where there are several, or where only the model knows it."""
    content = content_of(x)
    if content is None:
        raise _unknown(x, wanted)
    if content.size != 1:
        raise _not_one(content, wanted)
    return content.item()


def as_int(x: TensorValue) -> int:
    """`int(x)`; in a script LiteralError for NaN, infinity and what is past 64 bits, which a model's int has not."""
    value = item(x, "int")
    if ACTIVE.get() is None:
        return int(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise LiteralError(
            f"int() has no integer for {value}",
            help="compare x with x to find NaN, or bound it with x.clip(…)",
        )
    whole = int(value)
    refuse_past_end(whole)
    return whole


def as_index(x: TensorValue) -> int:
    """`operator.index(x)`: what `range(x)` and `a_list[x]` ask for; only an integer scalar has one."""
    dtype, shape = dtype_of(x), shape_of(x)
    if dtype is not None and not dtype.is_integer:
        raise DTypeNotAllowedError(
            f"an index is an integer, not a tensor of {dtype.spelling}", help="x.astype(INT64)"
        )
    if shape is not None and shape:
        raise ShapeError(
            f"an index is a scalar, not a tensor of shape {describe_shape(shape)}", help="x.item(), or x[0]"
        )
    return int(item(x, "index"))


def length(x: TensorValue) -> int:
    """`len(x)`"""
    shape = shape_of(x)
    if shape == ():
        raise ShapeError("a scalar tensor has no length")
    if shape is None or not isinstance(shape[0], int):
        raise TracedValueError(
            f"len() is a Python int, and how long {_described(x)} is, is known only when the model runs",
            help="x.shape[0] is its length as a tensor",
        )
    return shape[0]


def iterations(x: TensorValue) -> int:
    """How often `for row in x` repeats: it is unrolled, one part after the other along the first dimension."""
    shape = shape_of(x)
    if shape == ():
        raise ShapeError("a scalar tensor cannot be iterated over")
    if shape is None or not isinstance(shape[0], int):
        raise TracedValueError(
            f"how often this repeats is known only when the model runs: it iterates over {_described(x)}",
            help="compute on the whole tensor, as in (x * x).sum(), or call op.Scan or op.Loop;\n"
            "a 'for' statement of a @script function runs over it in the model, a comprehension does not;\n"
            "a first dimension of known size is unrolled",
        ).locate(iterated_span())
    return shape[0]


def _described(x: TensorValue) -> str:
    return x.type.described


# -- what is wrong, and what to write instead ----------------------------------------------------------


def _not_one(content: Array, wanted: Wanted) -> OnnxsmithError:
    count = f"{content.size} elements" if content.size else "no elements"
    if wanted == "bool":
        return ShapeError(
            f"the truth value of a tensor with {count} is ambiguous",
            help="x.any() or x.all()",
        )
    word = "item()" if wanted == "item" else f"{wanted}()"
    return ShapeError(f"{word} needs a tensor of one element, and this one has {count}")


_EXPLANATIONS: dict[Wanted, tuple[str, str]] = {
    "bool": (
        "Python asks whether this tensor is true, which is known only when the model runs",
        "in place of a branch, op.Where(condition, a, b) or op.If, or write it in a @script function;\n"
        "in place of `and`, `or`, `not`: `&`, `|`, `~` on bool tensors",
    ),
    "int": (
        "int() makes a Python int, and this tensor's value is known only when the model runs",
        "x.astype(INT64)",
    ),
    "float": (
        "float() makes a Python float, and this tensor's value is known only when the model runs",
        "x.astype(FLOAT)",
    ),
    "complex": (
        "complex() makes a Python number, and this tensor's value is known only when the model runs",
        "",
    ),
    "item": (
        "item() makes a Python value, and this tensor's is known only when the model runs",
        "x.reshape(()) is a scalar tensor",
    ),
    "index": (
        "Python needs an int here, and this tensor's value is known only when the model runs",
        "to index with it, index a tensor: op.Gather(table, i), or table[i] where table is a tensor;\n"
        "in place of range(n), op.Loop or a loop in a @script function",
    ),
}


def _unknown(x: TensorValue, wanted: Wanted) -> OnnxsmithError:
    message, help_text = _EXPLANATIONS[wanted]
    if wanted == "index" and (error := unknown_size()) is not None:
        return error
    if wanted == "bool" and (extremum := _extremum_call()) is not None:
        name, arguments = extremum
        return TracedValueError(
            f"{name}() compares tensors in Python, and which is less is known only when the model runs",
            help=f"op.{name.capitalize()}({arguments})",
        )
    if wanted == "float" and (call := _call_of_math()) is not None:
        name, arguments = call
        meant = operator_for(name, operators_for(x).version)
        return TracedValueError(
            f"math.{name}() computes with Python numbers, and this tensor's value is known only when the model runs",
            help=f"op.{meant}({arguments})" if meant else "call ONNX's operators, op.…",
        )
    return TracedValueError(f"{message}: {_described(x)}", help=help_text or None)


def _extremum_call() -> tuple[str, str] | None:
    """`min` or `max` and its arguments as written, when that call is what asks for a truth value."""
    parsed = _parse(_text(caller_span()))
    if (
        isinstance(parsed, ast.Call)
        and isinstance(parsed.func, ast.Name)
        and parsed.func.id in ("min", "max")
    ):
        return parsed.func.id, ", ".join(map(ast.unparse, parsed.args))
    return None


def _call_of_math() -> tuple[str, str] | None:
    """The function of the math module and its arguments as written, when that call is what asks for a number."""
    match _parse(_text(caller_span())):
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math"), attr=name), args=arguments):
            return name, ", ".join(map(ast.unparse, arguments))
        case _:
            return None


class Assignment(NamedTuple):
    """The parts of `x[i] = v`, as the user wrote them."""

    tensor: str
    place: str
    value: str
    method: str


_AUGMENTED: dict[type[ast.operator], str] = {ast.Add: "add", ast.Mult: "multiply"}


def assignment_text() -> Assignment | None:
    """The parts of the user's assignment to a subscript; None when the source cannot be read."""
    span = caller_span()
    if span is None:
        return None
    first = span.line
    for last in range(span.end_line, span.end_line + 10):
        lines = [line_of(span, number) for number in range(first, last + 1)]
        try:
            module = parse(textwrap.dedent("".join(lines)))
        except SyntaxError:
            continue
        return next((found for each in ast.walk(module) if (found := _assignment(each)) is not None), None)
    return None


def _assignment(node: ast.AST) -> Assignment | None:
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
        target, method, value = node.targets[0], "set", ast.unparse(node.value)
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
        target, operand = node.target, ast.unparse(node.value)
        found = _AUGMENTED.get(type(node.op))
        if found is None:  # x[i] -= v and its like have no method of their own
            whole = ast.unparse(ast.BinOp(node.target, node.op, node.value))
            method, value = "set", whole
        else:
            method, value = found, operand
    else:
        return None
    index = ast.unparse(target.slice)
    if isinstance(target.slice, ast.Tuple):  # unparse puts parentheses around it, which slices do not allow
        index = ", ".join(map(ast.unparse, target.slice.elts)) + "," * (len(target.slice.elts) == 1)
    return Assignment(ast.unparse(target.value), index, value, method)


def _text(span: Span | None) -> str:
    """The source text that a span covers, or nothing."""
    if span is None or (span.line == span.end_line and span.column == span.end_column):
        return ""
    lines = [line_of(span, number).encode() for number in range(span.line, span.end_line + 1)]
    if not lines:
        return ""
    lines[-1] = lines[-1][: span.end_column]
    lines[0] = lines[0][span.column :]
    return b"".join(lines).decode(errors="replace")


def _parse(text: str) -> ast.expr | None:
    try:
        return parse_expression(text.strip()) if text.strip() else None
    except SyntaxError:
        return None
