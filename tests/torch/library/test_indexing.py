"""Elements by index, by mask and by place."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

X = torch.arange(24.0).reshape(2, 3, 4)
INDEX = torch.tensor([[[0, 2, 1, 1]], [[2, 0, 0, 1]]])
MASK = X % 3 == 0

BY_INDEX: dict[str, Any] = {
    "gather": lambda x, i, m: x.gather(1, i),
    "gather, last": lambda x, i, m: x.gather(-1, i),
    "index_select": lambda x, i, m: x.index_select(2, i[0, 0]),
    "index_select, scalar": lambda x, i, m: x[0, 0, 0].index_select(0, i[0, 0, :1] * 0),
    "take": lambda x, i, m: x.take(i - 5),
    "repeat_interleave": lambda x, i, m: x.repeat_interleave(2, 1),
    "repeat_interleave, flat": lambda x, i, m: x.repeat_interleave(3),
    "repeats for each": lambda x, i, m: x.repeat_interleave(i[0, 0], 2, output_size=4),
    "repeats": lambda x, i, m: torch.repeat_interleave(i[1, 0], output_size=3),
}
SUBSCRIPTS: dict[str, Any] = {
    "one": lambda x, i, m: x[:, i[0, 0]],
    "negative": lambda x, i, m: x[..., i[0, 0] - 4],
    "two": lambda x, i, m: x[i[0, 0] % 2, i[1, 0]],
    "two apart": lambda x, i, m: x[i[0, 0] % 2, :, i[1, 0]],
    "broadcast": lambda x, i, m: x[i[:, 0, :2] % 2, i[0, 0, :1]],
    "none between": lambda x, i, m: x[:, None, i[0, 0]],
    "unsafe": lambda x, i, m: torch.ops.aten._unsafe_index.Tensor(x, [None, i[0, 0]]),
}
BY_MASK: dict[str, Any] = {
    "masked_select": lambda x, i, m: x.masked_select(m),
    "masked_select, broadcast": lambda x, i, m: x.masked_select(m[0, 0]),
    "mask": lambda x, i, m: x[m],
    "mask of rows": lambda x, i, m: x[m[:, 0, 0]],
    "nonzero": lambda x, i, m: m.nonzero(),
    "nonzero, numbers": lambda x, i, m: i.nonzero(),
    "nonzero, tuple": lambda x, i, m: list(i.nonzero(as_tuple=True)),
    "argwhere": lambda x, i, m: torch.argwhere(x > 20),
    "where": lambda x, i, m: list(torch.where(m)),
    "nonzero_static": lambda x, i, m: torch.nonzero_static(m, size=10, fill_value=-7),
    "nonzero_static, fewer": lambda x, i, m: torch.nonzero_static(m, size=3),
}


@pytest.mark.parametrize("functions", [BY_INDEX, SUBSCRIPTS, BY_MASK])
def test_functions_are_those_of_torch(functions: dict[str, Any]) -> None:
    agree(functions, X, INDEX, MASK)


def test_subscripts_of_any_size() -> None:
    functions = {name: SUBSCRIPTS[name] for name in ("one", "two", "two apart", "broadcast")}
    agree(functions, X, INDEX, MASK, other=(X.repeat(1, 2, 1), INDEX, MASK.repeat(1, 2, 1)))
