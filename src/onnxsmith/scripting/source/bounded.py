"""A cache that holds so much and no more: the oldest entries go first."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Bounded(Generic[K, V]):
    """Values by key, with weights whose sum stays below a limit; the newest is held in any case.

    >>> cache = Bounded[str, int](10)
    >>> cache.put("a", 1, 6); cache.put("b", 2, 6)
    >>> cache.get("a"), cache.get("b")
    (None, 2)
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: dict[K, tuple[V, int]] = {}
        self._weight = 0

    def get(self, key: K) -> V | None:
        """The value of a key, if it is still there."""
        found = self._held.get(key)
        return None if found is None else found[0]

    def put(self, key: K, value: V, weight: int) -> None:
        """Hold a value, and let go what there is no room for."""
        self._drop(key)
        self._held[key] = (value, weight)
        self._weight += weight
        while self._weight > self._limit and len(self._held) > 1:
            # Threads may be about to drop the same one.
            self._drop(next(iter(self._held.copy())))

    def _drop(self, key: K) -> None:
        found = self._held.pop(key, None)
        if found is not None:
            self._weight -= found[1]
