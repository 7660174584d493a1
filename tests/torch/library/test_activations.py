"""Activations with their options, by default and by choice."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch.nn import functional as F  # noqa: E402  # torch may be missing

from tests.torch.library.together import agree  # noqa: E402

X = torch.tensor([[-8.0, -2.3, -0.8, -0.2], [0.3, 0.9, 3.7, 25.0]])
FUNCTIONS: dict[str, Any] = {
    "relu": lambda x: F.relu(x),
    "relu of whole numbers": lambda x: F.relu(x.to(torch.int64)),
    "relu6": lambda x: F.relu6(x),
    "gelu": lambda x: F.gelu(x),
    "gelu by tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": lambda x: F.silu(x),
    "sigmoid": lambda x: torch.sigmoid(x),
    "sigmoid of whole numbers": lambda x: torch.sigmoid(x.to(torch.int32)),
    "log_sigmoid": lambda x: F.logsigmoid(x),
    "mish": lambda x: F.mish(x),
    "leaky_relu": lambda x: F.leaky_relu(x),
    "leaky_relu, slope": lambda x: F.leaky_relu(x, 0.3),
    "elu": lambda x: F.elu(x),
    "elu, alpha": lambda x: F.elu(x, 0.5),
    "elu, all": lambda x: torch.ops.aten.elu(x, 0.5, 2.0, 1.5),
    "selu": lambda x: F.selu(x),
    "celu": lambda x: F.celu(x),
    "celu, alpha": lambda x: F.celu(x, 0.5),
    "hardtanh": lambda x: F.hardtanh(x),
    "hardtanh, limits": lambda x: F.hardtanh(x, -2.0, 0.5),
    "hardsigmoid": lambda x: F.hardsigmoid(x),
    "hardswish": lambda x: F.hardswish(x),
    "softplus": lambda x: F.softplus(x),
    "softplus, beta": lambda x: F.softplus(x, 2.0, 4.0),
    "softmax": lambda x: F.softmax(x, 1),
    "softmax over the first": lambda x: F.softmax(x, 0),
    "softmax in another type": lambda x: F.softmax(x, -1, dtype=torch.float64),
    "log_softmax": lambda x: F.log_softmax(x, 1),
    "log_softmax in another type": lambda x: F.log_softmax(x, 0, dtype=torch.float64),
    "glu": lambda x: F.glu(x),
    "glu over the first": lambda x: F.glu(x, 0),
    "prelu": lambda x: F.prelu(x, torch.tensor([0.1, 0.2, 0.3, 0.4])),
    "prelu, one": lambda x: F.prelu(x, torch.tensor([0.25])),
}


def test_functions_are_those_of_torch() -> None:
    agree(FUNCTIONS, X)
