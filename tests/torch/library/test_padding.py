"""Padding by every mode, and adaptive pools."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch.nn import functional as F  # noqa: E402

from tests.torch.library.together import agree  # noqa: E402  # torch may be missing

X = torch.linspace(-2, 3, 60).reshape(1, 3, 4, 5).sin()

PADS: dict[str, Any] = {
    "constant": lambda x: F.pad(x, (1, 2)),
    "constant, value": lambda x: F.pad(x, (1, 0, 2, 1), value=0.5),
    "constant, cut": lambda x: F.pad(x, (-1, 2, 1, -2)),
    "constant, three": lambda x: F.pad(x, (0, 1, 1, 0, 2, 0), value=-1.0),
    "constant of integers": lambda x: F.pad(x.int(), (1, 1), value=3),
    **{
        f"{mode} {ends}": lambda x, mode=mode, ends=ends: F.pad(
            x[0] if len(ends) == 2 else x, ends, mode=mode
        )
        for mode in ("reflect", "replicate", "circular")
        for ends in ((1, 2), (1, 2, 3, 0))
    },
    "replicate, space": lambda x: F.pad(x, (1, 1, 1, 0, 0, 2), mode="replicate"),
}


def test_functions_are_those_of_torch() -> None:
    agree(PADS, X)


def test_of_any_size() -> None:
    names = ("constant, value", "constant, cut", "reflect (1, 2, 3, 0)", "circular (1, 2, 3, 0)")
    agree({name: PADS[name] for name in names}, X, other=(torch.linspace(-1, 1, 126).reshape(1, 3, 6, 7),))
