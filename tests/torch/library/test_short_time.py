"""Fourier transforms of frames, and back: with windows and without, padded and not, of real and complex signals."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from tests.torch.function_agreement import agree  # noqa: E402  # torch may be missing
from tests.torch.library.together import agree as agree_together  # noqa: E402


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("onesided", [True, False])
def test_there_and_back(center, onesided):
    window = torch.hann_window(8) + 0.1

    def forward(x):
        return torch.stft(
            x, 8, 3, window=window, center=center, onesided=onesided, normalized=True, return_complex=True
        )

    agree(forward, torch.randn(2, 40), others=[(torch.randn(3, 57),)], dims=[(0, 1)])
    spectrum = forward(torch.randn(2, 41))
    agree(
        lambda z: torch.istft(
            z, 8, 3, window=window, center=center, onesided=onesided, normalized=True, length=30
        ),
        spectrum,
    )


X = torch.linspace(-1, 2, 80).reshape(2, 40) ** 2
Z = torch.complex(torch.linspace(-1, 2, 90).reshape(2, 5, 9), torch.linspace(3, -2, 90).reshape(2, 5, 9))
HALF = torch.hann_window(4) + 0.5
THERE: dict[str, Any] = {
    "one signal": lambda x: torch.stft(x[0], 8, return_complex=True, window=torch.ones(8)),
    "short window": lambda x: torch.stft(x, 8, 2, win_length=4, window=HALF, return_complex=True),
    "window of ones": lambda x: torch.stft(x, 8, 2, win_length=6, window=torch.ones(6), return_complex=True),
    "constant padding": lambda x: torch.stft(
        x, 8, 3, window=torch.ones(8), pad_mode="constant", return_complex=True
    ),
    "parts": lambda x: torch.view_as_real(torch.stft(x, 8, 8, window=torch.ones(8), return_complex=True)),
}
BACK: dict[str, Any] = {
    "real": lambda z: torch.istft(z, 8, 2, window=torch.ones(8)),
    "one signal": lambda z: torch.istft(z[0], 8, 2, window=torch.ones(8)),
    "short window": lambda z: torch.istft(z, 8, 2, win_length=4, window=HALF),
    "shorter": lambda z: torch.istft(z, 8, 2, window=torch.ones(8), length=10),
    "of a whole spectrum": lambda z: torch.istft(
        torch.cat([z, z[:, 1:4].flip(1).conj()], 1), 8, 2, window=torch.ones(8), onesided=False
    ),
}


def test_frames_of_signals() -> None:
    functions = {
        name: lambda x, function=function: (
            torch.view_as_real(made) if (made := function(x)).is_complex() else made
        )
        for name, function in THERE.items()
    }
    agree_together(functions, X)


def test_signals_of_frames() -> None:
    agree_together(
        {
            name: lambda x, function=function: function(torch.view_as_complex(x))
            for name, function in BACK.items()
        },
        torch.view_as_real(Z).contiguous(),
    )
