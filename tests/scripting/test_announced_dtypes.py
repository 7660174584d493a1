"""The announced programs in every element type: all ways to run them agree on the result, or on the refusal.

`CumulativeSum` runs in all numbers. `Dropout` draws float32 (`dtype=FLOAT.dtype`), and ONNX does not promote, so it is
float32 as printed. Other types are refused at the line where the two meet; converting there works.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith
from onnxsmith import BOOL, FLOAT, script
from onnxsmith import opset18 as op
from onnxsmith.errors import OnnxsmithError
from tests.scripting import announced

FLOATS = ("FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16")
NUMBERS = (*FLOATS, "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64")


@script()
def converting(data, ratio, training_mode, seed: float):
    """`Dropout` with the conversion that the error shows, in both places."""
    if training_mode:
        rand = op.RandomUniformLike(data, seed=seed, dtype=FLOAT.dtype)
        mask = rand.astype(ratio.dtype) >= ratio
        output = op.Where(mask, data, 0) / (1.0 - ratio).astype(data.dtype)
    else:
        mask = op.Expand(True, op.Shape(data))
        output = data
    return output, mask


def ways(function: Any, types: list[Any], attributes: dict[str, Any]) -> dict[str, Callable[..., Any]]:
    """Every way to run a script of parameters without types: each makes what it needs when it is called."""

    def typed() -> Any:
        def one(a):
            return function(a, **attributes)

        def three(a, b, c):
            return function(a, b, c, **attributes)

        caller = one if len(types) == 1 else three
        caller.__annotations__ = dict(zip("abc", types, strict=False))
        return script(caller)

    return {
        "eager": lambda *given: function(*given, **attributes),
        "jit": lambda *given: function.jit(*given, **attributes),
        "model": lambda *given: function.to_model(input_types=types, attributes=attributes)(*given),
        "inline": lambda *given: function.to_model(input_types=types, attributes=attributes, inline=True)(
            *given
        ),
        "typed, eager": lambda *given: typed()(*given),
        "typed, jit": lambda *given: typed().jit(*given),
        "typed, model": lambda *given: typed().to_model()(*given),
        "typed, inline": lambda *given: typed().to_model(inline=True)(*given),
    }


def outcome(run: Callable[..., Any], given: list[Any]) -> Any:
    """The results with their element types; or the error, and the line that it stands at."""
    try:
        result = run(*given)
    except OnnxsmithError as error:
        return error.code, error.labels[0].span.line
    results = result if isinstance(result, tuple) else (result,)
    return [(each.dtype.name, each.tolist()) for each in results]


def dropout_inputs(name: str, ratio: str, training: bool) -> tuple[list[Any], list[Any]]:
    data, share = getattr(onnxsmith, name), getattr(onnxsmith, ratio)
    values = [
        np.arange(6).astype(data.dtype.numpy),
        np.array(0.5).astype(share.dtype.numpy),
        np.array(training),
    ]
    return [data["N"], share, BOOL], values


def line_of(text: str) -> int:
    """The line of an announced program."""
    source = announced.__file__
    with open(source, encoding="utf-8") as lines:
        return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.mark.parametrize("name", NUMBERS)
def test_cumulative_sum(name: str) -> None:
    dtype = getattr(onnxsmith, name)
    x = np.array([1, 2, 3]).astype(dtype.dtype.numpy)
    wanted = [(x.dtype.name, [1, 3, 6])]
    for way, run in ways(announced.CumulativeSum, [dtype["N"]], {}).items():
        assert outcome(run, [x]) == wanted, way


@pytest.mark.parametrize("name", [*NUMBERS, "BOOL"])
@pytest.mark.parametrize("is_same", [True, False], ids=["ratio of that type", "ratio float32"])
def test_dropout_as_printed(name: str, is_same: bool) -> None:
    types, given = dropout_inputs(name, name if is_same else "FLOAT", True)
    found = {way: outcome(run, given) for way, run in ways(announced.Dropout, types, {"seed": 1.0}).items()}
    first = found["eager"]
    assert found == dict.fromkeys(found, first)
    if name == "FLOAT":
        assert first[0][0] == "float32"
        return
    draws, compares, divides = (line_of(each) for each in ("rand = ", "mask = rand", "output = op.Where"))
    # RandomUniformLike has no bfloat16; `0` is no bool.
    expected = {"BFLOAT16": draws}.get(name, compares if is_same else divides)
    assert first[1] == expected


@pytest.mark.parametrize("name", [*NUMBERS, "BOOL"])
def test_dropout_as_printed_without_training(name: str) -> None:
    """A call runs the branch that is taken; a model has both, and is refused as in training."""
    types, given = dropout_inputs(name, "FLOAT", False)
    runs = ways(announced.Dropout, types, {"seed": 1.0})
    passed = [(given[0].dtype.name, given[0].tolist()), ("bool", [True] * 6)]
    assert outcome(runs.pop("eager"), given) == passed
    found = {way: outcome(run, given) for way, run in runs.items()}
    assert found == dict.fromkeys(found, found["model"])
    trained = outcome(
        ways(announced.Dropout, types, {"seed": 1.0})["model"], dropout_inputs(name, "FLOAT", True)[1]
    )
    assert found["model"] == (passed if name == "FLOAT" else trained)


@pytest.mark.parametrize("name", ["FLOAT", "DOUBLE", "FLOAT16"])
@pytest.mark.parametrize("is_same", [True, False], ids=["ratio of that type", "ratio float32"])
@pytest.mark.parametrize("training", [True, False])
def test_dropout_that_converts(name: str, is_same: bool, training: bool) -> None:
    types, given = dropout_inputs(name, name if is_same else "FLOAT", training)
    float32 = announced.Dropout(*dropout_inputs("FLOAT", "FLOAT", training)[1], seed=1.0)
    wanted = [(given[0].dtype.name, float32[0].tolist()), ("bool", float32[1].tolist())]
    for way, run in ways(converting, types, {"seed": 1.0}).items():
        assert outcome(run, given) == wanted, way


def test_the_error_shows_the_conversion() -> None:
    types, given = dropout_inputs("DOUBLE", "DOUBLE", True)
    for run in ways(announced.Dropout, types, {"seed": 1.0}).values():
        with pytest.raises(OnnxsmithError, match=r"convert one of them with x\.astype"):
            run(*given)
