"""What an export says of itself: the report, and a line on the terminal."""

from __future__ import annotations

import io
import time

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402  # torch may be missing

import onnxsmith  # noqa: E402
from onnxsmith.torch import progress as progress_module  # noqa: E402
from onnxsmith.torch.progress import Progress  # noqa: E402


class Several(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        return torch.addr(self.layer(self.layer(x)), x[0], x[1]).relu()


@pytest.fixture(scope="module")
def report():
    translations = {torch.ops.aten.relu.default: lambda x: x * 2}
    return onnxsmith.torch.export(Several(), (torch.randn(3, 3),), translations=translations).export_report


def test_operators_by_the_way_they_were_translated(report):
    (linear,) = [each for each in report.operators if each.overload == "aten.linear.default"]
    assert (linear.way, linear.calls, linear.nodes) == ("translation", 2, 2)
    assert [each.overload for each in report.operators_by("custom")] == ["aten.relu.default"]
    assert {each.way for each in report.operators} <= {"translation", "decomposition", "custom"}
    assert set(report.stages) == {"torch.export", "translation"}
    assert report.seconds > 0
    assert report.weight_bytes >= 48


def test_text(report):
    text = str(report)
    assert "calls of" in text.splitlines()[0]
    assert "aten.linear.default" in text
    assert "translation" in text


def test_html(report):
    text = report._repr_html_()
    assert text.count("<table>") == 1
    assert "<td>aten.relu.default</td><td>custom</td>" in text


def test_fixed_dimensions_are_noted():
    with pytest.warns(onnxsmith.errors.SpecialisedDimensionWarning):
        model = onnxsmith.torch.export(
            Several(), (torch.randn(3, 3),), dynamic_shapes={"x": {1: torch.export.Dim.AUTO}}
        )
    assert model.export_report.notes[0].startswith("dimension 1 of input 'x' was asked to be dynamic")


class _Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_line_for_long_exports(monkeypatch):
    monkeypatch.setattr(progress_module, "_PATIENCE", 0.01)
    monkeypatch.setattr(progress_module, "_INTERVAL", 0.01)
    stream = _Terminal()
    with Progress(stream) as progress:
        progress.stage("translation")
        progress.done, progress.total = 3, 8
        time.sleep(0.2)
    text = stream.getvalue()
    assert "\ronnxsmith: translation 3 of 8, 0 s" in text
    assert text.endswith("\r")
    assert progress.stages["translation"] > 0.1


def test_nothing_for_short_ones_and_where_nobody_looks(monkeypatch):
    short = _Terminal()
    with Progress(short) as progress:
        progress.stage("translation")
    assert short.getvalue() == ""
    monkeypatch.setattr(progress_module, "_PATIENCE", 0.0)
    stream = io.StringIO()
    with Progress(stream) as progress:
        progress.stage("translation")
        time.sleep(0.05)
    assert stream.getvalue() == ""
