"""Functions of the user's along axes, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE, trace
from onnxsmith.errors import ShapeError
from tests.numpy.agreement import sample


@pytest.mark.parametrize("axes", [0, 1, -1, [0, 2], (1, 0)])
def test_apply_over_axes(axes: Any) -> None:
    x = sample("float64", (2, 3, 4), special=False)
    for name in ("sum", "max", "cumsum"):
        wanted = np.apply_over_axes(getattr(np, name), x, axes)
        np.testing.assert_allclose(
            np.asarray(xp.apply_over_axes(getattr(xp, name), xp.asarray(x), axes)), wanted, atol=1e-12
        )


def test_apply_over_axes_of_open_sizes() -> None:
    def body(t: Any) -> Any:
        return xp.apply_over_axes(xp.sum, xp.asarray(t), [0, 1]).tensor

    model = trace(body, DOUBLE["N", "M"])
    for shape in ((2, 3), (1, 1), (0, 2)):
        x = np.ones(shape)
        np.testing.assert_array_equal(model(x), np.apply_over_axes(np.sum, x, [0, 1]))


def _functions(m: Any) -> list[Any]:
    return [
        lambda v: v[0] + v[-1],
        lambda v: v * 2,
        lambda v: m.sort(v),
        lambda v: m.outer(v, v),
        lambda v: m.sum(v),
    ]


@pytest.mark.parametrize("axis", [0, 1, -1, 2])
def test_apply_along_axis(axis: int) -> None:
    x = sample("float64", (2, 3, 4), special=False)
    for mine, theirs in zip(_functions(xp), _functions(np), strict=True):
        wanted = np.apply_along_axis(theirs, axis, x)
        got = np.asarray(xp.apply_along_axis(mine, axis, xp.asarray(x)))
        assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_allclose(got, wanted)


def test_apply_along_axis_recorded() -> None:
    def body(t: Any) -> Any:
        return xp.apply_along_axis(xp.sort, 0, xp.asarray(t)).tensor

    model = trace(body, DOUBLE["N", 3])
    for count in (5, 1, 0):
        x = sample("float64", (count, 3), special=False)
        np.testing.assert_array_equal(model(x), np.sort(x, 0))
    with pytest.raises(ShapeError, match="how many there are is known only when the model runs"):
        trace(body, DOUBLE["N", "M"])
    with pytest.raises(ShapeError, match="where there are none"):
        xp.apply_along_axis(xp.sort, 0, xp.ones((2, 0)))
