"""The nodes of a model by address, with what a profile says of each."""

from __future__ import annotations

from onnxsmith.graphs.model import Model
from onnxsmith.inspection import nodes_of
from onnxsmith.profiling.kernel import ProfiledNode


def nodes_by_address(model: Model) -> dict[str, ProfiledNode]:
    """Every node of a model."""
    return {
        each.address: ProfiledNode(each.address, each.operator, each.name, each.source)
        for each in nodes_of(model)
    }
