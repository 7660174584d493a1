"""The values that go from one iteration of a loop to the next, and their types at every iteration."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from onnxsmith.context import setting
from onnxsmith.core.semantics.number import Number, NumberKind, kind_of
from onnxsmith.core.stored import Stored
from onnxsmith.core.target import current_graph
from onnxsmith.core.value import Value
from onnxsmith.core.value_containers import CarriedParts, Carrier
from onnxsmith.errors import LoopTypeError, UnassignedVariableError
from onnxsmith.schema.inference.broadcasting import Different, merge_types
from onnxsmith.scripting.staging import perhaps
from onnxsmith.scripting.staging.appended_lists import grown_names
from onnxsmith.scripting.staging.carriers import carriers_in
from onnxsmith.scripting.staging.cells import Cell
from onnxsmith.scripting.staging.merge import MISSING, NUMBER_DTYPES, Differing, Missing, Unassigned
from onnxsmith.scripting.staging.merged_tensors import help_for_optional
from onnxsmith.scripting.staging.perhaps import Perhaps
from onnxsmith.scripting.staging.script_values import Held, TensorLike
from onnxsmith.scripting.staging.structure import (
    Shell,
    Slot,
    as_carried,
    beside_text,
    flatten,
    is_same_form,
    joined,
    joined_forms,
    parts,
    rebuilt,
    traits_in,
    unflatten,
)
from onnxsmith.source import Span
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, OptionalType, SequenceType, TensorType

if TYPE_CHECKING:
    from onnxsmith.scripting.staging.jumps import Stager

#: What inner loops ask for: variables, and a carrier like those that they become.
Asked: TypeAlias = dict[str, Carrier]
_LOOPS: ContextVar[tuple[Asked, ...]] = ContextVar("onnxsmith_loops_asked", default=())


def inner_loops_ask(asked: Asked) -> AbstractContextManager[object]:
    """The body of a loop is staged in the block; what loops inside of it ask for is noted."""
    return setting(_LOOPS, (*_LOOPS.get(), asked))


def ask_around(name: str, like: Carrier) -> None:
    """Ask the loop whose body is staged now to carry a variable as a carrier."""
    loops = _LOOPS.get()
    if loops:
        loops[-1][name] = like


@dataclass(frozen=True, slots=True)
class StateLeaf:
    """One tensor or number of the state."""

    name: str
    initial: TensorLike | Missing
    type: AnyValueType
    number: NumberKind | None

    def __eq__(self, other: object) -> bool:
        """Compares types. Start values do not change, and arrays among them could not be compared."""
        return isinstance(other, StateLeaf) and (self.type, self.number) == (other.type, other.number)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class State:
    """One variable: its form (Slots in tuples and the like), and the tensors in it.

    The form is MISSING while nothing is known: the variable has no value before a loop that runs at least once.
    """

    name: str
    form: Held
    leaves: tuple[StateLeaf, ...]
    #: Where it is kept, if inner functions assign it.
    cell: Cell | None = None
    #: The object whose values it is, if it is one that is changed in place.
    carrier: Carrier | None = None
    #: Whether carriers in it are replaced by others: their values are carried then, and else the objects stay.
    is_open: bool = False
    #: What the variable holds before the loop.
    start: Held = MISSING

    def values_of(self, tensors: Sequence[Value]) -> CarriedParts:
        """The values of the object that the state stands for, when these are its tensors."""
        return dict(zip(cast(Shell, self.form).names, tensors, strict=True))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, State)
            and self.leaves == other.leaves
            and self.is_open == other.is_open
            and self._has_form(other.form)
        )

    def _has_form(self, form: Held) -> bool:
        return self.form is form or (
            is_same_form(self.form, form) and traits_in(self.form) == traits_in(form)
        )

    __hash__ = None  # type: ignore[assignment]


def carried_states(stager: Stager, statement: ast.For | ast.While, *, at_least_once: bool) -> list[State]:
    """Variables that the body assigns and that somebody reads: the next iteration, or what follows the loop."""
    flow = stager.flow
    live_after, live_in_body = flow.live_after(statement), flow.live_in_loop(statement)
    states: list[State] = []
    for name in [*flow.loop_names(statement), *grown_names(stager.frame, statement.body)]:
        if name not in live_after and name not in live_in_body:
            continue
        if _is_condition(statement, name) and current_graph().is_exact and name not in live_after:
            continue  # Loop itself carries what the test reads
        value = as_carried(stager.frame.variables.get(name, MISSING))
        for each in carriers_in(value):
            _ = each.carried  # brought up to date here, and not in an attempt that is taken back
        if isinstance(value, Stored):
            value = current_graph().lift(value)
        if isinstance(value, Differing):
            raise LoopTypeError(
                f"'{name}' is one of two Python values before the loop and is assigned in it",
                help="only tensors and numbers can change from one iteration to the next",
            ).locate(stager.frame.span(statement))
        if isinstance(value, Missing | Unassigned):
            # Only a loop that surely runs gives it a value, or one that was left by break: the `else` sees to the rest.
            if name in live_after and (at_least_once or name not in live_in_body):
                states.append(State(name, MISSING, ()))
            continue
        states.append(replace(_state(name, value), start=value))
    return states


def carrier_state(carrier: Carrier, name: str) -> State:
    """An object from before a loop that is changed in place."""
    return replace(_state(name, Shell.of(carrier, carrier.carried)), carrier=carrier)


def cell_state(cell: Cell, value: Held, *, at_least_once: bool) -> State | None:
    """A variable that inner functions assign in a loop; None for one that has a value only in an iteration."""
    if not isinstance(value, Missing | Unassigned):
        start = as_carried(value)
        return replace(_state(cell.name, start), cell=cell, start=start)
    return State(cell.name, MISSING, (), cell) if at_least_once else None


def _is_condition(statement: ast.For | ast.While, name: str) -> bool:
    return (
        isinstance(statement, ast.While)
        and isinstance(statement.test, ast.Name)
        and statement.test.id == name
    )


def _state(name: str, value: Held) -> State:
    leaves: list[tuple[str, TensorLike]] = []
    form = flatten(value, name, leaves)
    return State(name, form, tuple(_leaf(*each) for each in leaves))


def _leaf(name: str, value: TensorLike) -> StateLeaf:
    kind = kind_of(value)
    if kind is not None:
        return StateLeaf(name, value, TensorType(NUMBER_DTYPES[kind], ()), kind)
    if isinstance(value, Value):
        return StateLeaf(name, value, value.known.type, None)
    array = np.asarray(value)
    return StateLeaf(name, array, TensorType(DType.from_numpy(array.dtype), array.shape), None)


def widened(state: State, result: Held, place: Span) -> State:
    """The state whose types hold going into an iteration and coming out of it."""
    if isinstance(result, Missing):
        return state
    if isinstance(result, Unassigned):
        raise UnassignedVariableError(
            f"'{state.name}' may have no value at the end of an iteration",
            help=f"give '{state.name}' a value on every path",
        ).locate(result.span, result.reason)
    if isinstance(result, Differing):
        return _adopting(state, result, place)
    if not state.is_open and not _keeps_carriers(state, result):
        return _opened(state, result)
    if perhaps.is_one(_sample(state), result):
        state, result = _beside_none(state, result), Perhaps(True, perhaps.value_in(result, MISSING))
    after = _state(state.name, result)
    text = beside_text(state.form, result)
    if text is not state.form:
        state = replace(_state(state.name, text), cell=state.cell, start=state.start)
    if isinstance(state.form, Missing):
        # It starts from a value that nobody reads, in which open dimensions are empty.
        leaves = tuple(replace(each, initial=MISSING, type=open_shape(each.type)) for each in after.leaves)
        return replace(state, form=after.form, leaves=leaves)
    if isinstance(result, Perhaps) and result.value is MISSING:  # it is None: only the flag tells something
        first = _wider(state.leaves[0], after.leaves[0], place)
        return replace(state, leaves=(first, *state.leaves[1:]))
    if not is_same_form(state.form, after.form):
        more = _opened(state, result) if state.is_open else state
        if len(traits_in(more.form)) > len(traits_in(state.form)):
            return more  # another item has become an array
        raise LoopTypeError(
            f"'{state.name}' is {_shown(state)} before an iteration and {_shown(after)} after it",
            help="only tensors and numbers can change from one iteration to the next",
        ).locate(place)
    pairs = zip(state.leaves, after.leaves, strict=True)
    leaves = tuple(_wider(before, leaf, place) for before, leaf in pairs)
    if state.is_open or state.carrier is not None:
        for before, wider in zip(state.leaves, leaves, strict=True):
            _check_rank(before, wider, place)
    form = joined_forms(state.form, after.form)
    if (
        all(wider is before for wider, before in zip(leaves, state.leaves, strict=True))
        and form is state.form
    ):
        return state
    return replace(state, form=form, leaves=leaves)


def _adopting(state: State, result: Differing, place: Span) -> State:
    """A Python number that some iterations replace by a carrier: one like it from the start, if that is the same."""
    like = next((each for each in (result.then, result.otherwise) if isinstance(each, Carrier)), None)
    is_number = kind_of(state.start) is not None
    if like is not None and is_number and not state.is_open and like.adopted(state.start) is not None:
        return _opened(state, like)
    error = LoopTypeError(f"'{state.name}' is one of two Python values at the end of an iteration")
    if like is not None and is_number:
        ask_around(state.name, like)
        kind = f"Python {kind_of(state.start)}"
        error = LoopTypeError(
            f"'{state.name}' is a {kind} or an {like.described} at the end of an iteration, and only the model "
            "knows which",
            help=f"start with a number of the array's element type: {state.name} = x[0], "
            f"{state.name} = x.dtype.type(…)",
        )
    raise error.locate(place)


def granted(states: Sequence[State], asked: Asked) -> list[State] | None:
    """The states with starts that inner loops ask for; None where no start can be another.

    A start that an outer loop carries is its business: that one is asked.
    """
    found = list(states)
    for position, state in enumerate(states):
        like = None if state.is_open or kind_of(state.start) is None else asked.pop(state.name, None)
        if like is None:
            continue
        if like.adopted(state.start) is not None:
            found[position] = _opened(state, like)
        elif isinstance(state.start, Number):
            ask_around(state.name, like)
    return None if all(new is old for new, old in zip(found, states, strict=True)) else found


def _keeps_carriers(state: State, result: Held) -> bool:
    """True if the carriers that a variable holds are the same objects before an iteration and after it."""
    before = [id(each) for each in carriers_in(state.start)]
    return before == [id(each) for each in carriers_in(result)]


def _opened(state: State, result: Held) -> State:
    """A state whose carriers are others after an iteration: their values are carried."""
    start = _like_result(state.start, result)
    if isinstance(start, Missing):
        return replace(state, is_open=True)  # the next attempt says what it is
    opened = _state(state.name, start)
    return replace(opened, cell=state.cell, is_open=True, start=state.start)


def _like_result(start: Held, result: Held) -> Held:
    """The start value of a variable, taken apart; a number becomes a carrier where it is one after an iteration."""
    if isinstance(start, Carrier):
        return Shell.of(start, start.carried)
    if isinstance(result, Carrier | Shell):
        like = result if isinstance(result, Carrier) else result.like
        adopted = None if start is None else like.adopted(start)
        return start if adopted is None else Shell.of(adopted, adopted.carried)
    inner, others = parts(start), parts(result)
    if inner is None:
        return start
    by_key = dict(others or ())
    return rebuilt(start, [_like_result(each, by_key.get(key)) for key, each in inner])


def _check_rank(before: StateLeaf, wider: StateLeaf, place: Span) -> None:
    had = isinstance(before.type, TensorType) and before.type.shape is not None
    if had and isinstance(wider.type, TensorType) and wider.type.shape is None:
        raise LoopTypeError(
            f"'{before.name}' has another number of dimensions after an iteration than before it",
            help="give it as many at every iteration: y.reshape(…), y[None]",
        ).locate(place)


def _sample(state: State) -> Held:
    """A value of a state's form; numbers stand for what it does not start from."""
    if isinstance(state.form, Missing):
        return MISSING
    return unflatten(state.form, [0 if each.initial is MISSING else each.initial for each in state.leaves])


def _beside_none(state: State, result: Held) -> State:
    """A state that is None at some iterations: whether it is there goes with it."""
    if isinstance(state.form, Perhaps):
        return state
    if state.form is None:
        made = _state(state.name, Perhaps(False, perhaps.value_in(result, MISSING)))
        # Nobody reads what it starts from.
        rest = [replace(each, initial=MISSING, type=open_shape(each.type)) for each in made.leaves[1:]]
        leaves = (made.leaves[0], *rest)
        return replace(state, form=made.form, leaves=leaves)
    form = Perhaps(Slot(0), unflatten(state.form, [Slot(k + 1) for k in range(len(state.leaves))]))
    flag = _leaf(joined(state.name, "is_there"), cast(TensorLike, perhaps.presence(_sample(state))))
    return replace(state, form=form, leaves=(flag, *state.leaves))


def result_leaves(state: State, result: Held) -> list[TensorLike | Missing]:
    """The values of a state's leaves in what an iteration leaves it; MISSING for those that nobody reads."""
    if isinstance(state.form, Perhaps):
        result = Perhaps(perhaps.presence(result), perhaps.value_in(result, MISSING))
    leaves: list[tuple[str, TensorLike]] = []
    if not isinstance(result, Missing):
        flatten(result, state.name, leaves)
    values: list[TensorLike | Missing] = [value for _, value in leaves]
    return values + [MISSING] * (len(state.leaves) - len(values))


def _wider(before: StateLeaf, after: StateLeaf, place: Span) -> StateLeaf:
    if before.number == after.number and before.type == after.type:
        return before
    if before.number is not None and after.number is not None:
        kinds = (before.number, after.number)
        wider: NumberKind = before.number if kinds[0] == kinds[1] else "float" if "float" in kinds else "int"
        return replace(before, type=TensorType(NUMBER_DTYPES[wider], ()), number=wider)
    if after.number is not None:  # a number assigned to what is a tensor: it takes the tensor's element type
        scalar = TensorType(before.type.dtype if isinstance(before.type, TensorType) else None, ())
        return replace(before, type=_joined(before, scalar, after, place))
    if isinstance(after.type, TensorType) and before.number is not None:  # a number that met a tensor
        return replace(before, type=merge_types(TensorType(after.type.dtype, ()), after.type), number=None)
    return replace(before, type=_joined(before, after.type, after, place))


def _joined(before: StateLeaf, other: AnyValueType, after: StateLeaf, place: Span) -> AnyValueType:
    """The type that holds before an iteration and after it."""
    try:
        joined = merge_types(before.type, other)
    except Different:
        joined = None
    if joined is not None and type(before.type) is type(other):
        return joined
    if type(before.type) is not type(other):
        kinds = (before.type, other)
        shown = [f"a{'n' * isinstance(each, OptionalType)} {each.described}" for each in kinds]
        raise LoopTypeError(
            f"'{before.name}' is {shown[0]} before an iteration and {shown[1]} after it",
            help=help_for_optional(before.name) if OptionalType in map(type, kinds) else None,
        ).locate(place)
    was, becomes = (_spelled(each) for each in (before.type, other))
    raise (
        LoopTypeError(
            f"'{before.name}' is {was} before an iteration and {becomes} after it",
            help=f"convert it with {before.name}.astype(…) so that its element type stays",
        )
        .locate(place)
        .also(getattr(after.initial, "span", None), f"{becomes} here")
    )


def _spelled(kind: AnyValueType) -> str:
    return kind.dtype.spelling if isinstance(kind, TensorType) and kind.dtype is not None else repr(kind)


def open_shape(kind: AnyValueType) -> AnyValueType:
    """The type that a value and the dummy it starts from have in common."""
    if isinstance(kind, SequenceType):
        return SequenceType(cast(Any, open_shape(kind.element)))
    if not isinstance(kind, TensorType) or kind.shape is None:
        return kind
    return TensorType(kind.dtype, tuple(each if isinstance(each, int) else None for each in kind.shape))


def _shown(state: State) -> str:
    form = state.form
    if not state.leaves:
        return (
            "None"
            if form is None
            else f"the {type(form).__name__} {form!r}"
            if len(repr(form)) < 30
            else f"a {type(form).__name__}"
        )
    if len(state.leaves) == 1 and not isinstance(form, tuple | list | dict):
        leaf = state.leaves[0]
        return f"a Python {leaf.number}" if leaf.number is not None else f"a {leaf.type.described}"
    if isinstance(form, Shell):  # of several values, as complex arrays are
        return f"an {form.like.described}"
    return (
        f"a {type(form).__name__} of {len(form)}"
        if isinstance(form, tuple | list | dict)
        else f"a {type(form).__name__}"
    )
