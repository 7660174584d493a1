"""Constants become initializers of the main graph, each content once, wherever a graph may read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import onnx
import pytest

from onnxsmith import Model
from onnxsmith.passes.cleanup.constants import (
    constant_tensor,
    drop_unread_initializers,
    lift_constants,
    lift_initializers,
    share_constants,
)
from onnxsmith.passes.editor import Editor
from tests.passes.agreement import model_of


def changed(body: str, change: Callable[[Editor], int], **options: Any) -> tuple[int, onnx.GraphProto]:
    """How often a change was made, and the graph after it, which stays valid."""
    held = model_of(body).ir
    count = change(Editor(held, **options))
    proto = Model(held).proto
    onnx.checker.check_model(proto, full_check=True)
    return count, proto.graph


def held(graph: onnx.GraphProto) -> dict[str, Any]:
    return {each.name: onnx.numpy_helper.to_array(each).tolist() for each in graph.initializer}


VALUES = [
    ("value = float[2] {1, 2}", "float[2]", [1.0, 2.0]),
    ("value_int = 3", "int64", 3),
    ("value_ints = [3, 4]", "int64[2]", [3, 4]),
    ("value_float = 0.5", "float", 0.5),
    ("value_floats = [0.5, 2.0]", "float[2]", [0.5, 2.0]),
    ('value_string = "a"', "string", "a"),
    ('value_strings = ["a", "b"]', "string[2]", ["a", "b"]),
]


@pytest.mark.parametrize(("attribute", "kind", "wanted"), VALUES)
def test_a_constant_becomes_an_initializer(attribute: str, kind: str, wanted: Any) -> None:
    body = f"g () => ({kind} y) {{ c = Constant <{attribute}> () y = Identity(c) }}"
    count, graph = changed(body, lift_constants)
    assert (count, [each.op_type for each in graph.node], held(graph)) == (1, ["Identity"], {"c": wanted})


def test_a_constant_that_is_an_output_stays() -> None:
    count, graph = changed("g () => (float[1] y) { y = Constant <value = float[1] {1}> () }", lift_constants)
    assert (count, len(graph.node), held(graph)) == (0, 1, {})


def test_other_operators_give_none() -> None:
    (node,) = model_of("g (int64 x) => (float y) { y = Cast <to = 1> (x) }").ir.graph
    assert constant_tensor(node) is None


BODY = """g (float[1] x, bool p) => (float[1] y) <float[1] w = {1.0}> {
    y = If (p) <
        then_branch = t () => (float[1] r) <float[1] a = {1.0}, float[1] b = {2.0}> {
            c = Constant <value = float[1] {2.0}> () d = Add(a, b) e = Add(d, c) r = Add(e, w)
        },
        else_branch = f () => (float[1] s) <float[1] s = {5.0}, float[1] k = {6.0}> { q = Neg(k) }
    >
}"""


def branches(graph: onnx.GraphProto) -> list[dict[str, Any]]:
    return [held(each.g) for each in graph.node[0].attribute]


def test_initializers_of_branches_are_those_of_the_model() -> None:
    """All but what a branch gives back; those of one content are one."""
    count, graph = changed(BODY, lift_initializers)
    assert count == 3
    assert branches(graph) == [{}, {"s": [5.0]}]
    assert sorted(held(graph).values()) == [[1.0], [1.0], [2.0], [6.0]]


def test_a_constant_of_a_branch_is_an_initializer_of_the_model() -> None:
    count, graph = changed(BODY, lift_constants)
    assert (count, held(graph)) == (1, {"w": [1.0], "c_1": [2.0]})


@pytest.mark.parametrize("change", [lift_constants, lift_initializers])
def test_nothing_moves_where_no_initializer_may_be_added(
    change: Callable[[Editor], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    edit = Editor(model_of(BODY).ir)
    monkeypatch.setattr(edit, "can_add_initializers", False)
    assert change(edit) == 0


SHARED = """g (float[2] x, float[2] given) => (float[2] y, float[2] out) <
    float[2] given = {1.0, 2.0}, float[2] a = {1.0, 2.0}, float[2] b = {1.0, 2.0}, float[2] c = {1.0, 3.0},
    float[1, 2] d = {1.0, 2.0}, double[2] e = {1.0, 2.0}, float[2] out = {1.0, 2.0}, float[2] unread = {9.0, 9.0}
> {
    f = Add(x, a) g1 = Add(f, b) h = Add(g1, c) i = Add(h, given) z = Squeeze(d) j = Add(i, z)
    k = Cast <to = 1> (e) y = Add(j, k)
}"""


def test_initializers_of_one_content_are_one() -> None:
    """But for what a caller gives or gets, other shapes and other element types."""
    count, graph = changed(SHARED, share_constants)
    assert count == 1
    assert set(held(graph)) == {"given", "a", "c", "d", "e", "out", "unread"}
    assert [list(each.input) for each in graph.node[:2]] == [["x", "a"], ["f", "a"]]


def test_what_nothing_reads_goes() -> None:
    count, graph = changed(SHARED, drop_unread_initializers)
    assert (count, "unread" in held(graph), "out" in held(graph)) == (1, False, True)
    text = """g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1.0, 2.0}, float[2] v = {1.0, 2.0}> {
        y = Neg(x) }"""
    count, graph = changed(text, drop_unread_initializers)
    assert (count, set(held(graph))) == (1, {"w"})
