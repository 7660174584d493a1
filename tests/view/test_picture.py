"""Models as still pictures: which boxes are open in them, and that all of it is inside."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
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


#: Weights, attributes, a function, a branch, a loop, and an output that is an input.
NETWORK = """<ir_version: 10, opset_import: ["" : 21, "own" : 1]>
net (float[N, 3, 8, 8] image, bool c, int64 n) => (float[N, 4] scores, bool c2)
    <float[4, 3, 3, 3] w, float[4] b, float[4] gain = {1.0, 2.0, 3.0, 4.0}>
{
    a = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]>(image, w, b)
    r = Relu(a)
    p = GlobalAveragePool(r)
    f = Flatten<axis = 1>(p)
    s = own.Scaled(f, gain)
    t = If (c) <then_branch = yes () => (float[N, 4] y1) { y1 = Softmax<axis = -1>(s) },
                else_branch = no () => (float[N, 4] y2) { z = Sigmoid(s) y2 = Neg(z) }>
    scores = Loop (n, c, t) <body = turn (int64 i, bool d, float[N, 4] v) => (bool e, float[N, 4] u)
        { e = Identity(d) u = Add(v, s) }>
    c2 = Not(c)
}
<domain: "own", opset_import: ["" : 21]> Scaled (x, g) => (y) { m = Mul(x, g) y = Tanh(m) }
"""


def network(*, operator: str = "Tanh") -> Model:
    proto = onnx.parser.parse_model(NETWORK.replace("y = Tanh(m)", f"y = {operator}(m)"))
    weights = {"w": np.zeros((4, 3, 3, 3), np.float32), "b": np.zeros(4, np.float32)}
    proto.graph.initializer.extend(onnx.numpy_helper.from_array(each, name) for name, each in weights.items())
    return Model.from_proto(proto)


@pytest.mark.parametrize("name", ["network", "networks"])
def test_the_picture_is_that_of_the_file(name: str, tmp_path: Path, update_golden: bool) -> None:
    """Every element of a picture, of one model and of two that differ; `--update-golden` writes them."""
    made = tmp_path / f"{name}.svg"
    if name == "network":
        network().show(made)
    else:
        network().diff(network(operator="Erf")).show(made)
    golden = Path(__file__).with_name(f"{name}.svg")
    found = made.read_text("utf-8").replace("><", ">\n<")
    if update_golden:
        golden.write_text(found, encoding="utf-8")
    assert found == golden.read_text("utf-8")
