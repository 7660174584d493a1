"""Branches that a tensor decides: where they stand in the source, and what they cost to stage."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from onnxsmith import FLOAT, script
from onnxsmith import opset21 as op
from tests.scripting.programs import Program
from tests.scripting.test_laws import load


@script
def branching(x: FLOAT["N"]):
    if op.ReduceSum(x, keepdims=0) > 0.0:
        y = op.Softmax(x)
    else:
        y = op.Tanh(x)
    return y


@script
def leaving(x: FLOAT["N"]):
    if op.ReduceSum(x, keepdims=0) > 0.0:
        return op.Softmax(x)
    return op.Tanh(x)


def test_an_if_stands_where_its_statement_does() -> None:
    for each in (branching, leaving):
        (node,) = each.to_model().nodes.where(op_type="If")
        assert node.source is not None
        assert node.source.line == each.definition.line + 1
        assert node.source.column == 4


def test_a_branch_that_does_not_read_an_attribute_has_no_node_for_it() -> None:
    @script(default_opset=op, exact=True, domain="test")
    def chosen(x, k: int = 3):
        number = op.Constant(value_int=k)
        if x > op.Constant(value_float=1.0):
            y = op.Neg(x)
        else:
            y = op.Abs(x)
        return y, number

    (branch,) = (node for node in chosen.to_function_proto().node if node.op_type == "If")
    assert [[node.op_type for node in each.g.node] for each in branch.attribute] == [["Neg"], ["Abs"]]


def _walked(count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many nodes of the syntax are looked at while a script of so many branches is staged."""
    branches = "".join(f"    if x[{k}] > 0:\n        y = y + {k}\n" for k in range(count))
    head = f"from onnxsmith import FLOAT, script\n\n@script\ndef program(x: FLOAT[{count}]):\n    y = x\n"
    seen = 0
    walk = ast.walk

    def counted(node: ast.AST) -> Iterator[ast.AST]:
        nonlocal seen
        for each in walk(node):
            seen += 1
            yield each

    with monkeypatch.context() as patch:
        patch.setattr(ast, "walk", counted)
        load(Program(f"{head}{branches}    return y\n", (), {}))
    return seen


def test_staging_looks_at_the_code_once_and_not_once_for_each_branch(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _walked(40, monkeypatch) < 3 * _walked(20, monkeypatch)
