"""One case of the laws: a few nodes, the opsets they are of, and values for their inputs.

Made from ONNX's node cases; spoiled ones are made from these by `spoil`. Knows no road that could run it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import onnx
from onnx.shape_inference import infer_shapes

from onnxsmith.schema import registry
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.types.dtypes import DType
from tests.backend import node_cases

#: An array, a list of values (a sequence), a dict (a map), or None (an empty optional).
Value: TypeAlias = Any


@dataclass(frozen=True)
class Case:
    """Nodes with values for their inputs. The graph travels as bytes, so that cases can be sent to other processes."""

    name: str
    graph_bytes: bytes
    opsets: tuple[tuple[str, int], ...]
    ir_version: int
    inputs: tuple[Value, ...]
    #: What the outputs should be, and how near; None where nothing says it.
    expected: tuple[Value, ...] | None = None
    rtol: float = 1e-3
    atol: float = 1e-7

    @property
    def graph(self) -> onnx.GraphProto:
        """The nodes; its inputs say names and types, in the order of the values."""
        return onnx.GraphProto.FromString(self.graph_bytes)

    @property
    def operator(self) -> str:
        """The operator that the case is about."""
        nodes = self.graph.node
        return f"{nodes[0].domain}.{nodes[0].op_type}".lstrip(".") if len(nodes) == 1 else "(several)"

    def version(self, domain: str) -> int:
        """The opset version of a domain."""
        return dict(self.opsets).get(domain, 1)


def tensor_type(value: np.ndarray, *, open_shape: bool = True) -> onnx.TypeProto:
    """The type of an array: its dimensions left open, or its own."""
    dtype = DType.from_numpy(value.dtype)
    assert dtype is not None, value.dtype
    shape = [None] * value.ndim if open_shape else list(value.shape)
    return onnx.helper.make_tensor_type_proto(int(dtype), shape)


def with_inputs(case: Case, graph: onnx.GraphProto, inputs: tuple[Value, ...], name: str) -> Case:
    """The case with other nodes and values; the types of the graph's inputs and outputs follow."""
    for info, value in zip(graph.input, inputs, strict=True):
        if isinstance(value, np.ndarray) and info.type.WhichOneof("value") != "optional_type":
            info.type.CopyFrom(tensor_type(value))
        elif isinstance(value, np.ndarray):
            info.type.optional_type.elem_type.CopyFrom(tensor_type(value))
            _open_shapes(info.type)
        else:
            _open_shapes(info.type)
    _type_outputs(graph, case.opsets)
    return Case(name, graph.SerializeToString(), case.opsets, case.ir_version, inputs)


def _open_shapes(kind: onnx.TypeProto) -> None:
    """Drop the shapes of tensors in a sequence or an optional: spoiled values have others."""
    match kind.WhichOneof("value"):
        case "tensor_type":
            kind.tensor_type.ClearField("shape")
        case "sequence_type":
            _open_shapes(kind.sequence_type.elem_type)
        case "optional_type":
            _open_shapes(kind.optional_type.elem_type)
        case _:
            pass


def _type_outputs(graph: onnx.GraphProto, opsets: tuple[tuple[str, int], ...]) -> None:
    """Give the outputs of a single node the element types that the schema says, without shapes.

    Not by onnx's inference, which some attributes keep busy for ever.
    """
    if len(graph.node) == 1:
        node = graph.node[0]
        op = registry.find(node.domain, node.op_type, dict(opsets).get(node.domain, 1))
        kinds = {info.name: info.type for info in graph.input}
        results = {info.name: info for info in graph.output}
        for place, name in enumerate(node.output):
            kind = None if op is None or name not in results else _output_type(op, node, place, kinds)
            if kind is not None:
                results[name].type.CopyFrom(kind)
    for info in graph.output:
        if info.type.WhichOneof("value") == "tensor_type":
            info.type.tensor_type.ClearField("shape")


#: Operators whose results have the element type of the input where no attribute says another.
_AS_INPUT_WITHOUT_DTYPE = frozenset({"Bernoulli", "EyeLike", "RandomNormalLike", "RandomUniformLike"})


def _output_type(
    op: OperatorDef, node: onnx.NodeProto, place: int, kinds: dict[str, onnx.TypeProto]
) -> onnx.TypeProto | None:
    """The type of an output, where the types of inputs or an attribute say it."""
    if not op.outputs or not op.inputs:
        return None
    parameter = op.outputs[min(place, len(op.outputs) - 1)]
    given = {attribute.name for attribute in node.attribute}
    if op.name in _AS_INPUT_WITHOUT_DTYPE and "dtype" not in given:
        return kinds.get(node.input[0])
    for attribute in node.attribute:
        if attribute.name in op.attributes and op.attributes[attribute.name].names_dtype:
            is_known = attribute.i in frozenset(map(int, DType))
            return onnx.helper.make_tensor_type_proto(attribute.i, None) if is_known else None
    for position, name in enumerate(node.input):
        formal = op.inputs[min(position, len(op.inputs) - 1)]
        if name and formal.type_name == parameter.type_name and formal.is_homogeneous:
            return kinds.get(name)
    return None


def opset_ids(opsets: tuple[tuple[str, int], ...]) -> list[onnx.OperatorSetIdProto]:
    """The opsets as protos."""
    return [onnx.helper.make_opsetid(domain, version) for domain, version in opsets]


def backend_cases() -> Iterator[Case]:
    """Every node case of the installed onnx."""
    for name, case in sorted(node_cases.all_cases().items()):
        model = case.model
        data, expected = case.data_sets[0]
        opsets = tuple(
            ("" if each.domain == "ai.onnx" else each.domain, each.version) for each in model.opset_import
        )
        graph = onnx.GraphProto()
        # The types of values in between say what the values of optionals and sequences do not.
        graph.CopyFrom(infer_shapes(model).graph if len(model.graph.node) > 1 else model.graph)
        inputs = tuple(node_cases.as_value(each) for each in data)
        base = Case(name, b"", opsets, model.ir_version, inputs)
        made = with_inputs(base, graph, inputs, name)
        yield Case(
            name,
            made.graph_bytes,
            opsets,
            model.ir_version,
            inputs,
            tuple(node_cases.as_value(each) for each in expected),
            case.rtol,
            case.atol,
        )


def _known_dtypes(op: OperatorDef, outputs: int, given: Sequence[DType]) -> Iterator[DType]:
    """The element type of each output, before those of the inputs are looked at."""
    for place in range(outputs):
        types = op.outputs[min(place, len(op.outputs) - 1)].types
        only = next(iter(types)) if len(types) == 1 else ""
        fixed = DType.from_onnx_name(only.removeprefix("tensor(").removesuffix(")"))
        yield given[place] if place < len(given) else fixed or DType.FLOAT


def node_case(
    title: str,
    name: str,
    version: int,
    inputs: Sequence[Value],
    attributes: Mapping[str, Value],
    outputs: int = 1,
    expected: tuple[Value, ...] | None = None,
    dtypes: Sequence[DType] = (),
) -> Case:
    """The case of one call of an operator of ONNX; None among the inputs is a hole.

    `dtypes` are those of outputs that neither the inputs nor the operator's definition say; FLOAT unless given.
    """
    names = [f"x{k}" if each is not None else "" for k, each in enumerate(inputs)]
    given = [(x, each) for x, each in zip(names, inputs, strict=True) if x]
    node = onnx.NodeProto(op_type=name, input=names, output=[f"y{k}" for k in range(outputs)])
    op = registry.find("", name, version)
    assert op is not None, name
    for key, value in attributes.items():
        kind = onnx.AttributeProto.AttributeType.Value(op.attributes[key].type.name)
        node.attribute.append(onnx.helper.make_attribute(key, value, attr_type=kind))
    results = [
        onnx.helper.make_value_info(y, onnx.helper.make_tensor_type_proto(int(dtype), None))
        for y, dtype in zip(node.output, _known_dtypes(op, outputs, dtypes), strict=True)
    ]
    ports = [onnx.helper.make_value_info(x, tensor_type(each)) for x, each in given]
    graph = onnx.helper.make_graph([node], "case", ports, results)
    base = Case(title, b"", (("", version),), 10, ())
    made = with_inputs(base, graph, tuple(each for _, each in given), title)
    return replace(made, expected=expected)
