"""ONNX's node cases retold for other versions of their operators: same inputs and data, attributes where they were.

A case only has data for one version. Most versions differ in what is an attribute and what an input, or in the types
they allow; where that is all, the data holds for both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx

from onnxsmith.schema import registry
from onnxsmith.schema.definition import AttributeType, OperatorDef
from onnxsmith.types.dtypes import DType
from tests.backend.node_cases import actual_type, as_value, attribute_value, free_names, value_type


@dataclass(frozen=True)
class Retold:
    """A call of one version of an operator and the data it should give."""

    op: OperatorDef
    inputs: list[Any]
    types: list[Any]
    attributes: dict[str, Any]
    expected: list[Any]
    opset_version: int


class Untellable(Exception):
    """The case cannot be told for that version."""


def retold(case: Any) -> Iterator[Retold]:
    """A single-node case for every version of its operator that can express it, its own included."""
    graph = case.model.graph
    if len(graph.node) != 1:
        return
    node = graph.node[0]
    if any(
        attribute.type == onnx.AttributeProto.GRAPH and free_names(attribute.g)
        for attribute in node.attribute
    ):
        return
    opsets = {each.domain: each.version for each in case.model.opset_import}
    own = registry.find(node.domain, node.op_type, opsets.get(node.domain, 1))
    declared = {info.name: value_type(info.type) for info in graph.input}
    data, expected = case.data_sets[0]
    given = iter(data)
    inputs = [as_value(next(given)) if name else None for name in node.input]
    types = [actual_type(v, declared.get(n)) if n else None for n, v in zip(node.input, inputs, strict=True)]
    attributes = {each.name: attribute_value(each) for each in node.attribute}
    outcome = iter(expected)
    results = [as_value(next(outcome)) if name else None for name in node.output]
    for since in registry.versions(node.domain, node.op_type):
        op = registry.find(node.domain, node.op_type, since)
        try:
            told = retell(own, op, inputs, types, attributes)
        except Untellable:
            continue
        yield Retold(op, *told, results[: op.max_outputs], max(since, min(opsets.get("", since), since)))


def retell(
    own: OperatorDef, op: OperatorDef, inputs: list[Any], types: list[Any], attributes: dict[str, Any]
) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """Inputs, types and attributes for another version."""
    names = [each.name for each in own.inputs]
    if own.inputs and own.inputs[-1].option == "variadic":
        told = list(inputs), list(types), _attributes(own, op, dict(attributes), inputs)
    else:
        moved = dict(attributes)
        by_name: dict[str, tuple[Any, Any]] = {}
        for name, value, kind in zip(names, inputs, types, strict=False):
            by_name[name] = (value, kind)
        former = [each.name for each in op.inputs]
        values: list[Any] = []
        kinds: list[Any] = []
        for position, name in enumerate(former):
            if name in by_name:
                value, kind = by_name.pop(name)
            elif (
                position < len(names) and names[position] not in op.attributes and names[position] in by_name
            ):
                value, kind = by_name.pop(names[position])  # only the name changed
            elif name in moved and name not in op.attributes:
                value = _as_input(moved.pop(name))
                kind = DType.from_numpy(value.dtype)
            else:
                value = kind = None
            values.append(value)
            kinds.append(kind)
        for name, (value, _) in by_name.items():
            if value is None:
                continue
            if name not in op.attributes:
                raise Untellable(f"{name} is neither input nor attribute of {op!r}")
            moved[name] = _as_attribute(value, op.attributes[name].type)
        while values and values[-1] is None:
            values.pop()
            kinds.pop()
        told = values, kinds, _attributes(own, op, moved, inputs)
    _check(op, *told)
    return told


def _as_input(value: Any) -> np.ndarray:
    return (
        value
        if isinstance(value, np.ndarray)
        else np.asarray(value, np.int64 if not isinstance(value, float) else np.float32)
    )


def _as_attribute(value: Any, kind: AttributeType) -> Any:
    flat = value.reshape(-1).tolist() if isinstance(value, np.ndarray) else value
    if kind in (AttributeType.INT, AttributeType.FLOAT, AttributeType.STRING):
        if len(flat) != 1:
            raise Untellable("several values for one")
        return flat[0]
    return tuple(flat) if kind is not AttributeType.TENSOR else value


def _attributes(
    own: OperatorDef, op: OperatorDef, attributes: dict[str, Any], inputs: list[Any]
) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in attributes.items():
        if name in op.attributes:
            kept[name] = value
        elif value != own.attributes[name].default:
            raise Untellable(f"{op!r} has no {name}")
    # A default that changed has to be said.
    for name, formal in own.attributes.items():
        if name not in attributes and name in op.attributes and op.attributes[name].default != formal.default:
            if formal.default is None:
                raise Untellable(f"{name} has no default in {own!r}")
            kept[name] = formal.default
    adapt = ADAPTED.get(op.name)
    return kept if adapt is None else adapt(op, kept, inputs)


def _check(op: OperatorDef, inputs: list[Any], types: list[Any], attributes: dict[str, Any]) -> None:
    if not op.min_inputs <= len(inputs) <= op.max_inputs:
        raise Untellable("number of inputs")
    if any(each.is_required and name not in attributes for name, each in op.attributes.items()):
        raise Untellable("a required attribute")
    for position, kind in enumerate(types):
        parameter = op.inputs[min(position, len(op.inputs) - 1)]
        if kind is None:
            if parameter.option == "single":
                raise Untellable("a required input")
            continue
        text = f"tensor({kind.onnx_name})" if isinstance(kind, DType) else kind.onnx_name
        if parameter.types and text not in parameter.types:
            raise Untellable(f"{parameter.name} cannot be {text}")


def _non_negative_axis(op: OperatorDef, attributes: dict[str, Any], inputs: list[Any]) -> dict[str, Any]:
    axis = attributes.get("axis")
    if isinstance(axis, int) and axis < 0 and op.since_version < 11:
        return {**attributes, "axis": axis + inputs[0].ndim}
    return attributes


def _last_axis(op: OperatorDef, attributes: dict[str, Any], inputs: list[Any]) -> dict[str, Any]:
    # Before 13 all axes from this one on are taken together, which is the same for the last one only.
    if op.since_version < 13 and attributes["axis"] not in (-1, inputs[0].ndim - 1):
        raise Untellable("several axes")
    return _non_negative_axis(op, attributes, inputs)


def _limited_broadcast(op: OperatorDef, attributes: dict[str, Any], inputs: list[Any]) -> dict[str, Any]:
    # Before 7 the second input was broadcast, on request, and along a contiguous part of the first's axes.
    if op.since_version >= 7 or inputs[0].shape == inputs[1].shape:
        return attributes
    if inputs[1].shape != inputs[0].shape[inputs[0].ndim - inputs[1].ndim :]:
        raise Untellable("broadcast of both")
    return {**attributes, "broadcast": 1}


ADAPTED: dict[str, Callable[[OperatorDef, dict[str, Any], list[Any]], dict[str, Any]]] = {
    **dict.fromkeys(["Softmax", "LogSoftmax", "Hardmax"], _last_axis),
    **dict.fromkeys(["ArgMax", "ArgMin", "Concat", "Gather", "Flatten", "Split"], _non_negative_axis),
    **dict.fromkeys(
        ["Add", "Sub", "Mul", "Div", "And", "Or", "Xor", "Equal", "Less", "Greater", "Pow"],
        _limited_broadcast,
    ),
}
