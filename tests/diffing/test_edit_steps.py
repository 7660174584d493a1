"""The edits of passes as steps on the model that they were given."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op
from onnxsmith.diffing import timeline


def test_each_edit_is_a_step_on_nodes_of_the_model(tmp_path: Path) -> None:
    scale = np.ones(8, np.float32)

    def forward(x):
        x = op.Transpose(op.Transpose(op.Identity(x)))
        centred = x - op.ReduceMean(x, [-1])
        return centred / op.Sqrt(op.ReduceMean(centred * centred, [-1]) + 1e-5) * scale

    model = trace(forward, FLOAT["N", 8])
    edits = model.optimize().report.edits
    overlay = timeline(model, edits)
    assert len(overlay.steps) <= len(edits)
    assert overlay.title == f"{len(edits)} edits"
    addresses = {each.address for each in model.nodes}
    marked = {address for step in overlay.steps for address in step.notes}
    assert marked <= addresses
    assert {"0", "1", "2"} <= marked  # the Identity and the Transposes
    assert all(step.notes for step in overlay.steps)
    assert model.show(tmp_path / "page.html", overlay=overlay) is not None


def test_nodes_that_one_rule_leaves_out_in_a_row_are_one_step() -> None:
    def forward(a):
        for number in range(5):
            a = op.Relu(op.Add(a, op.Constant(value_floats=[float(number)] * 8)))
        return op.Tanh(op.Tanh(a))

    model = trace(forward, FLOAT["N", 8])
    edits = [each for each in model.optimize().report.edits if each.operator == "Constant"]
    assert len(edits) == 5
    (step,) = timeline(model, edits).steps
    assert step.title.endswith(": 5 nodes left out")
    assert sorted(step.notes) == sorted(each.address for each in model.nodes if each.op_type == "Constant")


def test_no_edits() -> None:
    model = trace(lambda a: op.Relu(a), FLOAT["N"])
    assert timeline(model, ()).steps == []


def test_hostile_names() -> None:
    proto = trace(lambda a: op.Relu(op.Identity(a)), FLOAT["N"]).proto
    proto.graph.node[0].name = "\x1b[2J" + "x" * 5000
    model = type(trace(lambda a: a + 1.0, FLOAT["N"])).from_proto(proto)
    (step,) = timeline(model, model.optimize().report.edits).steps
    assert "\x1b" not in step.title
    assert len(step.title) < 300
