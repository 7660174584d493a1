"""Weights of an exported module may be exchanged: no fusion depends on what they hold."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from onnxsmith.torch import export


class Factor(nn.Module):
    """A Gelu, as long as a parameter is what it is at first."""

    def __init__(self) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(0.5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.factor * x * (1 + torch.erf(x / math.sqrt(2)))


class Scale(nn.Module):
    """A normalisation with a scale of ones, at first, and another one behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(8, bias=False)
        self.gamma = nn.Parameter(torch.arange(8.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x) * self.gamma


class Temperature(nn.Module):
    """Attention with a scale that is learned."""

    def __init__(self) -> None:
        super().__init__()
        self.temperature = nn.Parameter(torch.tensor(0.25))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        heads = x.reshape(1, 4, 2, 4).transpose(1, 2)
        return torch.softmax(heads @ heads.transpose(-1, -2) * self.temperature, -1) @ heads


@pytest.mark.parametrize("make", [Factor, Scale, Temperature])
def test_exchanged_weights_have_their_effect(make: Callable[[], nn.Module]) -> None:
    module = make().eval()
    x = torch.linspace(-2, 2, 32).reshape(4, 8)
    model = export(module, (x,))
    with torch.no_grad():
        for number, parameter in enumerate(module.parameters()):
            parameter.add_(0.5 + number)
        wanted = module(x).numpy()
    others = {name: each.detach().numpy() for name, each in module.named_parameters()}
    np.testing.assert_allclose(np.asarray(model.replace_weights(others)(x.numpy())), wanted, atol=1e-5)
