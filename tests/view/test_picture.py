"""Models as still pictures: which boxes are open in them, and that all of it is inside."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from onnxsmith import FLOAT, Model, diff, script, static_range, trace
from onnxsmith import opset21 as op
from onnxsmith.view.svg import text_width


@script
def first(x: FLOAT["N"]):
    for _ in static_range(50):
        x = op.Sin(x)
    return x


@script
def long(x: FLOAT["N"]):
    for _ in static_range(50):
        x = op.Exp(x)
    return op.Neg(x)


@script
def short(x: FLOAT["N"]):
    return op.Neg(x)


@script
def before(x: FLOAT["N"]):
    return long(first(x))


@script
def after(x: FLOAT["N"]):
    return short(first(x))


@pytest.fixture
def models() -> tuple[Model, Model]:
    return before.to_model(), after.to_model()


def test_what_differs_is_drawn_in_a_box_that_would_be_closed(
    models: tuple[Model, Model], tmp_path: Path
) -> None:
    models[0].show(tmp_path / "one.svg")
    assert ">Neg<" not in (tmp_path / "one.svg").read_text("utf-8")
    found = diff(*models)
    found.show(tmp_path / "both.svg")
    removed = len(found.of("node", "removed"))
    assert removed
    assert (tmp_path / "both.svg").read_text("utf-8").count("− removed") >= removed


@pytest.mark.parametrize("name", ["N", "a_long_name_of_a_dimension"])
def test_the_types_beside_the_lines_are_inside_the_picture(name: str, tmp_path: Path) -> None:
    model = trace(lambda x: op.Relu(op.Exp(x)), FLOAT[name, 3, name])
    model.show(tmp_path / "one.svg")
    model.diff(model).show(tmp_path / "two.svg")
    for file in ("one.svg", "two.svg"):
        text = (tmp_path / file).read_text("utf-8")
        (width,) = re.findall(r'<svg [^>]*?width="(\d+)"', text)
        labels = re.findall(r'<text x="([\d.]+)"[^>]*font-size="10.5"[^>]*>([^<]+)<', text)
        assert labels
        for left, label in labels:
            assert float(left) + text_width(label, 10.5, mono=True) <= float(width), label
