"""Elements that are chosen by a condition, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

import onnxsmith.numpy as xp
from tests.numpy.agreement import ALL, agrees, sample
from tests.numpy.every_argument import disagreements


@pytest.mark.parametrize("dtype", ALL)
def test_where(dtype: str) -> None:
    for shape in ((), (4,), (3, 4), (0, 4)):
        test = sample("bool", shape)
        agrees("where", test, sample(dtype, shape), sample(dtype, shape, seed=1))
        agrees("where", sample("float32", shape), sample(dtype, (4,)), sample("int16", ()))
        agrees("where", test, sample(dtype, shape), 1)
        agrees("where", test, 0.5, sample(dtype, shape))
    agrees("where", np.array([True]), 1, 2.5)
    agrees("where", np.array([True]), np.array([1]))


@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex64"])
def test_compress(dtype: str) -> None:
    x = sample(dtype, (3, 4))
    for axis in (0, 1, None):
        for condition in ([True, False, True], [0, 2], [], [True, True, False, False, False]):
            agrees("compress", np.array(condition), x, axis=axis)
    agrees("compress", np.array([False, False, False, False, True]), x, axis=0)
    agrees("compress", np.array([[True]]), x, axis=0)
    agrees("extract", sample("bool", (3, 4)), x)


@pytest.mark.parametrize("dtype", ["int8", "float64", "complex64"])
def test_choose_and_select(dtype: str) -> None:
    choices = [sample(dtype, (3, 4), seed) for seed in range(3)]
    index = np.array([[0, 1, 2, 1]] * 3)
    agrees("choose", index, choices)
    agrees("choose", index[0], choices)
    for mode in ("clip", "wrap"):
        agrees("choose", index - 2, choices, mode=mode)
    agrees("choose", index + 1, choices)
    conditions = [sample("bool", (3, 4), seed) for seed in range(3)]
    agrees("select", conditions, choices, default=1)
    agrees("select", conditions[:2], choices)


def test_piecewise() -> None:
    x = np.linspace(-2, 2, 9)
    for array in (x, x.astype(np.float32), np.arange(-4, 4)):
        for functions in ([-1, 1], [lambda v: -v, lambda v: v * 3, 7]):
            agrees("piecewise", array, [array < 0, array > 1], functions, recorded=False)
    agrees("piecewise", x, [x < 0], [1, 2, 3], recorded=False)
    # A condition on rows, as a mask of an index.
    agrees("piecewise", x.reshape(3, 3), [x[:3] < -1], [lambda v: -v, 5], recorded=False)
    assert xp.piecewise(xp.asarray(x), [xp.asarray(x) < 9, xp.asarray(x) < 0], [1, 2]).tolist()[0] == 2


def test_all_kinds_of_arguments() -> None:
    assert disagreements("choosing") == []
