"""Functions in the place of their calls: the same values, names that nothing else has, nothing that grows for ever."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
from onnx import parser

from onnxsmith.graphs.rewriting.dissolving import without_functions
from onnxsmith.graphs.rewriting.scopes import all_nodes

X = np.array([[-1.0, 2.0], [3.0, -4.0]], np.float32)


def run(model: onnx.ModelProto, *inputs: np.ndarray) -> list[np.ndarray]:
    names = [each.name for each in model.graph.input]
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(None, dict(zip(names, inputs, strict=True)))


def dissolved(text: str, *inputs: np.ndarray) -> onnx.ModelProto:
    """The model without functions, which gives what it gave."""
    model = parser.parse_model(text)
    before = model.SerializeToString()
    flat = without_functions(model)
    assert flat is not None
    assert not flat.functions
    assert [entry.domain for entry in flat.opset_import] == [""]
    onnx.checker.check_model(flat)
    assert model.SerializeToString() == before
    for one, two in zip(run(flat, *inputs), run(model, *inputs), strict=True):
        assert np.array_equal(one, two)
    return flat


def test_calls_of_calls_in_bodies_with_attributes() -> None:
    flat = dissolved(
        """<ir_version: 8, opset_import: ["" : 18, "own" : 1]>
        g (float[N, M] x, bool c) => (float[N, M] y)
        { y = If (c) <then_branch = a () => (float[N, M] t) { s = own.outer(x) t = own.outer <k = 3.0> (s) },
                      else_branch = b () => (float[N, M] e) { e = Neg(x) }> }
        <opset_import: ["" : 18], domain: "own"> inner <a> (x) => (y)
        { t = LeakyRelu <alpha: float = @a> (x) y = Neg(t) }
        <opset_import: ["" : 18, "own" : 1], domain: "own"> outer <k: float = 2.0> (x) => (y)
        { t = own.inner <a = @k> (x) y = Add(t, x) }
        """,
        X,
        np.array(True),
    )
    alphas = [node.attribute[0].f for node in all_nodes(flat.graph.node) if node.op_type == "LeakyRelu"]
    assert sorted(alphas) == [2.0, 3.0]


def test_inputs_that_are_handed_back_and_names_that_are_taken() -> None:
    # ONNX Runtime does not take the function itself.
    model = parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 18, "own" : 1]>
        g (float[N, M] x) => (float[N, M] y, float[N, M] inlined1_t) { y, inlined1_t = own.both(x) }
        <opset_import: ["" : 18], domain: "own"> both (x) => (x, t) { t = Neg(x) }"""
    )
    flat = without_functions(model)
    assert flat is not None
    same, negative = run(flat, X)
    assert np.array_equal(same, X)
    assert np.array_equal(negative, -X)


def test_bodies_in_functions_keep_their_names_apart() -> None:
    dissolved(
        """<ir_version: 8, opset_import: ["" : 18, "own" : 1]>
        g (float[N, M] x, bool c) => (float[N, M] y) { z = own.f(x, c) y = own.f(z, c) }
        <opset_import: ["" : 18], domain: "own"> f (x, c) => (y)
        { k = Neg(x) y = If (c) <then_branch = a () => (float[N, M] t) { t = Add(x, k) },
                                 else_branch = b () => (float[N, M] t) { t = Sub(x, k) }> }
        """,
        X,
        np.array(False),
    )


def test_what_is_left_as_it_is() -> None:
    assert (
        without_functions(parser.parse_model(f"{HEADER} g (float[N] x) => (float[N] y) {{ y = Neg(x) }}"))
        is None
    )
    other_opset = f"""{HEADER} g (float[N] x) => (float[N] y) {{ y = own.f(x) }}
        <opset_import: ["" : 17], domain: "own"> f (x) => (y) {{ y = Neg(x) }}"""
    assert without_functions(parser.parse_model(other_opset)) is None
    itself = f"""{HEADER} g (float[N] x) => (float[N] y) {{ y = own.f(x) }}
        <opset_import: ["" : 18, "own" : 1], domain: "own"> f (x) => (y) {{ y = own.f(x) }}"""
    assert without_functions(parser.parse_model(itself)) is None


def test_functions_that_double_are_not_followed() -> None:
    functions = [
        f"""<opset_import: ["" : 18, "own" : 1], domain: "own"> f{k} (x) => (y)
        {{ t = own.f{k + 1}(x) y = own.f{k + 1}(t) }}"""
        for k in range(60)
    ]
    last = '<opset_import: ["" : 18], domain: "own"> f60 (x) => (y) { y = Neg(x) }'
    text = f"{HEADER} g (float[N] x) => (float[N] y) {{ y = own.f0(x) }}" + "".join([*functions, last])
    assert without_functions(parser.parse_model(text)) is None


HEADER = '<ir_version: 8, opset_import: ["" : 18, "own" : 1]>'
