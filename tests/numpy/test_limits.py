"""Numbers past 64 bits and sizes past memory: as numpy, or refused in our words, and never an error of its insides."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import InputTypeError, MemoryLimitError, OnnxsmithError

X = np.array([1.0, 2.0, 3.0, 4.0])
#: Past 64 bits, past the sizes that there are, and past all memory.
FAR, HUGE, LARGE = 2**70, 2**60, 2**50

CASES: dict[str, Callable[[Any, Any], Any]] = {
    "an index": lambda m, x: x[FAR],
    "the start of a slice": lambda m, x: x[FAR:],
    "the end of a slice": lambda m, x: x[:FAR],
    "the end of a slice backwards": lambda m, x: x[:-FAR:-1],
    "a step": lambda m, x: x[::FAR],
    "an index that is written to": lambda m, x: x.copy().__setitem__(FAR, 1.0),
    "take": lambda m, x: m.take(x, FAR),
    "roll": lambda m, x: m.roll(x, FAR),
    "reshape": lambda m, x: m.reshape(x, FAR),
    "repeat": lambda m, x: m.repeat(x, FAR),
    "a negative repeat": lambda m, x: m.repeat(x, -1),
    "negative repeats": lambda m, x: m.repeat(x, m.asarray([1, -1, 0, 2])),
    "tile": lambda m, x: m.tile(x, FAR),
    "pad": lambda m, x: m.pad(x, FAR),
    "insert": lambda m, x: m.insert(x, FAR, 1.0),
    "delete": lambda m, x: m.delete(x, FAR),
    "an axis": lambda m, x: m.sum(x, axis=FAR),
    "an element": lambda m, x: m.asarray([1]) + FAR,
    "differences": lambda m, x: m.diff(x, n=10**6),
    "decimals": lambda m, x: m.round(x, FAR),
    "a diagonal": lambda m, x: m.diag(x, FAR),
    "a triangle": lambda m, x: m.tril(m.ones((2, 2)), FAR),
    "a transform": lambda m, x: m.fft.fft(x, n=FAR),
    "a transform of -1": lambda m, x: m.fft.fft(x, n=-1),
    "transforms of -1": lambda m, x: m.fft.fftn(x, s=(-1,), axes=(0,)).real,
    "zeros": lambda m, x: m.zeros(FAR),
    "ones": lambda m, x: m.ones((2**40, 2**40)),
    "arange": lambda m, x: m.arange(FAR),
    "eye": lambda m, x: m.eye(2**30),
    "vander": lambda m, x: m.vander(x, HUGE),
    "bincount": lambda m, x: m.bincount(m.asarray([HUGE])),
    "histogram": lambda m, x: m.histogram(x, bins=HUGE),
    "many zeros": lambda m, x: m.zeros(LARGE),
    "many numbers": lambda m, x: m.full(LARGE, 1),
    "a long range": lambda m, x: m.arange(LARGE),
    "a long way": lambda m, x: m.linspace(0, 1, LARGE),
    "many repeats": lambda m, x: m.repeat(x, LARGE),
    "many tiles": lambda m, x: m.tile(x, LARGE),
    "much padding": lambda m, x: m.pad(x, LARGE),
    "concatenate by a rule": lambda m, x: m.concatenate([x, x], dtype="int64", casting="safe"),
    "concatenate by the usual rule": lambda m, x: m.concatenate([x, x], dtype="int64"),
    "concatenate by any rule": lambda m, x: m.concatenate([x, x], dtype="int64", casting="unsafe"),
    "concatenate by no rule": lambda m, x: m.concatenate([x, x], casting="rounding"),
    "stack by a rule": lambda m, x: m.stack([x, x], dtype="int64"),
    "vstack by a rule": lambda m, x: m.vstack([x, x], dtype="int64"),
    "hstack by a rule": lambda m, x: m.hstack([x, x], dtype="int64"),
}


@pytest.mark.parametrize("name", CASES)
def test_as_numpy_or_refused(name: str) -> None:
    try:
        wanted = CASES[name](np, X.copy())
    except Exception as error:
        wanted = error
    try:
        got: Any = CASES[name](xp, xp.asarray(X))
    except OnnxsmithError as error:
        got = error
    if isinstance(got, OnnxsmithError):
        assert isinstance(got, OverflowError | MemoryError | ValueError | IndexError | TypeError)
        assert isinstance(wanted, Exception) or name == "roll"
        return
    assert not isinstance(wanted, Exception), f"{got!r}, and numpy refuses: {wanted!r}"
    np.testing.assert_allclose(np.asarray(got), wanted)


def test_memory() -> None:
    with pytest.raises(MemoryLimitError, match="not enough memory"):
        xp.zeros(LARGE)
    with pytest.raises(MemoryLimitError, match="not enough memory"):
        xp.repeat(xp.asarray(X), LARGE)


@pytest.mark.parametrize("other", ["a", b"a", None, {}, set[int]()], ids=repr)
@pytest.mark.parametrize("name", ["add", "mul", "mod", "lt", "iadd"])
def test_operands_that_are_no_numbers(name: str, other: object) -> None:
    called = getattr(operator, name)
    with pytest.raises(InputTypeError, match="is not defined for an array and"):
        called(xp.asarray(X), other)
    if name != "iadd" and not (name == "mod" and isinstance(other, str | bytes)):  # which is a format
        with pytest.raises(InputTypeError, match="is not defined for an array and"):
            called(other, xp.asarray(X))
