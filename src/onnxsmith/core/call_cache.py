"""The cache of every call that is made for its arguments: bounded, thread-safe, least recently used first out.

Operators, models, jitted functions and gradients have what they made of a call in one of these, under a key of the call
and of `CHOICE`. How it is made is not known here.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

import numpy as np

V = TypeVar("V")

#: How models run in this context (runtime, providers, threads); None where nobody chose, which is what costs least.
CHOICE: ContextVar[Hashable | None] = ContextVar("onnxsmith_choice_of_runtime", default=None)

#: True if these classes are numpy's arrays alone, whose element types, ranks and shapes are plain facts: of other
#: objects a look at them may compute something.
are_arrays: Callable[[Iterable[type]], bool] = frozenset({np.ndarray}).issuperset

_caches: weakref.WeakSet[CallCache[Any]] = weakref.WeakSet()


class CallCache(Generic[V]):
    """Least-recently-used entries are dropped once their weights are more than `limit`: each counts 1 unless told.

    The newest is kept in any case.

    >>> cache = CallCache[int](2)
    >>> for key in "abc":
    ...     cache.put(key, ord(key))
    >>> cache.get("a"), cache.get("c"), len(cache)
    (None, 99, 2)
    """

    __slots__ = ("__weakref__", "_building", "_entries", "_lock", "_surplus", "_weights", "find", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._entries: OrderedDict[Hashable, V] = OrderedDict()
        #: The weights of entries that do not count 1, and by how much they are more than their number.
        self._weights: dict[Hashable, int] = {}
        self._surplus = 0
        #: As `get`, without noting the use: for calls in which a function more is felt.
        self.find: Callable[[Hashable], V | None] = self._entries.get
        self._lock = threading.Lock()
        # One lock per key that is being made, so that two threads do not make the same session twice, and a slow
        # one holds up nobody else.
        self._building: dict[Hashable, threading.Lock] = {}
        _caches.add(self)

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable) -> V | None:
        """The entry of `key`, or None.

        Takes no lock: both calls below are single operations of the interpreter, and an entry that another
        thread drops in between is still the right one to return.
        """
        entries = self._entries
        value = entries.get(key)
        if value is not None:
            try:  # noqa: SIM105  # a context manager would double the cost of a hit
                entries.move_to_end(key)
            except KeyError:
                pass
        return value

    def put(self, key: Hashable, value: V, weight: int = 1) -> None:
        """Keep `value` under `key`; what was used longest ago goes when there are too many."""
        with self._lock:
            entries = self._entries
            self._surplus -= self._weights.pop(key, 1) - 1
            entries[key] = value
            if weight != 1:
                self._weights[key] = weight
                self._surplus += weight - 1
            while len(entries) + self._surplus > self.limit and len(entries) > 1:
                dropped, _ = entries.popitem(last=False)
                self._surplus -= self._weights.pop(dropped, 1) - 1

    def get_or_make(self, key: Hashable, make: Callable[[], V]) -> V:
        """The entry of `key`, made first if there is none, and only once even if several threads ask."""
        value = self.get(key)
        if value is not None:
            return value
        with self._lock:
            building = self._building.setdefault(key, threading.Lock())
        try:
            with building:
                value = self.find(key)
                if value is None:
                    value = make()
                    self.put(key, value)
        finally:
            with self._lock:
                self._building.pop(key, None)
        return value

    def values(self) -> list[V]:
        """All entries, those that `get` was asked for last at the end."""
        with self._lock:
            return list(self._entries.values())

    def renew_locks(self) -> None:
        """After a fork: another thread may have held the locks, and is not there to let them go."""
        self._lock = threading.Lock()
        self._building = {}

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._entries.clear()
            self._weights.clear()
            self._surplus = 0


def forget_all() -> None:
    """Forget what was made of every call: what runs it has changed for the whole process."""
    for cache in list(_caches):
        cache.clear()


def _renew_all_locks() -> None:
    for cache in list(_caches):
        cache.renew_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all_locks)
