"""Gradients of exported modules in training, at points where formulas choose: they are those of torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest
import torch

from onnxsmith.torch import export

Function: TypeAlias = Callable[[torch.Tensor], torch.Tensor]


def _as_complex(x: torch.Tensor) -> torch.Tensor:
    return torch.complex(x, torch.zeros_like(x))


FUNCTIONS: dict[str, Function] = {
    **{
        name: getattr(torch, name) for name in ("asinh", "atan", "sinh", "sin", "tan", "tanh", "expm1", "erf")
    },
    "atanh": lambda x: torch.atanh(x * 0.25),
    "atan2": lambda x: torch.atan2(x, torch.ones_like(x)),
    "angle": lambda x: torch.angle(torch.complex(torch.ones_like(x), x)),
    "abs of complex": lambda x: torch.abs(_as_complex(x)),
    "hypot": lambda x: torch.hypot(x, torch.ones_like(x)),
    "remainder": lambda x: torch.remainder(x, 0.5),
    "logaddexp": lambda x: torch.logaddexp(x, 2.0 * x),
    "log2": lambda x: torch.log2(x * x + x + 1.0),
    "norm": lambda x: torch.linalg.vector_norm(x * 0.0 + x.sign() * 0.0, 3.0),
    "fmax": lambda x: torch.fmax(x, 2.0 * x),
}


class Net(torch.nn.Module):
    """A function of its weight, added up."""

    def __init__(self, function: Function, dtype: torch.dtype) -> None:
        super().__init__()
        self.function = function
        self.weight = torch.nn.Parameter(torch.tensor([0.0, 1.0, -2.0, 0.5], dtype=dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(self.weight + x).sum()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_slopes_at_special_points(name: str, dtype: torch.dtype) -> None:
    net = Net(FUNCTIONS[name], dtype).train()
    x = torch.zeros(4, dtype=dtype)
    net(x).backward()
    assert net.weight.grad is not None
    found = export(net, (x,)).gradient(wrt=["weight"])(x.numpy())[1]
    np.testing.assert_allclose(found, net.weight.grad.numpy(), rtol=1e-5, atol=1e-6)
