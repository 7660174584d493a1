"""The result of `diff`: the changes between two models, as text, for notebooks, for JSON and for the viewer."""

from __future__ import annotations

import html
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onnxsmith.diffing.change import THINGS, Change, ChangedThing, ChangeKind
from onnxsmith.diffing.context import constants_apart, hunks
from onnxsmith.errors import boundary
from onnxsmith.graphs.model import Model
from onnxsmith.inspection import Nodes
from onnxsmith.view import (
    Note,
    NoteKind,
    Overlay,
    Row,
    SideBySide,
    StatisticsWish,
    show_side_by_side,
)

#: How many changes of one kind of thing a text tells of, unless somebody asks for more.
_SHOWN = 40
_TITLES: dict[ChangedThing, str] = {
    "model": "model",
    "opset": "opsets",
    "input": "inputs",
    "output": "outputs",
    "function": "functions",
    "node": "nodes",
    "weight": "weights",
    "metadata": "metadata",
}

_LEGEND: dict[NoteKind, str] = {
    "added": "only in the second model",
    "removed": "only in the first model",
    "changed": "not the same in both",
}


@dataclass(frozen=True, slots=True, repr=False)
class Difference:
    """The differences between two models: false where there are none.

    `changes` has all of them; `pairs` says which node of the first model is which of the second, by address.

    >>> from onnxsmith import FLOAT, diff, opset21 as op, trace
    >>> before = trace(lambda a: op.Relu(a) * 2.0, FLOAT["N"])
    >>> after = trace(lambda a: op.Tanh(a) * 3.0, FLOAT["N"])
    >>> found = diff(before, after)
    >>> found.summary()
    'the first model -> the second model: 1 node changed, 1 weight changed'
    """

    changes: tuple[Change, ...]
    pairs: Mapping[str, str]
    #: What the two models are called.
    called: tuple[str, str]
    #: Their nodes, for what is told around a change.
    _nodes: tuple[Nodes, Nodes]
    _models: tuple[Model, Model]

    def __bool__(self) -> bool:
        return bool(self.changes)

    def __len__(self) -> int:
        return len(self.changes)

    def of(self, thing: ChangedThing, kind: ChangeKind | None = None) -> tuple[Change, ...]:
        """The changes of one kind of thing: "node", "weight", "input" and so on; and only "added" ones, say."""
        return tuple(
            each for each in self.changes if each.thing == thing and (kind is None or each.kind == kind)
        )

    def summary(self) -> str:
        """How many of what differ, in a line."""
        if not self.changes:
            return f"{self.called[0]} and {self.called[1]} do not differ"
        counts = Counter((each.thing, each.kind) for each in self.changes)
        words = [
            f"{counts[thing, kind]} {_TITLES[thing] if counts[thing, kind] > 1 else thing} {kind}"
            for thing in THINGS
            for kind in ("changed", "added", "removed")
            if counts[thing, kind]
        ]
        return f"{self.called[0]} -> {self.called[1]}: {', '.join(words)}"

    def lines(self, limit: int | None = _SHOWN) -> Iterator[str]:
        """The text of the differences, line by line: `+`, `-` and `~` begin what differs, and a blank what does not.

        Many `Constant` nodes that only one model has are one line, unless `limit` is None.
        """
        yield self.summary()
        for thing in THINGS:
            changes = self.of(thing)
            if changes:
                yield ""
                yield _TITLES[thing]
                told: Iterable[Sequence[str]] = map(_lines, changes)
                count = len(changes)
                if thing == "node":
                    groups, left = ([], changes) if limit is None else constants_apart(changes, self._nodes)
                    yield from (f"  {line}" for line in groups)
                    told, count = hunks(left, changes, self.pairs, self._nodes), len(left)
                yield from _limited(told, count, limit)

    def text(self, limit: int | None = _SHOWN) -> str:
        """The differences for people; of more than `limit` of one kind, the rest is counted."""
        return "\n".join(self.lines(limit))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<{self.summary()}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text())}</pre>"

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return {
            "differ": bool(self),
            "changes": [
                {
                    "kind": each.kind,
                    "thing": each.thing,
                    "before": each.before,
                    "after": each.after,
                    "label": each.label,
                    "details": list(each.details),
                    "source": each.source,
                    "magnitude": None
                    if each.magnitude is None
                    else {
                        "count": each.magnitude.count,
                        "size": each.magnitude.size,
                        "largest": each.magnitude.largest,
                        "scale": each.magnitude.scale,
                    },
                }
                for each in self.changes
            ],
        }

    @boundary
    def show(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        source: bool = True,
        statistics: StatisticsWish = "sample",
        overwrite: bool = False,
    ) -> Path | None:
        """Show both models beside each other, with what was added, removed and changed to step through.

        Where it goes is as for `model.show`: to a file that ends in `.html`, `.svg` or `.png`, or without a `path`
        into the notebook or the browser. `source`, `statistics` and `overwrite` mean the same, too.

        >>> import tempfile
        >>> from onnxsmith import FLOAT, diff, opset21 as op, trace
        >>> before, after = (trace(lambda a: act(a) * 2.0, FLOAT["N"]) for act in (op.Relu, op.Tanh))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     diff(before, after).show(f"{folder}/page.html").name
        'page.html'
        """
        return show_side_by_side(
            self._models,
            self.side_by_side(),
            path,
            source=source,
            statistics=statistics,
            overwrite=overwrite,
        )

    def side_by_side(self) -> SideBySide:
        """The differences as the viewer takes them: a list, pairs of nodes, and notes on the nodes of both."""
        rows = [
            Row(
                each.kind,
                _TITLES[each.thing],
                each.label,
                each.details,
                tuple(self._addresses(0, each)),
                tuple(self._addresses(1, each)),
            )
            for each in self.changes
        ]
        return SideBySide(self.summary(), self.called, self.pairs, rows, (self._overlay(0), self._overlay(1)))

    def _addresses(self, side: int, change: Change) -> Iterator[str]:
        """The nodes of one model that a change is about; of a weight those that take it."""
        place = (change.before, change.after)[side]
        if place is None:
            return
        if change.thing == "node":
            yield place
        elif change.thing == "weight":
            yield from self._users(side, place)
        elif change.thing == "function":
            for node in self._nodes[side]:
                if node.function is not None and node.function.name == place:
                    yield node.address

    def _overlay(self, side: int) -> Overlay:
        notes: dict[str, Note] = {}
        for each in self.of("node"):
            address = (each.before, each.after)[side]
            if address is not None:
                notes[address] = Note(each.kind, each.kind, "\n".join(each.details))
        for each in self.of("weight", "changed"):
            for node in self._addresses(side, each):
                notes.setdefault(node, Note("changed", "weight", f"{each.label}: {'; '.join(each.details)}"))
        return Overlay(self.summary(), notes, _LEGEND)

    def _users(self, side: int, name: str) -> Iterator[str]:
        nodes = self._nodes[side]
        value = nodes.graph.ir.initializers.get(name)
        if value is not None:
            yield from (nodes.of_ir(node).address for node, _ in value.uses())


def _lines(change: Change) -> Sequence[str]:
    first = f"{change.sign} {change.label}"
    if len(change.details) == 1 and change.thing != "node":
        return [f"{first}: {change.details[0]}"]
    return [first, *(f"      {each}" for each in change.details)]


def _limited(told: Iterable[Sequence[str]], count: int, limit: int | None) -> Iterator[str]:
    for number, lines in enumerate(told):
        if limit is not None and number >= limit:
            yield f"  and {count - number} more"
            return
        yield from (f"  {line}" for line in lines)
