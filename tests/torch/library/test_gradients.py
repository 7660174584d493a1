"""Gradients that torch has operators for."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
import torch.nn.functional as F  # noqa: E402

from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

X = torch.linspace(-2, 3, 72).reshape(1, 2, 6, 6).sin()
WEIGHT = torch.linspace(-1, 1, 36).reshape(2, 2, 3, 3).cos()
aten = torch.ops.aten


def pooled(g: Any, x: Any, *options: Any) -> Any:
    size = F.avg_pool2d(x, *options).shape
    return aten.avg_pool2d_backward.default(g[:, :, : size[-2], : size[-1]], x, *_listed(options))


def _listed(options: Any) -> list[Any]:
    kernel, stride, padding, ceil, counts, divisor = [*options, *[None] * 6][:6]
    return [kernel, stride or [], padding or [0, 0], bool(ceil), counts is not False, divisor]


POOLS: dict[str, Any] = {
    "avg_pool2d": lambda x, w: pooled(x.flip(2), x, [2, 3]),
    "stride": lambda x, w: pooled(x.flip(2), x, [3, 3], [2, 1]),
    "padding": lambda x, w: pooled(x.flip(2), x, [3, 2], [2, 2], [1, 1]),
    "padding that is not counted": lambda x, w: pooled(x.flip(2), x, [3, 2], [2, 2], [1, 1], False, False),
    "ceil": lambda x, w: pooled(x.flip(2), x, [4, 4], [3, 3], [0, 0], True),
    "divisor": lambda x, w: pooled(x.flip(2), x, [2, 2], [1, 2], [0, 0], False, True, 3),
    "avg_pool3d": lambda x, w: aten.avg_pool3d_backward.default(
        x[:, :, :2, :2].reshape(1, 1, 2, 2, 2),
        x.reshape(1, 2, 6, 6)[None],
        [1, 3, 3],
        [],
        [0, 0, 0],
        False,
        True,
        None,
    ),
    "adaptive": lambda x, w: aten._adaptive_avg_pool2d_backward.default(x[:, :, :3, :4], x),
    "adaptive, uneven": lambda x, w: aten._adaptive_avg_pool2d_backward.default(x[:, :, :4, :5], x),
    "adaptive, 3d": lambda x, w: aten._adaptive_avg_pool3d_backward.default(x[:, :, :4, :5][None], x[None]),
}


def convolved(g: Any, x: Any, w: Any, *options: Any) -> Any:
    return list(aten.convolution_backward.default(g, x, w, [2], *options, [True, True, True]))


CONVOLUTIONS: dict[str, Any] = {
    "plain": lambda x, w: convolved(x[:, :, :4, :4], x, w, [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
    "stride": lambda x, w: convolved(x[:, :, :2, :3], x, w, [2, 2], [0, 1], [1, 1], False, [0, 0], 1),
    "dilation": lambda x, w: convolved(x[:, :, :2, :4], x, w, [1, 1], [0, 0], [2, 1], False, [0, 0], 1),
    "groups": lambda x, w: convolved(x[:, :, :4, :4], x, w[:, :1], [1, 1], [0, 0], [1, 1], False, [0, 0], 2),
    "transposed": lambda x, w: convolved(x, x[:, :, :4, :4], w, [1, 1], [0, 0], [1, 1], True, [0, 0], 1),
    "of weights": lambda x, w: aten.convolution_backward.default(
        x[:, :, :4, :4], x, w, [2], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [False, True, False]
    )[1],
}


@pytest.mark.parametrize("functions", [POOLS, CONVOLUTIONS])
def test_functions_are_those_of_torch(functions: dict[str, Any]) -> None:
    agree(functions, X, WEIGHT)
