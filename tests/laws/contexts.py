"""A case's nodes as a whole model: alone, in the branch of an If, in the body of a Loop, in a function.

Only protos: what another program could have written, which our own graphs are not asked to make.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.laws.case import Case, Value, opset_ids

TRIPS = 2


class Inexpressible(Exception):
    """The case cannot be said this way; the text says why."""


def alone(case: Case) -> tuple[onnx.ModelProto, list[Value]]:
    """The nodes as the model's graph."""
    graph = case.graph
    return _model(case, graph), list(case.inputs)


def in_if(case: Case) -> tuple[onnx.ModelProto, list[Value]]:
    """The nodes as both branches; an input decides."""
    inner = case.graph
    node = helper.make_node("If", ["laws_condition"], [f"laws_{each.name}" for each in inner.output])
    for name in ("then_branch", "else_branch"):
        branch = onnx.GraphProto()
        branch.CopyFrom(inner)
        branch.name = name
        del branch.input[:]
        node.attribute.append(helper.make_attribute(name, branch))
    condition = helper.make_tensor_value_info("laws_condition", TensorProto.BOOL, [])
    graph = helper.make_graph([node], "in_if", [condition, *inner.input], _outer_outputs(inner))
    return _model(case, graph), [np.array(True), *case.inputs]


def in_loop(case: Case) -> tuple[onnx.ModelProto, list[Value]]:
    """The nodes as the body of a loop that collects their outputs, of one dimension more."""
    inner = case.graph
    if any(each.type.WhichOneof("value") != "tensor_type" for each in inner.output):
        raise Inexpressible("a loop collects tensors only")
    body = onnx.GraphProto()
    body.CopyFrom(inner)
    del body.input[:]
    body.input.append(helper.make_tensor_value_info("laws_i", TensorProto.INT64, []))
    body.input.append(helper.make_tensor_value_info("laws_go", TensorProto.BOOL, []))
    body.node.append(helper.make_node("Identity", ["laws_go"], ["laws_go_on"]))
    body.output.insert(0, helper.make_tensor_value_info("laws_go_on", TensorProto.BOOL, []))
    inputs, outputs = ["laws_trips", ""], [f"laws_{each.name}" for each in inner.output]
    if case.version("") < 11:  # a loop carries something
        body.input.append(helper.make_tensor_value_info("laws_carried", TensorProto.INT64, []))
        body.node.append(helper.make_node("Identity", ["laws_carried"], ["laws_carried_on"]))
        body.output.insert(1, helper.make_tensor_value_info("laws_carried_on", TensorProto.INT64, []))
        inputs.append("laws_trips")
        outputs.insert(0, "laws_last")
    node = helper.make_node("Loop", inputs, outputs, body=body)
    trips = helper.make_tensor_value_info("laws_trips", TensorProto.INT64, [])
    graph = helper.make_graph([node], "in_loop", [trips, *inner.input], _outer_outputs(inner))
    return _model(case, graph), [np.array(TRIPS), *case.inputs]


def in_function(case: Case) -> tuple[onnx.ModelProto, list[Value]]:
    """The nodes as a function of a domain of its own, and a call of it."""
    inner = case.graph
    if inner.initializer or inner.sparse_initializer:
        raise Inexpressible("a function has no initializers")
    names = [each.name for each in inner.input], [each.name for each in inner.output]
    function = helper.make_function("laws", "Case", *names, list(inner.node), opset_ids(case.opsets))
    node = helper.make_node("Case", names[0], [f"laws_{name}" for name in names[1]], domain="laws")
    graph = helper.make_graph([node], "in_function", list(inner.input), _outer_outputs(inner))
    model = _model(case, graph)
    model.ir_version = max(model.ir_version, 8)  # functions of a model are of IR 8
    model.functions.append(function)
    model.opset_import.append(helper.make_opsetid("laws", 1))
    return model, list(case.inputs)


#: Name of the context -> model and inputs.
CONTEXTS: dict[str, Callable[[Case], tuple[onnx.ModelProto, list[Value]]]] = {
    "alone": alone,
    "if": in_if,
    "loop": in_loop,
    "function": in_function,
}


def each_trip(values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """What a loop collected, trip by trip; as arrays, since numpy takes zeros off the end of plain text."""
    return [tuple(value[trip, ...] for value in values) for trip in range(TRIPS)]


def _outer_outputs(inner: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    outer: list[onnx.ValueInfoProto] = []
    for each in inner.output:
        info = onnx.ValueInfoProto()
        info.CopyFrom(each)
        info.name = f"laws_{each.name}"
        if info.type.WhichOneof("value") == "tensor_type":
            info.type.tensor_type.ClearField("shape")
        outer.append(info)
    return outer


def _model(case: Case, graph: onnx.GraphProto) -> onnx.ModelProto:
    opsets = case.opsets if any(domain == "" for domain, _ in case.opsets) else (*case.opsets, ("", 17))
    return helper.make_model(graph, ir_version=case.ir_version, opset_imports=opset_ids(opsets))
