"""The order of items in each layer, with few crossings: barycentre sweeps, then exchanges of neighbours.

Long lines pass through the layers between as *bends*, items of no size that are put in order with the others. The
lines of one value share theirs. Where lines still cross, other layers and other orders to begin with are tried, as long
as there is `Effort` left.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from onnxsmith.view.layering import Net, Wires, assign_layers

#: Bends for each item, on average, beyond which the longest lines are cut: else a graph of values that all live to
#: its end has the square of its nodes.
_MOST_BENDS = 6
_FEWEST_BENDS = 20_000
#: The last layers before a target that its line goes alone.
_OWN_LAYERS = 4
#: Up to as many items and bends the sweeps go on as long as they help; a large graph gets a few.
_SMALL = 15_000
_POLISHING = 6
#: Two neighbours with more pairs of lines than this stay as they are.
_MOST_PAIRS = 4096


@dataclass(slots=True)
class Effort:
    """How much may still be tried for fewer crossings, in pieces of lines that are put in order: for all of a model."""

    left: int = 6_000
    #: Orders to begin with that are tried for one box at the most.
    most: int = 10


@dataclass(slots=True)
class Arrangement:
    """A box with its items in place: layers from top to bottom, each from left to right."""

    #: Items below `count`; bends are the numbers from there on.
    count: int
    layers: list[list[int]]
    #: Value, upper end, lower end of each piece of a line; where the upper stands below the other, it goes back up.
    segments: list[tuple[int, int, int]]
    #: Lines that are cut: value, source and target.
    cuts: list[tuple[int, int, int]]


def arrange(
    count: int,
    nets: Sequence[Net],
    ages: Sequence[float],
    tops: Sequence[int] = (),
    bottoms: Sequence[int] = (),
    effort: Effort | None = None,
) -> Arrangement:
    """Layers and order of the items of a box.

    >>> arrange(3, [Net(0, 0, (1, 2)), Net(1, 1, (2,))], [0, 1, 2]).layers
    [[0], [1, 3], [2]]
    """
    if not count:
        return Arrangement(0, [], [], [])
    wires = Wires(count, nets)
    found: list[_Try] = []
    for moves_all in (False, True):
        layer = assign_layers(wires, ages, tops, bottoms, moves_all=moves_all)
        kept, cuts = _kept(nets, layer, count)
        segments = _with_bends(kept, layer, count)
        sweeper = _Sweeper(count, layer, segments, ages)
        found.append(_Try(*sweeper.best(), sweeper, segments, cuts))
        if not found[-1].crossings or len(layer) > _SMALL:
            break
    best = min(found, key=lambda each: each.crossings)
    if best.crossings and len(best.sweeper.layer) <= _SMALL:
        best = _by_chance(best, Effort() if effort is None else effort)
    return Arrangement(count, best.layers, best.segments, best.cuts)


class _Try(NamedTuple):
    """An order with its crossings, and what it is an order of."""

    layers: list[list[int]]
    crossings: int
    sweeper: _Sweeper
    segments: list[tuple[int, int, int]]
    cuts: list[tuple[int, int, int]]


def _by_chance(best: _Try, effort: Effort) -> _Try:
    """The best of what shuffled beginnings lead to: whole groups that stand on the wrong side seldom find back."""
    for seed in range(effort.most):
        if not best.crossings or effort.left < len(best.segments):
            break
        effort.left -= len(best.segments)
        layers, crossings = best.sweeper.from_chance(seed)
        if crossings < best.crossings:
            best = best._replace(layers=layers, crossings=crossings)
    return best


def _kept(
    nets: Sequence[Net], layer: Sequence[int], count: int
) -> tuple[list[Net], list[tuple[int, int, int]]]:
    """The nets without the lines that would need too many bends, and those lines."""
    spans = [max((abs(layer[each] - layer[net.source]) for each in net.targets), default=0) for net in nets]
    budget = max(_FEWEST_BENDS, _MOST_BENDS * count)
    if sum(spans) <= budget:
        return list(nets), []
    longest, used = 0, 0
    for span in sorted(spans):
        used += span
        if used > budget:
            break
        longest = span
    kept: list[Net] = []
    cuts: list[tuple[int, int, int]] = []
    for net in nets:
        start = layer[net.source]
        near = tuple(each for each in net.targets if abs(layer[each] - start) <= max(longest, 1))
        far = [each for each in net.targets if abs(layer[each] - start) > max(longest, 1)]
        cuts += [(net.value, net.source, each) for each in far]
        if near:
            kept.append(Net(net.value, net.source, near))
    return kept, cuts


def _with_bends(nets: Sequence[Net], layer: list[int], count: int) -> list[tuple[int, int, int]]:
    """The pieces of all lines, from layer to layer; the layers of the bends are added to `layer`.

    Far targets of a value share a trunk, and leave it some layers before they are reached: one line beside a whole
    model, and not one for each of its layers. Near targets have lines of their own, which cross less.
    """
    segments: list[tuple[int, int, int]] = []

    def bend(value: int, previous: int, number: int) -> int:
        layer.append(number)
        segments.append((value, previous, len(layer) - 1))
        return len(layer) - 1

    for net in nets:
        start = layer[net.source]
        targets = list(dict.fromkeys(net.targets))
        if all(layer[each] == start + 1 for each in targets):  # most of them
            segments += [(net.value, net.source, each) for each in targets]
            continue
        segments += [(net.value, net.source, each) for each in targets if layer[each] == start]
        for step in (1, -1):
            ahead = [each for each in targets if (layer[each] - start) * step > 0]
            trunk, reached = net.source, start
            # The nearest first, so that the trunk only grows.
            for target in sorted(ahead, key=lambda each: abs(layer[each] - start)):
                end = layer[target]
                while (end - reached) * step > _OWN_LAYERS:
                    reached += step
                    trunk = bend(net.value, trunk, reached)
                is_near = abs(end - start) <= _OWN_LAYERS
                previous, first = (net.source, start) if is_near else (trunk, reached)
                for number in range(first + step, end, step):
                    previous = bend(net.value, previous, number)
                segments.append((net.value, previous, target))
    return segments


class _Start(NamedTuple):
    """An order to begin with."""

    is_deep: bool
    is_downward: bool
    is_reversed: bool


_STARTS = (
    _Start(True, True, False),
    _Start(False, True, False),
    _Start(True, False, False),
    _Start(True, True, True),
    _Start(False, False, False),
)


class _Sweeper:
    """Puts the items of layers in order."""

    def __init__(
        self,
        count: int,
        layer: Sequence[int],
        segments: Sequence[tuple[int, int, int]],
        ages: Sequence[float],
    ) -> None:
        total = len(layer)
        self.up: list[list[int]] = [[] for _ in range(total)]
        self.down: list[list[int]] = [[] for _ in range(total)]
        for _, a, b in segments:
            if layer[a] == layer[b]:
                continue
            upper, lower = (a, b) if layer[a] < layer[b] else (b, a)
            self.down[upper].append(lower)
            self.up[lower].append(upper)
        self.count = count
        self.layer = layer
        self.ages = ages
        self.layers: list[list[int]] = []
        self.position = [0] * total

    def best(self) -> tuple[list[list[int]], int]:
        """The layers in the best order that is found, from one start or, of a small graph, several; its crossings."""
        found, fewest = self._from(_STARTS[0])
        if len(self.layer) <= _SMALL:
            for start in _STARTS[1:]:
                if not fewest:
                    break
                other, crossings = self._from(start)
                if crossings < fewest:
                    found, fewest = other, crossings
        return found, fewest

    def from_chance(self, seed: int) -> tuple[list[list[int]], int]:
        """The best order that sweeps reach from one that a seed decides, the same each time, and its crossings."""
        return self._from(_Start(True, seed % 2 == 0, False), Random(seed))

    def _start(self, start: _Start, chance: Random | None) -> None:
        """Depth or breadth first, in the order of the file or against it: what belongs together begins together."""
        seen = [False] * len(self.layer)
        self.layers = [[] for _ in range(max(self.layer) + 1)]
        follow = self.down if start.is_downward else self.up
        ends = self.up if start.is_downward else self.down
        roots = [item for item in range(self.count) if not ends[item]]
        roots.sort(key=lambda item: self.ages[item], reverse=start.is_reversed)
        for root in (*roots, *range(len(self.layer))):
            waiting = deque([root])
            while waiting:
                item = waiting.pop() if start.is_deep else waiting.popleft()
                if seen[item]:
                    continue
                seen[item] = True
                self.layers[self.layer[item]].append(item)
                after = follow[item] if chance is None else chance.sample(follow[item], len(follow[item]))
                waiting.extend(reversed(after) if start.is_deep != start.is_reversed else after)
        for each in self.layers:
            self._index(each)

    def _index(self, items: Sequence[int]) -> None:
        position = self.position
        for number, item in enumerate(items):
            position[item] = number

    def _from(self, start: _Start, chance: Random | None = None) -> tuple[list[list[int]], int]:
        """The best order that sweeps reach from a start, and its crossings."""
        self._start(start, chance)
        is_small = len(self.position) <= _SMALL
        best, fewest = [list(each) for each in self.layers], self._crossings()
        worse = 0
        for turn in range(60 if is_small else 6):
            if not fewest or worse > (10 if is_small else 2):
                break
            self._sweep(downward=turn % 2 == 0, keep_ties=turn % 4 < 2)
            if is_small or turn >= 4:
                self._exchange(10 if is_small else 1, takes_ties=is_small and turn % 3 == 2)
            found = self._crossings()
            if found < fewest:
                best, fewest, worse = [list(each) for each in self.layers], found, 0
            else:
                worse += 1
        return self._polished(best, fewest) if is_small else (best, fewest)

    def _polished(self, best: list[list[int]], fewest: int) -> tuple[list[list[int]], int]:
        """The best order with a few more exchanges, from which a sweep would lead away."""
        self.layers = [list(each) for each in best]
        for each in self.layers:
            self._index(each)
        for _ in range(_POLISHING if fewest else 0):
            self._exchange(10, takes_ties=True)
            found = self._crossings()
            if found < fewest:
                best, fewest = [list(each) for each in self.layers], found
        return best, fewest

    def _sweep(self, *, downward: bool, keep_ties: bool) -> None:
        neighbours = self.up if downward else self.down
        layers = self.layers[1:] if downward else self.layers[-2::-1]
        position = self.position
        for items in layers:
            if len(items) < 2:
                continue
            if not keep_ties:
                items.reverse()
            keys: dict[int, float] = {}
            for item in items:
                near = neighbours[item]
                if not near:
                    keys[item] = position[item]
                elif len(near) == 1:
                    keys[item] = position[near[0]]
                else:
                    keys[item] = sum([position[each] for each in near]) / len(near)
            items.sort(key=keys.__getitem__)
            self._index(items)

    def _exchange(self, turns: int, *, takes_ties: bool) -> None:
        """Exchange neighbours where that gives fewer crossings, as long as it does.

        With ties, those that make no difference are exchanged once at the start: that leads out of dead ends.
        """
        position, up, down = self.position, self.up, self.down
        for turn in range(turns):
            is_better = False
            most = 1 if takes_ties and not turn else 0
            for items in self.layers:
                for k in range(len(items) - 1):
                    a, b = items[k], items[k + 1]
                    change = _crossed(up[b], up[a], position) - _crossed(up[a], up[b], position)
                    change += _crossed(down[b], down[a], position) - _crossed(down[a], down[b], position)
                    if change < most:
                        items[k], items[k + 1] = b, a
                        position[a], position[b] = k + 1, k
                        is_better = True
            if not is_better:
                return

    def _crossings(self) -> int:
        return sum(
            crossings_between(items, self.down, self.position) for items in self.layers[:-1] if len(items) > 1
        )


def crossings_between(upper: Sequence[int], down: Sequence[Sequence[int]], position: Sequence[int]) -> int:
    """How many pairs of lines cross between a layer and the one below it."""
    seen: list[int] = []
    found = 0
    for item in upper:
        ends = [position[each] for each in down[item]]
        if seen:
            found += sum([len(seen) - bisect_right(seen, end) for end in ends])
        for end in ends:
            insort(seen, end)
    return found


def _crossed(left: Sequence[int], right: Sequence[int], position: Sequence[int]) -> int:
    """How many pairs of lines cross, of two neighbours in this order."""
    if not left or not right:
        return 0
    if len(left) == 1 and len(right) == 1:
        return position[left[0]] > position[right[0]]
    if len(left) * len(right) > _MOST_PAIRS:
        return 0
    return sum([position[a] > position[b] for a in left for b in right])
