"""`model.rename(...)`: other names for values, inputs, outputs and nodes; nothing else changes."""

from __future__ import annotations

from onnxsmith.errors import CallError
from onnxsmith.graphs import trained_parameters
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.passes.surgery.holding import finished, read
from onnxsmith.passes.surgery.naming import (
    NewNames,
    check_unique,
    new_names,
    node_names,
    rename_nodes,
    rename_values,
    value_names,
)


@model_boundary
def rename(
    model: ModelLike,
    values: NewNames | None = None,
    *,
    inputs: NewNames | None = None,
    outputs: NewNames | None = None,
    nodes: NewNames | None = None,
    prefix: str | None = None,
) -> Model:
    """The model with other names: for its values (weights, inputs and outputs included), its inputs, outputs or nodes.

    New names are a mapping from old ones, where `*` stands for any text (`{"layer.*": "block.*"}`), or a function that
    makes the new one of the old. `prefix` goes in front of all names of values and nodes that get no other. Names in
    nested graphs are those of values, too; those in functions are the functions' own.

    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a: op.Relu(a), FLOAT["N"])
    >>> model.rename({"a": "image"}, outputs={"*": "positive"})
    Model(image: FLOAT['N']) -> positive: FLOAT['N'], 1 node, opset 21
    >>> model.rename(prefix="first.")
    Model(first.a: FLOAT['N']) -> first.relu: FLOAT['N'], 1 node, opset 21
    """
    model = model_of(model, "rename")
    if values is None and inputs is None and outputs is None and nodes is None and not prefix:
        raise CallError(
            "rename was told no names",
            help='model.rename({"old": "new"}), or with inputs, outputs, nodes or prefix',
        )
    held = read(model).copy()
    graph = held.graph
    of_values, of_nodes = value_names(graph), node_names(graph)
    new = {name: f"{prefix}{name}" for name in of_values} if prefix else {}
    if values is not None:
        new.update(new_names(values, of_values, "value", "values"))
    ports = (("input", inputs, graph.inputs), ("output", outputs, graph.outputs))
    for kind, given, these in ports:
        if given is not None:
            new.update(new_names(given, [each.name for each in these if each.name], kind, f"{kind}s"))
    new_nodes = {name: f"{prefix}{name}" for name in of_nodes} if prefix else {}
    if nodes is not None:
        new_nodes.update(new_names(nodes, of_nodes, "node", "nodes"))
    check_unique(of_values, new, "value")
    check_unique(of_nodes, new_nodes, "node")
    rename_values(graph, new)
    trained_parameters.rename(held.ir.metadata_props, new)
    rename_nodes(graph, new_nodes)
    held.special = {new.get(name, name): kind for name, kind in held.special.items()}
    return finished(held)
