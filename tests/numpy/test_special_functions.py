"""`xp.special` against `scipy.special`."""

from __future__ import annotations

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE, trace

special = pytest.importorskip("scipy.special")

HARD = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-300, 5e-324, 0.5, 1.0, -1.0]
POINTS = np.concatenate([np.linspace(-25, 25, 501), np.linspace(-1, 1, 401), HARD])


@pytest.mark.parametrize("name", dir(xp.special))
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_values(name: str, dtype: str) -> None:
    with np.errstate(all="ignore"):
        x = POINTS.astype(dtype)
        expected = getattr(special, name)(x.astype(np.float64))
        ours = np.asarray(getattr(xp.special, name)(xp.asarray(x)))
        assert ours.dtype == x.dtype
        rounded = expected.astype(dtype)
        np.testing.assert_array_equal(np.isfinite(ours), np.isfinite(rounded))
        same = (ours == rounded) | (np.isnan(ours) & np.isnan(rounded))
        # In float64 scipy's own last digits are in question.
        near = np.abs(ours - expected) <= (12 if dtype == "float64" else 0.51) * np.spacing(np.abs(rounded))
    assert (same | near).all(), (x[~(same | near)], ours[~(same | near)], expected[~(same | near)])


@pytest.mark.parametrize("name", dir(xp.special))
def test_recorded(name: str) -> None:
    function = getattr(xp.special, name)
    model = trace(lambda t: function(xp.asarray(t)).tensor, DOUBLE["N", "M"])
    for shape in ((0, 3), (2, 0), (2, 3)):
        x = np.linspace(0.1, 0.9, int(np.prod(shape))).reshape(shape)
        np.testing.assert_array_equal(model(x), np.asarray(function(xp.asarray(x))))


def test_integers_give_float64_and_complex_numbers_are_refused() -> None:
    assert xp.special.expit(xp.asarray([0, 1])).dtype == np.float64
    with pytest.raises(TypeError, match="expit takes real numbers"):
        xp.special.expit(xp.asarray([1j]))
