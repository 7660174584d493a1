# pyright: basic
"""Python's arithmetic in torch's graphs: `operator.add`, `torch.sym_max`, `math.ceil` on numbers of the model."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import torch

from onnxsmith.core.semantics.number import Number
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.sizes import greatest, least
from onnxsmith.types.dtypes import DType


def _rounded(name: str) -> Callable[[Any], Any]:
    """A rounding to int."""

    def round_(value: Number) -> Number:
        if value.kind != "float":
            return Number(value.as_dtype(DType.INT64), "int")
        return Number(op.Cast(getattr(op, name)(value.as_dtype(DType.DOUBLE)), to=DType.INT64), "int")

    return round_


def _function(name: str) -> Callable[[Any], Any]:
    """A function of one float."""
    return lambda value: Number(getattr(op, name)(value.as_dtype(DType.DOUBLE)), "float")


def _sym_not(value: Number) -> Number:
    return Number(op.Not(value.as_dtype(DType.BOOL)), "bool")


def _sym_float(value: Number) -> Number:
    return Number(value.as_dtype(DType.DOUBLE), "float")


def _sym_int(value: Number) -> Number:
    return Number(value.as_dtype(DType.INT64), "int")  # a cast of a float drops its fraction, as int() does


def _sym_ite(condition: Any, then: Any, otherwise: Any) -> Any:
    if not isinstance(condition, Number):
        return then if condition else otherwise
    return _where(condition, then, otherwise)


def _where(condition: Number, then: Any, otherwise: Any) -> Number:
    is_float = any(
        isinstance(each, float) or getattr(each, "kind", "") == "float" for each in (then, otherwise)
    )
    dtype = DType.DOUBLE if is_float else DType.INT64
    parts = [
        each.as_dtype(dtype) if isinstance(each, Number) else dtype.numpy.type(each)
        for each in (then, otherwise)
    ]
    return op.Where(condition.as_dtype(DType.BOOL), *parts).as_number()


def _sym_sum(values: Any) -> Any:
    result: Any = 0
    for each in values:
        result = result + each
    return result


#: Functions that are called as they are on what is known, and so on numbers of the model.
_MEANINGS: dict[Any, Callable[..., Any]] = {
    torch.sym_max: greatest,
    torch.sym_min: least,
    torch.sym_not: _sym_not,
    torch.sym_float: _sym_float,
    torch.sym_int: _sym_int,
    torch.sym_ite: _sym_ite,
    torch.sym_sum: _sym_sum,
    operator.not_: _sym_not,
    math.ceil: _rounded("Ceil"),
    math.floor: _rounded("Floor"),
    math.trunc: _sym_int,
    round: _rounded("Round"),
    float: _sym_float,
    int: _sym_int,
    max: greatest,
    min: least,
    **{
        function: _function(name)
        for word, name in (
            ("sqrt", "Sqrt"),
            ("exp", "Exp"),
            ("log", "Log"),
            ("sin", "Sin"),
            ("cos", "Cos"),
            ("tan", "Tan"),
            ("asin", "Asin"),
            ("acos", "Acos"),
            ("atan", "Atan"),
            ("sinh", "Sinh"),
            ("cosh", "Cosh"),
            ("tanh", "Tanh"),
        )
        for function in (getattr(torch, f"_sym_{word}", None), getattr(math, word))
        if function is not None
    },
}


def is_python_function(target: Any) -> bool:
    """Whether a node's target is a function of numbers: Python's operators, `math`, torch's `sym_*`."""
    return target in _MEANINGS or getattr(target, "__module__", "") in (
        "_operator",
        "math",
        "builtins",
        "operator",
    )


def compute(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The function's value: now where all is known, in the graph otherwise."""
    flat = [*args, *kwargs.values()]
    is_known = not any(_has_number(each) for each in flat)
    meaning = _MEANINGS.get(target)
    if is_known or meaning is None:
        return target(*args, **kwargs)
    return meaning(*args, **kwargs)


def _has_number(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(_has_number(each) for each in value)
    return isinstance(value, Number)
