"""The nodes of a model by address, with what a profile says of each."""

from __future__ import annotations

from onnxsmith.graphs.model import Model
from onnxsmith.inspection import nodes_of
from onnxsmith.profiling.kernel import ProfiledNode
from onnxsmith.source import Span


def nodes_by_address(model: Model) -> dict[str, ProfiledNode]:
    """Every node of a model."""
    return {
        each.address: ProfiledNode(
            each.address,
            each.operator,
            each.name,
            tuple(place for place in each.sources if isinstance(place, Span)),
            inputs=tuple(value.name for value in each.ir.inputs if value is not None and value.name),
            outputs=tuple(value.name for value in each.ir.outputs if value.name),
        )
        for each in nodes_of(model)
    }
