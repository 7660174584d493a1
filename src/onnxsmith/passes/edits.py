"""What passes did to a model: one entry for each change, with the nodes that went and the nodes that came.

Nodes are noted by their names, so that the log outlives the graphs that it tells of, and can be written to a file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from onnxsmith.graphs.origins import SOURCE_KEY


@dataclass(frozen=True, slots=True)
class NodeNote:
    """A node as the log names it."""

    operator: str
    name: str
    outputs: tuple[str, ...]
    #: The functions and bodies that it stands in, outermost first; empty for the main graph.
    path: tuple[str, ...] = ()
    #: Where it was written, as the model's metadata has it.
    source: str | None = None

    def __str__(self) -> str:
        called = self.name or ", ".join(filter(None, self.outputs))
        return f"{self.operator} '{'/'.join((*self.path, called))}'"


@dataclass(frozen=True, slots=True)
class Edit:
    """One change: which pass and which of its rules made it, and what became what.

    `after` is empty where nodes were only left out, and `value` then names what is read in their place, if anything is.
    """

    pass_name: str
    rule: str
    before: tuple[NodeNote, ...]
    after: tuple[NodeNote, ...]
    value: str | None = None

    @property
    def sources(self) -> tuple[str, ...]:
        """The places in the source that it concerns."""
        return tuple(dict.fromkeys(each.source for each in self.before if each.source))

    @property
    def change(self) -> str:
        """What became what, for people."""
        before = " + ".join(map(str, self.before))
        if self.after:
            return f"{before} -> {' + '.join(map(str, self.after))}"
        return before + (f" -> '{self.value}'" if self.value else " left out")

    def __str__(self) -> str:
        return f"{self.rule}: {self.change}"


class EditLog:
    """The changes of one run of passes, in order."""

    def __init__(self) -> None:
        self._edits: list[Edit] = []

    def add(self, edit: Edit) -> None:
        """Note a change."""
        self._edits.append(edit)

    def __len__(self) -> int:
        return len(self._edits)

    def __iter__(self) -> Iterator[Edit]:
        return iter(self._edits)

    def finished(self) -> tuple[Edit, ...]:
        """All of it."""
        return tuple(self._edits)


def counts(edits: Iterable[Edit]) -> Counter[tuple[str, str]]:
    """How often each rule of each pass changed something."""
    return Counter((each.pass_name, each.rule) for each in edits)


def noted(node: ir.Node, path: Sequence[str] = ()) -> NodeNote:
    """A node for the log, while it still is what it was."""
    operator = f"{node.domain}:{node.op_type}" if node.domain else node.op_type
    return NodeNote(
        operator,
        node.name or "",
        tuple([each.name or "" for each in node.outputs]),
        tuple(path),
        node.metadata_props.get(SOURCE_KEY),
    )
