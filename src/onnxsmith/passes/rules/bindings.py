"""The parts of a pattern in a model while it is looked for, and the observer of the search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import onnx_ir as ir

from onnxsmith.passes.rules.pattern import PatternNode, PatternValue
from onnxsmith.types.value_types import Dimension


@dataclass(slots=True)
class Bindings:
    """The parts of a pattern in a model."""

    nodes: dict[PatternNode, ir.Node] = field(default_factory=dict[PatternNode, ir.Node])
    tensors: dict[str, ir.Value] = field(default_factory=dict[str, ir.Value])
    rest: dict[str, tuple[ir.Value, ...]] = field(default_factory=dict[str, "tuple[ir.Value, ...]"])
    captured: dict[str, object] = field(default_factory=dict[str, object])
    #: The sizes of the dimensions that annotations name.
    sizes: dict[str, Dimension] = field(default_factory=dict[str, Dimension])


#: A part of a pattern that something can be wrong with.
Part: TypeAlias = PatternNode | PatternValue


class Watcher(Protocol):
    """Who wants to know how far a search got."""

    def fits(self, part: Part, value: ir.Value | None) -> None:
        """A part was found."""
        ...

    def fails(self, part: Part, reason: str, found: Bindings) -> None:
        """A part does not fit, for a reason, after what was found."""
        ...


def labelled(node: ir.Node) -> str:
    """A node as messages name it."""
    called = node.name or ", ".join(each.name or "" for each in node.outputs)
    return f"{node.op_type} '{called}'"


def shown(value: ir.Value | None) -> str:
    """A value as messages name it."""
    return "an input that is left out" if value is None else f"'{value.name}'"
