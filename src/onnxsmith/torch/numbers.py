"""Python's arithmetic in torch's graphs: `operator.add`, `torch.sym_max`, `math.ceil` on numbers of the model."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import torch

from onnxsmith.algorithms.operators import op
from onnxsmith.core.semantics.number import Number
from onnxsmith.torch.library.kinds import Argument, Target
from onnxsmith.torch.size_arithmetic import AnyNumber, as_number, greatest, is_float, least, scalar
from onnxsmith.types.dtypes import DType


def _rounded(name: str) -> Callable[..., Number]:
    """A rounding to int; to a float where the number of digits is given, as Python's `round` has it."""

    def round_(value: Number, ndigits: int | None = None) -> Number:
        if value.kind != "float" and ndigits is None:
            return Number(value.as_dtype(DType.INT64), "int")
        scale = np.array(10.0 ** (ndigits or 0))
        scaled = value.as_dtype(DType.DOUBLE) if ndigits is None else value.as_dtype(DType.DOUBLE) * scale
        rounded = getattr(op, name)(scaled)
        if ndigits is None:
            return Number(op.Cast(rounded, to=DType.INT64), "int")
        if value.kind != "float":
            return Number(op.Cast(rounded / scale, to=DType.INT64), "int")
        return Number(rounded / scale, "float")

    return round_


def _log2(value: Number) -> Number:
    return Number(op.Log(value.as_dtype(DType.DOUBLE)) / np.array(math.log(2)), "float")


def _function(name: str) -> Callable[[Number], Number]:
    """A function of one float."""
    return lambda value: Number(getattr(op, name)(value.as_dtype(DType.DOUBLE)), "float")


def _sym_not(value: Number) -> Number:
    return Number(op.Not(value.as_dtype(DType.BOOL)), "bool")


def _sym_float(value: Number) -> Number:
    return Number(value.as_dtype(DType.DOUBLE), "float")


def _sym_int(value: Number) -> Number:
    return Number(value.as_dtype(DType.INT64), "int")  # a cast of a float drops its fraction, as int() does


def _sym_ite(condition: Number | bool, then: AnyNumber, otherwise: AnyNumber) -> AnyNumber:
    if not isinstance(condition, Number):
        return then if condition else otherwise
    dtype = DType.DOUBLE if is_float(then) or is_float(otherwise) else DType.INT64
    chosen = op.Where(condition.as_dtype(DType.BOOL), scalar(then, dtype), scalar(otherwise, dtype))
    return as_number(chosen.as_number())


def _sym_sum(values: Iterable[AnyNumber]) -> AnyNumber:
    result: AnyNumber = 0
    for each in values:
        result = result + each
    return result


#: Operators that are functions of one float, by the name that `math` has for them.
_FLOAT_FUNCTIONS = {
    "sqrt": "Sqrt", "exp": "Exp", "log": "Log",
    "sin": "Sin", "cos": "Cos", "tan": "Tan", "asin": "Asin", "acos": "Acos", "atan": "Atan",
    "sinh": "Sinh", "cosh": "Cosh", "tanh": "Tanh",
}  # fmt: skip

#: torch's own functions of numbers, which it leaves without types.
_TORCH_FUNCTIONS: dict[str, Callable[..., AnyNumber]] = {
    "sym_max": greatest,
    "sym_min": least,
    "sym_not": _sym_not,
    "sym_float": _sym_float,
    "sym_int": _sym_int,
    "sym_ite": _sym_ite,
    "sym_sum": _sym_sum,
}

#: Functions that are called as they are on what is known, and so on numbers of the model.
_MEANINGS: dict[Callable[..., Any], Callable[..., AnyNumber]] = {
    **{getattr(torch, name): meaning for name, meaning in _TORCH_FUNCTIONS.items()},
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
        for word, name in _FLOAT_FUNCTIONS.items()
        for function in (getattr(torch, f"_sym_{word}", None), getattr(math, word))
        if function is not None
    },
    **{
        function: _log2 for function in (getattr(torch, "_sym_log2", None), math.log2) if function is not None
    },
}


def is_python_function(target: Target | str) -> bool:
    """True if a node's target is a function of numbers: Python's operators, `math`, torch's `sym_*`."""
    return target in _MEANINGS or getattr(target, "__module__", "") in (
        "_operator",
        "math",
        "builtins",
        "operator",
    )


def compute(target: Target, args: Sequence[Argument], kwargs: Mapping[str, Argument]) -> Argument:
    """The function's value: now where all is known, in the graph otherwise."""
    is_known = not any(_has_number(each) for each in (*args, *kwargs.values()))
    meaning = None if is_known else _MEANINGS.get(target)
    return cast("Argument", (target if meaning is None else meaning)(*args, **kwargs))


def _has_number(value: Argument) -> bool:
    if isinstance(value, list | tuple):
        return any(_has_number(each) for each in value)
    return isinstance(value, Number)
