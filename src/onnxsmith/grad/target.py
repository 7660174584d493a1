"""The graph that a gradient is recorded in: nodes say which node of the given model they are made for.

What is on the stack while it is recorded is a rule of ours, so that no place is looked for there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import onnx_ir as ir

from onnxsmith.core.recording import RecordedFunction
from onnxsmith.core.value import Value
from onnxsmith.graphs.builder import GraphTarget
from onnxsmith.graphs.opsets import OpsetVersions
from onnxsmith.graphs.origins import SOURCE_KEY, SOURCES_KEY
from onnxsmith.graphs.program import Program
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.inference.known import Known

#: Metadata of a node that computes a part of a gradient: the name of the node that it is the gradient of.
GRADIENT_OF = "onnxsmith.gradient_of"
#: The domain of functions that say how they are differentiated.
DOMAIN = "onnxsmith.grad"


class Origin:
    """The node of the given model that nodes are being made for: one for a graph and all graphs inside it."""

    __slots__ = ("_backward", "_forward", "_node")

    def __init__(self) -> None:
        self._node: ir.Node | None = None
        self._forward: Mapping[str, str] = {}
        self._backward: Mapping[str, str] | None = None

    def set(self, node: ir.Node | None, *, is_backward: bool) -> None:
        """From now on nodes are made for this one: it again, or a part of its gradient."""
        self._node = node
        self._forward = {} if node is None else node.metadata_props
        self._backward = {} if node is None and is_backward else None
        if node is not None and is_backward:
            places = {key: self._forward[key] for key in (SOURCE_KEY, SOURCES_KEY) if key in self._forward}
            self._backward = {**places, GRADIENT_OF: node.name or node.op_type}

    @property
    def metadata(self) -> Mapping[str, str]:
        """What a node that is made now says."""
        return self._forward if self._backward is None else self._backward


class GradientTarget(GraphTarget):
    """A graph target whose nodes carry the metadata of the nodes that they stand for."""

    def __init__(self, program: Program, parent: GradientTarget | None = None) -> None:
        super().__init__(program, parent)
        self.origin: Origin = Origin() if parent is None else parent.origin

    def subgraph(self) -> GradientTarget:
        return GradientTarget(self.program, self)

    def place(self) -> None:
        return None

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
        self.nodes[-1].metadata = self.origin.metadata
        return results

    def call_function(
        self,
        function: RecordedFunction,
        inputs: Sequence[Value | None],
        attributes: Mapping[str, Any],
        outputs: Sequence[Known],
    ) -> tuple[Value, ...]:
        results = super().call_function(function, inputs, attributes, outputs)
        self.nodes[-1].metadata = self.origin.metadata
        return results


def new_target(version: int) -> GradientTarget:
    """An empty model of an opset version."""
    return GradientTarget(Program("model", OpsetVersions(version, is_fixed=True)))
