"""Reads types and values as they are typed in a shell: `FLOAT[N, 4]`, `x=INT64`, `axis=1`.

Nothing that is typed is evaluated; names of dimensions need no quotes.
"""

from __future__ import annotations

import ast
from typing import Any

from onnxsmith.cli.report import Usage
from onnxsmith.source import parse_expression
from onnxsmith.types import names
from onnxsmith.types.value_types import AnyValueType, OptionalType, SequenceType, TensorType

_FORM = "write FLOAT, FLOAT[...], FLOAT[N, 4], Sequence[FLOAT[...]] or Optional[FLOAT[...]]"


def read_type(text: str) -> AnyValueType:
    """A type as typed in a shell."""
    try:
        node = parse_expression(text.strip())
    except SyntaxError:
        raise Usage(f"{text!r} is no type; {_FORM}") from None
    return _type(node, text)


def _type(node: ast.expr, text: str) -> AnyValueType:
    match node:
        case ast.Name(id=name) if name.upper() in names.TYPE_NAMES:
            return getattr(names, name.upper())
        case ast.Subscript(value=ast.Name(id="Sequence"), slice=inner):
            return SequenceType(_type(inner, text))
        case ast.Subscript(value=ast.Name(id="Optional"), slice=inner):
            element = _type(inner, text)
            if isinstance(element, TensorType | SequenceType):
                return OptionalType(element)
        case ast.Subscript(value=ast.Name(id=name), slice=dimensions) if name.upper() in names.TYPE_NAMES:
            tensor: TensorType = getattr(names, name.upper())
            parts = dimensions.elts if isinstance(dimensions, ast.Tuple) else [dimensions]
            read = tuple(_dimension(each) for each in parts)
            return tensor[read[0]] if len(read) == 1 else tensor[read]
        case _:
            pass
    raise Usage(f"{text!r} is no type; {_FORM}")


def _dimension(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value  # refused where dimensions are, with the reason
        case _:
            return ast.unparse(node)  # a name, or an expression of names, as in N+1


def split_assignment(text: str, what: str, form: str) -> tuple[str, str]:
    """The two sides of `name=value`."""
    name, separator, value = text.partition("=")
    if not separator or not name.strip():
        raise Usage(f"{what} is {form}, not {text!r}")
    return name.strip(), value.strip()


def read_value(text: str) -> Any:
    """A Python literal, or else the text itself."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text
