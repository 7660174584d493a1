"""What goes from one iteration of a loop to the next, and of which type it is at every iteration."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from onnxsmith.core.numpys_arrays import remedy
from onnxsmith.core.semantics.number import NumberKind, kind_of
from onnxsmith.core.stored import Stored
from onnxsmith.core.target import current_graph
from onnxsmith.core.value import Value
from onnxsmith.errors import LoopTypeError, UnassignedVariableError
from onnxsmith.schema.inference.merging import Different, merge_types
from onnxsmith.scripting.staging import perhaps
from onnxsmith.scripting.staging.cells import Cell
from onnxsmith.scripting.staging.growing import grown_names
from onnxsmith.scripting.staging.merge import (
    MISSING,
    NUMBER_DTYPES,
    Differing,
    Missing,
    Unassigned,
)
from onnxsmith.scripting.staging.perhaps import Perhaps
from onnxsmith.scripting.staging.script_values import Held, TensorLike
from onnxsmith.scripting.staging.structure import Slot, flatten, is_same_form, joined, unflatten
from onnxsmith.source import Span
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, SequenceType, TensorType

if TYPE_CHECKING:
    from onnxsmith.scripting.staging.stager import Stager


@dataclass(frozen=True, slots=True)
class StateLeaf:
    """One tensor or number of the state."""

    name: str
    initial: TensorLike | Missing
    type: AnyValueType
    number: NumberKind | None

    def __eq__(self, other: object) -> bool:
        """What it starts from does not change; arrays could not be compared anyway."""
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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and self.leaves == other.leaves and self._has_form(other.form)

    def _has_form(self, form: Held) -> bool:
        return self.form is form or is_same_form(self.form, form)

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
        value = stager.frame.variables.get(name, MISSING)
        if isinstance(value, Stored):
            value = current_graph().lift(value)
        if isinstance(value, Differing):
            raise LoopTypeError(
                f"'{name}' is one of two Python values before the loop and is assigned in it",
                help=remedy(
                    (value.then, value.otherwise),
                    "only tensors and numbers can change from one iteration to the next",
                ),
            ).locate(stager.frame.span(statement))
        if isinstance(value, Missing | Unassigned):
            # Only a loop that surely runs gives it a value, or one that was left by break: the `else` sees to the rest.
            if name in live_after and (at_least_once or name not in live_in_body):
                states.append(State(name, MISSING, ()))
            continue
        states.append(_state(name, value))
    return states


def cell_state(cell: Cell, value: Held, *, at_least_once: bool) -> State | None:
    """A variable that inner functions assign in a loop; None for one that has a value only in an iteration."""
    if not isinstance(value, Missing | Unassigned):
        return replace(_state(cell.name, value), cell=cell)
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
        raise LoopTypeError(f"'{state.name}' is one of two Python values at the end of an iteration").locate(
            place
        )
    if perhaps.is_one(_sample(state), result):
        state, result = _beside_none(state, result), Perhaps(*perhaps.taken_apart(result, MISSING))
    after = _state(state.name, result)
    if isinstance(state.form, Missing):
        # It starts from a value that nobody reads, in which open dimensions are empty.
        leaves = tuple(replace(each, initial=MISSING, type=open_shape(each.type)) for each in after.leaves)
        return State(state.name, after.form, leaves, state.cell)
    if isinstance(result, Perhaps) and result.value is MISSING:  # it is None: only the flag tells something
        first = _wider(state.leaves[0], after.leaves[0], place)
        return replace(state, leaves=(first, *state.leaves[1:]))
    if not is_same_form(state.form, after.form):
        raise LoopTypeError(
            f"'{state.name}' is {_shown(state)} before an iteration and {_shown(after)} after it",
            help=remedy(
                (state.form, after.form), "only tensors and numbers can change from one iteration to the next"
            ),
        ).locate(place)
    pairs = zip(state.leaves, after.leaves, strict=True)
    leaves = tuple(_wider(before, leaf, place) for before, leaf in pairs)
    if all(wider is before for wider, before in zip(leaves, state.leaves, strict=True)):
        return state
    return replace(state, leaves=leaves)


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
        _, value = perhaps.taken_apart(result, MISSING)
        made = _state(state.name, Perhaps(False, value))
        # Nobody reads what it starts from.
        rest = [replace(each, initial=MISSING, type=open_shape(each.type)) for each in made.leaves[1:]]
        return replace(made, leaves=(made.leaves[0], *rest), cell=state.cell)
    form = Perhaps(Slot(0), unflatten(state.form, [Slot(k + 1) for k in range(len(state.leaves))]))
    flag = _leaf(joined(state.name, "is_there"), True)
    return replace(state, form=form, leaves=(flag, *state.leaves))


def result_leaves(state: State, result: Held) -> list[TensorLike | Missing]:
    """The values of a state's leaves in what an iteration leaves it; MISSING for those that nobody reads."""
    if isinstance(state.form, Perhaps):
        result = Perhaps(*perhaps.taken_apart(result, MISSING))
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
        raise LoopTypeError(
            f"'{before.name}' is a {before.type.described} before an iteration and a {other.described} after it"
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
    return (
        f"a {type(form).__name__} of {len(form)}"
        if isinstance(form, tuple | list | dict)
        else f"a {type(form).__name__}"
    )
