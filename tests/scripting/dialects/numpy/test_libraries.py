"""Functions of libraries that numpy code calls: scipy's filters and transforms, with every option, as models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.scripting.dialects.numpy.libraries import of_library

ndimage = pytest.importorskip("scipy.ndimage")
fft = pytest.importorskip("scipy.fft")

X = np.sin(np.arange(35.0) * 1.7).reshape(5, 7)
MODES = ("reflect", "constant", "nearest", "mirror", "wrap", "grid-wrap", "grid-constant", "grid-mirror")
FOOTPRINT = np.array([[0, 1, 0], [1, 1, 1], [0, 0, 1]], bool)
WEIGHTS = np.array([[0.0, 1.5, -1.0], [2.0, 0.25, 0.0]])
FILTERS: dict[str, Callable[..., Any]] = {
    "correlate": lambda x, **o: ndimage.correlate(x, WEIGHTS, **o),
    "correlate, moved": lambda x, **o: ndimage.correlate(x, WEIGHTS, origin=(0, -1), **o),
    "correlate1d": lambda x, **o: ndimage.correlate1d(x, [1.0, 0, 2, -1], axis=0, **o),
    "convolve": lambda x, **o: ndimage.convolve(x, WEIGHTS, **o),
    "uniform": lambda x, **o: ndimage.uniform_filter1d(x, 4, axis=1, origin=1, **o),
    "gaussian": lambda x, **o: ndimage.gaussian_filter(x, 0.6, **o),
    "minimum1d": lambda x, **o: ndimage.minimum_filter1d(x, 3, axis=0, **o),
    "maximum1d": lambda x, **o: ndimage.maximum_filter1d(x, 4, axis=1, **o),
    "minimum": lambda x, **o: ndimage.minimum_filter(x, footprint=FOOTPRINT, **o),
    "maximum": lambda x, **o: ndimage.maximum_filter(x, footprint=FOOTPRINT, origin=1, **o),
    "erosion": lambda x, **o: ndimage.grey_erosion(x, structure=WEIGHTS, **o),
    "dilation": lambda x, **o: ndimage.grey_dilation(x, structure=WEIGHTS, **o),
    "median": lambda x, **o: ndimage.median_filter(x, footprint=FOOTPRINT, **o),
    "rank": lambda x, **o: ndimage.rank_filter(x, 1, footprint=FOOTPRINT, origin=(1, 0), **o),
}


def agrees(function: Callable[..., Any], *args: Any) -> None:
    wanted, found = function(*args), np.asarray(xp.jit(function)(*args))
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_filters_of_every_mode(mode: str) -> None:
    """In one function: a session for each filter would take ten times as long."""
    chosen = FILTERS if mode == "constant" else ("correlate, moved", "uniform", "rank")

    def filtered(x):
        return np.stack([FILTERS[each](x, mode=mode, cval=0.5) for each in chosen])

    agrees(filtered, X)


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8"])
def test_filters_of_other_element_types(dtype: str) -> None:
    whole = (X * 9 + 10).astype(dtype)
    agrees(lambda x: ndimage.maximum_filter1d(x, 3), whole)
    agrees(lambda x: ndimage.correlate(x, [[1.0, 2.0]]), whole)


def test_weights_without_any() -> None:
    agrees(lambda x: ndimage.correlate(x, np.zeros((2, 2))), X)


def test_weights_of_the_model() -> None:
    jitted = xp.jit(lambda x, w: ndimage.correlate(x, w), static="shapes")
    np.testing.assert_allclose(jitted(X, WEIGHTS), ndimage.correlate(X, WEIGHTS), rtol=1e-12)


def test_a_short_array_is_extended_far() -> None:
    agrees(lambda x: np.stack([ndimage.uniform_filter1d(x, 9, mode=each) for each in MODES]), X[0, :3])


NORMS = (None, "ortho", "forward")
OF_ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
OF_SEVERAL = ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")


def split(made: Any) -> Any:
    return np.concatenate([made.real.ravel(), made.imag.ravel()])


@pytest.mark.parametrize("norm", NORMS)
def test_transforms(norm: str | None) -> None:
    def one(x):
        made = [getattr(fft, each)(x, 6, 0, norm) for each in OF_ONE]
        return split(np.concatenate([each.ravel() for each in made]))

    def several(x):
        made = [getattr(fft, each)(x, (4, 6), norm=norm) for each in OF_SEVERAL]
        made += [getattr(fft, each)(x, axes=(1, 0), norm=norm) for each in OF_SEVERAL]
        return split(np.concatenate([each.ravel() for each in made]))

    agrees(one, X)
    agrees(several, X)


def test_transforms_of_all_axes_are_of_the_last_two_or_of_all() -> None:
    cube = np.stack([X, X + 1])
    agrees(
        lambda x: split(np.concatenate([fft.fft2(x).ravel(), fft.fftn(x).ravel(), fft.fft(x).ravel()])), cube
    )


def test_shifts() -> None:
    agrees(lambda x: fft.fftshift(x) + fft.ifftshift(x, axes=1) * 2, X)


def test_finite_numbers() -> None:
    isfinite = pytest.importorskip("sklearn.utils._isfinite")
    ours = of_library(isfinite.cy_isfinite)
    assert ours is not None
    numbers = [(1.0, 2.0), (1.0, np.nan), (np.inf, 1.0), (np.inf, np.nan)]
    found = [[int(ours(xp.asarray(np.array(each)), flag)) for each in numbers] for flag in (False, True)]
    assert found == [[0, 1, 2, 1], [0, 0, 2, 2]]


@pytest.mark.parametrize("function", [len, np.sum, 3, ndimage.label])
def test_other_functions_are_their_own(function: Any) -> None:
    assert of_library(function) is None
