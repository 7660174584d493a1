"""Interpolation by every mode, to sizes and by factors, between corners and between centres."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch.nn import functional as F  # noqa: E402

from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

X = torch.linspace(-2, 3, 48).reshape(1, 2, 4, 6).sin()
DOUBLE = X.double()

LINES: dict[str, Any] = {
    "nearest": lambda x, d: F.interpolate(x[:, 0], 9, mode="nearest"),
    "nearest, multiple": lambda x, d: F.interpolate(x[:, 0], 12),
    "nearest, exact": lambda x, d: F.interpolate(x[:, 0], 4, mode="nearest-exact"),
    "linear": lambda x, d: F.interpolate(x[:, 0], 9, mode="linear"),
    "linear, corners": lambda x, d: F.interpolate(x[:, 0], 9, mode="linear", align_corners=True),
    "linear, one element": lambda x, d: F.interpolate(x[:, 0], 1, mode="linear", align_corners=True),
}
PLANES: dict[str, Any] = {
    "nearest": lambda x, d: F.interpolate(x, (7, 4)),
    "nearest, factor": lambda x, d: F.interpolate(x, scale_factor=2),
    "nearest, factors": lambda x, d: F.interpolate(x, scale_factor=(1.7, 0.6)),
    "nearest, own sizes": lambda x, d: F.interpolate(x, (4, 6)),
    "exact": lambda x, d: F.interpolate(x, (7, 4), mode="nearest-exact"),
    "exact, factors": lambda x, d: F.interpolate(x, scale_factor=(2.0, 1.5), mode="nearest-exact"),
    "bilinear": lambda x, d: F.interpolate(x, (7, 4), mode="bilinear"),
    "bilinear, corners": lambda x, d: F.interpolate(x, (7, 4), mode="bilinear", align_corners=True),
    "bilinear, factor": lambda x, d: F.interpolate(x, scale_factor=1.4, mode="bilinear"),
    "bilinear, recomputed": lambda x, d: F.interpolate(
        x, scale_factor=1.4, mode="bilinear", recompute_scale_factor=True
    ),
    "bilinear, double": lambda x, d: F.interpolate(d, (3, 9), mode="bilinear"),
    "bicubic": lambda x, d: F.interpolate(x, (7, 9), mode="bicubic"),
    "bicubic, corners": lambda x, d: F.interpolate(x, (7, 9), mode="bicubic", align_corners=True),
    "bicubic, factors": lambda x, d: F.interpolate(x, scale_factor=(2.0, 1.3), mode="bicubic"),
    "bicubic, double": lambda x, d: F.interpolate(d, (7, 3), mode="bicubic"),
    "bilinear, antialiased": lambda x, d: F.interpolate(x, (2, 4), mode="bilinear", antialias=True),
    "bicubic, antialiased": lambda x, d: F.interpolate(x, (3, 3), mode="bicubic", antialias=True),
    "nearest, double": lambda x, d: F.interpolate(d, (8, 5)),
}
SPACES: dict[str, Any] = {
    "nearest": lambda x, d: F.interpolate(x[None], (4, 3, 9)),
    "nearest, factor": lambda x, d: F.interpolate(x[None], scale_factor=2),
    "exact": lambda x, d: F.interpolate(x[None], (3, 3, 9), mode="nearest-exact"),
    "trilinear": lambda x, d: F.interpolate(x[None], (3, 3, 9), mode="trilinear"),
    "trilinear, corners": lambda x, d: F.interpolate(
        x[None], (3, 3, 9), mode="trilinear", align_corners=True
    ),
}


@pytest.mark.parametrize("functions", [LINES, PLANES, SPACES])
def test_functions_are_those_of_torch(functions: dict[str, Any]) -> None:
    agree(functions, X, DOUBLE)


def test_factors_of_any_size() -> None:
    names = ("nearest, factor", "nearest, factors", "bilinear, factor", "bicubic, factors", "nearest")
    functions = {name: PLANES[name] for name in names}
    wide = torch.linspace(-1, 2, 70).reshape(1, 2, 5, 7).cos()
    agree(functions, X, DOUBLE, other=(wide, wide.double()))


@pytest.mark.parametrize("name", ["bilinear", "bilinear, corners", "bicubic"])
def test_sizes_without_factors_are_one_node(name: str) -> None:
    import onnxsmith

    class Resized(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return PLANES[name](x, None)

    model = onnxsmith.torch.export(Resized(), (X,))
    assert [node.op_type for node in model.ir.graph if node.op_type != "Constant"] == ["Resize"]
