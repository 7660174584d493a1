"""Pools with strides, padding, dilations and sizes that leave a rest."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch.nn import functional as F  # noqa: E402  # torch may be missing

from tests.torch.library.together import agree  # noqa: E402

X = torch.linspace(-2, 2, 2 * 3 * 7 * 6).sin().reshape(2, 3, 7, 6)
FUNCTIONS: dict[str, Any] = {
    "max_pool1d": lambda x: F.max_pool1d(x[0], 3, 2, 1),
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "max_pool2d, all": lambda x: F.max_pool2d(x, (3, 2), (2, 1), (1, 0), (1, 2), ceil_mode=True),
    "max_pool2d with places": lambda x: F.max_pool2d(x, 2, return_indices=True),
    "max_pool2d with places, all": lambda x: F.max_pool2d(x, 3, 2, 1, 2, return_indices=True),
    "max_pool2d of one": lambda x: F.max_pool2d(x[0], 3),
    "max_pool2d of whole numbers": lambda x: F.max_pool2d((x * 9).to(torch.int64), 2),
    "max_pool3d": lambda x: F.max_pool3d(x, (2, 3, 2)),
    "avg_pool1d": lambda x: F.avg_pool1d(x[0], 2),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 3, 2, 1),
    "avg_pool2d without padding": lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    "avg_pool2d, ceil": lambda x: F.avg_pool2d(x, 2, 2, ceil_mode=True),
    "avg_pool2d, divisor": lambda x: F.avg_pool2d(x, 2, divisor_override=3),
    "avg_pool3d": lambda x: F.avg_pool3d(x, 2, 1, 1),
    "lp_pool2d": lambda x: F.lp_pool2d(x.abs() + 1, 2.0, 2),
    "max_unpool2d": lambda x: F.max_unpool2d(*F.max_pool2d(x[..., :6, :], 2, return_indices=True), 2),
}


def test_functions_are_those_of_torch() -> None:
    agree(FUNCTIONS, X)


def test_functions_of_dynamic_sizes_are_those_of_torch() -> None:
    agree(FUNCTIONS, X, other=(torch.linspace(-2, 2, 3 * 3 * 7 * 6).cos().reshape(3, 3, 7, 6),))
