"""Whole models run, on what is there, and say where they fail."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest

from onnxsmith import opset16
from onnxsmith.errors import InvalidModelError, NotRunnableError, OperatorFailedError
from onnxsmith.graphs.handover import SessionModel
from onnxsmith.runtime import load_session, using
from onnxsmith.source import Span
from tests.runtime.calls import floats


def model(text: str, opset: int = 16, ir: int = 8, more: str = "") -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: {ir}, opset_import: ["" : {opset}{more}]> {text}')


ADD = "g (float[N] x, float[M] z) => (float[K] y) { [total] y = Add(x, z) }"


@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
@pytest.mark.parametrize("form", ["apart", "proto", "bytes"])
def test_forms(form, runtime) -> None:
    proto = model(ADD)
    given = {"apart": SessionModel(proto), "proto": proto, "bytes": proto.SerializeToString()}[form]
    with using(runtime=runtime):
        session = load_session(given)
    assert (session.source, session.input_names, session.output_names) == (runtime, ("x", "z"), ("y",))
    assert session([floats(1, 2), floats(3, 4)])[0].tolist() == [4, 6]


@pytest.mark.parametrize(("opset", "ir"), [(28, 8), (16, 14), (28, 14), (99, 8)])
def test_newer_versions_than_the_runtime_knows(opset, ir) -> None:
    session = load_session(model(ADD, opset, ir)) if opset != 99 else load_session(model(ADD, 28, ir))
    assert session.source == "onnxruntime"
    assert session([floats(1), floats(2)])[0].tolist() == [3]


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ("y = Cast <to = 1> (x)", [1, 2]),  # Cast-28 says what Cast-25 says
        ("a = SwiGLU(x, x) y = Div(a, a)", [1, 1]),  # SwiGLU-28 has a function body
        (
            "c = Constant <value: tensor = bool {1}> ()"
            " y = If (c) <then_branch = t () => (float[N] a) { a = Cast <to = 1> (x) },"
            " else_branch = e () => (float[N] b) { b = Identity(x) }>",
            [1, 2],
        ),
    ],
)
def test_other_definitions_that_mean_the_same(nodes, expected) -> None:
    session = load_session(model(f"g (float[N] x) => (float[N] y) {{ {nodes} }}", 28, 14))
    assert session.source == "onnxruntime"
    assert session([floats(1, 2)])[0].tolist() == expected


def test_operators_newer_than_the_runtime_knows() -> None:
    session = load_session(model("g (float[N] x) => (float[N] y) { y = Mod(x, x) }", 28))
    assert session.source == "reference"
    assert session([floats(1, 2)])[0].tolist() == [0, 0]


def test_values_of_every_kind() -> None:
    session = load_session(
        model(
            "g (bfloat16[N] b, string[N] s, seq(float[N]) q) => (bfloat16[N] b2, string[N] s2, int64 n)"
            "{ b2 = Identity(b) s2 = Identity(s) n = SequenceLength(q) }"
        )
    )
    bfloat, text, count = session(
        [np.ones(2, ml_dtypes.bfloat16), np.array(["a", "é"]), [floats(1), floats(2)]]
    )
    assert bfloat.dtype == ml_dtypes.bfloat16
    assert text.tolist() == ["a", "é"]
    assert count.tolist() == 2


def test_failures_name_the_node_or_its_place() -> None:
    inputs = [floats(1, 2), floats(1, 2, 3)]
    what = "the model cannot run on (x: float32 of shape (2,), z: float32 of shape (3,))"
    why = "Attempting to broadcast an axis by a dimension other than 1. 2 by 3"
    with pytest.raises(OperatorFailedError) as caught:
        load_session(model(ADD))(inputs)
    assert caught.value.message == f"{what} in Add 'total': {why}"
    place = Span("model.py", 3, 4, 3, 9, "f")
    with pytest.raises(OperatorFailedError) as caught:
        load_session(model(ADD), find_node={"total": place}.get)(inputs)
    assert caught.value.message == f"{what}: {why}"
    assert caught.value.span == place


def test_what_nothing_can_run() -> None:
    with pytest.raises(NotRunnableError) as caught:
        load_session(model("g (float[N] x) => (float[N] y) { y = no.such.Frob(x) }", more=', "no.such" : 1'))
    assert "no runtime here knows the operator no.such:Frob" in str(caught.value)


@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
def test_scan_results_with_ranks_that_only_values_tell(runtime) -> None:
    """A limit of ONNX Runtime's, and no mistake: eagerly and in a model the reference evaluator is asked."""
    body = "b (float e) => (float[] z) { s = Constant <value_ints = [1, 1]> () r = Identity(s) z = Reshape(e, r) }"
    text = f"g (float[N] x) => (float[] y) {{ y = Scan <num_scan_inputs = 1, body = {body}> (x) }}"
    with using(runtime=runtime):
        (result,) = load_session(model(text))([floats(1, 2)])
        eager = opset16.Scan(floats(1, 2), body=onnx.parser.parse_graph(body), num_scan_inputs=1)
    assert result.tolist() == eager.tolist() == [[[1]], [[2]]]


@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
def test_scan_results_shaped_by_an_input(runtime) -> None:
    body = "b (float e) => (float[] z) { z = Reshape(e, shape) }"
    text = f"g (float[N] x, int64[K] shape) => (float[] y) {{ y = Scan <num_scan_inputs = 1, body = {body}> (x) }}"
    with using(runtime=runtime):
        (result,) = load_session(model(text))([floats(1, 2), np.array([1, 1])])
    assert result.tolist() == [[[1]], [[2]]]


IN_A_FUNCTION = (
    # A definition that hangs on types, in a type without kernels.
    (
        "g (bfloat16[N, 4, M] x, bfloat16[4] s) => (bfloat16[N, 4, M] y) {{ {} }}",
        "y = GroupNormalization <num_groups: int = 2> (x, s, s)",
        21,
        [np.arange(24).reshape(3, 4, 2).astype(ml_dtypes.bfloat16), np.ones(4, ml_dtypes.bfloat16)],
    ),
    # A definition that runtimes no longer have.
    (
        "g (float[T, B, I] x, float[1, H, I] s) => (float[1, B, H] y) {{ t = Identity(s) {} }}",
        "u, y = RNN <hidden_size: int = 2> (x, t, t)",
        1,
        [np.ones((1, 3, 2), np.float32), np.ones((1, 2, 2), np.float32)],
    ),
)


@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
@pytest.mark.parametrize(("graph", "node", "opset", "inputs"), IN_A_FUNCTION, ids=["types", "old"])
def test_what_runs_runs_in_a_function(graph, node, opset, inputs, runtime) -> None:
    function = f'<opset_import: ["" : {opset}], domain: "own"> f (x, s) => (y) {{ t = Identity(s) {node} }}'
    with using(runtime=runtime):
        plain = load_session(model(graph.format(node), opset))
        called = load_session(model(graph.format("y = own.f(x, s)") + function, opset, more=', "own" : 1'))
    assert np.array_equal(plain(inputs)[0], called(inputs)[0])


CYCLES = {
    "two nodes": "g (float[N] x) => (float[N] y) { a = Add(x, b) b = Add(x, a) y = Neg(b) }",
    "one node": "g (float[N] x) => (float[N] y) { b = Add(x, b) y = Neg(b) }",
    "in a branch": "g (float[N] x) => (float[N] y) { t = Constant <value = bool {1}> () y = If (t)"
    " <then_branch = a () => (float[N] z) { a = Add(x, b) b = Add(x, a) z = Neg(b) },"
    " else_branch = e () => (float[N] w) { w = Neg(x) }> }",
}


@pytest.mark.parametrize("name", CYCLES)
def test_nodes_that_wait_for_each_other(name: str) -> None:
    with pytest.raises(InvalidModelError, match="nothing makes 'b' before a node reads it"):
        load_session(model(CYCLES[name]))([floats(1)])


@pytest.mark.parametrize("indices", [[0, 2], [[0], [2]]], ids=["positions", "coordinates"])
@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
def test_sparse_constants(runtime: str, indices: list[object]) -> None:
    proto = model("g (float[N] x) => (float[N] y) { c = Constant <value_float = 0.0> () y = Add(x, c) }")
    values = onnx.numpy_helper.from_array(floats(1, 2))
    places = onnx.numpy_helper.from_array(np.array(indices))
    sparse = onnx.helper.make_sparse_tensor(values, places, [3])
    proto.graph.node[0].attribute[0].CopyFrom(onnx.helper.make_attribute("sparse_value", sparse))
    with using(runtime=runtime):
        assert load_session(proto)([floats(1, 1, 1)])[0].tolist() == [2, 1, 3]
