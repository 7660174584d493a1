"""Parts to be cut out of a graph, each of which becomes a call of a function. Says nothing of how."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import onnx_ir as ir

from onnxsmith.graphs.module_scopes import Scope


@dataclass(eq=False, slots=True)
class Part:
    """Nodes of a graph that shall become one call of a function."""

    #: Those that are in no inner part.
    nodes: list[ir.Node]
    #: What the call is called, and what names inside the function leave out.
    scope: Scope = ()
    #: Parts of different kinds share no function, however equal they are.
    kind: str = ""
    #: Where a part cannot be one call, stretches of fewer nodes stay as they are.
    fewest: int = 1
    #: Parts that become calls inside the function.
    inner: list[Part] = field(default_factory=list["Part"])

    def all_nodes(self) -> Iterator[ir.Node]:
        """Its nodes and those of the parts inside."""
        waiting = [self]
        while waiting:
            part = waiting.pop()
            yield from part.nodes
            waiting += part.inner


def by_height(parts: Sequence[Part]) -> list[list[Part]]:
    """All parts, those without inner ones first, then those around them, and so on.

    Parts that can share a function are together: they have calls of the same functions inside.
    """
    order: list[Part] = []
    waiting = list(parts)
    while waiting:
        part = waiting.pop()
        order.append(part)
        waiting += part.inner
    heights: dict[Part, int] = {}
    rounds: list[list[Part]] = []
    for part in reversed(order):  # inner ones before those around them
        height = heights[part] = max((heights[each] + 1 for each in part.inner), default=0)
        while len(rounds) <= height:
            rounds.append([])
        rounds[height].append(part)
    return rounds
