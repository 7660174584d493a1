"""Reads a graph of the given model: the values of its names, and the attributes of its nodes.

Nothing is recorded here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import onnx_ir as ir

from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value


@dataclass(slots=True, eq=False)
class Frame:
    """The values of the names of one graph: a function's body starts without any, a branch sees those around it."""

    values: dict[ir.Value, Value] = field(default_factory=dict[ir.Value, Value])
    #: What the graph around it knows, for the body of a branch or loop.
    around: Frame | None = None
    #: The attributes that a function is called with.
    attributes: Mapping[str, ir.Attr] = field(default_factory=dict[str, ir.Attr])
    #: The node of the given model whose function or definition this is the body of.
    called: ir.Node | None = None
    #: Whether names of values and nodes are the model's own; what is dissolved gets new ones.
    is_named: bool = False
    #: The key that random numbers are made of in a graph that is recorded several times; see `draws`.
    key: tuple[Tensor, Tensor] | None = None

    def find(self, value: ir.Value) -> Value | None:
        """The value that a value of the model stands for, here or in a graph around."""
        here: Frame | None = self
        while here is not None:
            found = here.values.get(value)
            if found is not None:
                return found
            here = here.around
        return None


def is_graph(attribute: ir.Attr) -> bool:
    return attribute.type == ir.AttributeType.GRAPH
