"""numpy's own functions on tensors: the operators behind Python's syntax are ours, all others are refused.

An array on the left of an operator hands over here: `array + tensor` is numpy's `add` before it is the tensor's.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, cast

import numpy as np

from onnxsmith.core.operands import operators_for
from onnxsmith.core.semantics.numpys_types import UFUNCS, Meaning, Results, compute
from onnxsmith.core.value import NumberValue, Operand, TensorValue, Value
from onnxsmith.errors import ShapeError, TensorAssignmentError, TracedValueError
from onnxsmith.schema import registry
from onnxsmith.schema.other_names import ONNX_NAMES
from onnxsmith.source import Span, caller_frame, caller_span, parse_expression, position_span, text_of
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: numpy's universal functions that Python's operators on arrays are made of.
_OPERATORS: dict[str, Meaning] = {each.__name__: meaning for meaning, each in UFUNCS.items()}

#: Where numpy's own functions are written.
_NUMPYS_FILES = os.path.join(os.path.dirname(np.__file__), "")

#: Functions of `math` and numpy that ONNX calls otherwise, beside those that any name of an operator may mean.
_NAMES = {"fabs": "Abs", "around": "Round", "sum": "ReduceSum", "mean": "ReduceMean", "max": "ReduceMax"}


def universal_function(
    ufunc: np.ufunc, method: str, inputs: Sequence[Operand], kwargs: Mapping[str, Any]
) -> Results | np.ndarray[Any, Any]:
    """Answers numpy's protocol for `array + tensor`, `array += tensor` and `np.add(array, tensor)`."""
    name: str = ufunc.__name__
    if method == "__call__" and name in _OPERATORS:
        if not kwargs:
            return compute(_OPERATORS[name], *inputs)
        if _is_in_place(inputs, kwargs):
            return _stored(compute(_OPERATORS[name], *inputs), kwargs["out"][0])
    raise refused(name if method == "__call__" else f"{name}.{method}", inputs)


def _is_in_place(inputs: Sequence[Operand], kwargs: Mapping[str, Any]) -> bool:
    """True for `array += tensor` where the tensor has its elements: a model makes a tensor of the array before."""
    out = kwargs.get("out", ())
    return (
        len(kwargs) == len(out) == 1
        and type(out[0]) is np.ndarray
        and out[0] is inputs[0]
        and not any(isinstance(each, Value) and each.is_symbolic for each in inputs)
    )


def _stored(result: Results, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array with other elements, which all of its names see."""
    made = np.asarray(cast(Any, result))
    if made.shape != array.shape or made.dtype != array.dtype:
        old, new = (TensorType(DType.from_numpy(each.dtype), each.shape) for each in (array, made))
        raise TensorAssignmentError(
            f"this array is {old!r}, and {new!r} cannot be written to it", help="make a new one: x = x + y"
        )
    array[...] = made
    return array


def array_function(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> NoReturn:
    """Answers numpy's protocol for `np.concatenate([tensor, …])`: refused for eager and for traced tensors."""
    raise refused(function.__name__, [*args, *kwargs.values()])


def refuse_conversion(x: TensorValue) -> NoReturn:
    """`np.asarray(x)` of a tensor whose value only the model has."""
    if isinstance(x, NumberValue) and (error := unknown_size()) is not None:
        raise error
    raise TracedValueError(
        f"a tensor of a graph is no array, and has a value only when the model runs: {x.type.described}",
        help="call operators on it, op.Relu(x), or run the function eagerly",
    )


def unknown_size() -> ShapeError | None:
    """The error for `np.zeros(n)` with a number that only the model knows; None where no function of numpy asks for it.

    It is no TypeError: numpy says something of its own in the place of those.
    """
    frame, name = caller_frame(), None
    while frame is not None and frame.f_code.co_filename.startswith(_NUMPYS_FILES):
        frame, name = frame.f_back, frame.f_code.co_name
    if frame is None:
        return None
    span = caller_span() if name is None else position_span(frame.f_code, frame.f_lasti, frame.f_lineno)
    name = name or _numpys_function(span)
    if name is None:
        return None
    error = ShapeError(
        f"numpy's {name} makes an array now, and a number that it is given is known only when the model runs",
        help=f"onnxsmith.numpy makes it in the model: import onnxsmith.numpy as xp, and xp.{name}(…)",
    )
    error.is_refusal = True
    error.locate(span)
    return error


def _numpys_function(span: Span | None) -> str | None:
    """The function of numpy that an expression calls, by how it is written."""
    try:
        parsed = parse_expression((text_of(span) or "").strip()) if span is not None else None
    except (SyntaxError, ValueError):
        return None
    match parsed:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name)):
            return name
        case _:
            return None


def refused(name: str, inputs: Sequence[Any]) -> TracedValueError:
    """The error for a function of numpy that was given a tensor; the help is what to call instead."""
    return TracedValueError(
        f"numpy's {name} cannot compute with a tensor of ONNX",
        help=f"{_instead(name, inputs)};\n"
        "onnxsmith.numpy.asarray(tensor) is an array, which computes as numpy does;\n"
        "onnxsmith.numpy.jit(f) makes all of a function compute so",
    )


def _instead(name: str, inputs: Sequence[Any]) -> str:
    """The same call as one of ours: a method of the tensor, or an operator."""
    written = _arguments_as_written() or ["x"]
    owner = cast("type[object]", type(inputs[0])) if inputs else object
    is_method = issubclass(owner, Value) and name.isidentifier()
    if is_method and isinstance(getattr(owner, name, None), property):
        return f"{_as_owner(written[0])}.{name}"
    if is_method and hasattr(owner, name):
        return f"{_as_owner(written[0])}.{name}({', '.join(written[1:])})"
    meant = operator_for(name, operators_for(*inputs).version)
    if meant is None:
        return "call ONNX's operators, op.…, or methods of the tensor"
    arguments = ", ".join(written)
    if meant == "Concat":  # numpy takes a list, ONNX the tensors
        arguments = arguments.removeprefix("[").removesuffix("]")
        if name == "stack":  # which gives them a dimension more
            return f"op.ConcatFromSequence(op.SequenceConstruct({arguments}), axis=0, new_axis=1)"
        arguments += ", axis=0"
    return f"op.{meant}({arguments})"


def _as_owner(text: str) -> str:
    """An expression in front of a dot."""
    parsed = parse_expression(text)
    is_whole = isinstance(parsed, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    return text if is_whole else f"({text})"


def operator_for(name: str, version: int) -> str | None:
    """ONNX's operator for a function of numpy or of the math module, by name."""
    known = registry.names("", version)
    meant = ONNX_NAMES.get(name) or _NAMES.get(name)
    if meant is not None:
        word = meant.partition(" ")[0]
        return word if word in known else None
    plain = name.replace("_", "").lower()
    return next((each for each in known if each.lower() == plain), None)


def _arguments_as_written() -> list[str] | None:
    span = caller_span()
    text = None if span is None else text_of(span)
    try:
        parsed = parse_expression((text or "").strip())
    except (SyntaxError, ValueError):
        return None
    if not isinstance(parsed, ast.Call) or parsed.keywords:
        return None
    return [ast.unparse(each) for each in parsed.args]
