"""Segments that cannot be one call, because what is computed between their nodes would wait for itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from onnxsmith.passes.outlining.wiring import Wiring


def in_cycles(wiring: Wiring, segments: Sequence[Iterable[int]]) -> set[int]:
    """The segments that lie on a cycle once each is a single node: a path leaves them and comes back."""
    count = len(wiring.nodes)
    owner = list(range(count))
    for number, nodes in enumerate(segments):
        for k in nodes:
            owner[k] = count + number
    following: defaultdict[int, set[int]] = defaultdict(set)
    for k in range(count):
        for source in wiring.sources(k):
            if owner[source] != owner[k]:
                following[owner[source]].add(owner[k])
    components = _strong_components(list(dict.fromkeys(owner)), following)
    return {name - count for component in components for name in component if name >= count}


def without_cycles(wiring: Wiring, segments: Sequence[Sequence[int]]) -> list[list[Sequence[int]]]:
    """The segments, positions in order, each as it is or in several that are no cycles: stretches of nodes in a row.

    Stretches of an order in which each node stands after what it uses close no cycle, neither with each other nor with
    segments that were on none before.
    """
    cyclic = in_cycles(wiring, segments)
    return [list(_stretches(nodes)) if number in cyclic else [nodes] for number, nodes in enumerate(segments)]


def _stretches(nodes: Sequence[int]) -> Iterator[Sequence[int]]:
    start = 0
    for end in range(1, len(nodes) + 1):
        if end == len(nodes) or nodes[end] != nodes[end - 1] + 1:
            yield nodes[start:end]
            start = end


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
