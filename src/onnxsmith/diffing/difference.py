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
from onnxsmith.diffing.wording import described_node
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


# -- context ---------------------------------------------------------------------------------------------------
# Changed nodes in the order of the model, each with the nodes beside it, as texts that people compare are shown.


#: So many constants are told in one line, with so many of their addresses.
_MANY_CONSTANTS = 4
_SHOWN_PLACES = 8


def hunks(
    changes: Sequence[Change],
    every: Sequence[Change],
    pairs: Mapping[str, str],
    nodes: tuple[Nodes, Nodes],
) -> Iterator[Sequence[str]]:
    """The lines of each change; nodes beside it that are in none of `every` stand before and behind, each once."""
    ordered = _in_order(changes, pairs, nodes)
    touched = {each.after for each in every if each.after is not None}
    views = {node.address: node for node in nodes[1]}
    order = [node.address for node in nodes[1]]
    places = {address: place for place, address in enumerate(order)}
    told: set[str] = set()

    def around(place: int) -> list[str]:
        address = order[place] if 0 <= place < len(order) else None
        if address is None or address in touched or address in told:
            return []
        told.add(address)
        return [f"  {address:>4}  {described_node(views[address])}"]

    for position, (place, change) in enumerate(ordered):
        address = change.before if change.after is None else change.after
        source = f"   at {change.source}" if change.source else ""
        lines = around(place - 1)
        lines.append(f"{change.sign} {address:>4}  {change.label}{source}")
        lines += (f"          {each}" for each in change.details)
        behind = places.get(change.after or "", place - 1) + 1
        follower = ordered[position + 1][0] if position + 1 < len(ordered) else None
        if follower is None or follower > behind + 1:
            lines += around(behind)
            lines += [""] if follower is not None else []
        yield lines


def constants_apart(
    changes: Sequence[Change], nodes: tuple[Nodes, Nodes]
) -> tuple[list[str], tuple[Change, ...]]:
    """A line for all `Constant` nodes that only one model has, where they are many, and the changes that are left.

    An optimiser makes initializers of constants, and a list of those would hide what else it did.
    """
    constants = [{node.address for node in each if node.operator == "Constant"} for each in nodes]
    lines: list[str] = []
    left = tuple(changes)
    for kind, held in (("removed", constants[0]), ("added", constants[1])):
        found = [each for each in left if each.kind == kind and (each.before or each.after) in held]
        if len(found) >= _MANY_CONSTANTS:
            places = [each.before or each.after or "" for each in found]
            more = f" and {len(places) - _SHOWN_PLACES} more" if len(places) > _SHOWN_PLACES else ""
            shown = ", ".join(places[:_SHOWN_PLACES])
            lines.append(f"{found[0].sign} {len(found)} Constant nodes: {shown}{more}")
            grouped = set(map(id, found))
            left = tuple(each for each in left if id(each) not in grouped)
    return lines, left


def _in_order(
    changes: Sequence[Change], pairs: Mapping[str, str], nodes: tuple[Nodes, Nodes]
) -> list[tuple[int, Change]]:
    """Changes with their places in the second model; what was removed stands where the node before it is."""
    places = {node.address: place for place, node in enumerate(nodes[1])}
    before: dict[str, int] = {}
    last = -1
    for node in nodes[0]:
        partner = pairs.get(node.address)
        last = last if partner is None else places[partner]
        before[node.address] = last + 1
    found = [
        (before[each.before or ""] if each.after is None else places[each.after], each) for each in changes
    ]
    # What was removed comes before what stands in its place.
    return sorted(found, key=lambda each: (each[0], each[1].kind != "removed"))
