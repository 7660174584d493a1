"""Inference follows computed sizes, except where it would list the elements of a vector without end."""

from __future__ import annotations

import onnx
import pytest
from onnx import shape_inference

from onnxsmith.graphs.rewriting.followed_sizes import can_follow_sizes
from onnxsmith.graphs.rewriting.rewrite import inferred_graph
from tests.passes.agreement import model_of

#: Graphs whose vectors inference may list.
SHORT = {
    "a reshape by a computed shape": """g (float[2, 6] x) => (float[2, 3, 2] y) {
        s = Shape(x)
        first = Slice(s, z, o)
        z = Constant<value = int64[1] {0}>()
        o = Constant<value = int64[1] {1}>()
        rest = Constant<value = int64[2] {3, 2}>()
        t = Concat<axis = 0>(o, rest)
        y = Reshape(x, t)
    }""",
    "a slice to the end": """g (float[4] x) => (float[M] y) {
        a = Constant<value = int64[1] {1}>()
        b = Constant<value = int64[1] {9223372036854775807}>()
        s = Shape(x)
        t = Slice(s, a, b)
        y = Expand(x, t)
    }""",
    "a size that is squared again and again": "g (float[3] x) => (float[M] y) { s0 = Shape(x)"
    + " ".join(f" t{n} = Mul(s{n}, s{n}) s{n + 1} = Add(t{n}, s{n})" for n in range(60))
    + " y = Expand(x, s60) }",
    "a long vector that nothing lists": """g (float[4611686018427387904] x) => (float[M] y) { y = Relu(x) }""",
}
#: Graphs of a vector that is too long.
LONG = {
    "of a declared length": """g (float[4611686018427387904] x) => (float[M] y) { y = Add(x, x) }""",
    "of a constant length": """g () => (float[M] y) {
        s = Constant<value = int64[1] {4611686018427387904}>()
        x = ConstantOfShape(s)
        y = Concat<axis = 0>(x, x)
    }""",
    "of a product": """g () => (float[M] y) {
        s = Constant<value = int64[1] {1099511627776}>()
        t = Mul(s, s)
        x = ConstantOfShape(t)
        y = Concat<axis = 0>(x, x)
    }""",
    "of all elements of a matrix": """g () => (float[M] y) {
        s = Constant<value = int64[2] {1048576, 1048576}>()
        all = Constant<value = int64[1] {-1}>()
        same = Cast<to = 7>(all)
        x = ConstantOfShape(s)
        v = Reshape(x, same)
        y = Cast<to = 11>(v)
    }""",
    "in a branch": """g (bool c) => (float[M] y) {
        s = Constant<value = int64[1] {4611686018427387904}>()
        y = If(c) <
            then_branch = t () => (float[K] u) { x = ConstantOfShape(s) u = Add(x, x) },
            else_branch = e () => (float[L] v) { v = ConstantOfShape(s) }
        >
    }""",
    "by doubling": "g (float[1] x0) => (float[M] x40) {"
    + " ".join(f"x{n + 1} = Concat<axis = 0>(x{n}, x{n})" for n in range(40))
    + "}",
}


def plain(text: str) -> onnx.ModelProto:
    return model_of(text).proto


@pytest.mark.parametrize("name", SHORT)
def test_short_vectors_are_followed(name: str):
    assert can_follow_sizes(shape_inference.infer_shapes(plain(SHORT[name])).graph)


@pytest.mark.parametrize("name", LONG)
def test_long_vectors_are_not(name: str):
    model = plain(LONG[name])
    assert not can_follow_sizes(shape_inference.infer_shapes(model).graph)
    assert len(inferred_graph(model, follows_sizes=True).node) == len(model.graph.node)
