"""Finds the node of a region: a fused operator is taken apart, so that the values inside it have counterparts.

The steps between the last equal values and the first different ones are two small models, on the same inputs. Where one
has an operator that the other lacks, it is replaced by what defines it: ONNX's function body, or the products and sums
that `Gemm` and a `Conv` with a bias are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import helper, numpy_helper

from onnxsmith.graphs.model import Model
from onnxsmith.graphs.rewriting.copies import copied, replace_nodes
from onnxsmith.graphs.run_values import RunValue
from onnxsmith.observing import Step
from onnxsmith.runtime.function_body import inlined_model

_NAME = "step_"
_STEP = re.compile(rf"{_NAME}(\d+)(?!\d)")
_MANY = 60


@dataclass(frozen=True, slots=True)
class Part:
    """A region as a model, with what it takes, by name."""

    model: Model
    inputs: Mapping[str, RunValue]
    steps: Sequence[Step]

    def step_of(self, name: str, taken_apart: set[str]) -> Step | None:
        """The step that a node is, or is a part of, by its name; else the only one that was taken apart."""
        found = _STEP.match(name)
        if found is not None:
            return self.steps[int(found[1])]
        whole = [step for step in self.steps if step.run.op_type in taken_apart]
        return whole[0] if len(whole) == 1 else None


def renamed_inputs(model: Model, names: Mapping[str, str]) -> Model:
    """A part whose inputs are called as in the other run; what it calls so itself gets another name."""
    proto = model.proto
    fresh = {name: f"{name}_of_second" for name in _names(proto)}
    fresh.update(names)
    for node in proto.graph.node:
        node.input[:] = [fresh.get(each, each) for each in node.input]
        node.output[:] = [fresh.get(each, each) for each in node.output]
    for each in (*proto.graph.input, *proto.graph.output, *proto.graph.initializer):
        each.name = fresh.get(each.name, each.name)
    del proto.graph.value_info[:]
    return Model.from_proto(proto)


def _names(proto: onnx.ModelProto) -> set[str]:
    graph = proto.graph
    found = {each.name for each in (*graph.input, *graph.initializer)}
    return found | {name for node in graph.node for name in node.output if name}


def taken_apart(left: Part, right: Part) -> tuple[Part, Part, set[str]] | None:
    """Both parts, with the operators that only one of them has taken apart; None where there are none."""
    if max(len(left.steps), len(right.steps)) > _MANY:
        return None
    operators = [{step.run.op_type for step in part.steps} for part in (left, right)]
    names = (operators[0] - operators[1]) | (operators[1] - operators[0])
    parts: list[Part] = []
    changed = False
    for number, part in enumerate((left, right)):
        proto = part.model.proto
        for position, node in enumerate(proto.graph.node):
            node.name = f"{_NAME}{position}"
        before = len(proto.graph.node)
        other = (left, right)[1 - number]
        has_product = "Gemm" in operators[number] - operators[1 - number]
        if has_product or len(part.steps) < len(other.steps):
            _split_sums(proto)
            names |= {"Gemm", "Conv", "ConvTranspose"}
        expanded = inlined_model(proto, names)
        changed |= len(expanded.graph.node) != before
        parts.append(Part(Model.from_proto(expanded), part.inputs, part.steps))
    return (parts[0], parts[1], names) if changed else None


def _split_sums(proto: onnx.ModelProto) -> None:
    """The sums in matrix products and convolutions as nodes of their own."""
    nodes: list[onnx.NodeProto] = []
    shapes = {each.name: tuple(each.dims) for each in proto.graph.initializer}
    for node in proto.graph.node:
        has_bias = len(node.input) > 2 and node.input[2] != ""
        if node.op_type == "Gemm":
            nodes += _gemm(node, proto)
        elif node.op_type in ("Conv", "ConvTranspose") and has_bias and node.input[1] in shapes:
            rank = len(shapes[node.input[1]])
            product, bias = f"{node.output[0]}_product", f"{node.output[0]}_bias"
            target = np.array([1, -1] + [1] * (rank - 2), np.int64)
            proto.graph.initializer.append(numpy_helper.from_array(target, f"{bias}_shape"))
            plain = copied(node)
            plain.name = f"{node.name}_product"
            del plain.input[2:], plain.output[:]
            plain.output.append(product)
            nodes += [
                plain,
                helper.make_node("Reshape", [node.input[2], f"{bias}_shape"], [bias]),
                helper.make_node("Add", [product, bias], list(node.output), name=f"{node.name}_sum"),
            ]
        else:
            nodes.append(node)
    replace_nodes(proto.graph.node, nodes)


def _gemm(node: onnx.NodeProto, proto: onnx.ModelProto) -> list[onnx.NodeProto]:
    given = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    made: list[onnx.NodeProto] = []
    operands = list(node.input[:2])
    for position, name in enumerate(("transA", "transB")):
        if given.get(name):
            turned = f"{node.output[0]}_{name}"
            made.append(helper.make_node("Transpose", [operands[position]], [turned], perm=[1, 0]))
            operands[position] = turned
    now = f"{node.output[0]}_product"
    made.append(helper.make_node("MatMul", operands, [now], name=f"{node.name}_product"))
    summand = node.input[2] if len(node.input) > 2 else ""
    for name, scaled in (("alpha", now), ("beta", summand)):
        if given.get(name, 1.0) != 1.0 and scaled:
            made.append(_scaled(scaled, float(given[name]), f"{node.output[0]}_{name}", proto))
            now, summand = (made[-1].output[0], summand) if name == "alpha" else (now, made[-1].output[0])
    if summand:
        made.append(helper.make_node("Add", [now, summand], list(node.output), name=f"{node.name}_sum"))
    else:
        made[-1].output[0] = node.output[0]
    return made


def _scaled(value: str, factor: float, name: str, proto: onnx.ModelProto) -> onnx.NodeProto:
    proto.graph.initializer.append(numpy_helper.from_array(np.array(factor, np.float32), f"{name}_factor"))
    return helper.make_node("Mul", [value, f"{name}_factor"], [name])
