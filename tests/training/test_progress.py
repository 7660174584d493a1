"""The progress of a fit: a bar of tqdm, a plain line, or nothing."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op
from onnxsmith.training import Trainer, progress


def _fit(wanted: bool | None) -> None:
    weight = np.zeros((8, 3), np.float32)
    trainer = Trainer(trace(lambda x: op.MatMul(x, weight), FLOAT["N", 8]), metrics=["accuracy"])
    trainer.fit(np.ones((70, 8), np.float32), np.zeros(70, np.int64), epochs=2, progress=wanted)


def test_nothing_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    _fit(None)
    _fit(False)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("has_tqdm", [True, False])
def test_loss_metric_and_batches(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, has_tqdm: bool
) -> None:
    if has_tqdm:
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setattr(progress, "find_spec", lambda name: None)
    _fit(True)
    shown = capsys.readouterr().err
    assert "epoch 1/2" in shown
    assert "epoch 2/2" in shown
    assert "loss" in shown
    assert "accuracy 1" in shown
    assert ("3/3" in shown) == has_tqdm
