"""The types that an exact body declares for its outputs: those that the user wrote, and no others."""

from __future__ import annotations

from collections.abc import Sequence

from onnxsmith.graphs.records import GraphRecord, declared
from onnxsmith.schema.inference.known import Known
from onnxsmith.types.value_types import UNKNOWN_TENSOR, AnyValueType


def declare_outputs(
    graph: GraphRecord, known: Sequence[Known], types: Sequence[AnyValueType | None]
) -> tuple[Known, ...]:
    """Let the outputs of an exact body have the types that it declares, and no others; give what is known of them."""
    own = set(graph.nodes)
    for value, kind in zip(graph.outputs, types, strict=True):
        if kind is not None:
            value.type = declared(kind)
        elif value.producer in own:
            value.type = None
    return tuple(
        Known(kind) if kind is not None and each.type == UNKNOWN_TENSOR else each
        for kind, each in zip(types, known, strict=True)
    )
