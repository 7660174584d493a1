"""Weights in Python's expressions: a script gives what it gives of tensors, eagerly, jitted and as a model."""

from __future__ import annotations

import importlib.util
import operator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from onnxsmith import jit
from onnxsmith.core.stored import Stored
from onnxsmith.core.tensor import Tensor

HEAD = """
from onnxsmith import BOOL, FLOAT, INT64, Weights, script

weights = Weights({
    "no": (BOOL, False), "two": (INT64, 2), "also": (INT64, 2), "three": (INT64, 3), "pair": (FLOAT[2], [1.5, -2.0]),
})
no, two, also, three, pair = (weights[each] for each in ("no", "two", "also", "three", "pair"))
"""
#: Expressions of a vector, and what they are for numbers and arrays.
EXPRESSIONS: dict[str, Any] = {
    "x * 2.0 if no else x": lambda x: x,
    "x if not no else x * 2.0": lambda x: x,
    "x if no or two else x * 2.0": lambda x: x,
    "x if two == also else x * 2.0": lambda x: x,
    "x if two != also else x * 2.0": lambda x: x * 2,
    "x if two in (2, 3) else x * 2.0": lambda x: x,
    "x if two < three and three >= two else x * 2.0": lambda x: x,
    "x * [1.0, 2.0, 5.0][two]": lambda x: x * 5,
    "x * {2: 3.0}.get(int(two), 1.0)": lambda x: x * 3,
    "sum([x for _ in range(three)])": lambda x: x * 3,
    "x * pair[0] + len(pair)": lambda x: x * 1.5 + 2,
    "x * (pair + pair) - pair / 2.0": lambda x: x * np.float32([3, -4]) - np.float32([0.75, -1]),
    "x * -pair + abs(pair)": lambda x: x * np.float32([-1.5, 2]) + np.float32([1.5, 2]),
    "2.0 ** pair * x": lambda x: np.float32([2**1.5, 0.25]) * x,
    "(pair @ x) * pair": lambda x: (1.5 * x[0] - 2 * x[1]) * np.float32([1.5, -2]),
    "x.astype(INT64) // two * three % also + (two << three)": lambda x: x.astype(np.int64) // 2 * 3 % 2 + 16,
    "x * sum([each for each in pair])": lambda x: x * -0.5,
    "x * float(three)": lambda x: x * 3,
}
LOOP = """
@script
def looped(x: FLOAT["N"]):
    stop, count = no, two
    while not stop:
        x = x + 1.0
        count = count + three
        stop = count > 9
    return x
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    path: Path = tmp_path_factory.mktemp("weights") / "of_weights.py"
    functions = [
        f'@script\ndef f{k}(x: FLOAT["N"]):\n    return {each}\n' for k, each in enumerate(EXPRESSIONS)
    ]
    path.write_text("\n".join([HEAD, *functions, LOOP]))
    spec = importlib.util.spec_from_file_location("of_weights", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


X = np.float32([3, 7])


def _ways(made: Any) -> dict[str, Any]:
    return {"eager": made, "jit": jit(made), "model": made.to_model()}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions(programs: ModuleType, text: str) -> None:
    made = getattr(programs, f"f{list(EXPRESSIONS).index(text)}")
    for way, run in _ways(made).items():
        np.testing.assert_allclose(run(X), EXPRESSIONS[text](X), rtol=1e-5, err_msg=way)


def test_a_loop_that_begins_with_weights(programs: ModuleType) -> None:
    for way, run in _ways(programs.looped).items():
        np.testing.assert_allclose(run(X), X + 3, err_msg=way)


def test_a_weight_has_every_operator_of_a_tensor(programs: ModuleType) -> None:
    names = [f"__{each.strip('_')}__" for each in vars(operator) if not each.startswith("_")]
    missing = [
        each
        for each in (*names, *(f"__r{each[2:]}" for each in names), "__iter__", "__len__", "__bool__")
        if hasattr(Tensor, each)
        and getattr(type(programs.pair), each, None) in (None, getattr(Stored, each, None))
    ]
    assert missing == []
