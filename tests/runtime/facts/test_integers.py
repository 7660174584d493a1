"""Integer division: what is put in for a divisor is put in once."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, parser

from onnxsmith import Model
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.adapting import adapt
from onnxsmith.runtime.facts import integers
from tests.runtime.facts.probing import wrong_probes

HEADER = '<ir_version: 10, opset_import: ["" : 21]> '
LOWEST = np.iinfo(np.int64).min


def chain(operator: str, length: int) -> ModelProto:
    """`a` divided by `b` again and again."""
    names = ["a", *(f"v{k}" for k in range(length))]
    nodes = [helper.make_node(operator, [names[k], "b"], [names[k + 1]]) for k in range(length)]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["N"]) for name in "ab"]
    output = helper.make_tensor_value_info(names[-1], TensorProto.INT64, ["N"])
    graph = helper.make_graph(nodes, "g", inputs, [output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.mark.parametrize(("operator", "for_each"), [("Div", 2), ("Mod", 1)])
def test_another_division_by_the_same_divisor_adds_only_itself(operator: str, for_each: int) -> None:
    version = onnxruntime_api.version()
    short, long = (len(adapt(chain(operator, length), version).model.graph.node) for length in (3, 103))
    assert long - short == 100 * for_each


def test_divisions_by_the_same_divisor_agree_with_single_ones() -> None:
    text = """
    g (int64[N] a, int64[N] b, int64[N] c, bool yes) => (int64[N] p, int64[N] q, int64[N] r, int64[N] s) {
        p = Div(a, b)
        q = Mod(a, b)
        r = Div(a, c)
        s = If (yes) <
            then_branch = yes_branch () => (int64[N] t) { t = Div(a, b) },
            else_branch = no_branch () => (int64[N] u) { u = Mod(a, b) }
        >
    }
    """
    model = Model.from_proto(parser.parse_model(HEADER + text))
    a, b, c = np.array([LOWEST, 7, -7]), np.array([-1, -1, 2]), np.array([2, -1, -1])
    for yes in (True, False):
        p, q, r, s = model(a, b, c, np.array(yes))
        assert p.tolist() == [LOWEST, -7, -3]
        assert q.tolist() == [0, 0, 1]
        assert r.tolist() == [LOWEST // 2, -7, 7]
        assert s.tolist() == (p if yes else q).tolist()


def test_a_divisor_of_a_branch_is_not_that_of_another() -> None:
    text = """
    g (int64[N] a, bool yes) => (int64[N] y) {
        y = If (yes) <
            then_branch = yes_branch () => (int64[N] t) { d = Neg(a) t = Div(a, d) },
            else_branch = no_branch () => (int64[N] u) { e = Abs(a) u = Div(a, e) }
        >
    }
    """
    model = Model.from_proto(parser.parse_model(HEADER + text))
    assert model(np.array([-1, 3]), np.array(True)).tolist() == [-1, -1]
    assert model(np.array([-1, 3]), np.array(False)).tolist() == [-1, 1]


def test_adapted_models_of_probes_are_right() -> None:
    assert wrong_probes(integers) == []
