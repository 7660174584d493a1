"""A run that is looked at in pieces: what that costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op
from onnxsmith.comparing.sides import Side
from onnxsmith.observing import runs


def chain(x: Any, length: int) -> Any:
    for _ in range(length):
        x = op.Relu(x)
    return x


def test_every_node_is_run_once_to_look_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    length = 2500
    model = trace(lambda x: chain(x, length), FLOAT[4])
    run: list[int] = []
    part_of = runs.part_of

    def counting(*given: Any) -> Any:
        made = part_of(*given)
        run.append(len(made[0].nodes))
        return made

    monkeypatch.setattr(runs, "part_of", counting)
    side = Side(model, {"x": np.float32([1, -2, 3, 4])}, memory=1 << 20)
    side.look()
    assert len(run) > 1
    assert sum(run) == length
    assert len(side.signatures) == length + 1
