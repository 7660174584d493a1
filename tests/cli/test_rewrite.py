"""`onnxsmith rewrite`."""

from __future__ import annotations

from pathlib import Path

import pytest

import onnxsmith
from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op
from tests.cli.conftest import RULES, Run


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, model: Path) -> Path:
    (tmp_path / "rules.py").write_text(RULES)
    trace(lambda x: op.Relu(op.Relu(op.Neg(op.Neg(x)))), FLOAT["N"]).save(tmp_path / "relu.onnx")
    return tmp_path


def test_all_rules_of_a_file(run: Run) -> None:
    seen = run("rewrite", "relu.onnx", "--rules", "rules.py", "-o", "fewer.onnx")
    assert (seen.status, seen.err) == (0, "")
    assert seen.out.startswith("fewer.onnx: ")
    assert "4 nodes before, 1 after" in seen.out
    assert "1 x relu of relu" in seen.out
    assert [node.op_type for node in onnxsmith.load("fewer.onnx").proto.graph.node] == ["Relu"]


def test_one_rule(run: Run) -> None:
    seen = run("rewrite", "relu.onnx", "--rules", "rules.py:second", "--json")
    assert (seen.json["nodes_before"], seen.json["nodes_after"]) == (4, 2)
    assert seen.json["written"] == ["relu_rewritten.onnx"]
    assert len(seen.json["changes"]) == 1


def test_a_list_called_rules_is_what_counts(run: Run) -> None:
    Path("rules.py").write_text(RULES + "rules = [second]\n")
    assert run("rewrite", "relu.onnx", "--rules", "rules.py", "--json").json["nodes_after"] == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "rules.py has no rules"),
        ("rules = []\n", "rules.py:rules is no Rule, nor a list of them"),
        ("rules = [1]\n", "rules.py:rules is no Rule, nor a list of them"),
    ],
)
def test_files_without_rules(run: Run, text: str, said: str) -> None:
    Path("rules.py").write_text(text)
    seen = run("rewrite", "relu.onnx", "--rules", "rules.py")
    assert seen.status == 2
    assert said in seen.err
    assert not Path("relu_rewritten.onnx").exists()


def test_a_wrong_rule(run: Run) -> None:
    Path("rules.py").write_text(RULES + "Rule(lambda x: x, lambda x: op.Relu(x))\n")
    seen = run("rewrite", "relu.onnx", "--rules", "rules.py")
    assert seen.status == 1
    assert "it would match everything [C609]" in seen.err
    assert "rules.py:6" in seen.err


def test_verification(run: Run) -> None:
    seen = run("rewrite", "relu.onnx", "--rules", "rules.py", "--verify", "--json")
    assert seen.json["verification"].startswith("verified: equal results")
    wrong = "wrong = Rule(lambda x: op.Neg(x), lambda x: op.Abs(x), name='bad')\n"
    Path("wrong.py").write_text(f"from onnxsmith import Rule, opset21 as op\n{wrong}")
    seen = run("rewrite", "relu.onnx", "--rules", "wrong.py", "-o", "wrong.onnx", "--verify")
    assert seen.status == 1
    assert "by the rule 'bad'" in seen.err
    assert not Path("wrong.onnx").exists()
