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
    ("function", "writes"), [(smoothed, 0), (until_large, 0), (read_in_the_loop, 1), (at_another_place, 1)]
)
def test_the_same_is_written(function: Callable[..., Any], writes: int) -> None:
    model = optimize(xp.to_model(function, DOUBLE["N"]), opset="keep")
    assert _writes_in_turns(model) == writes
    for size in (0, 1, 2, 7, 40):
        x = np.random.default_rng(size).normal(size=size)
        expected, found = function(x), model(x)
        pairs = zip(expected, found, strict=True) if isinstance(expected, tuple) else [(expected, found)]
        for one, other in pairs:
            np.testing.assert_allclose(other, one, rtol=1e-12)


def test_a_place_outside_is_refused_as_before() -> None:
    model = optimize(xp.to_model(into_three, DOUBLE["N"]), opset="keep")
    np.testing.assert_allclose(model(np.ones(3)), into_three(np.ones(3)))
    with pytest.raises(OnnxsmithError):
        model(np.ones(4))
