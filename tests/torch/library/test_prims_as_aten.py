"""Primitive operators that are translated as those of ATen, each against itself."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

X = torch.tensor([[0.5, -0.25, 0.75], [0.125, 0.9, -0.6]])
prims, real = torch.ops.prims, torch.view_as_real

FUNCTIONS: dict[str, Any] = {
    "cbrt": lambda x: prims.cbrt(x * 8),
    "var": lambda x: prims.var(x, [0], 0),
    "rev": lambda x: prims.rev(x, [1]),
    "fill": lambda x: prims.fill(x, 2.5),
    "full": lambda x: x + prims.full([2, 3], 2, dtype=x.dtype, device=x.device, requires_grad=False),
    "as_strided_scatter": lambda x: prims.as_strided_scatter(x, x[0, :2], [2], [2], 1),
    "var of all": lambda x: prims.var(x, [0, 1], 1),
    "full_like": lambda x: prims.full_like(x, 3.5, dtype=torch.float64, device=x.device, requires_grad=False),
    "scalar_tensor": lambda x: x + prims.scalar_tensor(2.5, dtype=x.dtype, device=x.device),
    "real": lambda x: prims.real(torch.complex(x, -x)),
    "fft_r2c": lambda x: real(prims.fft_r2c(x, dim=[1], onesided=True)),
    "fft_r2c, both sides": lambda x: real(prims.fft_r2c(x, dim=[0, 1], onesided=False)),
    "fft_c2c": lambda x: real(prims.fft_c2c(torch.complex(x, x.flip(0)), dim=[1], forward=True)),
    "fft_c2c, back": lambda x: real(prims.fft_c2c(torch.complex(x, x.flip(0)), dim=[0], forward=False)),
    "fft_c2r": lambda x: prims.fft_c2r(torch.complex(x, x.flip(0)), dim=[1], last_dim_size=4),
}


def test_functions_are_those_of_torch() -> None:
    agree(FUNCTIONS, X)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int8, torch.int64, torch.bool])
def test_limits_of_element_types(dtype: Any) -> None:
    from onnxsmith.torch.library.prims_as_aten import extreme_value

    class Overload:
        def __init__(self, name: str) -> None:
            self.overload = f"prims.{name}.default"

    for name in ("maximum_value", "minimum_value"):
        call: Any = Overload(name)
        assert extreme_value(call, dtype) == getattr(prims, name)(dtype)
