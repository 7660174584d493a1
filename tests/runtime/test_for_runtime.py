"""The model for the runtime runs there as ours does, and the model that it was made of stays."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import parser

from onnxsmith import FLOAT, INT32, INT64, Model, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import NotRunnableError, ShapeError, TensorIndexError
from tests.laws.bare_session import run

LOWEST = np.array([np.iinfo(np.int32).min, 7], np.int32)
DIVISOR = np.array([-1, 2], np.int32)


def in_a_bare_session(model: Model, *inputs: np.ndarray) -> list[np.ndarray]:
    feeds = {port.name: array for port, array in zip(model.inputs, inputs, strict=True)}
    outcome = run(model.proto.SerializeToString(), feeds)
    assert outcome.kind == "results", outcome.text
    return list(outcome.results.values())


def test_what_ends_the_process_runs_there() -> None:
    model = trace(lambda a, b: op.Div(a, b), INT32["N"], INT32["N"])
    before = model.proto.SerializeToString()
    shipped = model.for_runtime()
    assert model.proto.SerializeToString() == before
    (result,) = in_a_bare_session(shipped, LOWEST, DIVISOR)
    assert result.tolist() == [LOWEST[0], 3]
    assert np.array_equal(result, model(LOWEST, DIVISOR))


def test_the_report_names_node_and_reason() -> None:
    shipped = trace(lambda a, b: op.Div(a, b), INT32["N"], INT32["N"]).for_runtime()
    (change,) = shipped.report.edits
    assert (change.operator, change.before[0].name) == ("Div", "div")
    assert change.after[-1].outputs == ("div",)
    assert change.before[0].source == change.after[-1].source
    assert "ends the process" in str(shipped.report)
    assert str(shipped.report).startswith(f"{shipped.report.runtime}: 1 change\n")


def test_a_model_that_nothing_concerns_is_the_same() -> None:
    model = trace(lambda a, b: op.Relu(a @ b), FLOAT["N", 4], FLOAT[4, 2])
    shipped = model.for_runtime()
    assert not shipped.report.edits
    assert "nothing to change" in str(shipped.report)
    assert shipped.proto.SerializeToString() == model.proto.SerializeToString()


def test_control_flow_and_functions() -> None:
    @script
    def divided(a: INT32["N"], b: INT32["N"]):
        return op.Div(a, b)

    @script
    def program(a: INT32["N"], b: INT32["N"], n: INT64):
        for _ in range(n):
            if op.ReduceSum(b, keepdims=0) < 100:
                a = divided(a, b)
        return a

    model = program.to_model()
    shipped = model.for_runtime()
    (result,) = in_a_bare_session(shipped, LOWEST, DIVISOR, np.array(2))
    assert np.array_equal(result, model(LOWEST, DIVISOR, 2))
    assert result.tolist() == [LOWEST[0], 1]


def test_weights_are_shared() -> None:
    weight = np.arange(1, 1 + (1 << 16), dtype=np.int32).reshape(256, 256)
    weight[0, 0] = -1
    model = trace(lambda a: op.Div(a, weight), INT32[256, 256])
    shipped = model.for_runtime()
    own, theirs = model.ir.graph.initializers, shipped.ir.graph.initializers
    (name,) = [each for each, value in own.items() if value.const_value.nbytes > 1000]
    assert theirs[name].const_value is own[name].const_value
    assert shipped(np.full((256, 256), 6, np.int32))[0, :3].tolist() == [-6, 3, 2]


def test_a_divisor_that_is_no_minus_one_needs_nothing() -> None:
    weight = np.arange(1, 5, dtype=np.int32)
    assert not trace(lambda a: op.Div(a, weight), INT32[4]).for_runtime().report.edits
    assert trace(lambda a: op.Div(a, -weight), INT32[4]).for_runtime().report.edits


def test_what_the_runtime_cannot_run_is_an_error() -> None:
    text = '<ir_version: 8, opset_import: ["no.such" : 1]> g (float[N] x) => (float[N] y) { y = no.such.Thing(x) }'
    model = Model.from_proto(parser.parse_model(text))
    with pytest.raises(NotRunnableError, match="ONNX Runtime cannot run this model"):
        model.for_runtime()


def test_old_models() -> None:
    text = (
        '<ir_version: 3, opset_import: ["" : 7]> g (int32[N] a, int32[N] b) => (int32[N] y) { y = Div(a, b) }'
    )
    proto = parser.parse_model(text)
    shipped = Model.from_proto(proto).for_runtime()
    assert shipped.opset_imports == {"": 7}
    assert shipped.proto.ir_version == 3
    onnx.checker.check_model(shipped.proto)
    (result,) = in_a_bare_session(shipped, LOWEST, DIVISOR)
    assert result.tolist() == [LOWEST[0], 3]


def test_a_model_for_the_runtime_is_made_once(tmp_path) -> None:
    @script
    def divided(a: INT32["N"], b: INT32["N"]):
        return op.Div(a, b)

    @script
    def program(a: INT32["N"], b: INT32["N"], n: INT64, w: FLOAT["N"]):
        for _ in range(n):
            a = divided(a, b) + op.Mod(a, b)
        drawn = op.RandomNormal(shape=[3], seed=1.0)
        return a, op.GatherElements(w, op.Cast(b, to=INT64)), drawn

    shipped = program.to_model().for_runtime()
    assert len(shipped.report.edits) > 2
    shipped.save(tmp_path / "shipped.onnx")
    loaded = Model.load(tmp_path / "shipped.onnx")
    for each in (shipped, loaded, shipped.for_runtime(), loaded.for_runtime()):
        again = each.for_runtime()
        assert not again.report.edits
        assert again.proto.graph.node == shipped.proto.graph.node
        assert list(again.proto.functions) == list(shipped.proto.functions)


def test_a_mark_that_anybody_can_write_does_not_end_the_process() -> None:
    model = trace(lambda a, b: op.Div(a, b), INT32["N"], INT32["N"])
    forged = model.proto
    forged.graph.node[0].metadata_props.add(key="onnxsmith.fact", value="quotient-of-lowest")
    assert np.array_equal(Model.from_proto(forged)(LOWEST, DIVISOR), model(LOWEST, DIVISOR))


def _divided_and_gathered(a, b, places):
    return op.Div(a, b) + op.Gather(a, places)


@pytest.mark.parametrize(
    ("divisors", "place", "mistake"), [([1, 2, 3], 7, TensorIndexError), ([1, 2], 0, ShapeError)]
)
def test_errors_show_the_line_that_the_model_was_made_from(divisors, place, mistake, tmp_path) -> None:
    model = trace(_divided_and_gathered, INT32["N"], INT32["M"], INT64["N"])
    shipped = model.for_runtime()
    assert shipped.report.edits
    inputs = (np.arange(3, dtype=np.int32), np.array(divisors, np.int32), np.full(3, place))
    said = []
    for each in (model, shipped, shipped.for_runtime()):
        with pytest.raises(mistake) as caught:
            each(*inputs)
        said.append(str(caught.value))
    assert said[0].splitlines() == said[1].splitlines() == said[2].splitlines()
    assert "return op.Div(a, b) + op.Gather(a, places)" in said[1]
    shipped.save(tmp_path / "shipped.onnx")
    with pytest.raises(mistake, match=r"as 'shipped\.onnx' says|as shipped\.onnx says"):
        Model.load(tmp_path / "shipped.onnx")(*inputs)
