"""Objects that variables of a loop hold in turn, such as arrays: which of them may be written to.

At the head of an iteration such a variable holds an object of its own, which stands for what it held before the loop or
at the end of the iteration before. That is right as long as nobody else holds the same. Where somebody may, the object
is *tangled*: it is read, and what is tangled with it is not written to.
"""

from __future__ import annotations

import ast
import collections
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

from onnxsmith.core.value_containers import Carrier
from onnxsmith.scripting.staging.array_tracking import Owners
from onnxsmith.scripting.staging.carriers import PathEnd, carriers_in
from onnxsmith.scripting.staging.loop_state import State
from onnxsmith.scripting.staging.script_values import Held

if TYPE_CHECKING:
    from onnxsmith.scripting.staging.jumps import Stager

_FROM_BEFORE = (
    "it may be one from before the loop, and only the model knows whether another variable holds it, too"
)
_HELD_BY_LOOP = "a variable of a loop holds it at some iteration, and only the model knows at which"


class Tangles:
    """The tangled variables of one loop, as far as they are known."""

    def __init__(self, stager: Stager, statement: ast.For | ast.While) -> None:
        self._stager = stager
        self._statement = statement
        self._variables = stager.frame.variables
        self._states: set[Hashable] = set()
        #: Objects from before the loop.
        self._owners: dict[int, Carrier] = {}
        self._heads: list[tuple[State, Carrier]] = []

    def begin(self, states: Sequence[State]) -> None:
        """Before an iteration is staged: look at what the variables hold before the loop."""
        self._heads.clear()
        open_states = [each for each in states if each.is_open]
        if not open_states:
            return
        replaced = {each.name for each in open_states if each.cell is None}
        held = {name: value for name, value in self._variables.items() if name not in replaced}
        owners = Owners(self._stager, self._statement, held)
        counts = _counted(carriers_in(each.start) for each in open_states)
        for state in open_states:
            for each in carriers_in(state.start):
                if counts[id(each.owner)] > 1 or state.cell is not None or not owners.is_alone(each):
                    self._tangle(state, each.owner)
        self._lock_owners()

    def take_head(self, state: State, value: Held) -> None:
        """Take the objects that a variable holds at the head of an iteration."""
        for each in carriers_in(value):
            self._heads.append((state, each))
            if _key(state) in self._states:
                each.keep_unchanged(_FROM_BEFORE)

    def end(self, states: Sequence[State], results: Sequence[Held], end: PathEnd) -> bool:
        """After an iteration: look at what it leaves; whether it has written to something that it may not write to."""
        left = [(state, list(carriers_in(result))) for state, result in zip(states, results, strict=True)]
        left = [(state, carriers) for state, carriers in left if state.is_open]
        counts = _counted(carriers for _, carriers in left)
        known_states, known_owners = set(self._states), set(self._owners)
        for state, carriers in left:
            for each in carriers:
                owner = each.owner
                if owner.born < end.start:
                    self._tangle(state, owner)
                elif owner is not each or counts[id(owner)] > 1:
                    self._states.add(_key(state))
        new = self._states - known_states
        is_head_written = any(_key(state) in new and head.version > head.born for state, head in self._heads)
        is_owner_written = any(key in end.written for key in self._owners if key not in known_owners)
        return is_head_written or is_owner_written

    def after(self, state: State, value: Held) -> None:
        """After the loop: what a variable holds may be tangled."""
        if _key(state) in self._states:
            for each in carriers_in(value):
                each.keep_unchanged(_HELD_BY_LOOP)
        self._lock_owners()

    def _tangle(self, state: State, owner: Carrier) -> None:
        self._states.add(_key(state))
        self._owners[id(owner)] = owner

    def _lock_owners(self) -> None:
        for each in self._owners.values():
            each.keep_unchanged(_HELD_BY_LOOP)


def _key(state: State) -> Hashable:
    return state.name if state.cell is None else state.cell.key


def _counted(groups: Iterable[Iterable[Carrier]]) -> collections.Counter[int]:
    """How often each owner of some objects is one."""
    return collections.Counter(id(each.owner) for group in groups for each in group)
