"""Tagged names: every node and value has one of its own, scopes are kept, and the model means the same."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import parser

from onnxsmith import Model
from onnxsmith.graphs.rewriting.scopes import all_nodes
from onnxsmith.profiling.tagging import tagged
from tests.graphs.rewriting.test_unfolding import doubling
from tests.profiling.programs import PROGRAMS, control_flow


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_model_means_the_same(name: str) -> None:
    model, inputs = PROGRAMS[name]()
    given = model.handed_over()
    before = given.proto.SerializeToString()
    told, _ = tagged(given)
    assert given.proto.SerializeToString() == before
    again = Model.from_proto(told.whole())
    np.testing.assert_array_equal(model.run(inputs), again.run(inputs))


def test_every_node_has_a_name_of_its_own() -> None:
    model, _ = control_flow()
    told, tags = tagged(model.handed_over())
    nodes = [*all_nodes(told.proto.graph.node)]
    for function in told.proto.functions:
        nodes += all_nodes(function.node)
    numbers = [tags.numbers(node.name) for node in nodes]
    assert sorted(numbers) == [[each] for each in range(len(tags.addresses))]
    assert {"0", "1.body.0", "4.then_branch.0", "tests.profiling.programs::activation/0"} <= {*tags.addresses}
    assert all(
        tags.numbers(name) == tags.numbers(node.name) for node in nodes for name in node.output if name
    )


def test_a_name_in_a_body_hides_one_outside() -> None:
    text = """
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[2] x, bool c) => (float[2] y) {
            a = Neg(x)
            y = If(c) <
                then_branch = t () => (float[2] r) { b = Exp(a)  r = Neg(b) },
                else_branch = e () => (float[2] r) { r = Abs(a) }
            >
        }
    """
    model = Model.from_proto(parser.parse_model(text))
    told, tags = tagged(model.handed_over())
    branch = told.proto.graph.node[1]
    assert list(tags.addresses) == ["0", "1", "1.then_branch.0", "1.then_branch.1", "1.else_branch.0"]
    bodies = {each.name: each.g for each in branch.attribute}
    assert bodies["then_branch"].node[0].input[0] == told.proto.graph.node[0].output[0]
    assert bodies["then_branch"].output[0].name != bodies["else_branch"].output[0].name
    onnx.checker.check_model(told.proto)


def test_names_of_a_stranger_hold_no_tag() -> None:
    model, _ = control_flow()
    tags = tagged(model.handed_over())[1]
    assert tags.numbers("n00000000:3:") == []
    assert tagged(model.handed_over())[1].word != tags.word


def test_functions_that_call_others_often_are_shared() -> None:
    given = Model.from_proto(doubling(12)).handed_over()
    told, tags = tagged(given)
    assert len(told.proto.functions) <= 1_000 + 12
    assert len(tags.addresses) < 2_100  # and not 4,095 calls
    result = Model.from_proto(told.whole())(np.ones(2, np.float32))
    np.testing.assert_array_equal(result, np.full(2, np.inf, np.float32))
