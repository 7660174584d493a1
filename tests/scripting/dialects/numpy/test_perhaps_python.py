"""A number that is Python's on one path and numpy's on another computes as the one that it is, or is refused."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import InputTypeError, LoopTypeError, OnnxsmithError

SMALL = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.uint64)
#: What a program does with the number `y` then; `x` is the array that it may come from.
USES = (
    *("y - 1", "y + 1", "y * 100", "300 - y", "y * 2 + x[0]", "y // 2", "y % 3", "y ** 2", "y / 2", "y << 9"),
    *("-y", "~y", "abs(y)", "y & 3", "y > 2", "y + x[0]", "y * x", "int(y) - 300", "y + y", "(y + 1) - 3"),
    *("max(y, 7) - 9", "y - len(x)", "np.sqrt(y)", "np.abs(y) - 1", "x[0] - y", "divmod(y, 3)"),
)
#: How it becomes the one or the other.
WAYS = {
    "max": "y = max({start}, x[0])",
    "min": "y = min(x[0], {start})",
    "choice": "y = x[0] if x[0] > 2 else {start}",
    "branch": "y = {start}\n    if x[0] > 2:\n        y = x[0]",
    "loop": "y = {start}\n    for v in x:\n        if v > 2:\n            y = v",
}
VALUES = ([0, 1, 2], [5, 3, 4], [1, 1, 100], [2, 2, 2])


def _functions(source: str, folder: Path, name: str) -> Any:
    path = folder / f"{name}.py"
    path.write_text("import numpy as np\n\n\n" + source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _is_same(mine: Any, theirs: Any) -> bool:
    """Whether two results are one number: the kind is the model's own, for that is the same on every path."""
    if isinstance(theirs, tuple):
        return len(mine) == len(theirs) and all(map(_is_same, mine, theirs))
    tolerance = 1e-3 if np.asarray(mine).dtype == np.float16 else 1e-6
    return bool(np.allclose(np.asarray(mine, float), np.asarray(theirs, float), rtol=tolerance, atol=0))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("start", [0, 1, -1])
def test_it_gives_what_it_is_or_is_refused(way: str, start: int, tmp_path: Path):
    """The law, for every small element type, and everything that is done with the number."""
    source = "\n\n".join(
        f"def use_{k}(x):\n    {WAYS[way].format(start=start)}\n    return {use}"
        for k, use in enumerate(USES)
    )
    module = _functions(source, tmp_path, f"perhaps_{way}_{start + 1}")
    given = 0
    for k, use in enumerate(USES):
        dtype = SMALL[(k + start) % len(SMALL)]
        fast = xp.jit(getattr(module, f"use_{k}"))
        for values in VALUES:
            x = np.array(values, dtype)
            try:
                with np.errstate(all="ignore"):
                    expected = getattr(module, f"use_{k}")(x.copy())
            except Exception:  # whatever numpy says, the model may refuse it altogether
                expected = None
            try:
                found = fast(x.copy())
            except (OnnxsmithError, OverflowError, ValueError, TypeError):
                continue
            assert expected is not None, (use, values, dtype, found)
            assert _is_same(found, expected), (use, values, dtype, found, expected)
            given += 1
    assert given > len(USES)  # most uses do not care


def lowered(x):
    return max(0, x[0]) - 1


def total(x):
    s = 0
    for v in x:
        s = s * 2 + v
    return s


def counted(x):
    seen = True
    for v in x:
        if v > 3:
            seen = v > 4
    return seen + seen


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lowered, "Python's 0 on one path and numpy's uint8"),
        (counted, "Python's True on one path and numpy's bool"),
    ],
)
def test_the_refusal_names_the_numbers_and_the_line(function: Callable[..., Any], said: str):
    with pytest.raises(InputTypeError, match=said) as caught:
        xp.jit(function)(np.array([0, 2], np.uint8))
    assert caught.value.span is not None
    assert f"in {function.__name__}" in str(caught.value)


def test_what_cannot_differ_is_computed():
    x = np.array([200, 100], np.uint8)
    with np.errstate(over="ignore"):
        assert xp.jit(total)(x) == total(x)
    assert xp.jit(total)(x[:0]) == 0


def test_a_start_past_the_element_type_is_refused():
    def least(x):
        best = 1e300
        for v in x:
            if v < best:
                best = v
        return best

    with pytest.raises(LoopTypeError, match="'best' is a Python float or an array of float32"):
        xp.jit(least)(np.ones(2, np.float32))
    assert xp.jit(least)(np.zeros(0)) == 1e300
