"""Tables, groups and comparisons of profiles."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import onnx
import pytest

import onnxsmith
from onnxsmith import FLOAT, Model, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import AttributeTypeError, AttributeValueError
from onnxsmith.profiling import Times
from onnxsmith.profiling.comparison import ComparedRow
from onnxsmith.profiling.rows import GROUPINGS
from tests.profiling.programs import PROGRAMS, attention, convolution, floats


def test_times() -> None:
    times = Times((1.0, 2.0, 3.0))
    assert (times.mean, times.median, times.minimum, times.deviation) == (2.0, 2.0, 1.0, 1.0)
    assert Times((1.0, 1.5, 100.0)).median == 1.5
    assert Times((2.0,)).deviation == 0.0
    assert Times(()).mean == 0.0


def test_text() -> None:
    model, inputs = convolution()
    profile = model.profile(inputs, runs=2, intra_op_threads=1)
    text = str(profile)
    for part in (
        "x: float32[1, 3, 16, 16]",
        "ONNX Runtime",
        "1 thread;",
        "2 runs after 3",
        "while it is profiled",
    ):
        assert part in text
    assert "programs.py:" in text
    assert "Conv 'conv' + BatchNormalization 'batch_normalization' + Relu 'relu'" in profile.table("node")
    assert repr(profile).startswith("<profile of forward on (x: float32[1, 3, 16, 16]): ")


def test_the_rest_is_told_in_a_line() -> None:
    model, inputs = attention()
    profile = model.profile(inputs, runs=1)
    lines = profile.table("node", 3).splitlines()
    assert len(lines) == 5
    assert lines[-1].startswith(f"and {len(profile.by('node')) - 3} more, ")
    assert len(profile.table("node", None).splitlines()) == 1 + len(profile.by("node"))


def test_html_shows_names_as_text() -> None:
    proto = trace(lambda x: op.Relu(x), FLOAT["N"]).proto
    proto.graph.node[0].name = "<script>alert(1)</script>"
    del proto.graph.node[0].metadata_props[:]
    shown = Model.from_proto(proto).profile([floats(4)], runs=1)._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


def test_json() -> None:
    model, inputs = convolution()
    profile = model.profile(inputs, runs=2)
    content = json.loads(json.dumps(profile.as_dict()))
    assert len(content["kernels"]) == len(profile.kernels)
    assert len(content["total"]["runs"]) == 2
    assert [each["address"] for each in content["kernels"][0]["nodes"]] == ["2", "1", "0"]


def test_two_runs_of_one_model_are_compared_by_line() -> None:
    model, inputs = attention()
    before, after = model.profile(inputs, runs=2), model.profile(inputs, runs=2)
    found = before.compare(after)
    assert found.by == "line"
    assert all(row.before is not None and row.after is not None for row in found.rows)
    assert found.total.before is not None
    assert found.total.before.mean == pytest.approx(before.total.mean)
    differences = [abs(row.difference) for row in found.rows]
    assert differences == sorted(differences, reverse=True)
    assert "all kernels" in str(found)
    assert json.dumps(found.as_dict())


@pytest.mark.parametrize("program", PROGRAMS)
def test_shares_and_differences_add_up(program: str) -> None:
    """However kernels are grouped, and whatever the runs were like: medians of parts would not."""
    model, inputs = PROGRAMS[program]()
    one, two = model.profile(inputs, runs=5, warm_up=0), model.profile(inputs, runs=4, warm_up=0)
    for by in GROUPINGS:
        rows = one.table(by, limit=0).splitlines()[1:]
        assert len(rows) == len(one.by(by))
        shares = [float(row.split(" %")[0]) for row in rows]
        assert sum(shares) == pytest.approx(100, abs=0.05 * len(rows) + 1e-6)
        found = one.compare(two, by)
        assert sum(row.difference for row in found.rows) == pytest.approx(found.total.difference)
        assert found.table(0) == found.table(None)


@script
def version(x: FLOAT["N"]):
    return op.Tanh(op.Exp(x))


def test_two_versions_of_a_script_are_compared_by_node() -> None:
    """Their lines have other numbers, and their nodes the same names."""
    before = version.profile([floats(4)], runs=1)

    @script
    def version_(x: FLOAT["N"]):
        y = op.Exp(x)
        return op.Tanh(y)

    found = before.compare(version_.profile([floats(4)], runs=1))
    assert found.by == "node"
    assert all(row.ratio is not None for row in found.rows)
    assert "before: version, after: version_;" in str(found)


def test_before_and_after_are_told_apart(tmp_path: Path) -> None:
    model, inputs = convolution()
    model.save(tmp_path / "net.onnx")
    loaded = onnxsmith.load(tmp_path / "net.onnx")
    before, after = loaded.profile(inputs, runs=1), loaded.optimize().profile(inputs, runs=1)
    counts = len(before.kernels), len(after.kernels)
    said = f"before: net.onnx ({counts[0]} kernels), after: net.onnx ({counts[1]} kernels)"
    assert said in str(before.compare(after))


def test_two_models_without_lines_are_compared_by_operator() -> None:
    def bare(model: Model) -> Model:
        proto = onnx.ModelProto()
        proto.CopyFrom(model.proto)
        for node in proto.graph.node:
            del node.metadata_props[:]
        return Model.from_proto(proto)

    one = bare(trace(lambda x: op.Exp(op.Relu(x)), FLOAT["N"]))
    other = bare(trace(lambda y: op.Tanh(op.Relu(y)), FLOAT["N"]).rename({"relu": "r", "tanh": "t"}))
    for number, node in enumerate(other.nodes):
        node.ir.name = f"n{number}"
    found = one.profile([floats(4)], runs=1).compare(other.profile([floats(4)], runs=1))
    assert found.by == "operator"
    by_label = {row.label: row for row in found.rows}
    assert by_label["Exp"].after is None
    assert by_label["Tanh"].before is None
    assert by_label["Relu"].ratio is not None
    assert "gone" in str(found)
    assert "new" in str(found)


def test_a_difference_within_the_spread_is_doubtful() -> None:
    steady, wide = Times((1.0, 1.01, 0.99)), Times((1.0, 2.0, 3.0))
    assert not ComparedRow("x", steady, wide).is_clear
    assert ComparedRow("x", steady, Times((2.0, 2.01, 1.99))).is_clear


def test_wrong_words() -> None:
    profile = trace(lambda x: op.Relu(x), FLOAT["N"]).profile([floats(4)], runs=1)
    with pytest.raises(AttributeValueError, match="by line, node, operator or call, not by 'colour'"):
        profile.by("colour")
    with pytest.raises(AttributeTypeError, match="compared with another one, not with an int"):
        profile.compare(3)


def test_the_viewer_is_told_the_times_of_nodes(tmp_path: Path) -> None:
    model, inputs = convolution()
    overlay = model.profile(inputs, runs=1).overlay()
    assert set(overlay.notes) == {"0", "1", "2"}
    assert max(each.share or 0 for each in overlay.notes.values()) == 1.0
    assert "together with" in overlay.notes["0"].text
    assert model.show(tmp_path / "page.html", overlay=overlay) is not None


def test_kernels_on_the_cpu_and_copies_are_told_of_where_another_provider_is_chosen() -> None:
    profile = trace(lambda a: op.Relu(op.Exp(a)), FLOAT["N"]).profile(runs=2)
    assert "on the CPU" not in profile.summary()
    first, second = profile.kernels
    there = replace(first, provider="CUDAExecutionProvider")
    copy = replace(first, operator="MemcpyToHost", provider="CUDAExecutionProvider")
    how = replace(profile.circumstances, providers=("CUDAExecutionProvider",))
    text = replace(profile, kernels=(there, copy, second), circumstances=how).summary()
    assert re.search(r"on the CPU: Relu \(1\), .*% of the time in kernels", text)
    assert re.search(r"copies between devices: MemcpyToHost \(1\), .*% of the time", text)
