"""Changed nodes in the order of the model, each with the nodes beside it, as texts that people compare are shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from onnxsmith.diffing.change import Change
from onnxsmith.diffing.wording import described_node
from onnxsmith.inspection import Nodes

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
