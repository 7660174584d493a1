"""Which of many candidate segments become calls: those that save most, as long as the graph stays without cycles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence

from onnxsmith.decompiling.grouping_structure import Segment, Wiring

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
        cyclic = _in_cycles(wiring, [*groups, *fixed])
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
        if len(free) > 1 and saving(len(free), len(free[0].nodes)) > 0 and _gives_something(wiring, free):
            groups.append(free)
            taken |= here
    return groups


def _gives_something(wiring: Wiring, members: Sequence[Segment]) -> bool:
    for each in members:
        own = set(each.nodes)
        for k in each.nodes:
            if any(wiring.is_used_outside(value, own) for value in wiring.nodes[k].outputs):
                return True
    return False


def _in_cycles(wiring: Wiring, groups: Sequence[list[Segment]]) -> set[tuple[int, ...]]:
    """The segments that lie on a cycle once each is a single node: a path leaves them and comes back."""
    owner = list(range(len(wiring.nodes)))
    segments: dict[int, Segment] = {}
    for group in groups:
        for each in group:
            name = len(owner) + len(segments)
            segments[name] = each
            for k in each.nodes:
                owner[k] = name
    following: defaultdict[int, set[int]] = defaultdict(set)
    for k, values in enumerate(wiring.uses):
        for source in map(wiring.source, values):
            if source is not None and owner[source] != owner[k]:
                following[owner[source]].add(owner[k])
    cycles = _strong_components(list(dict.fromkeys(owner)), following)
    return {segments[name].nodes for component in cycles for name in component if name in segments}


def _strong_components(nodes: Sequence[int], following: defaultdict[int, set[int]]) -> Iterator[list[int]]:
    """Tarjan's components of more than one node, without recursion."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    waiting: list[int] = []
    is_waiting: set[int] = set()
    for start in nodes:
        if start in index:
            continue
        stack = [(start, iter(sorted(following[start])))]
        index[start] = low[start] = len(index)
        waiting.append(start)
        is_waiting.add(start)
        while stack:
            here, rest = stack[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    waiting.append(other)
                    is_waiting.add(other)
                    stack.append((other, iter(sorted(following[other]))))
                    break
                if other in is_waiting:
                    low[here] = min(low[here], index[other])
            else:
                stack.pop()
                if stack:
                    low[stack[-1][0]] = min(low[stack[-1][0]], low[here])
                if low[here] == index[here]:
                    component = [waiting.pop()]
                    while component[-1] != here:
                        component.append(waiting.pop())
                    is_waiting.difference_update(component)
                    if len(component) > 1:
                        yield component
