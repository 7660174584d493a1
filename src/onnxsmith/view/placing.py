"""Coordinates for the items of a box, for pictures; the page's `placing.js` does the same where boxes open and close.

Every item moves towards the middle of its neighbours, layer by layer, as far as the order and the gaps allow.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from onnxsmith.view.ordering import Arrangement

GAP_X, BEND_WIDTH, GAP_Y, PORT_GAP = 22.0, 10.0, 44.0, 20.0
_SWEEPS = 10


@dataclass(slots=True)
class Placement:
    """Where things are: centres, tops and heights, by item and bend."""

    x: list[float]
    y: list[float]
    heights: list[float]
    layer: list[int]
    width: float
    height: float


def place(
    arrangement: Arrangement,
    widths: Sequence[float],
    heights: Sequence[float],
    *,
    has_port_gaps: bool = False,
) -> Placement:
    """Give the items of a box their places; `widths` and `heights` are those of the items.

    With `has_port_gaps`, the first and last layer are dots on the edge of a box, and stand near the others.
    """
    layers = arrangement.layers
    total = sum(map(len, layers))
    wide = [*widths, *[BEND_WIDTH] * (total - len(widths))]
    tall = [*heights, *[0.0] * (total - len(heights))]
    layer = [0] * total
    for number, items in enumerate(layers):
        for item in items:
            layer[item] = number
    x = _spread(arrangement, wide, layer)
    left = min((x[item] - wide[item] / 2 for item in range(total)), default=0.0)
    right = max((x[item] + wide[item] / 2 for item in range(total)), default=0.0)
    y, top = [0.0] * total, 0.0
    gap = GAP_Y
    for number, items in enumerate(layers):
        height = max((tall[item] for item in items), default=0.0)
        for item in items:
            if item < arrangement.count:
                y[item] = top + (height - tall[item]) / 2
            else:
                y[item], tall[item] = top, height
        is_edge = has_port_gaps and (number == 0 or number == len(layers) - 2)
        gap = PORT_GAP if is_edge else GAP_Y
        top += height + gap
    return Placement([each - left for each in x], y, tall, layer, right - left, max(0.0, top - gap))


def _spread(arrangement: Arrangement, widths: Sequence[float], layer: Sequence[int]) -> list[float]:
    total = len(widths)
    up: list[list[int]] = [[] for _ in range(total)]
    down: list[list[int]] = [[] for _ in range(total)]
    for _, a, b in arrangement.segments:
        if layer[a] != layer[b]:
            upper, lower = (a, b) if layer[a] < layer[b] else (b, a)
            down[upper].append(lower)
            up[lower].append(upper)
    x = [0.0] * total
    for items in arrangement.layers:
        at = 0.0
        for item in items:
            x[item] = at + widths[item] / 2
            at += widths[item] + GAP_X
        for item in items:
            x[item] -= at / 2
    for sweep in range(_SWEEPS):
        is_downward, is_last = sweep % 2 == 0, sweep >= _SWEEPS - 2
        for items in arrangement.layers if is_downward else reversed(arrangement.layers):
            wishes = [_wished(item, x, up, down, is_downward, is_last, arrangement.count) for item in items]
            _settle(items, x, widths, wishes)
    for items in arrangement.layers:
        _straighten(items, x, widths, up, down)
    for items in reversed(arrangement.layers):
        _straighten(items, x, widths, down, up)
    return x


def _straighten(
    items: Sequence[int],
    x: list[float],
    widths: Sequence[float],
    before: Sequence[Sequence[int]],
    after: Sequence[Sequence[int]],
) -> None:
    """Put each item under its only neighbour before it, if it is that one's only neighbour too, where there is room."""
    for position, item in enumerate(items):
        if len(before[item]) != 1 or len(after[before[item][0]]) != 1:
            continue
        wish = x[before[item][0]]
        if position + 1 < len(items):
            other = items[position + 1]
            wish = min(wish, x[other] - (widths[other] + widths[item]) / 2 - GAP_X)
        if position:
            other = items[position - 1]
            wish = max(wish, x[other] + (widths[other] + widths[item]) / 2 + GAP_X)
        x[item] = wish


def _wished(
    item: int,
    x: Sequence[float],
    up: Sequence[Sequence[int]],
    down: Sequence[Sequence[int]],
    is_downward: bool,
    is_last: bool,
    count: int,
) -> tuple[float, float]:
    """Where an item would stand, and how much that counts: bends move least, so that long lines stay straight."""
    near, other = (up[item], down[item]) if is_downward else (down[item], up[item])
    if is_last and near and item < count:
        near = [*up[item], *down[item]]
    if not near and (is_last or item >= count):
        near = other
    if not near:
        return x[item], 0.1
    places = sorted(x[each] for each in near)
    middle = (places[(len(places) - 1) // 2] + places[len(places) // 2]) / 2
    if item < count:
        return middle, float(len(near))
    return middle, 8.0 if any(each >= count for each in near) else 3.0


def _settle(
    items: Sequence[int],
    x: list[float],
    widths: Sequence[float],
    wishes: Sequence[tuple[float, float]],
) -> None:
    """Least squares with least distances: neighbours that want to pass each other become one block."""
    offsets = [0.0]
    for one, other in itertools.pairwise(items):
        offsets.append(offsets[-1] + (widths[one] + widths[other]) / 2 + GAP_X)
    blocks: list[tuple[float, float, int]] = []
    for offset, (target, weight) in zip(offsets, wishes, strict=True):
        place, count = target - offset, 1
        while blocks and blocks[-1][0] > place:
            before, heavier, more = blocks.pop()
            place = (before * heavier + place * weight) / (heavier + weight)
            weight, count = weight + heavier, count + more
        blocks.append((place, weight, count))
    number = 0
    for place, _, count in blocks:
        for _ in range(count):
            x[items[number]] = place + offsets[number]
            number += 1
