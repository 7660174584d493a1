"""The ways in: whatever holds a model gives the same text; a small change of a model is a small change of its text."""

from __future__ import annotations

import ast
import difflib
from pathlib import Path

import onnx
import onnx_ir as ir
import pytest
from onnx import helper

import onnxsmith
from tests.decompile.backend_cases import Case, suite_cases
from tests.decompile.engines import failure
from tests.decompile.fidelity import differences
from tests.decompile.hostile import base
from tests.decompile.judge import complaint_of_checker
from tests.decompile.round_trip import compile_text, proto_of_file


def test_every_door_gives_the_same_text(tmp_path: Path) -> None:
    model = base()
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    text = onnxsmith.decompile(model)
    assert onnxsmith.decompile(path) == text
    assert onnxsmith.decompile(str(path)) == text
    assert onnxsmith.decompile(onnxsmith.load(path)) == text
    assert onnxsmith.decompile(ir.from_proto(model)) == text
    assert onnxsmith.decompile(model) == text


def test_a_model_is_written_to_a_folder(tmp_path: Path) -> None:
    model = base()
    path = Path(onnxsmith.decompile_to(model, tmp_path))
    assert path.is_relative_to(tmp_path)
    assert differences(model, proto_of_file(path)) == []


def test_a_folder_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    path = Path(onnxsmith.decompile_to(base(), folder))
    assert path.is_relative_to(folder)
    assert path.is_file()


def test_one_function_and_one_node() -> None:
    model = base()
    for piece in (model.functions[0], *model.graph.node):
        text = onnxsmith.decompile(piece)
        ast.parse(text)
        # Control flow has statements of its own.
        words = {"If": "if ", "Loop": "for "}
        name = getattr(piece, "op_type", piece.name)
        assert words.get(name, name) in text or name in text


def test_what_is_no_model_and_no_option_is_refused() -> None:
    with pytest.raises((TypeError, ValueError)):
        onnxsmith.decompile(base(), weights="elsewhere")
    with pytest.raises((TypeError, ValueError)):
        onnxsmith.decompile(42)


# ---- repeated structure as functions ----

SMALL_NETWORKS = [case for case in suite_cases("real") if case.name in ("test_squeezenet", "test_resnet50")]


@pytest.mark.parametrize("case", SMALL_NETWORKS, ids=str)
def test_grouped_networks_give_the_same(case: Case) -> None:
    proto = compile_text(onnxsmith.decompile(case.model, group=True))
    assert complaint_of_checker(proto) is None
    assert [each.name for each in proto.graph.output] == [each.name for each in case.model.graph.output]
    assert failure("onnxruntime", proto, case) is None


# ---- texts as material for diffs ----


def chain(ops: list[str]) -> onnx.ModelProto:
    """Operators one after the other, named by themselves."""
    names = ["x", *(f"{op.lower()}_{index}" for index, op in enumerate(ops))]
    nodes = [
        helper.make_node(op, [names[index]], [names[index + 1]], name=f"node_{names[index + 1]}")
        for index, op in enumerate(ops)
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", 1, ["N"])],
        [helper.make_tensor_value_info(names[-1], 1, ["N"])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def changed_lines(one: str, other: str) -> int:
    lines = difflib.unified_diff(one.splitlines(), other.splitlines(), n=0, lineterm="")
    return sum(line[:1] in "+-" and line[:3] not in ("+++", "---") for line in lines)


def test_another_operator_is_another_line() -> None:
    ops = ["Relu", "Neg", "Abs", "Sigmoid", "Tanh", "Exp"] * 5
    model = chain(ops)
    other = chain(ops)
    other.graph.node[12].op_type = "Softplus"
    assert 1 <= changed_lines(onnxsmith.decompile(model), onnxsmith.decompile(other)) <= 4


def test_another_name_is_another_few_lines() -> None:
    model = chain(["Relu", "Neg", "Abs"] * 10)
    other = chain(["Relu", "Neg", "Abs"] * 10)
    other.graph.node[4].output[0] = other.graph.node[5].input[0] = "renamed"
    other.graph.node[4].name = "node_renamed"
    assert 1 <= changed_lines(onnxsmith.decompile(model), onnxsmith.decompile(other)) <= 6
