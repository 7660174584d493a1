"""Objects of the user's that hold values of a graph and are none themselves, such as arrays with numpy's meaning.

Control flow that the model performs merges them, carries them from one iteration to the next, and keeps track of those
that are changed in place. All that it knows of them stands here: `Carrier` says what such an object can be asked,
`Journal` what happens to them on a path that only the model knows to be taken.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextvars import ContextVar, Token
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from onnxsmith.core.value import Array, TensorValue, Value

#: One of the values that an object holds: of the graph, or known.
Carried: TypeAlias = "Value | Array | np.generic[Any] | bool | int | float"
#: What an object holds, by the name of each part.
CarriedParts: TypeAlias = Mapping[str, Carried]

#: Why an object is not written to that may be another one.
SHARED = "only the model knows whether another variable holds the same elements"

#: Moments in the order in which they came: when an object was made, when it was written to, when a path began.
MOMENTS: Iterator[int] = itertools.count(1)


class Carrier:
    """An object that holds values of a graph. It may be replaced by another, and be changed in place.

    What it holds may be shared: an object may show the values of another, its *owner*. Only owners hold values that
    are written to; what shows them looks there.
    """

    __slots__ = ()

    @property
    def is_symbolic(self) -> bool:
        """True if some of its values exist only when the model runs."""
        raise NotImplementedError

    @property
    def described(self) -> str:
        """The words for it in errors, after "an"."""
        raise NotImplementedError

    @property
    def born(self) -> int:
        """The moment at which it was made."""
        raise NotImplementedError

    @property
    def version(self) -> int:
        """The moment at which it was last written to."""
        raise NotImplementedError

    @property
    def owner(self) -> Carrier:
        """The object whose values it shows; itself where they are its own."""
        raise NotImplementedError

    @property
    def carried(self) -> CarriedParts:
        """The values that it holds now; they may be taken from its owner in the graph that is active."""
        raise NotImplementedError

    @property
    def traits(self) -> Hashable:
        """The traits that it has besides its values."""
        raise NotImplementedError

    @classmethod
    def joined_traits(cls, first: Hashable, second: Hashable) -> Hashable:
        """The traits of an object that is one of two."""
        raise NotImplementedError

    @classmethod
    def made_of(cls, traits: Hashable, parts: CarriedParts) -> Carrier:
        """A new object with these traits and values, which shares them with none."""
        raise NotImplementedError

    def adopted(self, value: object) -> Carrier | None:
        """Another value as an object like this one, in the active graph; None where it would not be the same."""
        raise NotImplementedError

    def grown(self, items: Sequence[object]) -> Carrier | None:
        """A list of these items that only the model knows the length of, if they are all like this object.

        It has `append`, and is a carrier that is written to in place.
        """
        return None

    def rewrite(self, parts: CarriedParts) -> None:
        """Let an owner hold other values, whatever forbids the user to write to it."""
        raise NotImplementedError

    def remembered(self) -> object:
        """All that a path may change in it, to be put back later."""
        raise NotImplementedError

    def put_back(self, remembered: Any) -> None:
        """Be again as it was."""
        raise NotImplementedError

    def keep_unchanged(self, why: str) -> None:
        """Refuse from now on that the user writes to it."""
        raise NotImplementedError

    def allow_changes(self) -> None:
        """Take back what `keep_unchanged` did."""
        raise NotImplementedError

    def show_until_written(self, owner: Carrier) -> bool:
        """Refuse to be read once another object is written to, whose values it may show, or not.

        False where it cannot do that: then the other one has to be kept unchanged.
        """
        return False

    def asked_for_truth(self) -> TensorValue:
        """The tensor that is true where it is, if it can have one truth value."""
        raise NotImplementedError

    def gone_through(self) -> tuple[Any, Callable[[Any], Any]]:
        """How many elements a loop over it has, and the one at a position."""
        raise NotImplementedError

    def compared(self, item: object) -> object:
        """True if each element is equal to an item: what `item in` it asks for."""
        return self == item


class Written(NamedTuple):
    """An object from before a path that the path wrote to, and what it holds at the end of it."""

    carrier: Carrier
    parts: CarriedParts


class Journal:
    """A record of changes to objects on a path: those from before it are put back when the path ends, or fails.

    Only owners count as written; what shows them is brought up to date by itself, and put back.
    """

    def __init__(self) -> None:
        self.start = next(MOMENTS)
        self._before: dict[int, tuple[Carrier, object]] = {}
        self._refusals: list[Carrier] = []
        self._token: Token[Journal | None] | None = None
        self._outer: Journal | None = None

    def __enter__(self) -> Journal:
        self._outer = _OPEN.get()
        self._token = _OPEN.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before or self._refusals:  # else the path has ended, or changed nothing
            self.forget()
        assert self._token is not None
        _OPEN.reset(self._token)

    def note(self, carrier: Carrier) -> None:
        """Remember an object before it changes, if the path has not made it."""
        if carrier.born < self.start and id(carrier) not in self._before:
            self._before[id(carrier)] = (carrier, carrier.remembered())

    def note_refusal(self, carrier: Carrier) -> None:
        """Remember that an object refuses to be written to from now on."""
        self._refusals.append(carrier)

    @property
    def has_written(self) -> bool:
        """True if the path has written to an object from before it."""
        return any(each.owner is each and each.version > self.start for each, _ in self._before.values())

    def end(self) -> list[Written]:
        """The path ends: what it wrote to, and what that holds. All objects from before are as they were."""
        written = [
            Written(carrier, carrier.carried)
            for carrier, _ in list(self._before.values())
            if carrier.owner is carrier and carrier.version > self.start
        ]
        self._put_back()
        self._hand_over_refusals()
        return written

    def keep(self) -> None:
        """The path turns out to be one with the path around it: what happened has happened there."""
        outer = self._outer
        if outer is not None:
            for key, entry in self._before.items():
                if entry[0].born < outer.start:
                    outer._before.setdefault(key, entry)
        self._before.clear()
        self._hand_over_refusals()

    def forget(self) -> None:
        """The path has never been: all is as it was."""
        self._put_back()
        for each in self._refusals:
            each.allow_changes()
        self._refusals.clear()

    def _put_back(self) -> None:
        for carrier, before in self._before.values():
            carrier.put_back(before)
        self._before.clear()

    def _hand_over_refusals(self) -> None:
        if self._outer is not None:
            self._outer._refusals += self._refusals
        self._refusals.clear()


#: The journal of the innermost path.
_OPEN: ContextVar[Journal | None] = ContextVar("onnxsmith_journal", default=None)


def note_change(carrier: Carrier) -> None:
    """Say that an object is about to change."""
    journal = _OPEN.get()
    if journal is not None:
        journal.note(carrier)


def note_refusal(carrier: Carrier) -> None:
    """Say that an object refuses to be written to from now on."""
    journal = _OPEN.get()
    if journal is not None:
        journal.note_refusal(carrier)


class Wall:
    """A function that becomes a graph of its own, as the body of `op.Loop`: it cannot write to what is around it."""

    __slots__ = ("_token",)

    def __enter__(self) -> object:
        self._token: Token[int] = _WALL.set(next(MOMENTS))
        return self

    def __exit__(self, *_: object) -> None:
        _WALL.reset(self._token)


#: When the innermost function began that cannot write to what is around it.
_WALL: ContextVar[int] = ContextVar("onnxsmith_wall", default=0)


def is_out_of_reach(carrier: Carrier) -> bool:
    """True if an object was made outside of a function that is a graph of its own."""
    return carrier.born < _WALL.get()
