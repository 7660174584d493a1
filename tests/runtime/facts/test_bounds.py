"""How large integers can be, by what makes them: bits, the range of INT32, and dimensions of one tensor."""

from __future__ import annotations

import pytest
from onnx import parser, shape_inference

from onnxsmith.graphs.rewriting.site import Scope
from onnxsmith.runtime.facts.bounds import SIZE_BITS, are_dimensions, are_int32, bits

WEIGHTS = (
    "int64[2] small = {3, -9}, int64[2] large = {1, 4294967296}, int64[1] most = {2147483647}, "
    "int64[1] least = {-2147483648}, int64[1] above = {2147483648}, int64[1] below = {-2147483649}, "
    "int64[0] none = {}, float[1] real = {1.0}, bool[1] truth = {1}, int64[1] first = {0}, int64[1] one = {1}"
)
INPUTS = "float[N, M] x, int64[K] i, int32[K] j, int8[K] k, uint32[K] u, bool[K] b, float[N, M] z"


def scope_of(nodes: str) -> Scope:
    text = f'<ir_version: 10, opset_import: ["": 21]> g ({INPUTS}) => (int64[Q] unread) <{WEIGHTS}> {{ {nodes} }}'
    graph = parser.parse_model(text).graph
    inferred = parser.parse_model(text)
    scope = Scope(lambda: shape_inference.infer_shapes(inferred).graph, None, graph.node)
    for each in graph.initializer:
        scope.hold(each.name, each)
    return scope


#: Nodes that make `y`, the bits of its elements, whether they are in the range of INT32, and whether dimensions.
MADE = [
    ("y = Identity(small)", 4, True, False),
    ("y = Identity(large)", 33, False, False),
    ("y = Identity(most)", 31, True, False),
    ("y = Identity(least)", 32, True, False),
    ("y = Identity(above)", 32, False, False),
    ("y = Identity(below)", 32, False, False),
    ("y = Identity(none)", 0, True, False),
    ("y = Identity(truth)", 1, True, False),
    ("y = Identity(real)", None, False, False),
    ("y = Identity(x)", None, False, False),
    ("y = Identity(i)", None, False, False),
    ("y = Identity(j)", 32, True, False),
    ("y = Identity(k)", 8, True, False),
    ("y = Identity(u)", 32, False, False),
    ("y = Identity(b)", 8, True, False),
    ("y = Shape(x)", SIZE_BITS, True, True),
    ("y = Size(x)", SIZE_BITS, True, False),
    ("y = NonZero(x)", SIZE_BITS, True, False),
    ("y = ArgMax(x)", SIZE_BITS, True, False),
    ("s = Shape(x) y = Gather(s, first)", SIZE_BITS, True, False),
    ("s = Shape(x) y = Slice(s, first, one)", SIZE_BITS, True, True),
    ("s = Shape(x) t = Slice(s, first, one) y = Squeeze(t, first)", SIZE_BITS, True, True),
    ("s = Shape(x) y = Cast <to = 6> (s)", 32, True, True),
    ("y = Cast <to = 7> (j)", 32, True, False),
    ("y = Cast <to = 7> (u)", 32, False, False),
    ("y = Cast <to = 7> (x)", None, False, False),
    ("y = Neg(small)", 4, False, False),
    ("y = Abs(j)", 32, True, False),
    ("c = Cast <to = 7> (j) y = Abs(c)", 32, False, False),
    ("s = Shape(x) y = Concat <axis = 0> (s, small)", SIZE_BITS, True, False),
    ("s = Shape(x) y = Concat <axis = 0> (s, i)", None, False, False),
    ("s = Shape(x) y = Concat <axis = 0> (i, s)", None, False, False),
    ("y = Concat <axis = 0> (small, large)", 33, False, False),
    ("c = Cast <to = 7> (j) y = Max(c, small)", 32, True, False),
    ("y = Where(b, small, most)", 31, True, False),
    ("y = Where(b, small, i)", None, False, False),
    ("c = Cast <to = 7> (k) y = Where(b, c, small)", 8, True, False),
    ("y = Mul(small, small)", None, False, False),
    ("y = Mul(k, k)", 8, True, False),
    ("s = Shape(x) y = Mul(s, s)", None, False, False),
]


@pytest.mark.parametrize(("nodes", "count", "is_int32", "is_of_dimensions"), MADE)
def test_what_makes_them_says_how_large_they_are(
    nodes: str, count: int | None, is_int32: bool, is_of_dimensions: bool
) -> None:
    scope = scope_of(nodes)
    assert (bits(scope, "y"), are_int32(scope, "y"), are_dimensions(scope, "y")) == (
        count,
        is_int32,
        is_of_dimensions,
    )


@pytest.mark.parametrize(("length", "is_followed"), [(14, True), (17, False)])
def test_values_are_followed_only_so_far(length: int, is_followed: bool) -> None:
    nodes = "v0 = Shape(x) " + " ".join(f"v{k + 1} = Identity(v{k})" for k in range(length))
    scope = scope_of(f"{nodes} y = Identity(v{length})")
    assert bits(scope, "y") == (SIZE_BITS if is_followed else None)
    assert are_int32(scope, "y") == is_followed
    assert are_dimensions(scope, "y") == is_followed
