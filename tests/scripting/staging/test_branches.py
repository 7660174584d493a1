"""Branches that a tensor decides: where they stand in the source."""

from __future__ import annotations

from typing import Any

import pytest

from onnxsmith import FLOAT, script
from onnxsmith import opset21 as op
from tests.scripting import test_snippets as snippets


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


def _module(function: Any) -> str:
    return function.__module__


#: The snippets about branches, which are among those of the whole language, too.
NAMES = [
    name for name, (function, _) in snippets.SNIPPETS.items() if "snippets.branches" in _module(function)
]


@pytest.mark.parametrize("name", NAMES)
def test_snippets(name: str) -> None:
    if name in snippets.RUN:
        snippets.test_runs(name, update_golden=False)
    else:
        snippets.test_refused(name, update_golden=False)
