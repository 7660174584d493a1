"""`model.with_outputs(names)`: values inside a model as further outputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import onnx_ir as ir

from onnxsmith.errors import DuplicateNameError
from onnxsmith.graphs.ir_types import type_to_ir
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.passes.surgery.declared_types import DeclaredTypes
from onnxsmith.passes.surgery.holding import finished, read, values_by_name
from onnxsmith.passes.surgery.naming import find_value, matches, names_of, unknown
from onnxsmith.schema.inference.broadcasting import is_nothing


@model_boundary
def with_outputs(model: ModelLike, *names: str | Iterable[str]) -> Model:
    """The model with values inside it as outputs, after its own; nothing else of it changes.

    `*` in a name stands for any text: all results of nodes that match are outputs then. For a model with these outputs
    alone, and what they need, see `extract`.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a: op.Exp(op.Relu(a)), FLOAT["N"])
    >>> model.with_outputs("relu")
    Model(a: FLOAT['N']) -> exp: FLOAT['N'], relu: FLOAT['N'], 2 nodes, opset 21
    """
    model = model_of(model, "with_outputs")
    held = read(model).copy()
    graph = held.graph
    known = values_by_name(graph)
    wanted = [name for each in names for name in names_of(each, "names")]
    added = _added(graph, known, wanted)
    declared = DeclaredTypes(held)
    types = {value: declared.of(value) for value in added}
    for value, kind in types.items():
        if not is_nothing(kind) and kind != held.type_of(value):
            value.type, value.shape = type_to_ir(kind)
    graph.outputs.extend(added)
    return finished(held)


def _added(graph: ir.Graph, known: Mapping[str, ir.Value], names: Iterable[str]) -> list[ir.Value]:
    present = set(graph.outputs)
    found: dict[ir.Value, None] = {}
    made = {name: value for name, value in known.items() if value.producer() is not None}
    for name in names:
        if name in known or "*" not in name:
            value = find_value(graph, known, name, "names")
            if value in present or value in found:
                raise DuplicateNameError(f"'{name}' is an output already", help="leave it out")
            found[value] = None
            continue
        matched = matches(name, made)
        if not matched:
            raise unknown("value", name, made, "names", "no result of a node matches")
        ordered = [value for each, value in made.items() if each in matched]
        found.update(dict.fromkeys(each for each in ordered if each not in present))
    return list(found)
