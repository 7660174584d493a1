"""Gradients of exported modules in training, at points where formulas choose: they are those of torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest
import torch

from onnxsmith.torch import export
from tests.torch.library.together import slopes_agree

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
    "clamp from below": lambda x: x.clamp(min=0.0) + torch.clamp_min(x, 1.0),
    "clamp from above": lambda x: x.clamp(max=0.5) + torch.clamp_max(x, 1.0),
    "clamp by tensors": lambda x: x.clamp(torch.zeros_like(x), torch.ones_like(x)),
    "clamp of bounds": lambda x: torch.clamp(torch.zeros_like(x), x, x + 1.0),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_slopes_at_special_points(dtype: torch.dtype) -> None:
    slopes_agree(FUNCTIONS, torch.tensor([0.0, 1.0, -2.0, 0.5], dtype=dtype))


#: Functions of two numbers with a logarithm of the second, or of the first.
LOGARITHMIC: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "xlogy": torch.xlogy,
    "special.xlogy": torch.special.xlogy,
    "xlogy, broadcast": lambda x, y: torch.xlogy(x[None], y[:, None]).diagonal(),
    "xlogy of one": lambda x, y: torch.xlogy(y, y) + x,
    "xlogy, numbers": lambda x, y: torch.xlogy(x, 2.0) + torch.xlogy(0.0, y) + torch.xlogy(2, y),
    "xlog1py": torch.special.xlog1py,
    "xlog1py, numbers": lambda x, y: torch.special.xlog1py(x, 2.0) + torch.special.xlog1py(2, y),
    "entr": lambda x, y: torch.special.entr(y) + x,
    "kl_div": lambda x, y: torch.nn.functional.kl_div(y, x, reduction="none"),
    "kl_div, log_target": lambda x, y: torch.nn.functional.kl_div(y, x, reduction="none", log_target=True),
}


Y = (0.0, 0.5, 1.0, 2.0, float("inf"), float("nan"), -1.0, -0.5, -2.0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_slopes_of_a_number_times_a_logarithm(dtype: torch.dtype) -> None:
    x, y = torch.meshgrid(
        torch.tensor([0.0, 1.0, -2.0], dtype=dtype), torch.tensor(Y, dtype=dtype), indexing="ij"
    )
    slopes_agree(LOGARITHMIC, x.flatten(), y.flatten(), factors=(1.0, 0.0))


class Masked(torch.nn.Module):
    """Logarithms of a weight, where it has some."""

    def __init__(self) -> None:
        super().__init__()
        self.x, self.y = (torch.nn.Parameter(each) for each in (torch.zeros(9), torch.tensor(Y)))

    def forward(self, factor: torch.Tensor) -> torch.Tensor:
        return (torch.where(self.y > 0, torch.xlogy(self.x, self.y), 0.0) * factor).sum()


def test_a_mask_keeps_the_slope_of_a_logarithm_out() -> None:
    found = export(Masked().train(), (torch.tensor(1.0),)).gradient(wrt=["x"])(np.float32(1.0))[1]
    np.testing.assert_allclose(found, [0, np.log(0.5), 0, np.log(2), np.inf, 0, 0, 0, 0], rtol=1e-6)
