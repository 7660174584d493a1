"""Sampling of images by grids, columns of windows, and shuffled channels."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch.nn import functional as F  # noqa: E402

from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

X = torch.linspace(-2, 3, 64).reshape(2, 2, 4, 4).sin()
GRID = torch.linspace(-1.4, 1.4, 36).reshape(2, 3, 3, 2)

PLANES: dict[str, Any] = {
    f"{mode}, {padding}, {corners}": lambda x, g, mode=mode, padding=padding, corners=corners: F.grid_sample(
        x, g, mode=mode, padding_mode=padding, align_corners=corners
    )
    for mode in ("bilinear", "nearest", "bicubic")
    for padding in ("zeros", "border", "reflection")
    for corners in (False, True)
}
OTHERS: dict[str, Any] = {
    "space": lambda x, g: F.grid_sample(
        x[None], torch.cat([g, g[..., :1] * 0.5], -1)[None, 0, None], align_corners=False
    ),
    "im2col": lambda x, g: F.unfold(x, 2),
    "im2col, all": lambda x, g: F.unfold(x, (2, 3), dilation=(2, 1), padding=(1, 2), stride=(1, 2)),
    "col2im": lambda x, g: F.fold(x.reshape(2, 8, 4), (3, 3), 2),
    "col2im, stride": lambda x, g: F.fold(x.reshape(2, 8, 4), (4, 4), 2, stride=2),
    "col2im, padding": lambda x, g: F.fold(x.reshape(2, 8, 4), (2, 2), 2, dilation=2, padding=1, stride=1),
    "pixel_shuffle": lambda x, g: F.pixel_shuffle(x.reshape(1, 4, 4, 4), 2),
    "pixel_unshuffle": lambda x, g: F.pixel_unshuffle(x, 2),
    "channel_shuffle": lambda x, g: F.channel_shuffle(x.reshape(2, 4, 2, 4), 2),
    "affine_grid": lambda x, g: F.affine_grid(g[:, 0].mT, [2, 2, 3, 4], align_corners=True),
}


@pytest.mark.parametrize("functions", [PLANES, OTHERS])
def test_functions_are_those_of_torch(functions: dict[str, Any]) -> None:
    agree(functions, X, GRID)
