"""Layers of the items in a box: the maker of a value stands above its users.

An item is a node, a box inside the box, or a port; it is a number here. What follows from the layers, the order in
each of them, is `ordering`'s.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Net:
    """One value inside a box: the item that gives it, and the items that take it."""

    value: int
    source: int
    targets: tuple[int, ...]


@dataclass(slots=True)
class Wires:
    """The nets of a box as lists of neighbours; each pair of neighbours once."""

    count: int
    nets: Sequence[Net]
    after: list[list[int]] = field(default_factory=list[list[int]])
    before: list[list[int]] = field(default_factory=list[list[int]])

    def __post_init__(self) -> None:
        pairs = dict.fromkeys(
            (net.source, target) for net in self.nets for target in net.targets if target != net.source
        )
        self.after = [[] for _ in range(self.count)]
        self.before = [[] for _ in range(self.count)]
        for source, target in pairs:
            self.after[source].append(target)
            self.before[target].append(source)


def sorted_items(wires: Wires, ages: Sequence[float]) -> list[int]:
    """The items so that most nets go forward: all of them, unless boxes take from each other in a circle.

    Where no item is free, the one goes next that stands first in the file, which `ages` says.
    """
    missing = [len(each) for each in wires.before]
    ready = deque(item for item in range(wires.count) if not missing[item])
    waiting = sorted(range(wires.count), key=lambda item: ages[item])
    is_done = [False] * wires.count
    result: list[int] = []
    position = 0
    while len(result) < wires.count:
        if ready:
            item = ready.popleft()
        else:
            while is_done[waiting[position]]:
                position += 1
            item = waiting[position]
        if is_done[item]:
            continue
        is_done[item] = True
        result.append(item)
        for target in wires.after[item]:
            missing[target] -= 1
            if missing[target] == 0 and not is_done[target]:
                ready.append(target)
    return result


def assign_layers(
    wires: Wires,
    ages: Sequence[float],
    tops: Sequence[int],
    bottoms: Sequence[int],
    *,
    moves_all: bool = False,
) -> list[int]:
    """The layer of each item; `tops` are all in the first one and `bottoms` in the last.

    Longest paths first. Then an item that takes fewer values than it gives moves down to the first that takes one: so
    constants and inputs stand by their users, and fewer lines run beside others. With `moves_all` the others do, too.
    """
    order = sorted_items(wires, ages)
    rank = [0] * wires.count
    for number, item in enumerate(order):
        rank[item] = number
    forward = [
        [target for target in each if rank[item] < rank[target]] for item, each in enumerate(wires.after)
    ]
    backward = [
        [source for source in each if rank[source] < rank[item]] for item, each in enumerate(wires.before)
    ]
    is_top = [False] * wires.count
    is_bottom = [False] * wires.count
    for item in tops:
        is_top[item] = True
    for item in bottoms:
        is_bottom[item] = True
    layer = [0] * wires.count
    first = 1 if tops else 0
    for item in order:
        if is_top[item]:
            continue
        layer[item] = max((layer[source] + 1 for source in backward[item]), default=first)
    for item in reversed(order):
        if is_top[item] or is_bottom[item] or not forward[item]:
            continue
        if moves_all or len(forward[item]) >= len(backward[item]):
            layer[item] = max(layer[item], min(layer[target] for target in forward[item]) - 1)
    deepest = max((layer[item] for item in order if not is_bottom[item]), default=0)
    for item in bottoms:
        layer[item] = deepest + 1
    return _without_gaps(layer)


def _without_gaps(layer: list[int]) -> list[int]:
    numbers = {old: new for new, old in enumerate(sorted(set(layer)))}
    return [numbers[each] for each in layer]
