"""Normalisations with and without scales, in evaluation and by the statistics of the batch."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch.nn import functional as F  # noqa: E402  # torch may be missing

from tests.torch.library.together import agree  # noqa: E402

X = torch.linspace(-3, 4, 2 * 4 * 5).sin().reshape(2, 4, 5)
W, B, ROW = torch.tensor([0.5, 1.0, 1.5, 2.0]), torch.tensor([0.1, -0.2, 0.3, 0.0]), torch.linspace(0.5, 2, 5)
MEAN, VARIANCE = torch.tensor([0.0, 0.1, 0.2, 0.3]), torch.tensor([1.0, 2.0, 0.5, 1.5])
FUNCTIONS: dict[str, Any] = {
    "layer_norm": lambda x: F.layer_norm(x, (5,)),
    "layer_norm, scale and shift": lambda x: F.layer_norm(x, (5,), ROW, ROW - 1, 0.1),
    "layer_norm, shift alone": lambda x: F.layer_norm(x, (5,), None, ROW),
    "layer_norm over two axes": lambda x: F.layer_norm(x, (4, 5)),
    "rms_norm": lambda x: F.rms_norm(x, (5,)),
    "rms_norm, scale": lambda x: F.rms_norm(x, (5,), ROW, 0.1),
    "batch_norm": lambda x: F.batch_norm(x, MEAN, VARIANCE),
    "batch_norm, all": lambda x: F.batch_norm(x, MEAN, VARIANCE, W, B, False, 0.1, 0.01),
    "group_norm": lambda x: F.group_norm(x, 2),
    "group_norm, all": lambda x: F.group_norm(x, 2, W, B, 0.1),
    "instance_norm": lambda x: F.instance_norm(x),
    "instance_norm, all": lambda x: F.instance_norm(x, None, None, W, B, eps=0.1),
    "instance_norm, statistics": lambda x: F.instance_norm(x, MEAN, VARIANCE, W, B, use_input_stats=False),
    "native_layer_norm": lambda x: torch.native_layer_norm(x, (5,), ROW, ROW, 0.1),
    "normalize": lambda x: F.normalize(x, dim=1),
    "normalize by absolutes": lambda x: F.normalize(x, p=1.0, dim=2),
    "local_response_norm": lambda x: F.local_response_norm(x, 3, 0.5, 0.6, 1.5),
}


def test_functions_are_those_of_torch() -> None:
    agree(FUNCTIONS, X)


def test_functions_of_dynamic_sizes_are_those_of_torch() -> None:
    agree(FUNCTIONS, X, other=(torch.linspace(-3, 4, 3 * 4 * 5).cos().reshape(3, 4, 5),))
