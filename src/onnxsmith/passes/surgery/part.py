"""A part of a model as a model: some of its nodes, between values that become inputs and outputs.

The given model is read only, and costs nothing but what the part holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import cast

import onnx_ir as ir

from onnxsmith.graphs import trained_parameters
from onnxsmith.graphs.ir_types import type_to_ir
from onnxsmith.graphs.names import Names
from onnxsmith.graphs.notes import QUANTIZATION_KEY, notes_of
from onnxsmith.graphs.rewriting.scopes import called_functions, graphs_of, inner_nodes, values_read
from onnxsmith.passes.surgery.holding import ModelContent, is_special, optional_inputs
from onnxsmith.passes.surgery.naming import value_names
from onnxsmith.types.value_types import AnyValueType


def part_of(
    held: ModelContent,
    inputs: Sequence[ir.Value],
    outputs: Sequence[ir.Value],
    nodes: Collection[ir.Node],
    types: Mapping[ir.Value, AnyValueType],
) -> ModelContent:
    """A new model of these nodes; `inputs` are read from outside, `types` are those of ports that declare none.

    Initializers stay initializers, and inputs with a default stay those, where something reads them.
    """
    graph = held.graph
    own = [node for node in graph if node in nodes]
    read = {value for node in own for value in values_read(node)} | set(outputs)
    is_port = set(inputs)
    optional = [each for each in optional_inputs(graph) if each in read and each not in is_port]
    defaults = {each for each in optional_inputs(graph) if each in is_port}
    quantising = set(_quantising((*inputs, *read)))
    initializers = [
        value
        for name, value in graph.initializers.items()
        if (value in read and value not in is_port) or value in defaults or name in quantising
    ]
    view = ir.GraphView(
        [*inputs, *optional],
        outputs,
        nodes=own,
        initializers=initializers,
        doc_string=graph.doc_string,
        opset_imports=graph.opset_imports,
        name=graph.name,
        metadata_props=graph.metadata_props,
    )
    made = view.clone()
    called = called_functions(
        [each for node in own for each in (node, *inner_nodes(node))], held.ir.functions
    )
    functions = [each.clone() for key, each in held.ir.functions.items() if key in called]
    for old, new in zip(inputs, made.inputs, strict=False):
        if old not in defaults:
            new.const_value = None
    _read_inputs(own, made, inputs)
    for old, new in (*zip(inputs, made.inputs, strict=False), *zip(outputs, made.outputs, strict=True)):
        if old in types:
            new.type, new.shape = type_to_ir(types[old])
    special = {(each.name or ""): kind for each, kind in types.items() if is_special(kind)}
    return ModelContent(_around(held.ir, made, functions), {**held.special, **special})


def _quantising(values: Sequence[ir.Value]) -> Iterator[str]:
    """The names of tensors that say how values are quantised."""
    for value in values:
        yield from cast("dict[str, str]", notes_of(value).get(QUANTIZATION_KEY) or {}).values()


def _read_inputs(own: Sequence[ir.Node], made: ir.Graph, inputs: Sequence[ir.Value]) -> None:
    """Where a node still makes a value that is an input now, because another output of it is needed: read the input."""
    position = {value: k for k, value in enumerate(inputs)}
    replaced: dict[ir.Value, ir.Value] = {}
    for old, new in zip(own, made, strict=True):
        for before, after in zip(old.outputs, new.outputs, strict=True):
            if before in position:
                replaced[after] = made.inputs[position[before]]
    if not replaced:
        return
    replace_values(made, replaced)
    names = Names()
    names.reserve(value_names(made))
    for value in replaced:
        value.name = names.unique(f"{value.name}_made")


def replace_values(graph: ir.Graph, new: Mapping[ir.Value, ir.Value]) -> None:
    """Let everything in a graph, and in those inside it, read other values; in place."""
    for node in graph.all_nodes():
        for position, value in enumerate(node.inputs):
            if value is not None and value in new:
                node.replace_input_with(position, new[value])
    for each in graphs_of(graph):
        for position, value in enumerate(each.outputs):
            if value in new:
                each.outputs[position] = new[value]


def _around(model: ir.Model, graph: ir.Graph, functions: Sequence[ir.Function]) -> ir.Model:
    """A model of another graph, with all else that a model says."""
    made = ir.Model(
        graph,
        ir_version=model.ir_version,
        producer_name=model.producer_name,
        producer_version=model.producer_version,
        domain=model.domain,
        model_version=model.model_version,
        doc_string=model.doc_string,
        functions=functions,
        metadata_props=dict(model.metadata_props),
    )
    trained_parameters.limit(
        made.metadata_props, graph.initializers, [each.name for each in graph.outputs if each.name]
    )
    if hasattr(model, "device_configurations"):  # since onnx-ir 1.0
        made.device_configurations = model.device_configurations
    return made
