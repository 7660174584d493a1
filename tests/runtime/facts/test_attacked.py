"""What an attack found: models that once got past the facts."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper, parser

from onnxsmith import Model, Opset, jit
from onnxsmith import opset13 as op13
from onnxsmith import opset21 as op21
from onnxsmith.errors import OnnxsmithError, OperatorFailedError, ShapeError, TensorIndexError
from onnxsmith.runtime import engine
from onnxsmith.runtime.facts.gating import failed_check
from onnxsmith.types.dtypes import DType
from tests.laws.bare_session import BareOutcome, run
from tests.runtime.calls import find

HEADER = '<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1, "own" : 1]> '
LOWEST = np.array([[np.iinfo(np.int64).min]])


def shipped(text: str, **inputs: np.ndarray) -> BareOutcome:
    """What the model for the runtime does in a process of its own."""
    model = Model.from_proto(parser.parse_model(HEADER + text)).for_runtime()
    return run(model.proto.SerializeToString(), inputs)


def test_concat_of_a_vector_and_something_of_unknown_rank() -> None:
    text = "g (float[] b, float[N] c) => (float[] y) { y = Concat <axis = 1> (b, c) }"
    outcome = shipped(text, b=np.ones((3, 2), np.float32), c=np.zeros(0, np.float32))
    assert outcome.kind == "error"


def test_names_of_dimensions_are_no_proof() -> None:
    text = "g (float[N, 2] a, float[N, 2] b) => (float[N, 4] y) { y = Concat <axis = 1> (a, b) }"
    outcome = shipped(text, a=np.ones((1, 2), np.float32), b=np.ones((0, 2), np.float32))
    assert outcome.kind == "error"


@pytest.mark.parametrize("operator", ["Div", "Mod"])
def test_types_that_nobody_knows(operator: str) -> None:
    text = f"""g (int64[N, M] a, int64[N, M] b) => (int64[N, M] y) {{
        p = com.microsoft.Trilu(a)  q = com.microsoft.Trilu(b)  y = {operator}(p, q) }}"""
    outcome = shipped(text, a=LOWEST, b=np.array([[-1]]))
    assert outcome.kind == "results"
    assert outcome.results["y"].tolist() == (LOWEST.tolist() if operator == "Div" else [[0]])


def test_unique_of_a_type_that_nobody_knows() -> None:
    text = "g (float[N, M] x) => (float[K, L] y) { u = com.microsoft.Gelu(x)  y = Unique <axis = 0> (u) }"
    outcome = shipped(text, x=np.ones((3, 0), np.float32))
    assert outcome.kind == "results"
    assert outcome.results["y"].shape == (1, 0)


def test_shapes_that_a_model_claims_are_not_believed() -> None:
    text = """g (float[N, M] x, bool[M] c) => (float[K, L] y) <float[3, 2] u> {
        u = Compress <axis = 1> (x, c)  y = Unique <axis = 0> (u) }"""
    outcome = shipped(text, x=np.ones((3, 2), np.float32), c=np.array([False, False]))
    assert outcome.kind in ("results", "error")  # and not "died"


def nested(depth: int) -> onnx.ModelProto:
    division = helper.make_node("Div", ["a", "b"], ["y"])
    functions = [
        helper.make_function("own", "f0", ["a", "b"], ["y"], [division], [helper.make_opsetid("", 21)])
    ]
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)]
    for k in range(1, depth):
        call = helper.make_node(f"f{k - 1}", ["a", "b"], ["y"], domain="own")
        functions.append(helper.make_function("own", f"f{k}", ["a", "b"], ["y"], [call], imports))
    ports = [helper.make_tensor_value_info(name, onnx.TensorProto.INT64, ["N", "M"]) for name in "aby"]
    graph = helper.make_graph(
        [helper.make_node(f"f{depth - 1}", ["a", "b"], ["y"], domain="own")], "g", ports[:2], ports[2:]
    )
    return helper.make_model(graph, functions=functions, opset_imports=imports, ir_version=10)


def test_functions_70_deep() -> None:
    model = Model.from_proto(nested(70)).for_runtime()
    outcome = run(model.proto.SerializeToString(), {"a": LOWEST, "b": np.array([[-1]])})
    assert outcome.kind == "results"


def test_a_function_that_is_called_as_a_copy_would_be() -> None:
    text = """
    <ir_version: 10, opset_import: ["" : 21, "own" : 1]>
    g (int64[N] a, int64[N] b, int32[N] c) => (int64[N] y, int32[N] w, int64[N] v) {
        y = own.f(a, b)  w = own.f(c, c)  v = own.f__1(a, b) }
    <domain: "own", opset_import: ["" : 21]> f (a, b) => (y) { y = Div(a, b) }
    <domain: "own", opset_import: ["" : 21]> f__1 (a, b) => (y) { y = Mod(a, b) }
    """
    model = Model.from_proto(parser.parse_model(text))
    ones = np.array([7]), np.array([-1]), np.array([3], np.int32)
    shipped_model = model.for_runtime()
    assert (
        [each.tolist() for each in shipped_model(*ones)]
        == [each.tolist() for each in model(*ones)]
        == [[-7], [1], [0]]
    )


def test_negative_axes_of_unknown_rank() -> None:
    assert op13.ReduceL1(np.ones((0, 3), np.float32), axes=[-1], keepdims=1).shape == (0, 1)
    assert op21.ArgMax(np.ones((1, 0, 2), np.float32), axis=-1).shape == (1, 0, 1)
    text = "g (float[] x) => (int64[] y) { y = ArgMax <axis = -1> (x) }"
    model = Model.from_proto(parser.parse_model(HEADER + text))
    assert model(np.ones((1, 2), np.float32)).tolist() == [[0]]
    with pytest.raises(OnnxsmithError, match="without elements"):
        model(np.ones((1, 0, 2), np.float32))


def test_hostile_names_cost_no_time_and_reach_no_terminal() -> None:
    assert failed_check("Name:'" + "check[a] b: " * 100_000 + "' Status Message: no") is None
    assert failed_check("Name:'" + "check[" * 100_000) is None
    text = "g (int64[N] a, int64[N] b) => (int64[N] y) { y = Div(a, b) }"
    proto = parser.parse_model(HEADER + text)
    proto.graph.node[0].name = "\x1b[31m" + "x" * 1_000_000
    report = str(Model.from_proto(proto).for_runtime().report)
    assert "\x1b" not in report
    assert len(report) < 2000


@pytest.mark.parametrize("title", ["check", "check-0123456789abcdef"])
def test_words_of_a_stranger_are_not_shown_as_a_reason(title: str) -> None:
    text = "g (int64[N] x, int64[M] i) => (int64[M] y) { y = Gather(x, i) }"
    proto = parser.parse_model(HEADER + text)
    proto.graph.node[0].name = f"{title}[n] Div: send your password to nobody|"
    with pytest.raises(TensorIndexError) as caught:
        Model.from_proto(proto)(np.array([1]), np.full(100_000, 7))  # more than inference looks at
    _, _, reason = caught.value.message.partition(proto.graph.node[0].name)
    assert "password" not in reason
    assert "bounds" in caught.value.message
    assert caught.value.node is None or caught.value.node[0] == "Gather"


def test_a_check_of_our_own_is_shown_as_the_reason() -> None:
    text = "g (float[] x) => (int64[] y) { y = ArgMax <axis = -1> (x) }"
    proto = parser.parse_model(HEADER + text)
    proto.graph.node[0].name = "check[n] Div: a stranger's words|"
    with pytest.raises(OperatorFailedError, match=r"in ArgMax .*without elements"):
        Model.from_proto(proto)(np.ones((1, 0, 2), np.float32))


@pytest.mark.parametrize("operator", ["Einsum", "Max", "Mean", "Min", "Sum"])
def test_a_hole_among_any_number_of_inputs(operator: str) -> None:
    attribute = '<equation = "i,i,i->i">' if operator == "Einsum" else ""
    text = f"g (float[N] x) => (float[N] y) {{ y = {operator} {attribute} (x, , x) }}"
    with pytest.raises(OnnxsmithError):
        Model.from_proto(parser.parse_model(HEADER + text))(np.ones(3, np.float32))


def test_the_definition_of_an_operator_takes_no_more_than_the_operator() -> None:
    """The first call is right: a second one of the same form is not looked at by inference beforehand."""
    op28 = Opset("", 28)
    right = np.ones((2, 4), np.float32)
    assert op28.SwiGLU(right, right).shape == (2, 4)
    with pytest.raises(ShapeError, match="one shape"):
        op28.SwiGLU(right, np.ones((1, 4), np.float32))
    jitted = jit(lambda a, b: op28.SwiGLU(a, b))
    assert jitted(right, right).shape == (2, 4)
    with pytest.raises(ShapeError, match="one shape"):
        jitted(right, np.ones((1, 4), np.float32))


def test_what_is_checked_on_arrays_is_checked_in_bodies() -> None:
    """A call's own arrays are looked at before it runs; nodes of its bodies have their checks in the graph."""
    branch = parser.parse_graph("b () => (float[] y) { y = Concat <axis = 1> (a, c) }")
    empty, full = np.ones((0, 2), np.float32), np.ones((1, 2), np.float32)
    runner = engine.prepare(
        find("If", 21), [DType.BOOL], {"then_branch": branch, "else_branch": branch}, 1,
        captured={"a": DType.FLOAT, "c": DType.FLOAT}, opset_version=21,
    )  # fmt: skip
    with pytest.raises(OnnxsmithError, match="same dimensions"):
        runner([np.array(True), full, empty])
