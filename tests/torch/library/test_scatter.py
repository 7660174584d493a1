"""Writes at indices: over what was there, added to it, and reduced with it."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

X, S = torch.arange(12.0).reshape(3, 4), torch.arange(12.0).reshape(3, 4) / 3 - 2
PLACES = torch.tensor([[0, 1, 2, 0], [2, 0, 1, 1], [1, 2, 0, 2]])
FUNCTIONS: dict[str, Any] = {
    "scatter": lambda x, s, i: x.scatter(0, i, s),
    "scatter of a number": lambda x, s, i: x.scatter(1, i, 5.0),
    "scatter of a part": lambda x, s, i: x.scatter(0, i[:2, :3], s),
    "scatter_add": lambda x, s, i: x.scatter_add(0, i * 0, s),
    "scatter that multiplies": lambda x, s, i: x.scatter(0, i, 2.0, reduce="multiply"),
    "scatter_reduce, sum": lambda x, s, i: x.scatter_reduce(0, i[:, :2] * 0, s, "sum", include_self=True),
    "scatter_reduce, sum without": lambda x, s, i: x.scatter_reduce(
        0, i[:, :2] * 0, s, "sum", include_self=False
    ),
    "scatter_reduce, prod": lambda x, s, i: x.scatter_reduce(0, i[:, :2] * 0, s, "prod", include_self=True),
    "scatter_reduce, prod without": lambda x, s, i: x.scatter_reduce(
        0, i[:, :2] * 0, s, "prod", include_self=False
    ),
    "scatter_reduce, mean": lambda x, s, i: x.scatter_reduce(0, i[:, :2] * 0, s, "mean", include_self=True),
    "scatter_reduce, mean without": lambda x, s, i: x.scatter_reduce(
        0, i[:, :2] * 0, s, "mean", include_self=False
    ),
    "scatter_reduce, amax": lambda x, s, i: x.scatter_reduce(0, i[:, :2] * 0, s, "amax", include_self=True),
    "scatter_reduce, amax without": lambda x, s, i: x.scatter_reduce(
        0, i[:, :2] * 0, s, "amax", include_self=False
    ),
    "scatter_reduce, amin": lambda x, s, i: x.scatter_reduce(0, i[:, :2] * 0, s, "amin", include_self=True),
    "scatter_reduce, amin without": lambda x, s, i: x.scatter_reduce(
        0, i[:, :2] * 0, s, "amin", include_self=False
    ),
    "index_add": lambda x, s, i: x.index_add(0, i[0, :3], s),
    "index_add, factor": lambda x, s, i: x.index_add(1, i[0, :3], s[:, :3], alpha=2.0),
    "index_copy": lambda x, s, i: x.index_copy(0, i[0, :3], s),
    "index_fill": lambda x, s, i: x.index_fill(1, i[0, :2], -1.0),
    "slice_scatter": lambda x, s, i: x.slice_scatter(s[:2], 0, 1),
    "slice_scatter in steps": lambda x, s, i: x.slice_scatter(s[:, :2], 1, 0, 4, 2),
    "select_scatter": lambda x, s, i: x.select_scatter(s[0], 0, -1),
    "diagonal_scatter": lambda x, s, i: x.diagonal_scatter(s[0, :3]),
    "index_put": lambda x, s, i: x.index_put((i[0, :3],), s),
    "index_put that adds": lambda x, s, i: x.index_put((i[0, :3] * 0, i[1, :3]), s[0, :3], accumulate=True),
    "put": lambda x, s, i: x.put(i[0, :3], s[0, :3]),
    "put that adds": lambda x, s, i: x.put(i[0] * 0, s[0], accumulate=True),
    "masked_scatter": lambda x, s, i: x.masked_scatter(s > 0, s),
    "masked_fill": lambda x, s, i: x.masked_fill(s > 0, 9.0),
}


def test_functions_are_those_of_torch() -> None:
    agree(FUNCTIONS, X, S, PLACES)
