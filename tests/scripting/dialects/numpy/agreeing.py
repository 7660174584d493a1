"""What it means that plain numpy code agrees with its model: the same objects, element types and values."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

import onnxsmith.numpy as xp


def check(function: Callable[..., Any], *args: Any, jitted: Any = None, **kwargs: Any) -> Any:
    """Call a function, and what `jit` makes of it, on copies of the same arguments; gives the jitted function.

    What both give is the same, and so is what they have made of their arguments.
    """
    made = xp.jit(function) if jitted is None else jitted
    mine, mine_named = copy.deepcopy((args, kwargs))
    theirs, theirs_named = copy.deepcopy((args, kwargs))
    with np.errstate(all="ignore"):
        expected = function(*theirs, **theirs_named)
    same(made(*mine, **mine_named), expected)
    same((mine, mine_named), (theirs, theirs_named))
    return made


def sizes(function: Callable[..., Any], *shapes: tuple[Any, ...], dtype: Any = np.float64) -> Any:
    """`check` on random arrays whose sizes that are named "N" are 0, 1, 4 and 7, with one jitted function."""
    jitted = xp.jit(function)
    for size in (4, 0, 1, 7):
        rng = np.random.default_rng(size)
        arrays = [_random(rng, [size if each == "N" else each for each in shape], dtype) for shape in shapes]
        check(function, *arrays, jitted=jitted)
    return jitted


def _random(rng: np.random.Generator, shape: list[int], dtype: Any) -> Any:
    if np.dtype(dtype).kind in "iu":
        return rng.integers(0, 9, shape).astype(dtype)
    return rng.normal(0, 2, shape).astype(dtype)


def same(mine: Any, theirs: Any) -> None:
    """Fail unless two results are the same, fractions to a few units in the last place."""
    if isinstance(theirs, np.ndarray | np.generic):
        assert type(mine) is type(theirs), (type(mine), type(theirs))
        assert mine.dtype == theirs.dtype
        assert mine.shape == theirs.shape
        _near(np.asarray(mine), np.asarray(theirs))
    elif isinstance(theirs, dict):
        assert list(mine) == list(theirs)
        for key, each in theirs.items():
            same(mine[key], each)
    elif isinstance(theirs, list | tuple):
        assert type(mine) is type(theirs)
        assert len(mine) == len(theirs)
        for a, b in zip(mine, theirs, strict=True):
            same(a, b)
    elif dataclasses.is_dataclass(theirs):
        same(vars(mine), vars(theirs))
    elif isinstance(theirs, int | float) and isinstance(mine, np.generic):
        # A loop that runs zero times leaves the Python number that the variable had; a model has one type for it.
        assert not isinstance(theirs, bool)
        _near(np.asarray(mine), np.asarray(theirs, mine.dtype))
    else:
        assert type(mine) is type(theirs), (mine, theirs)
        _near(np.asarray(mine), np.asarray(theirs))


def _near(mine: np.ndarray[Any, Any], theirs: np.ndarray[Any, Any]) -> None:
    if theirs.dtype.kind in "fc":
        scale = 16 * np.finfo(theirs.dtype).eps
        np.testing.assert_allclose(mine, theirs, rtol=scale, atol=scale, equal_nan=True)
    else:
        np.testing.assert_array_equal(mine, theirs)
