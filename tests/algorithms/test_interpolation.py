"""Interpolation against torch's, along the last dimensions."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith.algorithms import interpolation
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.values import size_of
from tests.algorithms.running import computed

torch = pytest.importorskip("torch")
X = np.random.default_rng(0).normal(size=(1, 2, 6, 5)).astype(np.float32)


@pytest.mark.parametrize("name", ["bilinear", "bicubic"])
@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("size", [(9, 4), (3, 5), (1, 7)])
@pytest.mark.parametrize("smooth", [False, True])
def test_weighted(name: str, align_corners: bool, size: tuple[int, int], smooth: bool):
    make = interpolation.smooth_taps if smooth else interpolation.plain_taps
    taps = make(is_cubic=name == "bicubic", align_corners=align_corners)
    (found,) = computed(lambda x: interpolation.resampled(x, size, (None, None), taps), X, tolerance=1e-5)
    wanted = torch.nn.functional.interpolate(
        torch.tensor(X), size, mode=name, align_corners=align_corners, antialias=smooth
    )
    np.testing.assert_allclose(found, wanted.numpy(), 1e-4, 1e-5)


@pytest.mark.parametrize("is_exact", [False, True])
@pytest.mark.parametrize("size", [3, 5, 8, 10])
def test_nearest(is_exact: bool, size: int):
    (found,) = computed(
        lambda x: op.Gather(x, interpolation.nearest_places(size_of(x, 3), size, None, is_exact), axis=3), X
    )
    mode = "nearest-exact" if is_exact else "nearest"
    wanted = torch.nn.functional.interpolate(torch.tensor(X), (6, size), mode=mode)
    np.testing.assert_array_equal(found, wanted.numpy())
