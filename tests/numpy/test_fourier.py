"""Fourier transforms, against numpy: of lengths that are computed each in its own way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE, FLOAT, trace
from tests.numpy.agreement import agrees, run_recorded, sample
from tests.numpy.every_argument import disagreements


def near(name: str, x: np.ndarray[Any, Any], **kwargs: Any) -> None:
    """The same to the precision of the element type, measured by the largest number."""
    expected = getattr(np.fft, name)(x, **kwargs)
    results = [np.asarray(getattr(xp.fft, name)(xp.asarray(x), **kwargs))]
    if x.size < 1000:
        results.append(run_recorded(f"fft.{name}", (x,), kwargs))
    for ours in results:
        assert ours.dtype == expected.dtype
        assert ours.shape == expected.shape
        scale = np.abs(expected).max(initial=0)
        assert np.abs(ours - expected).max(initial=0) <= 4e-15 * np.log2(x.size + 2) * scale * (
            1 if expected.dtype.itemsize > 8 or expected.dtype == np.float64 else 1e9
        )


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_one_dimension(name: str, norm: str | None) -> None:
    for length in (2, 5, 64, 100, 600, 1031):
        x = sample("float64" if name in ("rfft", "ihfft") else "complex128", (2, length), special=False)
        near(name, x, norm=norm)
    x = sample("float32" if name in ("rfft", "ihfft") else "complex64", (4, 3), special=False)
    near(name, x, n=7, axis=0)
    near(name, x, n=2)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"])
def test_several_dimensions(name: str) -> None:
    x = sample("float64" if name.startswith("rfft") else "complex128", (3, 4, 6), special=False)
    near(name, x)
    near(name, x, axes=(0, 2))
    near(name, x, s=(5, 4), axes=(1, 2))


def test_shift_and_frequencies() -> None:
    for length in (4, 5):
        agrees("fft.fftfreq", length, 0.5)
        agrees("fft.rfftfreq", length)
        agrees("fft.fftshift", sample("float32", (length, 3)))
        agrees("fft.ifftshift", sample("float32", (length, 3)), axes=0)


def test_complex_numbers_have_no_real_transform() -> None:
    with pytest.raises(TypeError, match="real"):
        xp.fft.rfft(xp.asarray([1j]))


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
@pytest.mark.parametrize("d", [1.0, 0.3])
def test_frequencies_of_a_size_that_the_model_knows(name: str, d: float) -> None:
    model = trace(lambda t: getattr(xp.fft, name)(xp.asarray(t).shape[0], d).tensor, FLOAT["N"])
    for size in (1, 2, 5, 8, 13):
        made = model(np.zeros(size, np.float32))
        np.testing.assert_array_max_ulp(made, getattr(np.fft, name)(size, d), 2)  # numpy rounds twice


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_a_long_dynamic_length_takes_no_table_of_its_square(name: str) -> None:
    # 44,100 samples would be a table of 25 GB.
    for length in (511, 513, 4099, 44_100):
        x = np.random.default_rng(length).normal(size=length)
        expected = getattr(np.fft, name)(x)
        found = run_recorded(f"fft.{name}", (x,), {})
        assert found.shape == expected.shape
        assert np.abs(found - expected).max() <= 1e-14 * np.log2(length) * np.abs(expected).max()


def test_a_dynamic_length_of_an_opset_without_fourier_transforms() -> None:
    model = trace(lambda t: xp.abs(xp.fft.fft(xp.asarray(t))).tensor, DOUBLE["N"], opset_version=16)
    x = np.random.default_rng(0).normal(size=600)
    np.testing.assert_allclose(model(x), np.abs(np.fft.fft(x)), rtol=1e-9)


def test_all_kinds_of_arguments() -> None:
    refused = {
        "fft.fft2": 3,
        "fft.ifft2": 4,
        "fft.irfft2": 2,
        "fft.fftn": 5,
        "fft.ifftn": 3,
        "fft.rfftn": 4,
        "fft.ifftshift": 3,
    }
    assert disagreements("fourier", refused) == []
