"""Models of other numbers than float32, and classifiers: no less exact than before, and they run.

The error is that against the same computation in double precision. Models run on ONNX Runtime alone, as they ship.
"""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from onnxsmith import Model, optimize
from tests.passes.agreement import model_of

Array = NDArray[Any]
RNG = np.random.default_rng(5)
WIDTH = 32
WEIGHTS: dict[str, Array] = {
    "scale": RNG.random(WIDTH) + 0.5,
    "shift": RNG.standard_normal(WIDTH),
    "up": RNG.standard_normal((WIDTH, WIDTH)) / 6,
    "bias": RNG.standard_normal(WIDTH),
    "down": RNG.standard_normal((WIDTH, WIDTH)) / 6,
}
#: What is left where the original is exact: `epsilon` of a normalisation is an attribute, and those are float32.
ROUNDED = 1e-12
X = RNG.standard_normal((6, WIDTH))


def bare(proto: onnx.ModelProto, **inputs: Array) -> list[Any]:
    """What ONNX Runtime gives, with its own optimiser off: what is measured are our changes."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, ["CPUExecutionProvider"])
    return session.run(None, inputs)


def block(dtype: int, *, opset: int = 21) -> onnx.ModelProto:
    """Layer normalisation, a linear layer, Gelu and a weight that is turned, all of them spelled out."""
    kind = helper.tensor_dtype_to_np_dtype(dtype)

    def number(value: float) -> onnx.TensorProto:
        return numpy_helper.from_array(np.array(value).astype(kind), f"n{value}")

    numbers = [number(each) for each in (2.0, 1e-5, 0.5, 1.0, math.sqrt(2))]
    weights = [numpy_helper.from_array(each.astype(kind), name) for name, each in WEIGHTS.items()]
    axes = numpy_helper.from_array(np.array([-1], np.int64), "axes")
    steps = [
        ("ReduceMean", ["x", "axes"], "mean", {}),
        ("Sub", ["x", "mean"], "centred", {}),
        ("Pow", ["centred", "n2.0"], "squares", {}),
        ("ReduceMean", ["squares", "axes"], "spread", {}),
        ("Add", ["spread", "n1e-05"], "safe", {}),
        ("Sqrt", ["safe"], "size", {}),
        ("Div", ["centred", "size"], "normal", {}),
        ("Mul", ["normal", "scale"], "scaled", {}),
        ("Add", ["scaled", "shift"], "normed", {}),
        ("MatMul", ["normed", "up"], "product", {}),
        ("Add", ["product", "bias"], "wide", {}),
        ("Div", ["wide", f"n{math.sqrt(2)}"], "part", {}),
        ("Erf", ["part"], "curve", {}),
        ("Add", ["curve", "n1.0"], "gate", {}),
        ("Mul", ["wide", "n0.5"], "half", {}),
        ("Mul", ["half", "gate"], "active", {}),
        ("Transpose", ["down"], "turned", {"perm": [1, 0]}),
        ("MatMul", ["active", "turned"], "y", {}),
    ]
    nodes = [helper.make_node(name, given, [made], **how) for name, given, made, how in steps]
    ends = [helper.make_tensor_value_info(name, dtype, ["N", WIDTH]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "block", ends[:1], ends[1:], [*weights, *numbers, axes])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def error(found: Array, exact: Array) -> float:
    return float(np.abs(found.astype(np.float64) - exact).max())


def no_worse(before: Array, after: Array, exact: Array, least: float = 0.0) -> None:
    assert (after.shape, after.dtype) == (before.shape, before.dtype)
    assert np.isfinite(after.astype(np.float64)).all()
    assert error(after, exact) <= max(2 * error(before, exact), least)


@pytest.mark.parametrize("opset", ["keep", "runtime"])
@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        pytest.param(TensorProto.FLOAT, np.float32, id="float32"),
        pytest.param(TensorProto.DOUBLE, np.float64, id="float64"),
        pytest.param(TensorProto.FLOAT16, np.float16, id="float16"),
        pytest.param(TensorProto.BFLOAT16, ml_dtypes.bfloat16, id="bfloat16"),
    ],
)
def test_error_against_double_precision(dtype: int, kind: Any, opset: Any) -> None:
    proto = block(dtype)
    given = X.astype(kind)
    # What the weights and inputs are after rounding is what both compute with.
    exact_model = block(TensorProto.DOUBLE)
    for each in exact_model.graph.initializer:
        rounded = numpy_helper.to_array(next(w for w in proto.graph.initializer if w.name == each.name))
        if each.name != "axes":
            each.CopyFrom(numpy_helper.from_array(rounded.astype(np.float64), each.name))
    model = Model.from_proto(proto)
    small = optimize(model, opset=opset)
    assert small.report.nodes_after < small.report.nodes_before
    exact = np.asarray(Model.from_proto(exact_model)(given.astype(np.float64)))
    before, after = np.asarray(model(given)), np.asarray(small(given))
    no_worse(before, after, exact, least=ROUNDED)
    if dtype in (TensorProto.FLOAT, TensorProto.FLOAT16):  # ONNX Runtime's CPU has all the kernels for these
        no_worse(bare(proto, x=given)[0], bare(small.proto, x=given)[0], exact, least=ROUNDED)


CLASSIFIERS = {
    "linear": """scaled = ai.onnx.ml.Scaler <offset = [0.1, 0.2, 0.3], scale = [1.0, 2.0, 0.5]> (x)
        label, raw = ai.onnx.ml.LinearClassifier <coefficients = [1.0, -1.0, 0.5, -0.2, 0.4, 1.0],
            intercepts = [0.1, -0.1], classlabels_ints = [3, 7], multi_class = 0, post_transform = "SOFTMAX"> (scaled)
        scores = ai.onnx.ml.Normalizer <norm = "L1"> (raw)""",
    "tree": """same = Identity(x)
        label, scores = ai.onnx.ml.TreeEnsembleClassifier <nodes_treeids = [0, 0, 0], nodes_nodeids = [0, 1, 2],
            nodes_featureids = [1, 0, 0], nodes_modes = ["BRANCH_LEQ", "LEAF", "LEAF"], nodes_values = [0.0, 0.0, 0.0],
            nodes_truenodeids = [1, 0, 0], nodes_falsenodeids = [2, 0, 0], class_treeids = [0, 0],
            class_nodeids = [1, 2], class_ids = [0, 1], class_weights = [1.0, 1.0],
            classlabels_int64s = [3, 7], post_transform = "NONE"> (same)""",
    "encoded": """kind = Cast <to = 7> (x)
        label = ArgMax <axis = 1, keepdims = 0> (kind)
        scores = Cast <to = 1> (kind)""",
}


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("ir_version", [3, 8])
def test_classifiers(name: str, ir_version: int) -> None:
    text = f"""<ir_version: {ir_version}, opset_import: ["" : 13, "ai.onnx.ml" : 1]>
        g (float[N, 3] x) => (int64[N] label, float[N, C] scores) {{ {CLASSIFIERS[name]} }}"""
    proto = onnx.parser.parse_model(text)
    small = optimize(Model.from_proto(proto))
    onnx.checker.check_model(small.proto, full_check=True)
    assert small.proto.ir_version >= ir_version
    given = np.random.default_rng(1).standard_normal((20, 3)).astype(np.float32) * 3
    (label, scores), (new_label, new_scores) = bare(proto, x=given), bare(small.proto, x=given)
    np.testing.assert_array_equal(new_label, label)
    np.testing.assert_allclose(new_scores, scores, rtol=1e-6)


def test_weights_of_ir_version_3_are_inputs_and_stay_so() -> None:
    model = model_of(
        "g (float[N, 2] x, float[2] w = {1.0, 2.0}) => (float[N, 2] y) { t = Identity(x) y = Mul(t, w) }",
        opset=8,
        ir_version=3,
    )
    small = optimize(model)
    onnx.checker.check_model(small.proto, full_check=True)
    assert [each.name for each in small.proto.graph.input] == ["x", "w"]
    x = np.float32([[1, 2]])
    np.testing.assert_array_equal(bare(small.proto, x=x)[0], [[1, 4]])
    np.testing.assert_array_equal(small.run({"x": x, "w": np.float32([3, 3])}), [[3, 6]])
