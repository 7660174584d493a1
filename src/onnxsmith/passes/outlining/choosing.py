"""Chooses the candidate segments that become calls: those that save most, as long as the graph has no cycles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

from onnxsmith.passes.outlining.cycles import in_cycles
from onnxsmith.passes.outlining.wiring import Segment, Wiring

#: A function of fewer nodes is not easier to read than the nodes.
FEWEST_NODES = 3
#: Each round drops what would close a cycle and tries again with the rest.
_ROUNDS = 8


def choose(
    wiring: Wiring, candidates: Sequence[Segment], fixed: Sequence[list[Segment]]
) -> list[list[Segment]]:
    """Groups of isomorphic segments that can all become calls at once, besides those that are fixed already."""
    refused: set[tuple[int, ...]] = set()
    for _ in range(_ROUNDS):
        groups = _disjoint(wiring, [each for each in candidates if each.nodes not in refused], fixed)
        segments = [each.nodes for group in (*groups, *fixed) for each in group]
        cyclic = {segments[number] for number in in_cycles(wiring, segments)}
        bad = {each.nodes for group in groups for each in group if each.nodes in cyclic}
        if not bad:
            return groups
        refused |= bad
    return []


def saving(count: int, size: int) -> int:
    """How many nodes are fewer to read."""
    return (count - 1) * size - count


def _disjoint(
    wiring: Wiring, candidates: Sequence[Segment], fixed: Sequence[list[Segment]]
) -> list[list[Segment]]:
    classes: defaultdict[Hashable, list[Segment]] = defaultdict(list)
    for each in candidates:
        if len(each.nodes) >= FEWEST_NODES:
            classes[each.key].append(each)
    ranked = sorted(classes.values(), key=lambda each: -saving(len(each), len(each[0].nodes)))
    taken = {k for group in fixed for each in group for k in each.nodes}
    groups: list[list[Segment]] = []
    for members in ranked:
        if len(members) < 2:
            continue
        free: list[Segment] = []
        here: set[int] = set()
        for each in members:
            if taken.isdisjoint(each.nodes) and here.isdisjoint(each.nodes):
                free.append(each)
                here.update(each.nodes)
        is_worth_it = len(free) > 1 and saving(len(free), len(free[0].nodes)) > 0
        if is_worth_it and any(wiring.gives_something(each.nodes) for each in free):
            groups.append(free)
            taken |= here
    return groups
