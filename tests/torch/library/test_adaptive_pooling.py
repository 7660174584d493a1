"""Adaptive pools, even and uneven, in one, two and three dimensions."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch.nn import functional as F  # noqa: E402

from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

X = torch.linspace(-2, 9, 210).reshape(1, 5, 6, 7).sin()

SIZES: list[tuple[int, Any]] = [
    *((1, 7), (1, 1), (1, 3)),
    *((2, (3, 7)), (2, (4, 3)), (2, (1, 1)), (2, (None, 2)), (2, 2)),
    *((3, (5, 2, 3)), (3, 1)),
]
POOLS: dict[str, Any] = {
    f"{kind}{rank}d {size}": lambda x, kind=kind, rank=rank, size=size: getattr(
        F, f"adaptive_{kind}_pool{rank}d"
    )({1: x[0], 2: x, 3: x}[rank], size)
    for kind in ("avg", "max")
    for rank, size in (
        (1, 7),
        (1, 1),
        (1, 3),
        (2, (3, 7)),
        (2, (4, 3)),
        (2, (1, 1)),
        (2, (None, 2)),
        (2, 2),
        (3, (5, 2, 3)),
        (3, 1),
    )
}
INDICES: dict[str, Any] = {
    "1d": lambda x: F.adaptive_max_pool1d(x[0], 3, return_indices=True),
    "2d": lambda x: F.adaptive_max_pool2d(x, (4, 3), return_indices=True),
    "2d, even": lambda x: F.adaptive_max_pool2d(x, (3, 7), return_indices=True),
    "3d": lambda x: F.adaptive_max_pool3d(x, (2, 2, 3), return_indices=True),
}


@pytest.mark.parametrize("functions", [POOLS, INDICES])
def test_functions_are_those_of_torch(functions: dict[str, Any]) -> None:
    agree(functions, X)
