"""Nodes are counted one way, however a model is held, and wherever they are counted."""

from __future__ import annotations

import onnx

from onnxsmith import FLOAT, Model, optimize, script
from onnxsmith import opset21 as op
from onnxsmith.graphs.node_counts import node_count, operator_counts
from tests.decompile.hostile import base


@script
def inner(x: FLOAT["N"]):
    return op.Relu(op.Neg(x))


@script
def outer(x: FLOAT["N"]):
    y = inner(inner(x))
    if op.ReduceSum(y, keepdims=0) > 0.0:
        y = op.Abs(op.Exp(y))
    return y


def test_bodies_and_functions_count_however_a_model_is_held() -> None:
    model = outer.to_model()
    recorded = repr(model)
    proto = model.proto
    read = Model.from_proto(proto)
    assert repr(read) == recorded
    counts = operator_counts(proto)
    assert counts == operator_counts(read.ir)
    assert counts["Exp"] == counts["Neg"] == 1
    assert len(read.nodes) == len(model.nodes) == counts.total() == node_count(read.ir)
    assert f", {counts.total()} nodes, " in recorded


def test_constants_that_are_nodes_count() -> None:
    text = """<ir_version: 8, opset_import: ["": 17]>
        g (float[N] x) => (float[N] y) { c = Constant <value_float = 2.0> () y = Mul (x, c) }"""
    model = Model.from_proto(onnx.parser.parse_model(text))
    assert "2 nodes" in repr(model)
    report = optimize(model).report
    assert (report.nodes_before, report.nodes_after) == (2, 1)
    assert report.operators_before == {"Constant": 1, "Mul": 1}


def test_a_model_with_maps_or_sparse_weights() -> None:
    proto = base()
    sparse = proto.graph.sparse_initializer.add(dims=[4])
    sparse.values.CopyFrom(onnx.helper.make_tensor("sparse_weight", 1, [1], [1.0]))
    sparse.indices.CopyFrom(onnx.helper.make_tensor("", 7, [1], [0]))
    model = Model.from_proto(proto)
    assert model.is_proto_only
    assert f"{len(model.nodes)} nodes" in repr(model)
