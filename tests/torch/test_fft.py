"""Fourier transforms are torch's, and precise for every length."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
import onnxsmith  # noqa: E402  # it needs torch
from tests.torch.agreement import check  # noqa: E402  # torch may be missing
from tests.torch.function_agreement import agree  # noqa: E402  # torch may be missing

NORMS = (None, "ortho", "forward")


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize("length", [1, 7, 64, 100, 127, 512, 521, 600, 1031])
def test_all_lengths_are_precise(length):
    x = torch.randn(2, length)
    scale = float(torch.fft.fft(x).abs().max())
    agree(lambda x: torch.fft.fft(x) / scale, x, tolerance=2e-6)
    agree(lambda x: torch.fft.rfft(x) / scale, x, tolerance=2e-6)
    agree(lambda z: torch.fft.irfft(z, length), torch.fft.rfft(x), tolerance=2e-6)
    agree(lambda z: torch.fft.ifft(z), torch.fft.fft(x), tolerance=2e-6)


def test_double_precision_is_kept():
    agree(torch.fft.fft, torch.randn(3, 100, dtype=torch.float64), tolerance=1e-11)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_one_dimension(name, norm):
    function = getattr(torch.fft, name)
    takes_real = name in ("rfft", "ihfft")
    x = torch.randn(3, 6, 5, dtype=torch.float32 if takes_real else torch.complex64)
    agree(lambda x: (function(x, norm=norm), function(x, n=8, dim=1, norm=norm), function(x, 4, 0, norm)), x)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn", "fft2", "irfft2"])
def test_more_dimensions(name, norm):
    function = getattr(torch.fft, name)
    takes_real = name in ("rfftn", "ihfftn")
    x = torch.randn(3, 6, 5, dtype=torch.float32 if takes_real else torch.complex64)
    agree(lambda x: (function(x, norm=norm), function(x, s=(4, 8), dim=(2, 0), norm=norm)), x)


@pytest.mark.parametrize("name", ["fft", "rfft", "irfft", "hfft", "ihfft", "fftn", "irfftn"])
def test_dynamic_lengths(name):
    function = getattr(torch.fft, name)
    agree(function, torch.randn(2, 6), others=[(torch.randn(3, 9),)], dims=[(0, 1)])


def test_dynamic_lengths_that_are_asked_for():
    agree(
        lambda x: torch.fft.rfft(x, n=x.shape[-1] + 3),
        torch.randn(2, 6),
        others=[(torch.randn(2, 11),)],
        dims=[(1,)],
    )


def test_whole_numbers_and_opset_18():
    agree(torch.fft.fft, torch.arange(64).reshape(1, 64), opset_version=18)
    agree(torch.fft.rfft, torch.arange(12).reshape(2, 6), opset_version=18)


def test_the_way_back_has_a_gradient_where_the_window_ends_at_zero():
    class Signal(torch.nn.Module):
        def forward(self, x):
            z = torch.complex(x[0], x[1])
            return torch.istft(z, 8, window=torch.hann_window(8)).sin().sum()

    x = torch.randn(2, 5, 7, generator=torch.Generator().manual_seed(1)).requires_grad_()
    Signal()(x).backward()
    model = onnxsmith.torch.export(Signal().train(), (x.detach(),))
    _, got = model.gradient(of="output", wrt=["x"])(x.detach().numpy())
    torch.testing.assert_close(torch.from_numpy(got), x.grad, rtol=1e-4, atol=1e-5)


def test_frequencies():
    agree(lambda x: x + torch.fft.fftfreq(7, d=0.5), torch.zeros(7))
    agree(lambda x: x + torch.fft.rfftfreq(8), torch.zeros(5))
    agree(lambda x: torch.fft.ifftshift(torch.fft.fftshift(x, dim=1)), torch.randn(3, 5))


@pytest.mark.parametrize("size", [4, 6, 12, 80])
def test_what_is_real_has_the_angle_of_torch(size):
    class Angles(torch.nn.Module):
        def forward(self, x):
            spectrum = torch.fft.fft2(x)
            half = size // 2
            return torch.fft.fftshift(spectrum).imag[::half, ::half], spectrum.angle()[::half, ::half]

    x = -torch.rand(size, size, generator=torch.Generator().manual_seed(1)) - torch.eye(size)
    check(Angles(), x)
