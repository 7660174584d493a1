"""Convolutions: strides, padding, dilations, groups, of one sample and transposed."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch.nn import functional as F  # noqa: E402  # torch may be missing

from tests.torch.library.together import agree  # noqa: E402

X = torch.linspace(-2, 2, 2 * 4 * 7 * 6).sin().reshape(2, 4, 7, 6)
W, GROUPED = (
    torch.linspace(-1, 1, 6 * 4 * 3 * 2).reshape(6, 4, 3, 2),
    torch.linspace(-1, 1, 8 * 2 * 2 * 2).reshape(8, 2, 2, 2),
)
B = torch.linspace(0, 1, 6)
FUNCTIONS: dict[str, Any] = {
    "conv1d": lambda x: F.conv1d(x[0], torch.linspace(-1, 1, 3 * 7 * 2).reshape(3, 7, 2), padding=1),
    "conv2d": lambda x: F.conv2d(x, W, B),
    "conv2d, all": lambda x: F.conv2d(x, W, None, (2, 1), (1, 2), (1, 2)),
    "conv2d in groups": lambda x: F.conv2d(x, GROUPED, None, groups=2),
    "conv2d of one": lambda x: F.conv2d(x[0], W, B),
    "conv2d of the same size": lambda x: F.conv2d(x, W, B, padding="same"),
    "conv2d, valid": lambda x: F.conv2d(x, W, B, padding="valid"),
    "conv3d": lambda x: F.conv3d(x[:, None], W[:, None, :2]),
    "conv_transpose1d": lambda x: F.conv_transpose1d(x[0], torch.ones(7, 3, 2), stride=2),
    "conv_transpose2d": lambda x: F.conv_transpose2d(x, W.transpose(0, 1).contiguous(), B, 2, 1, 1),
    "conv_transpose2d in groups": lambda x: F.conv_transpose2d(x, GROUPED[:4], groups=2, dilation=2),
    "conv_transpose2d of one": lambda x: F.conv_transpose2d(x[0], W.transpose(0, 1).contiguous()),
}


def test_functions_are_those_of_torch() -> None:
    agree(FUNCTIONS, X)


def test_functions_of_dynamic_sizes_are_those_of_torch() -> None:
    agree(FUNCTIONS, X, other=(torch.linspace(-2, 2, 3 * 4 * 7 * 6).cos().reshape(3, 4, 7, 6),))
