"""`model.profile()`: every kernel goes to the nodes that it runs for, and no time is lost or counted twice."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from onnx import parser

import onnxsmith
from onnxsmith import FLOAT, INT64, Model, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import (
    AttributeTypeError,
    AttributeValueError,
    ModelInputError,
    NotRunnableError,
    OnnxsmithError,
)
from onnxsmith.profiling import Profile, tagging, taking
from onnxsmith.profiling.events import RunEvents
from onnxsmith.runtime.profiled import RawEvent
from tests.comparing.zoo import ZOO, inputs_of
from tests.profiling.programs import PROGRAMS, attention, called_twice, control_flow, convolution, floats


def taken(name: str) -> tuple[Model, Profile]:
    model, inputs = PROGRAMS[name]()
    return model, model.profile(inputs, runs=3, warm_up=1)


def nodes_of(profile: Profile) -> list[tuple[str, list[str], bool]]:
    return [
        (each.operator.rpartition("::")[2], [node.operator for node in each.nodes], each.is_inserted)
        for each in profile.kernels
    ]


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_kernel_goes_to_nodes_of_the_model(name: str) -> None:
    model, profile = taken(name)
    addresses = {each.address for kernel in profile.kernels for each in kernel.nodes}
    assert all(each.nodes for each in profile.kernels)
    assert all(each.lines for each in profile.kernels)
    files = {line.file for kernel in profile.kernels for line in kernel.lines}
    assert {Path(each).name for each in files} == {"programs.py"}
    assert len({each.split(".")[0] for each in addresses if "/" not in each}) <= len(list(model.ir.graph))


@pytest.mark.parametrize("name", PROGRAMS)
def test_groups_have_all_of_the_time(name: str) -> None:
    _, profile = taken(name)
    for by in ("line", "node", "operator", "call"):
        rows = profile.by(by)
        assert sum(len(row.kernels) for row in rows) == len(profile.kernels)
        assert sum(row.times.mean for row in rows) == pytest.approx(profile.total.mean)
        means = [row.times.mean for row in rows]
        assert means == sorted(means, reverse=True)


def test_ten_models_have_a_line_for_every_kernel() -> None:
    """What has none is inserted by the runtime, and nothing else is."""
    for make in (*PROGRAMS.values(), *ZOO.values()):
        made = make()
        model, inputs = made if isinstance(made, tuple) else (made, inputs_of(made))
        profile = model.profile(inputs, runs=1, warm_up=0)
        nameless = [each for each in profile.kernels if not each.lines]
        assert profile.inserted.mean == pytest.approx(sum(each.times.mean for each in nameless))
        assert not nameless, make.__name__


def test_kernels_without_a_node_are_inserted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taking.Attributor, "of", lambda self, node: taking._NAMELESS)
    profile = taken("repeated")[1]
    assert profile.inserted.mean == pytest.approx(profile.total.mean)
    assert profile.moving.mean == 0.0
    assert "100.0 % in kernels that the runtime inserted" in profile.summary()
    for by in ("line", "node", "call"):
        assert [row.label for row in profile.by(by)] == ["inserted by the runtime"]


def test_nodes_of_functions_are_told_apart_by_call() -> None:
    model, inputs = called_twice()
    profile = model.profile(inputs, runs=2)
    layer = [each for each in profile.kernels if each.calls_around]
    calls = {tuple(call.address for call in each.calls_around) for each in layer}
    assert calls == {("0",), ("1",), ("2.body.0",)}
    for call in calls:
        nodes = {
            node.address
            for each in layer
            for node in each.nodes
            if tuple(around.address for around in node.calls) == call
        }
        # The sum is fused into the product, and what moves the weights is done before the run.
        operators = [model.nodes[each].op_type for each in nodes]
        assert sorted(each for each in operators if each in ("Add", "MatMul", "Gelu")) == [
            "Add",
            "Gelu",
            "MatMul",
        ]
    rows = profile.by("call")
    assert len(rows) == 4
    assert sum(len(row.kernels) for row in rows) == len(profile.kernels)
    assert {row.label.rpartition("::")[2] for row in rows if "::" in row.label} == {
        "layer 'layer'",
        "layer 'layer_1'",
        "layer 'layer_2'",
    }
    notes = profile.overlay().notes
    assert {"0", "1", "2.body.0"} <= set(notes)
    assert "in this call" in notes["0"].text
    assert "in call 0" in "".join(note.text for note in notes.values())


def test_functions_that_would_be_written_too_often_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagging, "_MOST_COPIED_NODES", 0)
    model, inputs = called_twice()
    profile = model.profile(inputs, runs=1)
    assert all(each.lines for each in profile.kernels)
    assert {row.label for row in profile.by("call")} == {"not in a function"}


def test_a_loop_that_makes_no_turn_is_told_of() -> None:
    model, inputs = control_flow()
    profile = model.profile({**inputs, "n": np.array(0)}, runs=1)
    assert "Loop 'loop' made no turn on these inputs" in profile.summary()
    assert "made no turn" not in model.profile(inputs, runs=1).summary()
    assert "made no turn" not in model.profile(runs=1).summary()


def test_fused_nodes_are_told_together() -> None:
    model, inputs = convolution()
    profile = model.profile(inputs, runs=1)
    assert nodes_of(profile)[0] == ("Conv", ["Relu", "BatchNormalization", "Conv"], False)
    assert [(op_type, is_inserted) for op_type, _, is_inserted in nodes_of(profile)[1:]] in (
        [],
        [("ReorderOutput", True)],
    )
    (line, *_) = profile.by("line")
    assert [each.number for each in line.lines] == sorted({each.number for each in line.lines})
    assert len(line.lines) == 3


def test_fused_attention() -> None:
    model, inputs = attention()
    found = nodes_of(model.profile(inputs, runs=1))
    assert ("SkipLayerNormalization", ["LayerNormalization", "Add", "Add"], False) in found
    assert ("FusedMatMul", ["Mul", "MatMul"], False) in found
    assert sum(operators.count("Softmax") for _, operators, _ in found) == 1


def test_reshapes_around_a_fused_kernel_are_inserted() -> None:
    found = nodes_of(taken("linear")[1])
    assert ("Gemm", ["Add", "MatMul"], False) in found
    assert [each[0] for each in found if each[2]] == ["Reshape", "Reshape"]
    assert all("MatMul" in operators for kind, operators, _ in found if kind == "Reshape")


def test_a_branch_that_was_inlined() -> None:
    found = nodes_of(taken("decided")[1])
    assert found == [
        ("Exp", ["Exp"], False),
        ("Neg", ["Neg"], False),
        ("Tanh", ["Tanh"], False),
        ("Exp", ["Exp"], False),
    ]


def test_quantised_nodes_are_told_together() -> None:
    found = nodes_of(taken("quantised")[1])
    assert found == [("QLinearMatMul", ["QuantizeLinear", "MatMul", "DequantizeLinear"], False)]


def test_what_is_computed_once_for_two_nodes_stands_for_both() -> None:
    found = nodes_of(taken("repeated")[1])
    assert found[0] == ("Exp", ["Exp", "Exp"], False)


def test_casts_that_were_added_are_told_with_the_nodes_that_they_serve() -> None:
    _, profile = taken("half")
    casts = [each for each in profile.kernels if each.operator == "Cast"]
    assert casts
    assert all(each.is_inserted for each in casts)
    assert all(each.nodes and each.lines for each in casts)
    assert profile.moving.mean == pytest.approx(sum(each.times.mean for each in casts))
    assert profile.inserted.mean == 0.0
    assert "kernels that the runtime added around nodes" in profile.summary()


def test_sizes_that_were_known_before_are_not_told_of() -> None:
    assert nodes_of(taken("folded")[1]) == [("Exp", ["Exp"], False), ("Reshape", ["Reshape"], False)]


def test_control_flow_is_told_without_what_runs_inside() -> None:
    model, inputs = control_flow()
    profile = model.profile(inputs, runs=4)
    by_operator = {each.operator: each for each in profile.kernels}
    loop, inside = (
        by_operator["Loop"],
        [each for each in profile.kernels if each.nodes[0].address == "1.body.0"],
    )
    assert loop.has_bodies
    assert [each.calls for each in inside] == [3]
    assert inside[0].depth == 1
    assert 0 < profile.total.mean < profile.profiled.mean
    activation = [each for each in profile.kernels if "activation/" in each.nodes[0].address]
    assert sorted(each.calls for each in activation) == [1, 1, 3, 3]


def test_memory_of_results() -> None:
    model = trace(lambda a, b: op.Relu(a @ b), FLOAT["N", 64], FLOAT[64, 32])
    profile = model.profile([floats(16, 64), floats(64, 32)], runs=1)
    assert [each.output_bytes for each in profile.kernels] == [16 * 32 * 4] * 2
    assert profile.kernels[0].output_types == ("float[16, 32]",)


def test_a_loaded_model_names_lines_that_are_not_read(tmp_path: Path) -> None:
    model, inputs = convolution()
    model.save(tmp_path / "m.onnx")
    profile = onnxsmith.load(tmp_path / "m.onnx").profile(inputs, runs=1)
    (line, *_) = profile.kernels[0].lines
    assert line.claimed_by == "m.onnx"
    assert "op.Conv" not in profile.listing()
    assert "as m.onnx says" in profile.listing()


def test_large_weights_go_nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    weight = floats(64, 64)
    model = trace(lambda a: a @ weight, FLOAT["N", 64])
    assert [each.operator for each in model.profile([floats(2, 64)], runs=1).kernels] == ["MatMul"]
    assert list(tmp_path.iterdir()) == []


def test_optional_inputs() -> None:
    proto = trace(lambda a, b: a + b, FLOAT[2], FLOAT[2]).proto
    proto.graph.initializer.append(onnxsmith_tensor(np.float32([1, 2]), "b"))
    model = Model.from_proto(proto)
    profile = model.profile({"a": np.ones(2, np.float32), "b": np.ones(2, np.float32)}, runs=1)
    assert [name for name, _ in profile.circumstances.inputs] == ["a", "b"]


def onnxsmith_tensor(array: np.ndarray, name: str):
    from onnx import numpy_helper  # only this test needs it

    return numpy_helper.from_array(array, name)


def test_inputs_are_made_up() -> None:
    model = trace(lambda a, b: a @ b, FLOAT["N", 4], FLOAT[4, "M"])
    told = model.profile(runs=1).circumstances
    assert told.are_made_up
    assert told.inputs == (("a", "float32[2, 4]"), ("b", "float32[4, 2]"))


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    model = trace(lambda a: a + 1.0, FLOAT["N"])
    model.profile([floats(4)], runs=2, warm_up=1, progress=lambda done, whole: told.append((done, whole)))
    assert told == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"runs": 0}, AttributeValueError, "runs is at least 1"),
        ({"runs": 1.5}, AttributeTypeError, "runs is an int"),
        ({"warm_up": -1}, AttributeValueError, "warm_up is at least 0"),
        ({"inputs": 3}, AttributeTypeError, "inputs are arrays by name or in order, not an int"),
        ({"inputs": {"z": floats(3)}}, ModelInputError, "z"),
        ({"inputs": []}, ModelInputError, "missing"),
        ({"intra_op_threads": 0}, AttributeValueError, "intra_op_threads"),
        ({"providers": ["Nope"]}, AttributeValueError, "Nope"),
    ],
)
def test_wrong_words(options: dict[str, object], kind: type[OnnxsmithError], words: str) -> None:
    model = trace(lambda a: a + 1.0, FLOAT["N"])
    with pytest.raises(kind, match=words):
        model.profile(**options)


def test_a_run_that_fails_is_the_same_error() -> None:
    model = trace(lambda a, b: op.Gather(a, b), FLOAT[3], INT64[1])
    inputs = {"a": floats(3), "b": np.array([7])}
    with pytest.raises(OnnxsmithError) as plain:
        model.run(inputs)
    with pytest.raises(OnnxsmithError) as profiled:
        model.profile(inputs)
    assert type(profiled.value) is type(plain.value)
    assert profiled.value.message == plain.value.message


def test_a_model_that_cannot_run() -> None:
    model = trace(lambda a: onnxsmith.Opset("my.domain", 1).Frobnicate(a), FLOAT["N"])
    with pytest.raises(NotRunnableError):
        model.profile([floats(3)])


def test_a_run_of_which_nothing_was_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taking, "read_runs", lambda events: [])
    model = trace(lambda a: a + 1.0, FLOAT["N"])
    with pytest.raises(AttributeValueError, match="more kernels than ONNX Runtime keeps"):
        model.profile([floats(3)])


def test_runs_that_were_lost_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    read = taking.read_runs
    monkeypatch.setattr(taking, "read_runs", lambda events: read(events)[:-1])
    profile = trace(lambda a: a + 1.0, FLOAT["N"]).profile([floats(3)], runs=3)
    assert profile.circumstances.runs == 2
    assert "2 of 3 runs are in the profile" in profile.summary()


def test_a_model_with_a_map(tmp_path: Path) -> None:
    text = """<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml": 3]>
        g (float[N, 2] x) => (seq(map(int64, float)) z) {
            y = Softmax(x)
            z = ai.onnx.ml.ZipMap <classlabels_int64s = [0, 1]> (y)
        }"""
    model = Model.from_proto(parser.parse_model(text))
    profile = model.profile([floats(3, 2)], runs=1)
    assert [each.nodes[0].address for each in profile.kernels] == ["0", "1"]


def test_kernels_come_in_the_order_in_which_they_ran() -> None:
    model, inputs = control_flow()
    profile = model.profile(inputs, runs=1)
    found = [each.nodes[0].address for each in profile.kernels]
    assert found.index("1.body.0") < found.index("2")


@pytest.mark.parametrize("name", ["attention", "control_flow"])
def test_the_times_are_those_of_the_runtime(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels without bodies have the runtime's own time, and control flow what is left of its time."""
    raw: list[RawEvent] = []
    read = taking.read_runs

    def keep(events: Iterable[RawEvent]) -> list[RunEvents]:
        raw.extend(events)
        return read(raw)

    monkeypatch.setattr(taking, "read_runs", keep)
    model, inputs = PROGRAMS[name]()
    profile = model.profile(inputs, runs=4, warm_up=0)
    kernels = [each for each in raw if each["cat"] == "Node"]
    leaves = sum(each["dur"] for each in kernels if each["args"]["op_name"] not in ("If", "Loop"))
    outer = sum(each.duration for run in read(raw) for each in run.kernels)
    mine = [each.times for each in profile.kernels if not each.has_bodies]
    assert sum(sum(each.per_run) for each in mine) == pytest.approx(leaves * 1e-6)
    assert sum(profile.total.per_run) == pytest.approx(outer * 1e-6)
