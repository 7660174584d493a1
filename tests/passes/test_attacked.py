"""Models on which a rule once fired wrongly: each gives on ONNX Runtime alone what it gave before it was optimised."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import numpy_helper

from onnxsmith import Model
from onnxsmith.passes import optimize
from tests.passes.agreement import model_of, operators

Arrays = dict[str, NDArray[np.generic]]


def ones(*shape: int) -> NDArray[np.float32]:
    return np.ones(shape, np.float32)


def run(proto: onnx.ModelProto, inputs: Arrays) -> list[NDArray[np.generic]]:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(proto.SerializeToString(), options).run(None, inputs)


def check(opset: int, text: str, inputs: Arrays, weights: Arrays | None = None, *, ir: int = 10) -> None:
    """Results and validity before and after."""
    imports = f'"" : {opset}, "ai.onnx.ml" : 2'
    proto = onnx.parser.parse_model(f"<ir_version: {ir}, opset_import: [{imports}]> {text}")
    proto.graph.initializer.extend(
        numpy_helper.from_array(each, name) for name, each in (weights or {}).items()
    )
    small = optimize(Model.from_proto(proto), opset="keep").proto
    onnx.checker.check_model(small, full_check=True)
    for wanted, found in zip(run(proto, inputs), run(small, inputs), strict=True):
        assert wanted.shape == found.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


SCORES = "{ kt=Transpose<perm=[0,1,3,2]>(k) s=MatMul(q,kt) t=Mul(s,c) p=Softmax<axis=-1>(t) y=MatMul(p,v) }"
MASKED = SCORES.replace("(t) y", "(u) y").replace("p=", "u=Add(t,m) p=")


def test_heads_that_are_joined_to_another_shape() -> None:
    text = """g (float[2,3,32] q, float[2,5,32] k, float[2,5,32] v) => (float[3,2,32] y)
        <float c={0.3}, int64[4] h={0,0,4,8}, int64[3] o={3,2,32}>
        { a=Reshape(q,h) b=Reshape(k,h) d=Reshape(v,h) q2=Transpose<perm=[0,2,1,3]>(a)
          k2=Transpose<perm=[0,2,3,1]>(b) v2=Transpose<perm=[0,2,1,3]>(d) s=MatMul(q2,k2) t=Mul(s,c)
          p=Softmax<axis=-1>(t) e=MatMul(p,v2) f=Transpose<perm=[0,2,1,3]>(e) y=Reshape(f,o) }"""
    check(23, text, {"q": ones(2, 3, 32), "k": ones(2, 5, 32), "v": ones(2, 5, 32)})


@pytest.mark.parametrize("mask", [(2, 1, 1, 5), (1, 1, 1, 5), (1, 5), (2, 4, 1, 5)])
def test_a_mask_that_is_the_same_for_all_queries(mask: tuple[int, ...]) -> None:
    shape = ",".join(map(str, mask))
    text = f"""g (float[2,4,3,8] q, float[2,4,5,8] k, float[2,4,5,8] v, float[{shape}] m) => (float[2,4,3,8] y)
        <float c={{0.3}}>"""
    inputs: Arrays = {"q": ones(2, 4, 3, 8), "k": ones(2, 4, 5, 8), "v": ones(2, 4, 5, 8), "m": ones(*mask)}
    check(23, text + MASKED, inputs)


def test_batches_that_are_repeated() -> None:
    text = "g (float[2,4,3,8] q, float[1,4,5,8] k, float[1,4,5,8] v) => (float[2,4,3,8] y) <float c={0.3}>"
    check(23, text + SCORES, {"q": ones(2, 4, 3, 8), "k": ones(1, 4, 5, 8), "v": ones(1, 4, 5, 8)})


def test_heads_that_may_be_none() -> None:
    text = "g (float[B,H,S,8] q, float[B,H,T,8] k, float[B,H,T,8] v) => (float[B,H,S,8] y) <float c={0.3}>"
    check(23, text + SCORES, {"q": ones(2, 0, 3, 8), "k": ones(2, 0, 5, 8), "v": ones(2, 0, 5, 8)})


GELU = "{ a=Div(x,r) e=Erf(a) b=Add(e,o) p=Mul(x,b) y=Mul(p,h) }"


def test_a_constant_that_widens() -> None:
    text = "g (float[N] x) => (float[1,1,N] y) <float[1,1,1] h={0.5}, float r={1.41421356}, float o={1}>"
    check(20, text + GELU, {"x": ones(3)})


def test_a_constant_that_is_not_quite_the_one() -> None:
    text = "g (float[N] x) => (float[N] y) <float h={0.5004}, float r={1.41421356}, float o={1}>"
    check(20, text + GELU, {"x": 3 * ones(1)})


def test_a_constant_that_is_exact_to_the_digits_of_a_shorter_type() -> None:
    """The root of 2 in float32 is another number in double precision: the error would be that of float32."""
    body = (
        "r = Constant<value = double {1.4142135}>() h = Constant<value = double {0.5}>()"
        "o = Constant<value = double {1.0}>()"
        "p = Div(x, r) e = Erf(p) g = Add(e, o) q = Mul(x, h) y = Mul(q, g)"
    )
    model = model_of(f"g (double[N] x) => (double[N] y) {{ {body} }}")
    assert "Gelu" not in operators(optimize(model))
    exact = model_of(
        f"g (double[N] x) => (double[N] y) {{ {body} }}".replace("1.4142135", "1.4142135623730951")
    )
    assert operators(optimize(exact)) == ["Gelu"]


def test_an_exponent_that_is_not_quite_three() -> None:
    text = """g (float[N] x) => (float[N] y)
        <float h={0.5}, float c={0.044715}, float s={0.79788456}, float o={1}, float e={3.5}>
        { a=Pow(x,e) b=Mul(a,c) d=Add(x,b) f=Mul(d,s) t=Tanh(f) u=Add(t,o) w=Mul(x,u) y=Mul(w,h) }"""
    check(20, text, {"x": 2 * ones(1)})


@pytest.mark.parametrize("opset", [8, 13])
def test_clip_without_bounds_makes_infinity_finite(opset: int) -> None:
    check(
        opset,
        "g (float[N] x) => (float[N] y) { y=Clip(x) }",
        {"x": np.array([np.inf, -np.inf], np.float32)},
        ir=8,
    )


def test_attributes_that_differ_by_the_sign_of_zero() -> None:
    text = """g (int64[1] x) => (float[1] y, float[1] w)
        { a=ai.onnx.ml.LabelEncoder<keys_int64s=[1],values_floats=[0.0]>(x)
          b=ai.onnx.ml.LabelEncoder<keys_int64s=[1],values_floats=[-0.0]>(x) y=Reciprocal(a) w=Reciprocal(b) }"""
    check(13, text, {"x": np.array([1])})


def test_a_table_that_is_repeated_along_the_sequence() -> None:
    text = """g (float[2,4,3,8] x, float[2,1,4] w) => (float[2,4,3,8] y)
        <int64[1] i={1}, int64[1] o={0}, int64[1] h={4}, int64[1] e={8}, int64[1] ax={3}>
        { f=Concat<axis=-1>(w,w) c=Cos(f) s=Sin(f) c2=Unsqueeze(c,i) s2=Unsqueeze(s,i) a=Slice(x,o,h,ax)
          b=Slice(x,h,e,ax) n=Neg(b) t=Concat<axis=-1>(n,a) u=Mul(x,c2) v=Mul(t,s2) y=Add(u,v) }"""
    check(23, text, {"x": ones(2, 4, 3, 8), "w": ones(2, 1, 4)})


@pytest.mark.parametrize("size", [1, 4])
def test_batch_normalisation_of_each_element(size: int) -> None:
    text = f"g (float[1,2,{size},{size}] x) => (float[1,3,{size},{size}] y)"
    body = "{ c=Conv(x,w) y=BatchNormalization<spatial=0>(c,s,s,s,s) }"
    model = f'<ir_version: 8, opset_import: ["" : 8]> {text} {body}'
    proto = onnx.parser.parse_model(model)
    weights: Arrays = {"w": ones(3, 2, 1, 1), "s": ones(3, size, size)}
    proto.graph.initializer.extend(numpy_helper.from_array(each, name) for name, each in weights.items())
    small = optimize(Model.from_proto(proto), opset="keep").proto
    assert [node.op_type for node in small.graph.node] == ["Conv", "BatchNormalization"]


@pytest.mark.parametrize("operator", ["Add", "Mul"])
def test_sizes_that_double_at_every_step(operator: str) -> None:
    steps = " ".join(f"s{k + 1}={operator}(s{k},s{k})" for k in range(60))
    text = (
        f'<ir_version: 9, opset_import: ["" : 18]> g (float[N] x) => (int64[1] s60) {{ s0=Shape(x) {steps} }}'
    )
    optimize(Model.from_proto(onnx.parser.parse_model(text)))


def test_a_result_that_many_small_inputs_make_large() -> None:
    count = 40
    shapes = [",".join("2" if place == each else "1" for place in range(count)) for each in range(count)]
    weights = ", ".join(f"float[{shape}] a{k}={{1,1}}" for k, shape in enumerate(shapes))
    names = ",".join(f"a{k}" for k in range(count))
    body = f"{{ m=Max({names}) r=ReduceMax<keepdims=0>(m) y=Add(x,r) }}"
    text = f'<ir_version: 9, opset_import: ["" : 18]> g (float[N] x) => (float[N] y) <{weights}> {body}'
    small = optimize(Model.from_proto(onnx.parser.parse_model(text)))
    assert small.report.nodes_after == 3


def test_an_attribute_of_another_type() -> None:
    text = '<ir_version: 9, opset_import: ["" : 18]> g (float[2,3] x) => (float[3,2] y) { y=Transpose<perm="ab">(x) }'
    optimize(Model.from_proto(onnx.parser.parse_model(text)))


@pytest.mark.parametrize(
    ("nodes", "result", "default", "given"),
    [
        ("y = Reshape(t, s)", "float[A, B]", [2, 6], [4, 3]),
        ("y = Expand(t, s)", "float[A, B]", [2, 12], [3, 12]),
        ("u = Slice(t, z, s) y = Shape(u)", "int64[1]", [3], [5]),
        ("u = Tile(t, s) y = Size(u)", "int64", [2], [3]),
        ("u, v = TopK(t, s) y = Shape(u)", "int64[1]", [2], [3]),
        ("u = Reshape(t, s) y = Softmax<axis = 0>(u)", "float[A, B]", [2, 6], [4, 3]),
    ],
)
def test_the_default_of_an_input_is_no_constant(
    nodes: str, result: str, default: list[int], given: list[int]
) -> None:
    """onnx's inference follows it as one."""
    ports = f"(float[12] x, int64[{len(default)}] s) => ({result} y)"
    inputs: Arrays = {"x": np.arange(12, dtype=np.float32), "s": np.array(given)}
    check(
        17, f"g {ports} <int64[1] z = {{0}}> {{ t = Neg(x) {nodes} }}", inputs, {"s": np.array(default)}, ir=8
    )
