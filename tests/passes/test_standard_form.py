"""Names that hide others, and what is said of them in the model that was given."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest

from onnxsmith import Model, Rule, rewrite
from onnxsmith.passes.standard_form import bodies_of, reveal_hidden_names

HIDING = """<ir_version: 8, opset_import: ["" : 18]>
    g (float[2] x) => (float[2] y) <float[1] w = {1.0}, int64 n = {2}, bool c = {1}> {
        a = Add (x, w)
        y = Loop (n, c, a) <body = b (int64 i, bool c, float[2] x) => (bool d, float[2] z) <float[1] w = {3.0}> {
            d = Identity (c)
            z = Mul (x, w)
        }>
    }"""

PASSES: dict[str, Callable[[Model], Model]] = {
    "optimize": lambda model: model.optimize(),
    "optimize in its opset": lambda model: model.optimize(opset="keep", unroll=2),
    "rewrite": lambda model: rewrite(model, Rule(lambda x, y: x * y, lambda x, y: y * x, name="turned")),
    "convert_version": lambda model: model.convert_version(13),
    "rename": lambda model: model.rename({"w": "v"}),
    "bind_inputs": lambda model: model.bind_inputs(x=np.float32([1, 2])),
}


@pytest.mark.parametrize("change", PASSES.values(), ids=PASSES)
def test_the_given_proto_stays_as_it_is_where_names_hide_others(change: Callable[[Model], Model]) -> None:
    proto = onnx.parser.parse_model(HIDING)
    before = proto.SerializeToString(deterministic=True)
    model = Model.from_proto(proto)
    own = model.proto.SerializeToString(deterministic=True)
    changed = change(model)
    assert proto.SerializeToString(deterministic=True) == before
    assert model.proto.SerializeToString(deterministic=True) == own
    given = [np.float32([1, 2])] if changed.inputs else []
    np.testing.assert_array_equal(changed(*given), [18, 27])


NESTED = """<ir_version: 8, opset_import: ["" : 18]>
    g (float[2] x, bool p) => (float[2] y) <float[1] w = {1.0}> {
        a = Add (x, w)
        y = If (p) <
            then_branch = t () => (float[2] r) <float[1] w = {2.0}> {
                b = Add (a, w)
                r = If (p) <
                    then_branch = u () => (float[2] s) <float[1] w = {3.0}> { b = Mul (x, w) s = Neg (b) },
                    else_branch = v () => (float[2] s) { a = Abs (b) s = Neg (a) }
                >
            },
            else_branch = e () => (float[2] r) { b = Sub (x, a) r = Neg (b) }
        >
    }"""


def test_no_name_hides_one_around_it_at_any_depth() -> None:
    model = Model.from_proto(onnx.parser.parse_model(NESTED))
    numbers = itertools.count()
    graph = model.ir.graph
    reveal_hidden_names(graph, lambda name: f"{name}_{next(numbers)}")
    named: list[set[str]] = []

    def walk(graph: Any, around: set[str]) -> None:
        own = {*(each.name for each in graph.inputs), *graph.initializers}
        own |= {each.name for node in graph for each in node.outputs}
        assert not own & around
        named.append(own)
        for node in graph:
            for inner in bodies_of(node):
                walk(inner, own | around)

    walk(graph, set())
    assert named[0] == {"x", "p", "w", "a", "y"}
    assert {"b", "r"} <= named[-1]  # names beside each other stay
    assert [len(each) for each in named] == [5, 3, 3, 2, 2]


@pytest.mark.parametrize(("ir_version", "opset"), [(6, 11), (8, 18)])
def test_a_model_without_the_standard_domain_gets_it_where_it_is_needed(ir_version: int, opset: int) -> None:
    node = "ai.onnx.ml.Scaler<offset = [1.0], scale = [2.0]>"
    text = f"""<ir_version: {ir_version}, opset_import: ["ai.onnx.ml" : 2]>
        g (float[1, 2] x) => (float[1, 2] y, float[1, 2] z) <float[1, 2] w = {{1.0, 2.0}}> {{
            y = {node}(x) z = {node}(w)
        }}"""
    proto = onnx.parser.parse_model(text)
    small = Model.from_proto(proto).optimize()
    onnx.checker.check_model(small.proto, full_check=True)
    # The second output is a copy of a constant now.
    assert small.opset_imports == {"ai.onnx.ml": 2, "": opset}
    assert small.proto.ir_version == ir_version
    del proto.graph.node[1], proto.graph.output[1]
    assert Model.from_proto(proto).optimize().opset_imports == {"ai.onnx.ml": 2}
