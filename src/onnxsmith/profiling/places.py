"""The nodes of a model by address, with what a profile says of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import onnx_ir as ir

from onnxsmith.claims import claimed_span
from onnxsmith.diagnostics import printable
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.notes import notes_of
from onnxsmith.graphs.origins import SOURCE_KEY, Written
from onnxsmith.profiling.kernel import ProfiledNode
from onnxsmith.source import Span


def nodes_by_address(model: Model) -> dict[str, ProfiledNode]:
    """Every node of a model."""
    called = "the model" if model.place is None else printable(model.place.name)
    found = {address: _noted(address, node, called) for address, node in _nodes(model.ir.graph, "")}
    for (domain, name, overload), function in model.ir.functions.items():
        prefix = f"{domain}::{name}" + (f":{overload}" if overload else "") + "/"
        found.update(
            (address, _noted(address, node, called)) for address, node in _nodes(function.graph, prefix)
        )
    return found


def _nodes(graph: ir.Graph, prefix: str) -> Iterator[tuple[str, ir.Node]]:
    for number, node in enumerate(graph):
        yield f"{prefix}{number}", node
        for attribute in node.attributes.values():
            inside = f"{prefix}{number}.{attribute.name}"
            if attribute.type == ir.AttributeType.GRAPH:
                yield from _nodes(cast(ir.Graph, attribute.value), f"{inside}.")
            elif attribute.type == ir.AttributeType.GRAPHS:
                for place, body in enumerate(cast("Sequence[ir.Graph]", attribute.value)):
                    yield from _nodes(body, f"{inside}[{place}].")


def _noted(address: str, node: ir.Node, called: str) -> ProfiledNode:
    operator = f"{node.domain}::{node.op_type}" if node.domain else node.op_type
    said: str | Span | None = node.metadata_props.get(SOURCE_KEY) or notes_of(node).get(SOURCE_KEY)
    source = said.span if isinstance(said, Written) else said
    return ProfiledNode(
        address,
        operator,
        node.name or "",
        claimed_span(source, called) if isinstance(source, str) else source,
    )
