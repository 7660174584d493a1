"""Branches that a tensor decides: where they stand in the source."""

from __future__ import annotations

from onnxsmith import FLOAT, script
from onnxsmith import opset21 as op


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
