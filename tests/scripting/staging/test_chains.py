"""Rows of conditions that are longer than a model file can nest."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import onnx
import pytest

from onnxsmith import FLOAT, errors, script

_COUNT = 200


def _row(text: str, start: int = 0) -> str:
    return "".join(text.format(i=i) for i in range(start, _COUNT))


_PROGRAMS = {
    "elif": "def f(x: FLOAT):\n    if x < 0:\n        y = x\n"
    + _row("    elif x < {i}:\n        y = x * {i}\n", 1)
    + "    else:\n        y = -x\n    return y + 1\n",
    "elif without else, with a variable from before": "def f(x: FLOAT):\n    y = x\n    if x < 0:\n        y = -x\n"
    + _row("    elif x < {i}:\n        y = y * {i}\n", 1)
    + "    return y\n",
    "elif that returns": "def f(x: FLOAT):\n    if x < 0:\n        return x\n"
    + _row("    elif x < {i}:\n        return x * {i}\n", 1)
    + "    return -x\n",
    "return": "def f(x: FLOAT):\n    s = x\n"
    + _row("    if x < {i}:\n        return s * {i}\n    s = s + {i}\n")
    + "    return s\n",
    "return of Python numbers": "def f(x: FLOAT):\n"
    + _row("    if x < {i}:\n        return {i}\n")
    + "    return -1\n",
    "continue": "def f(x: FLOAT):\n    s = 0.0\n    for v in (x + np.float32([0, 3, 1e9])):\n"
    + _row("        if v == {i}:\n            continue\n        s = s + {i}\n")
    + "    return s\n",
    "break": "def f(x: FLOAT):\n    s = 0.0\n    for v in (x + np.float32([0, 3, 1e9])):\n"
    + _row("        if v == {i}:\n            s = s - {i}\n            break\n        s = s + {i}\n")
    + "    return s\n",
}


def _defined(text: str) -> Any:
    """The function that a text defines, where its source can be read."""
    file = f"<row {abs(hash(text))}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"FLOAT": FLOAT, "np": np}
    exec(compile(text, file, "exec"), names)
    return names["f"]


@pytest.mark.parametrize("name", _PROGRAMS)
def test_long_rows(name: str) -> None:
    """Python on floats, the eager script and the model agree, and the model nests within what can be read."""
    plain = _defined(_PROGRAMS[name])
    written = script(plain)
    model = written.to_model()
    onnx.checker.check_model(model.proto)
    for value in (-1, 0, 1, 5.5, 17, 100.5, _COUNT - 1, _COUNT + 3):
        x = np.float32(value)
        expected = np.asarray(plain(x))
        for result in (written(x), model(x)):
            np.testing.assert_array_equal(np.asarray(result).astype(expected.dtype), expected)


def test_a_variable_without_a_value_in_one_group() -> None:
    text = "def f(x: FLOAT):\n    if x < 0:\n        y = x\n" + _row(
        "    elif x < {i}:\n        y = x * {i}\n", 1
    )
    text += "    else:\n        z = x\n    return y\n"
    with pytest.raises(errors.UnassignedVariableError, match="'y' may have no value here"):
        script(_defined(text))


def test_a_row_without_a_last_return() -> None:
    text = "def f(x: FLOAT):\n" + _row("    if x < {i}:\n        return x * {i}\n")
    with pytest.raises(errors.MissingReturnError):
        script(_defined(text))
