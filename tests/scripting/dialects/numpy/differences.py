"""What plain numpy code does otherwise as a model, as functions to try, with the reason."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import onnxsmith.numpy as xp


@dataclass(frozen=True)
class Difference:
    """A function that numpy and a model treat differently, and why."""

    what: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    why: str


def total(x):
    s = 0
    for v in x:
        s = s + v
    return s


def doubled(x):
    k = 1
    for _ in x:
        k = k * 2
    return k


def level(x):
    if x.max() == 0:
        return np.zeros(len(x))
    return x / x.max()


def inverse(x):
    return 1 / x


def clipped(x):
    return np.vectorize(lambda v: v if v > 0 else 0.0)(x)


def ramp(x):
    return np.vectorize(lambda v: v if v > 0 else 0)(x)


def whole(x):
    return int(x[0])


def root_of_negative(x, exponent):
    return (x.sum() - 5).item() ** exponent


def mean(x):
    return sum(x) / len(x)


def places(x):
    return np.array([i for i, v in enumerate(x) if v > 0])


def weight_of_each(places):
    return np.bincount(places, weights=np.zeros(len(places)))


def looked_up(x):
    return np.searchsorted(x, [1.5, 4.0])


def greater_of_two(x):
    return max(x[0], np.float64(1.0))


def latest_of_none_above(x):
    latest = 0.0
    for v in x:
        if v <= 0:
            latest = v
    return latest


def stopped(x):
    with np.errstate(divide="raise"):
        return 1 / x


def text(x):
    return f"{x.sum():.1f}"


DIFFERENCES = (
    Difference(
        "a loop that runs zero times: `s = 0`, then `s = s + v`",
        total,
        (np.zeros(0),),
        "a variable has one type, whether the loop runs or not",
    ),
    Difference(
        "whole numbers of Python past 64 bits",
        doubled,
        (np.zeros(64),),
        "ONNX's whole numbers have 64 bits, and begin anew as numpy's do",
    ),
    Difference(
        "float32 on one path, float64 on the other",
        level,
        (np.zeros(2, np.float32),),
        "an output of a model has one element type: write `np.zeros(len(x), x.dtype)`",
    ),
    Difference("a division by zero", inverse, (np.array([0.0]),), "a model gives no warnings"),
    Difference(
        "`np.vectorize` without `otypes` on no elements",
        clipped,
        (np.zeros(0),),
        "numpy learns the type from the first element, the model from the code",
    ),
    Difference(
        "`np.vectorize` of a function that gives an int here and a float there",
        ramp,
        (np.array([-1.5, 1.5]),),
        "numpy takes the type of what the first element happens to give",
    ),
    Difference(
        "an int of a float past 64 bits",
        whole,
        (np.array([1e30]),),
        "ONNX's whole numbers have 64 bits",
    ),
    Difference(
        "a negative float to a fractional power",
        root_of_negative,
        (np.ones(1), 0.5),
        "Python gives a complex number, and the model computes with floats",
    ),
    Difference(
        "Python's `sum` of no elements, divided by their number",
        mean,
        (np.zeros(0),),
        "Python's sum of nothing is its own 0, and a variable has one type",
    ),
    Difference(
        "`np.array` of an empty list of whole numbers",
        places,
        (np.zeros(2),),
        "numpy takes float64 for no elements, and the model has one type for any number of them",
    ),
    Difference(
        "`np.bincount` of no elements, with weights",
        weight_of_each,
        (np.zeros(0, np.int64),),
        "numpy counts nothing in whole numbers, and the model has one type for any number of elements",
    ),
    Difference(
        "`np.searchsorted` and `np.interp` among numbers that are not in order",
        looked_up,
        (np.array([5.0, 1.0, 3.0, 2.0, 4.0, 0.0]),),
        "numpy promises nothing of these; `to_model` compares on numbers in order",
    ),
    Difference(
        "`max` and `min` of numbers of two element types",
        greater_of_two,
        (np.array([2.0], np.float32),),
        "a number of a model has one element type, and the wider one holds both",
    ),
    Difference(
        "the sign of a zero that an `if` in a loop chooses",
        latest_of_none_above,
        (np.array([1.0, -0.0]),),
        "all turns are computed at once, and ONNX Runtime's `Where` gives 0.0 for a -0.0 in its second input",
    ),
    Difference(
        "`np.errstate(divide='raise')`", stopped, (np.ones(2),), "a model computes on with infinity and NaN"
    ),
    Difference("text of what is computed", text, (np.ones(3),), "only the model knows the elements"),
)


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    """What a call gives, in a few words: a result, a warning, an error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*arguments)
        except Exception as error:  # the class and the text are the outcome
            return f"refused: {str(error).splitlines()[0]}"
    kind = f" ({result.dtype})" if isinstance(result, np.ndarray | np.generic) else ""
    result = result.tolist() if kind else result  # how arrays are shown depends on numpy's version
    told = f", and warns: {caught[0].message}" if caught else ""
    return f"`{result!r}`{kind}{told}"


def table() -> str:
    """The table of the page."""
    lines = ["| what | numpy | the model | why |", "| --- | --- | --- | --- |"]
    for each in DIFFERENCES:
        by_numpy = outcome(each.function, each.arguments)
        by_model = outcome(xp.jit(each.function), each.arguments)
        lines.append(f"| {each.what} | {by_numpy} | {by_model} | {each.why} |")
    return "\n".join(lines) + "\n"
