"""A finished subgraph: what a control-flow operator gets as its body."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from onnxsmith.schema.inference.known import Known


@dataclass(frozen=True, slots=True)
class Body:
    """A graph attribute's graph, and what is known of its outputs."""

    graph: ir.Graph
    outputs: tuple[Known, ...]
