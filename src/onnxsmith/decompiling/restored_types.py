"""The types of the values inside a rebuilt model: what inference finds, and what the tables say beyond that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import onnx_ir as ir

from onnxsmith.decompiling.inferring import look_at
from onnxsmith.decompiling.order import all_graphs
from onnxsmith.decompiling.restored_keys import is_fresh, key_of_value
from onnxsmith.decompiling.restoring import restore_notes
from onnxsmith.graphs.ir_types import type_to_ir
from onnxsmith.types.annotations import read_value_type


def restore_types(model: ir.Model, graphs: Sequence[tuple[ir.Graph, Mapping[str, Any]]]) -> None:
    """Type the values of each graph whose `value_types` ask for it; those of the others have no types.

    A type of the tables that contradicts inference, because the code was edited, is left out.
    """
    for graph, tables in graphs:
        said = tables.get("value_types")
        written = cast("Mapping[str, Any]", said if isinstance(said, Mapping) else {})
        is_function = graph is not model.graph
        if is_function:
            for value in graph.inputs:
                _declare(value, written.get(key_of_value(value) or ""))
        for value in _inner_values(graph, is_function=is_function):
            _declare(value, None if is_fresh(value) else written.get(key_of_value(value) or ""))
    if not any(tables.get("value_types") for _, tables in graphs):
        return
    findings = look_at(model)
    for graph, tables in graphs:
        if not tables.get("value_types"):
            continue
        for value in _inner_values(graph, is_function=graph is not model.graph):
            kind = findings.types.get(value)
            if kind is not None:
                value.type, value.shape = type_to_ir(kind)
                restore_notes(value, f"value {key_of_value(value)}", tables)


def _declare(value: ir.Value, annotation: Any) -> None:
    value.type, value.shape = (None, None) if annotation is None else type_to_ir(read_value_type(annotation))


def _inner_values(graph: ir.Graph, *, is_function: bool) -> Iterator[ir.Value]:
    """The values that the nodes of a graph make; outputs have types of their own, except those of functions."""
    for each in all_graphs(graph):
        said = set[ir.Value]() if is_function and each is graph else set(each.outputs)
        for node in each:
            yield from (value for value in node.outputs if value not in said)
