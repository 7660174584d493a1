"""Every version of an operator: node cases rewritten for older opsets, against onnx and the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from onnxsmith.errors import OnnxsmithError
from onnxsmith.schema import registry
from onnxsmith.schema.attributes import read_attribute
from onnxsmith.schema.definition import OperatorDef, parameter_at
from onnxsmith.schema.inference import Known, infer
from onnxsmith.schema.inference.call import Call, find_rule
from onnxsmith.schema.inference.infer import infer_by_onnx
from tests.schema.inference.graphs import constant, disagreement, node_cases, opset_versions
from tests.schema.inference.test_node_cases import ONNX_IS_WRONG, says_less

_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")

#: Inputs that were attributes before: operator -> {position: attribute}.
MOVED: dict[str, dict[int, str]] = {
    "Squeeze": {1: "axes"},
    "Unsqueeze": {1: "axes"},
    "Slice": {1: "starts", 2: "ends", 3: "axes"},
    "Pad": {1: "pads"},
    "Split": {1: "split"},
    "TopK": {1: "k"},
    "Reshape": {1: "shape"},
    "Upsample": {1: "scales"},
    **{f"Reduce{name}": {1: "axes"} for name in _REDUCTIONS},
}


def rewrite(
    op: OperatorDef, inputs: list[Any], attributes: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]] | None:
    """The same call for another version of the operator; None where that version has no such call."""
    inputs, attributes = list(inputs), dict(attributes)
    for position, name in MOVED.get(op.name, {}).items():
        if name in op.attributes and name not in attributes and position < len(inputs):
            value = inputs[position]
            if value is not None:
                attributes[name] = value.item() if name == "k" else tuple(value.tolist())
            inputs[position] = None
    while inputs and inputs[-1] is None:
        inputs.pop()
    if (
        op.name in ("Squeeze", "Unsqueeze")
        and op.since_version < 11
        and min(attributes.get("axes", (0,))) < 0
    ):
        return None  # axes could not be negative then
    if not op.min_inputs <= len(inputs) <= op.max_inputs or not set(attributes) <= set(op.attributes):
        return None
    if any(
        each is None and op.inputs[k].option == "single" for k, each in enumerate(inputs[: len(op.inputs)])
    ):
        return None
    for position, value in enumerate(inputs):
        parameter = parameter_at(op.inputs, position)
        if (
            value is not None
            and parameter is not None
            and constant(value).type.onnx_name not in parameter.types
        ):
            return None
    return inputs, attributes


def test_older_versions_agree_with_onnx_and_the_data() -> None:
    problems: set[str] = set()
    checked = 0
    for case in node_cases():
        node = case.model.graph.node[0]
        given = dict(zip([each.name for each in case.model.graph.input], case.data_sets[0][0], strict=False))
        if len(case.model.graph.node) > 1 or not all(isinstance(each, np.ndarray) for each in given.values()):
            continue
        newest = opset_versions(case.model)[node.domain]
        current = registry.lookup(node.domain, node.op_type, newest)
        if any(each.type == onnx.AttributeProto.GRAPH for each in node.attribute):
            continue
        raw = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
        attributes = {
            name: numpy_helper.to_array(value)
            if isinstance(value, onnx.TensorProto)
            else read_attribute(current, current.attributes[name], value)
            for name, value in raw.items()
        }
        for version in registry.versions(node.domain, node.op_type):
            op = registry.find(node.domain, node.op_type, version)
            if op is None or version >= current.since_version:
                continue
            call = rewrite(op, [given[name] if name else None for name in node.input], attributes)
            if call is not None:
                checked += 1
                names = [each.name for each in case.model.graph.output]
                outputs = dict(zip(names, case.data_sets[0][1], strict=True))
                problems |= check(op, version, *call, [outputs.get(name) for name in node.output])
    print(f"{checked} calls of older versions")
    assert not problems, "\n".join(sorted(problems))
    assert checked > 1900


def check(
    op: OperatorDef, version: int, inputs: list[Any], attributes: dict[str, Any], expected: list[Any]
) -> set[str]:
    count = len(expected)
    known = [None if each is None else constant(each) for each in inputs]
    place = f"{op.name}-{op.since_version} {[None if each is None else each.shape for each in inputs]} {attributes}"
    if op.name == "Cast" and op.since_version == 1:
        return set()  # its `to` was a name
    if op.since_version < 7 and len({each.shape for each in inputs if each is not None}) > 1:
        expected = [None] * count  # broadcasting was not numpy's then
    try:
        ours = infer(op, version, known, attributes, count)
    except OnnxsmithError as error:
        return set() if is_refused_by_onnx(op, version, known, attributes, count) else {f"{place}: {error}"}
    wrong = {
        f"{place}: {why}"
        for each, value in zip(ours, expected, strict=True)
        # Element types changed between versions (Dropout's mask), shapes did not.
        if value is not None and (why := disagreement(each.type, value)) is not None and "shape" in why
    }
    # With ceil_mode, onnx and ONNX Runtime disagree on versions before 22.
    if find_rule(op) is None or op.name in ONNX_IS_WRONG or attributes.get("ceil_mode"):
        return wrong
    try:
        theirs = infer_by_onnx(Call(op, version, known, attributes, count, {}))
    except OnnxsmithError:
        return wrong
    return wrong | {
        f"{place}: {own.type!r}, but onnx says {other.type!r}"
        for own, other in zip(ours, theirs, strict=True)
        if says_less(own.type, other.type)
    }


def is_refused_by_onnx(
    op: OperatorDef, version: int, inputs: list[Known | None], attributes: dict[str, Any], count: int
) -> bool:
    try:
        infer_by_onnx(Call(op, version, inputs, attributes, count, {}))
    except OnnxsmithError:
        return True
    return False
