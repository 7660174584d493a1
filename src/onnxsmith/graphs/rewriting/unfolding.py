"""How large a model is when its functions are dissolved: functions that call others twice double at every level.

Counts from the calls alone, and unfolds nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

Key = TypeVar("Key")


def unfolded_size(
    sizes: Mapping[Key, int], calls: Mapping[Key, Sequence[Key]], roots: Iterable[Key | None], most: int
) -> int | None:
    """How many nodes there are in all; None where that is more than `most`, or without end.

    `sizes` has the nodes of each function, `calls` the functions that these call, once for each call. `roots` are the
    nodes of the main graph: the function that each calls, or None.
    """
    order = callees_first(calls)
    if order is None:
        return None
    totals = dict(sizes)
    for key in order:
        totals[key] += sum(totals[each] for each in calls[key])
        if totals[key] > most:
            return None
    total = sum(1 if each is None else 1 + totals[each] for each in roots)
    return None if total > most else total


def callees_first(calls: Mapping[Key, Sequence[Key]]) -> list[Key] | None:
    """The functions in an order in which each comes after those that it calls; None where they call each other."""
    done: dict[Key, None] = {}
    for first in calls:
        path: set[Key] = set()
        stack = [first]
        while stack:
            key = stack[-1]
            if key in done:
                stack.pop()
                continue
            waiting = [each for each in calls[key] if each not in done]
            if not waiting:
                done[key] = None
                path.discard(key)
                stack.pop()
            elif key in path:
                return None
            else:
                path.add(key)
                stack.extend(dict.fromkeys(waiting))
    return list(done)
