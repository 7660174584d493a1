"""`History`: records, frames, pictures."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from onnxsmith.errors import MissingDependencyError, UnknownNameError
from onnxsmith.training import History, history

RECORDS = [
    {"epoch": 1, "step": 3, "loss": 0.7, "val_loss": 0.8, "lr": 0.1, "seconds": 1.0},
    {"epoch": 2, "step": 6, "loss": 0.5, "val_loss": float("nan"), "lr": 0.1, "seconds": 1.0},
]


def _without(*missing: str) -> Any:
    return lambda name: None if name in missing else object()


def test_records_names_and_text() -> None:
    found = History(RECORDS)
    assert found["loss"] == [0.7, 0.5]
    assert found[1]["step"] == 6
    assert len(found) == len(found[:]) == 2
    assert repr(found) == "History(2 epochs, loss 0.7 -> 0.5, val_loss 0.8 -> nan)"
    assert repr(History()) == "History(0 epochs)"
    with pytest.raises(UnknownNameError, match="no 'accuracy'"):
        _ = found["accuracy"]


def test_a_frame_of_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(History(RECORDS).frame()).__module__.startswith("pandas")
    monkeypatch.setattr(history, "find_spec", _without("pandas"))
    assert type(History(RECORDS).frame()).__module__.startswith("polars")
    monkeypatch.setattr(history, "find_spec", _without("pandas", "polars"))
    with pytest.raises(MissingDependencyError, match="neither is installed"):
        History(RECORDS).frame()


def test_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    (axes,) = History(RECORDS).plot().axes
    assert [each.get_label() for each in axes.lines] == ["loss", "val_loss"]
    monkeypatch.setattr(history, "find_spec", _without("matplotlib"))
    picture = ElementTree.fromstring(str(History(RECORDS).plot("loss", "lr")))
    lines = [each for each in picture.iter() if each.tag.endswith("polyline")]
    assert len(lines) == 2
    assert lines[0].attrib["points"] == "45.0,20.0 285.0,170.0"
