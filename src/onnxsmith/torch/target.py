"""The graph that a PyTorch program is translated into: nodes know which part of the model they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onnxsmith.graphs.builder import SOURCE_KEY, GraphTarget
from onnxsmith.graphs.names import snake_case
from onnxsmith.graphs.program import Program
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.inference.known import Known
from onnxsmith.torch.library.operators import PortableOperators, portable_operators

#: The key of node metadata that holds the node of torch's graph. The path of the `nn.Module` is in the node's name.
NODE_KEY = "onnxsmith.fx_node"


@dataclass(slots=True)
class Origin:
    """The node of torch's graph that is being translated."""

    name: str = ""
    #: The path of the `nn.Module`, and a slash; empty at the top.
    scope: str = ""
    #: The line of the model's source, as metadata has it.
    source: str = ""


class TorchTarget(GraphTarget):
    """A graph target whose operators are portable and whose nodes are named after torch's."""

    def __init__(
        self, program: Program, parent: TorchTarget | None = None, *, origin: Origin, has_metadata: bool
    ) -> None:
        super().__init__(program, parent)
        self.origin = origin
        self.has_metadata = has_metadata

    @property
    def operators(self) -> PortableOperators:
        return portable_operators(self.program.opsets.version(""))

    def subgraph(self) -> TorchTarget:
        return TorchTarget(self.program, self, origin=self.origin, has_metadata=self.has_metadata)

    def draft(self) -> TorchTarget:
        result = self.subgraph()
        result.depth = self.depth
        return result

    def emit(
        self,
        op: OperatorDef,
        version: int | None,
        inputs: Sequence[Any],
        attributes: Mapping[str, Any],
        output_count: int,
        outputs: Sequence[Known],
    ) -> tuple[Any, ...]:
        results = super().emit(op, version, inputs, attributes, output_count, outputs)
        node = self.nodes[-1]
        origin = self.origin
        metadata = node.metadata_props
        metadata.clear()
        if self.has_metadata:
            if origin.scope:
                node.name = self.program.node_names.unique(origin.scope + snake_case(op.name))
            if origin.source:
                metadata[SOURCE_KEY] = origin.source
            if origin.name:
                metadata[NODE_KEY] = origin.name
        return results
