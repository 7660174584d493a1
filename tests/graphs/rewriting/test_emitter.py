"""Emitted nodes compute what their methods promise, in each version whose form differs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from onnxsmith.graphs.rewriting.emitter import Emitter, FreshNames
from onnxsmith.types.dtypes import DType

X = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]], np.float32)
TRUTH = X > 0
SOME = {"x": X, "t": TRUTH, "f": TRUTH & False, "none": np.zeros((0, 2), bool)}

#: What is emitted, and what it computes.
CASES: dict[str, tuple[Callable[[Emitter], str], Any]] = {
    "constant": (lambda e: e.constant([1, 2]), np.array([1, 2])),
    "constant of a type": (lambda e: e.constant(2.5, DType.FLOAT16), np.float16(2.5)),
    "cast": (lambda e: e.cast("x", DType.INT32), X.astype(np.int32)),
    "constant_like, known": (lambda e: e.constant_like(3, "x", DType.DOUBLE), np.float64(3)),
    "cast_like, known": (lambda e: e.cast_like("t", "x", DType.FLOAT), TRUTH.astype(np.float32)),
    "where": (lambda e: e.where("t", "x", e.op("Neg", "x")), np.abs(X)),
    "reduce, all": (lambda e: e.reduce("Sum", "x"), X.sum()),
    "reduce, kept": (lambda e: e.reduce("Max", "x", keepdims=True), X.max(keepdims=True)),
    "reduce, axes": (lambda e: e.reduce("Sum", "x", [0]), X.sum(0)),
    "reduce, axes kept": (lambda e: e.reduce("Sum", "x", [1], keepdims=True), X.sum(1, keepdims=True)),
    "reduce, other": (lambda e: e.reduce("Max", "x", [-1]), X.max(1)),
    "reduce, other kept": (lambda e: e.reduce("Min", "x", [0], keepdims=True), X.min(0, keepdims=True)),
    "unsqueeze": (lambda e: e.unsqueeze("x", [0, 3]), X[None, :, :, None]),
    "slice": (lambda e: e.slice("x", 1, 2), X[1:2]),
    "size": (lambda e: e.size("x"), np.int64(6)),
    "rank": (lambda e: e.rank("x"), np.int64(2)),
    "dimension": (lambda e: e.dimension("x", 1), np.int64(3)),
    "dimension from the end": (lambda e: e.dimension("x", -2), np.int64(2)),
    "dimension beyond": (lambda e: e.dimension("x", 2), np.int64(-1)),
    "dimension before": (lambda e: e.dimension("x", -3), np.int64(-1)),
    "any": (lambda e: e.any("t"), np.True_),
    "any of false": (lambda e: e.any("f"), np.False_),
    "any of nothing": (lambda e: e.any("none"), np.False_),
    "all": (lambda e: e.all("t"), np.False_),
    "all of true": (lambda e: e.all(e.negated("f")), np.True_),
    "all of nothing": (lambda e: e.all("none"), np.True_),
    "both": (lambda e: e.both("t", "f"), TRUTH & False),
    "either": (lambda e: e.either("t", "f"), TRUTH),
}


def computed(version: int, emit: Callable[[Emitter], str]) -> Any:
    emitter = Emitter(version, FreshNames(SOME), "y", "")
    result = emit(emitter)
    types = {name: helper.np_dtype_to_tensor_dtype(each.dtype) for name, each in SOME.items()}
    inputs = [helper.make_tensor_value_info(name, types[name], each.shape) for name, each in SOME.items()]
    graph = helper.make_graph(emitter.nodes, "g", inputs, [onnx.ValueInfoProto(name=result)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)])
    found: Any = ReferenceEvaluator(model).run(None, dict(SOME))
    return found[0]


@pytest.mark.parametrize("version", [9, 11, 13, 18, 21])
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, version: int) -> None:
    emit, wanted = CASES[name]
    found = computed(version, emit)
    np.testing.assert_array_equal(found, wanted)
    assert np.asarray(found).dtype == np.asarray(wanted).dtype


@pytest.mark.parametrize("version", [15, 21])
def test_the_type_of_another_value(version: int) -> None:
    assert computed(version, lambda e: e.constant_like(3, "x", None)) == np.float32(3)
    assert computed(version, lambda e: e.cast_like("t", "x", None)).dtype == np.float32


@pytest.mark.parametrize(
    ("version", "emit", "inputs", "attributes"),
    [
        (12, lambda e: e.reduce("Sum", "x", [0]), 1, {"axes": [0], "keepdims": 0}),
        (13, lambda e: e.reduce("Sum", "x", [0]), 2, {"keepdims": 0}),
        (17, lambda e: e.reduce("Max", "x", [0], keepdims=True), 1, {"axes": [0], "keepdims": 1}),
        (18, lambda e: e.reduce("Max", "x", [0]), 2, {"keepdims": 0}),
        (12, lambda e: e.unsqueeze("x", [0]), 1, {"axes": [0]}),
        (13, lambda e: e.unsqueeze("x", [0]), 2, {}),
        (9, lambda e: e.slice("x", 1, 2), 1, {"axes": [0], "starts": [1], "ends": [2]}),
        (10, lambda e: e.slice("x", 1, 2), 4, {}),
    ],
)
def test_forms_of_versions(
    version: int, emit: Callable[[Emitter], str], inputs: int, attributes: Any
) -> None:
    emitter = Emitter(version, FreshNames(["x"]), "y", "")
    emit(emitter)
    node = emitter.nodes[-1]
    assert len(node.input) == inputs
    assert {each.name: helper.get_attribute_value(each) for each in node.attribute} == attributes


def test_names_of_nodes_and_values() -> None:
    emitter = Emitter(21, FreshNames(["y__1"]), "y", "Conv_3")
    first = emitter.op("Neg", "x")
    second = emitter.op("Abs", first, into="z", domain="own", beta=None, alpha=2)
    emitter.node("Split", ["x"], ["", "late"], named="mine")
    assert (first, second) == ("y__2", "z")
    assert [each.name for each in emitter.nodes] == ["Conv_3/y__2", "Conv_3/z", "mine"]
    assert emitter.nodes[1].domain == "own"
    assert [each.name for each in emitter.nodes[1].attribute] == ["alpha"]
    assert emitter.inner().op("Neg", "x") == "y__3"
    assert Emitter(21, FreshNames([]), "y", "").node("Neg", ["x"], ["z"]).name == ""
    kept = onnx.NodeProto(op_type="Relu")
    emitter.keep(kept)
    assert emitter.nodes[-1] is kept
