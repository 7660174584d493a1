"""Arrays of numpy that a path of the model changes in place, `w += 1`, and everything else that holds them.

Eagerly such a statement changes the array itself. In the model the variable has another tensor after it, which is the
same as long as nobody else sees the array. Where another variable, a list or a view does, all of them get a
`TrackedArray` before the path begins. Where something does that cannot be given one, the path is refused. Objects from
before are found by what they hold, those that are made later by what the code says. A variable that holds one array
after the other in a loop has an array of its own in each iteration; one that somebody else may hold is locked.
"""

from __future__ import annotations

import ast
import collections
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from onnxsmith.core.value import Array
from onnxsmith.core.value_containers import Carrier
from onnxsmith.errors import MutationError
from onnxsmith.scripting.analysis.statement_order import stores
from onnxsmith.scripting.staging.array_tracking import (
    Owners,
    arrays_of,
    has_array,
    held_around,
    sharing,
    track,
)
from onnxsmith.scripting.staging.carriers import PathEnd, carriers_in
from onnxsmith.scripting.staging.loop_state import State
from onnxsmith.scripting.staging.reach import Reach
from onnxsmith.scripting.staging.script_values import Held, TensorLike
from onnxsmith.scripting.staging.structure import flatten
from onnxsmith.scripting.staging.tracked_array import VIEWS
from onnxsmith.scripting.staging.watch import is_kept_unchanged
from onnxsmith.scripting.staging.writing_helpers import written_by_calls

if TYPE_CHECKING:
    from onnxsmith.scripting.staging.frame import Frame
    from onnxsmith.scripting.staging.jumps import Stager


#: Methods that put an object into a container.
_STORING = frozenset(["append", "extend", "insert", "add", "setdefault", "update", "appendleft", "put"])


def track_arrays(stager: Stager, statement: ast.stmt) -> None:
    """Let arrays be followed that a branch or loop of the model changes in place, where others may see the change.

    A variable of a loop that alone holds its array needs none of it: it gets another tensor.
    """
    frame = stager.frame
    if frame.run.dialect.stages_all:
        return
    if not any(map(has_array, frame.variables.values())):
        return
    inside, later = looked_at(stager, statement)
    if not later:
        return
    is_loop = isinstance(statement, ast.For | ast.While)
    rebound = frozenset(stager.flow.loop_names(statement) if is_loop else ())
    replaced = [each for name in rebound for each in arrays_of(frame.variables.get(name))]
    found: list[Array] = []
    given_later: list[tuple[ast.stmt, str]] = []
    for name, value in frame.variables.items():
        if not has_array(value):
            continue
        # A variable that a loop gives this array, or another one, may hold it when it is changed after the loop.
        is_chosen = name in rebound or bool(sharing(value, replaced))
        is_given = is_loop and aliases_of(name, inside) != {name}
        statements = later if is_chosen or is_given else inside
        aliases = aliases_of(name, statements)
        changes = [each for each in statements if _is_change(frame, each, aliases)]
        if not changes:
            continue
        arrays = list(arrays_of(value))
        is_alone = (
            name in rebound
            and isinstance(value, np.ndarray)
            and aliases == {name}
            and all(isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name) for each in changes)
            and not _changes_derived(frame, name, later)
            and not any(map(is_kept_unchanged, arrays))  # a variable that a branch chose may hold it
            and _holder(stager, statement, name, arrays) is None
        )
        if not is_alone:
            found += arrays
        if is_given and name not in rebound:
            given_later += ((each, name) for each in changes if each not in inside)
    if found and not track(stager, found) and given_later:
        raise _error(stager, *given_later[0], "a variable of the loop")


def looked_at(stager: Stager, statement: ast.stmt) -> tuple[Sequence[ast.stmt], Sequence[ast.stmt]]:
    """The statements on the paths of a branch or loop, and with those after it; none where nothing changes in place."""
    order = stager.frame.analysis.facts.order
    begins = order.outermost_loop(statement).lineno
    if not order.stores_since(begins):
        return (), ()
    later = order.since(begins)
    if not isinstance(statement, ast.For | ast.While) and stager.flow.block_jumps([statement]):
        return later, later  # what follows is on the paths, too
    return order.inside(statement), later


def aliases_of(name: str, statements: Sequence[ast.stmt]) -> set[str]:
    """The variables that may get the array of a variable in some statements, in any order."""
    names, before = {name}, 0
    while len(names) > before:
        before = len(names)
        for each in statements:
            for _, targets in _aliases_made(each, names):
                names.update(targets)
    return names


def _changes_derived(frame: Frame, name: str, statements: Sequence[ast.stmt]) -> bool:
    """True if a variable is changed in place that another may share: one made of the array of a variable.

    An array that is computed from a tensor is a tensor, which nobody can share.
    """
    derived, before = {name}, 0
    while len(derived) > before:
        before = len(derived)
        for each in statements:
            if isinstance(each, ast.Assign | ast.AnnAssign | ast.For) and _mentions(each, derived):
                derived |= set(_targets(each))
    derived.discard(name)
    return any(_is_change(frame, each, derived) for each in statements)


def _mentions(statement: ast.Assign | ast.AnnAssign | ast.For, names: set[str]) -> bool:
    source = statement.iter if isinstance(statement, ast.For) else statement.value
    nodes = () if source is None else ast.walk(source)
    return any(isinstance(each, ast.Name) and each.id in names for each in nodes)


def _targets(statement: ast.Assign | ast.AnnAssign | ast.For) -> Iterator[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for each in (node for target in targets for node in ast.walk(target)):
        if isinstance(each, ast.Name):
            yield each.id


def refuse_shared(stager: Stager, statement: ast.For | ast.While, name: str, value: Held) -> None:
    """Raise MutationError if an array of a variable of a loop is changed in place, and something else holds it, too.

    From the loop on the variable holds a tensor, so that changes after it are looked for here as well.
    """
    arrays = _arrays_in(name, value)
    if not arrays:
        return
    order = stager.frame.analysis.facts.order
    statements = order.since(order.outermost_loop(statement).lineno)
    names = {each for each, held in stager.frame.variables.items() if sharing(held, arrays)} | {name}
    changed = next((each for each in statements if _is_change(stager.frame, each, names)), None)
    holder = None if changed is None else _holder(stager, statement, name, arrays)
    if changed is not None and holder is not None:
        raise _error(stager, changed, name, holder)
    later = _alias_after(stager, statement, name)
    if later is None and changed is not None and _changes_derived(stager.frame, name, statements):
        raise _error(stager, changed, name, "something that is made of it")
    if later is not None:
        alias, change = later
        raise _error(stager, change, name, "something else").also(
            stager.frame.span(alias), "it gets the array here"
        )


def _error(stager: Stager, change: ast.AST, name: str, holder: str) -> MutationError:
    return MutationError(
        f"the array of '{name}', which a loop of the model computes, is changed in place, and {holder} holds it, too",
        help=f"give the variable a new array: {name} = {name} + …; or give a copy to the other: {name}.copy()",
    ).locate(stager.frame.span(change))


def _arrays_in(name: str, value: Held) -> list[Array]:
    leaves: list[tuple[str, TensorLike]] = []
    flatten(value, name, leaves)
    return [each for _, each in leaves if isinstance(each, np.ndarray)]


# -- what holds an array before the loop -----------------------------------------------------------------


def _holder(stager: Stager, statement: ast.stmt, name: str, arrays: Sequence[Array]) -> str | None:
    """The name of a variable, here or outside, that reaches one of some arrays."""
    if any(np.may_share_memory(a, b) for k, a in enumerate(arrays) for b in arrays[:k]):
        return f"another element of '{name}'"
    frame, live = stager.frame, stager.flow.live_wherever(statement)
    held = [(each, value) for each, value in frame.variables.items() if each in live and each != name]
    return holder_among(frame, held, arrays)


def holder_among(frame: Frame, held: Sequence[tuple[str, object]], arrays: Sequence[Array]) -> str | None:
    """The name of what reaches one of some arrays: among variables, outside a function, or its caller."""
    named = frame.analysis.facts.all_names
    outside = [(each, frame.globals[each]) for each in named.variables if each in frame.globals]
    reach = Reach([*held, *outside, *held_around(frame)], ("__dict__",))
    if _reaches(Reach(frame.given.items(), ("__dict__",)), arrays) is not None:
        return "the caller"
    if reach.iterators:
        return f"'{reach.root_of(reach.iterators[0])}'"  # perhaps: nobody can see what that holds
    found = _reaches(reach, arrays)
    return None if found is None else f"'{reach.root_of(found)}'"


def _reaches(reach: Reach, arrays: Sequence[Array]) -> Array | None:
    """An array in reach that shares memory with one of some."""
    held = (cast("Array", each) for each in reach.objects if isinstance(each, np.ndarray))
    return next((each for each in held if any(np.may_share_memory(each, array) for array in arrays)), None)


# -- what gets it in the loop, or after it -----------------------------------------------------------------


def _alias_after(
    stager: Stager, statement: ast.For | ast.While, name: str
) -> tuple[ast.stmt | ast.expr, ast.stmt] | None:
    """Where the code gives the array to something else, and where it changes it afterwards."""
    order = stager.frame.analysis.facts.order
    outermost = order.outermost_loop(statement)
    names, found = {name}, list[ast.stmt | ast.expr]()
    for each in order.since(outermost.lineno):
        for place, targets in _aliases_made(each, names):
            names.update(targets)
            found.append(place)
    changes = [each for each in order.all() if _is_change(stager.frame, each, names)]
    inside = range(outermost.lineno, (outermost.end_lineno or outermost.lineno) + 1)
    for each in found:
        for change in changes:
            if change.lineno > each.lineno or (each.lineno in inside and change.lineno in inside):
                return each, change
    return None


def _is_change(frame: Frame, node: ast.stmt, names: Collection[str]) -> bool:
    """True for `w += 1`, `w[0] += 1`, `w[0] = 1`, `w.part += 1` and `bump(w)` of one of some names."""
    written = (each for where in (stores(node), written_by_calls(frame, node)) for each in where)
    return any(_root(each) in names for each in written)


def _root(target: ast.expr) -> str | None:
    """The variable that a target begins with."""
    while isinstance(target, ast.Subscript | ast.Attribute):
        target = target.value
    return target.id if isinstance(target, ast.Name) else None


def _aliases_made(
    statement: ast.stmt, names: set[str]
) -> Iterator[tuple[ast.stmt | ast.expr, Sequence[str]]]:
    """The places in a statement where something else gets an array, and the variables among them."""
    match statement:
        case ast.Assign(targets=targets, value=value) if _may_be(value, names):
            yield (
                statement,
                [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)],
            )
        case ast.AnnAssign(target=target, value=ast.expr() as value) if _may_be(value, names):
            yield statement, [target.id] if isinstance(target, ast.Name) else []
        case ast.For(target=target, iter=source) if _may_be(source, names):
            yield source, [each.id for each in ast.walk(target) if isinstance(each, ast.Name)]
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=method), args=arguments) as call):
            if method in _STORING and any(_may_be(each, names) for each in arguments):
                yield call, ()
        case _:
            pass
    for each in ast.walk(statement):
        if isinstance(each, ast.NamedExpr) and _may_be(each.value, names):
            yield each, [each.target.id]


def _may_be(expression: ast.expr, names: set[str]) -> bool:
    """True if the value of an expression may be an array of one of some names, show it, or hold it."""

    def may_be(*parts: ast.expr | None) -> bool:
        return any(each is not None and _may_be(each, names) for each in parts)

    match expression:
        case ast.Name(id=name):
            return name in names
        case ast.Subscript(value=value) | ast.Starred(value=value) | ast.NamedExpr(value=value):
            return may_be(value)
        case ast.Attribute(value=value, attr=name):
            return name in VIEWS and may_be(value)
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            return may_be(*elements)
        case ast.Dict(values=values):
            return may_be(*values)
        case ast.IfExp(body=body, orelse=orelse):
            return may_be(body, orelse)
        case ast.BoolOp(values=values):
            return may_be(*values)
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=arguments):
            return name in VIEWS and may_be(value, *arguments)
        case ast.Call(func=ast.Name(), args=arguments, keywords=keywords):
            return may_be(
                *arguments, *(each.value for each in keywords)
            )  # a helper may give what it is given
        case ast.Lambda() | ast.ListComp() | ast.GeneratorExp():
            return any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(expression))
        case _:
            return False


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
