"""What a loop writes at its own counter is put there after the last turn, with the same results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE
from onnxsmith.errors import OnnxsmithError
from onnxsmith.passes import PassedModel, optimize


def smoothed(x: Any) -> Any:
    out = np.ones(len(x) + 1)
    level = 0.0
    for i in range(len(x)):
        level = 0.5 * level + x[i]
        out[i] = level
    return out


def until_large(x: Any) -> Any:
    out, turned = np.zeros(len(x)), np.ones(len(x))
    level = 0.0
    for i in range(len(x)):
        level = 0.5 * level + x[i]
        out[i] = level
        turned[i] = -level
        if level > 3:
            break
    return out, turned, level


def read_in_the_loop(x: Any) -> Any:
    out = np.zeros(len(x))
    level = 0.0
    for i in range(len(x)):
        level = 0.5 * level + x[i] + out[0]
        out[i] = level
    return out


def at_another_place(x: Any) -> Any:
    out = np.zeros(len(x))
    level = 0.0
    for i in range(len(x)):
        level = 0.5 * level + x[i]
        out[i // 2] = level
    return out


def of_the_turn_before(x: Any) -> Any:
    out = np.ones(len(x) + 1)
    for i in range(1, len(x)):
        out[i] = 0.5 * out[i - 1] + x[i]
    return out


def of_two_turns_before(x: Any) -> Any:
    out = np.linspace(0, 1, len(x) + 3)
    for i in range(2, len(x) + 2):
        out[i] = 0.5 * out[i - 1] - 0.25 * out[i - 2] + x[i - 2]
    return out


def of_places_that_come_later(x: Any) -> Any:
    out = np.linspace(0, 1, len(x) + 3)
    total = 0.0
    for i in range(len(x)):
        out[i + 1] = max(out[i], out[i + 1]) + out[i + 2] * x[i]
        total = total * 0.5 + out[i + 1] * out[i + 2] + out[i]
    return out, total


def in_a_branch(x: Any) -> Any:
    out = np.zeros(len(x) + 1)
    for i in range(len(x)):
        if x[i] > 0:
            level = out[i] + 1
        else:
            level = x[i]
        out[i + 1] = level
    return out


def from_the_end(x: Any) -> Any:
    out = np.linspace(0, 1, len(x))
    for i in range(len(x)):
        out[i] = out[i - 1] + x[i]
    return out


def until_what_was_is_large(x: Any) -> Any:
    out = np.zeros(len(x) + 1)
    for i in range(len(x)):
        out[i + 1] = out[i] + x[i] * x[i]
        if out[i + 1] > 5:
            break
    return out


def of_whole_numbers(x: Any) -> Any:
    out = np.zeros(len(x) + 1, np.int64)
    for i in range(len(x)):
        out[i + 1] = max(out[i], i % 3) if x[i] > 0 else out[i]
    return out


def handed_on(x: Any) -> Any:
    out = np.linspace(0, 1, len(x) + 1)
    for i in range(1, len(x)):
        out[i] = out[i - 1]
    return out


def handed_on_twice(x: Any) -> Any:
    out, total = x.copy(), 0.0
    for i in range(2, len(x)):
        total += out[i - 2]
        out[i] = out[i - 2]
        total *= out[i]
    return out, total


def handed_back(x: Any) -> Any:
    out = x.copy()
    for i in range(1, len(x) - 1):
        out[i] = out[i + 1]
    return out


def exchanged(x: Any) -> Any:
    out, other = x.copy(), x * 2
    for i in range(1, len(x)):
        out[i] = other[i - 1]
        other[i] = out[i - 1]
    return out, other


def into_three(x: Any) -> Any:
    out = np.zeros(3)
    level = 0.0
    for i in range(len(x)):
        level = 0.5 * level + x[i]
        out[i] = level
    return out


def _writes_in_turns(model: PassedModel) -> int:
    loops = [node for node in model.ir.graph if node.op_type == "Loop"]
    bodies = [node.attributes["body"].as_graph() for node in loops]
    return sum(node.op_type == "ScatterND" for body in bodies for node in body.all_nodes())


@pytest.mark.parametrize(
    ("function", "writes"),
    [
        (smoothed, 0),
        (until_large, 0),
        (read_in_the_loop, 1),
        (at_another_place, 1),
        (of_the_turn_before, 0),
        (of_two_turns_before, 0),
        (of_places_that_come_later, 0),
        (in_a_branch, 0),
        (from_the_end, 1),
        (until_what_was_is_large, 0),
        (of_whole_numbers, 0),
        (handed_on, 0),
        (handed_on_twice, 0),
        (handed_back, 0),
        (exchanged, 0),
    ],
)
def test_the_same_is_written(function: Callable[..., Any], writes: int) -> None:
    model = optimize(xp.to_model(function, DOUBLE["N"]), opset="keep")
    assert _writes_in_turns(model) == writes
    jitted = xp.jit(function)
    for size in (0, 1, 2, 7, 40, 200):
        x = np.random.default_rng(size).normal(size=size)
        expected = function(x)
        for found in (model(x), jitted(x)):
            pairs = zip(expected, found, strict=True) if isinstance(expected, tuple) else [(expected, found)]
            for one, other in pairs:
                np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-300)


def test_a_place_outside_is_refused_as_before() -> None:
    model = optimize(xp.to_model(into_three, DOUBLE["N"]), opset="keep")
    np.testing.assert_allclose(model(np.ones(3)), into_three(np.ones(3)))
    with pytest.raises(OnnxsmithError):
        model(np.ones(4))
