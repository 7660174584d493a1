"""A variable that is None on some paths and a tensor on the others, where only the model knows which was taken.

The model has a truth value beside the tensor. Asking `best is None` reads it; where the answer is known, in a branch
on it, the variable is what it then must be. Anywhere else reading it is a mistake: Python would have had None there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

import numpy as np

from onnxsmith.core.operands import operators_for
from onnxsmith.core.semantics.number import Number, kind_of, number
from onnxsmith.core.sequence import TensorOptional
from onnxsmith.core.target import recorded
from onnxsmith.core.value import TensorValue, Value
from onnxsmith.core.value_containers import Carrier
from onnxsmith.scripting.staging.script_values import Held, Marker, TakenApart
from onnxsmith.scripting.staging.truth import Negation


class Undecided(Marker):
    """Stands for one of two things; where a truth value of the model is known, it may be known which."""

    __slots__ = ()

    def known_under(self, condition: Value) -> bool | None:
        """True if it is there where a condition is true; None where the condition does not tell."""
        raise NotImplementedError

    def given(self, is_there: bool) -> Held:
        """The value where it is known to be there, or what stands in its place where it is not."""
        raise NotImplementedError


class Perhaps(Undecided):
    """None, or a value: which one, the model knows."""

    __slots__ = ("_absent", "is_there", "value")

    def __init__(self, is_there: Held, value: Held) -> None:
        #: A truth value: of the model, or known.
        self.is_there = is_there
        #: A tensor, a number, or a tuple of them; nobody reads it where it is not there.
        self.value = value
        self._absent: Number | bool | None = None

    @property
    def is_none(self) -> Number | bool:
        """The opposite of `is_there`, the same value each time."""
        flag = self.is_there
        if self._absent is None:
            if isinstance(flag, bool):
                self._absent = not flag
            elif isinstance(flag, Negation):
                self._absent = Number(flag.opposite, "bool")
            else:
                self._absent = Negation(cast(TensorValue, recorded(cast(Value, flag))))
        return self._absent

    def known_under(self, condition: Value) -> bool | None:
        """True if it is there where a condition is true; None where the condition does not tell."""
        for flag, is_there in ((self.is_there, True), (self.is_none, False)):
            made = (
                flag.made
                if isinstance(flag, Negation)
                else [recorded(flag)]
                if isinstance(flag, Value)
                else []
            )
            if any(each is condition for each in made):
                return is_there
        return None

    def given(self, is_there: bool) -> Held:
        """The value where it is known to be there, or what stands in its place where it is not."""
        return self.value if is_there else None


#: A truth value of the model, and what it is known to be.
Fact: TypeAlias = tuple[Value, bool]


def refined(variables: Mapping[str, Held], facts: Sequence[Fact]) -> dict[str, Held]:
    """Variables where facts are known: those of which they decide whether they are None are so, or are not."""
    result = dict(variables)
    for name, value in variables.items():
        if isinstance(value, Undecided):
            for condition, is_true in facts:
                is_there = value.known_under(condition)
                if is_there is not None:
                    result[name] = value.given(is_there is is_true)
                    break
    return result


class Implications:
    """Conclusions from truth values that `and` and `or` have made of others."""

    __slots__ = ("_known", "_optionals")

    def __init__(self) -> None:
        # By the id of a value, which the entry keeps alive.
        self._known: dict[int, tuple[Value, dict[bool, list[Fact]]]] = {}
        #: By the id of a truth value that says whether an optional of the model is there: both.
        self._optionals: dict[int, tuple[Value, Value]] = {}

    def note(self, result: Held, condition: Value, then: Held, otherwise: Held) -> None:
        """Take note of what was chosen by a condition: where one of the two is known, it tells from the other."""
        if not isinstance(result, Value):
            return
        key, is_same = _fact(result, True)
        for known, chosen, side in ((then, otherwise, False), (otherwise, then, True)):
            if isinstance(known, bool):
                facts: list[Fact] = [(condition, side)]
                if isinstance(chosen, Value):
                    facts.append(_fact(chosen, not known))
                by_truth = self._known.setdefault(id(key), (key, {}))[1]
                by_truth.setdefault(is_same is not known, []).extend(facts)

    def note_opposite(self, result: Value, value: Value) -> None:
        """Take note of what `not` has made of a truth value."""
        key, is_same = _fact(result, True)
        by_truth = self._known.setdefault(id(key), (key, {}))[1]
        for is_true in (True, False):
            by_truth.setdefault(is_true is is_same, []).append(_fact(value, not is_true))

    def note_optional(self, is_there: Value, is_none: Value, value: Value) -> None:
        """Take note of truth values that say whether an optional of the model is there."""
        self.note_opposite(is_none, is_there)
        self._optionals[id(recorded(is_there))] = (recorded(is_there), recorded(value))

    def there(self, facts: Sequence[Fact]) -> dict[int, bool]:
        """By the id of an optional of the model, whether it is there where facts are known."""
        known = ((self._optionals.get(id(value)), is_true) for value, is_true in facts)
        return {id(entry[1]): is_true for entry, is_true in known if entry is not None}

    def of(self, condition: Value, *, is_true: bool) -> list[Fact]:
        """All that is known where a condition is true, or false."""
        found: dict[tuple[int, bool], Fact] = {}
        waiting: list[Fact] = [(condition, is_true)]
        while waiting:
            fact = waiting.pop()
            value, truth = fact
            if (id(value), truth) not in found:
                found[id(value), truth] = fact
                _, known = self._known.get(id(value), (value, {}))
                waiting += known.get(truth, ())
        return list(found.values())


def _fact(value: Value, is_true: bool) -> Fact:
    """That a truth value is true, or not, as one on what was recorded: no `Not` is made for it."""
    return (value.opposite, not is_true) if isinstance(value, Negation) else (recorded(value), is_true)


def may_be_absent(value: Held) -> bool:
    """True if a value can be in the model beside None: a tensor, a number, or a tuple of them."""
    if isinstance(value, tuple):
        return all(may_be_absent(each) for each in value)
    if isinstance(value, Value | Carrier | TakenApart | np.ndarray | np.generic):
        return True
    return kind_of(value) is not None


def is_one(then: Held, otherwise: Held) -> bool:
    """True if two values, one for each path, are None on some path and a value that may be absent on another."""
    sides = [each.value if isinstance(each, Perhaps) else each for each in (then, otherwise)]
    has_none = any(each is None or isinstance(each, Perhaps) for each in (then, otherwise))
    values = [each for each in sides if each is not None]
    return has_none and bool(values) and all(map(may_be_absent, values))


def value_in(value: Held, missing: Marker) -> Held:
    """The part of a value that may be absent; `missing` stands for what None is."""
    return value.value if isinstance(value, Perhaps) else missing if value is None else value


def presence(value: Held) -> Held:
    """The truth value that says if a value is there: of an optional, the graph that is being recorded asks for it."""
    if isinstance(value, TensorOptional):
        return number(operators_for(value).OptionalHasElement(value))
    return value.is_there if isinstance(value, Perhaps) else value is not None
