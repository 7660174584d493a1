"""A loop that the model performs: one `Loop` node, whose state is what lives from one iteration to the next.

The body is staged until the types of that state hold still: a number that meets a tensor becomes a tensor, a dimension
that changes is left open. An element type that changes is an error.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from onnxsmith.core.call import constant_like
from onnxsmith.core.recording import RecordedBody
from onnxsmith.core.semantics.number import Number, is_number, kind_of, literal
from onnxsmith.core.target import RecordingTarget, current_graph
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import TensorValue, Value
from onnxsmith.core.value_containers import Journal
from onnxsmith.errors import LoopTypeError, NestingError, UnsupportedSyntaxError
from onnxsmith.scripting.analysis.flow import is_endless
from onnxsmith.scripting.source.definition_spans import located
from onnxsmith.scripting.staging import appended_lists
from onnxsmith.scripting.staging.array_aliases import Tangles, refuse_shared, track_arrays
from onnxsmith.scripting.staging.assignment import assign
from onnxsmith.scripting.staging.branches import DEEPEST, name_of
from onnxsmith.scripting.staging.carriers import PathEnd
from onnxsmith.scripting.staging.cells import Cell, CellValues
from onnxsmith.scripting.staging.jumps import NOTHING, Jump, Leaf, Side
from onnxsmith.scripting.staging.loop_state import (
    Asked,
    State,
    StateLeaf,
    carried_states,
    carrier_state,
    cell_state,
    granted,
    inner_loops_ask,
    open_shape,
    result_leaves,
    widened,
)
from onnxsmith.scripting.staging.merge import MISSING, NUMBER_DTYPES, Differing, Missing, Unassigned
from onnxsmith.scripting.staging.merged_tensors import RESULT_NAME, active, make_dummy, needs_types, number_as
from onnxsmith.scripting.staging.raised import PathEnded, Raises, open_raises
from onnxsmith.scripting.staging.script_values import Held, TensorLike
from onnxsmith.scripting.staging.structure import (
    Shell,
    all_as_carried,
    arrays_in,
    containers_in,
    flatten,
    unflatten,
)
from onnxsmith.scripting.staging.truth import asked, is_symbolic, truth
from onnxsmith.scripting.staging.watch import keep_unchanged, watch_path
from onnxsmith.source import Span
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

if TYPE_CHECKING:
    from onnxsmith.scripting.staging.frame import Frame
    from onnxsmith.scripting.staging.iteration import Iteration
    from onnxsmith.scripting.staging.jumps import Stager


_ONLY_INSIDE = "it is assigned only in this loop, which may run zero times"


class Ended(NamedTuple):
    """How a loop ended: whether by break, whether by return, and what was returned."""

    breaks: Held = False
    returns: Held = False
    value: Held = MISSING


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A staged body: how an iteration ends, and whether another one follows."""

    scope: RecordingTarget
    inputs: list[Value]
    #: How the iteration ended, of what somebody asks after the loop.
    flags: Mapping[str, Held]
    go_on: Number | bool
    #: The input that says whether the iteration before wanted this one.
    goes_on_before: Value
    #: What inner functions have assigned.
    cells: CellValues
    #: What carriers hold at the end of an iteration.
    end: PathEnd
    #: What an iteration leaves the variables, and the same as the states have it.
    raw: Sequence[Held]
    results: Sequence[Held]
    #: The number of the error that an iteration raises, where that is found after the loop; else 0.
    raised: Number | int


def stage_loop(
    stager: Stager,
    statement: ast.For | ast.While,
    source: Iteration,
    leaf: Leaf,
    test: Callable[[], UserValue] | None,
    first_test: UserValue,
    *,
    at_least_once: bool,
) -> Ended:
    """Stage the loop; the variables have their values after it, and the result tells how it ended."""
    outer = current_graph()
    frame = stager.frame
    place = frame.span(statement)
    if outer.depth >= DEEPEST:
        raise NestingError(f"loops and conditions are nested more than {DEEPEST} deep").locate(place)
    track_arrays(stager, statement)
    if not at_least_once or isinstance(
        statement, ast.While
    ):  # else Python can append, one turn after the other
        appended_lists.begin(
            stager, statement, lambda: _try_body(stager, statement, source, leaf, test, at_least_once)
        )
    states = carried_states(stager, statement, at_least_once=at_least_once)
    for each in states:
        refuse_shared(stager, statement, each.name, each.start)
    before, cells = frame.variables, CellValues()
    only_inside: dict[Hashable, Cell] = {}
    tangles = Tangles(stager, statement)
    try:
        while True:
            roll_back = outer.checkpoint()
            frame.variables = dict(before)
            attempt, states = _stage_as_asked(stager, statement, source, leaf, test, states, tangles)
            draft = outer.draft()
            with (
                active(draft),
                Journal(),
            ):  # where a number is made an array of, that is for the next attempt alone
                wider = _widened(frame, attempt, states, place)
            draft.discard()
            known, new_cells = {each.cell.key for each in states if each.cell is not None}, list[State]()
            for cell in attempt.cells.changed(cells):
                if cell.key in known or cell.key in only_inside:
                    continue
                state = cell_state(cell, cells.get(cell, MISSING), at_least_once=at_least_once)
                if state is None:
                    only_inside[cell.key] = cell
                else:
                    new_cells.append(state)
            is_wrong = tangles.end(states, attempt.raw, attempt.end)
            if wider == states and not new_cells and not is_wrong:
                break
            # A type only ever becomes wider, and there are few widths: this comes to an end.
            attempt.scope.discard()
            roll_back()
            cells.put_back()
            states = _widened(frame, attempt, states, place) + new_cells
    finally:
        frame.variables = before
        cells.put_back()
    flags = _flags(stager, statement)
    extra: list[tuple[str, TensorLike]] = []
    forms = {flag: flatten(attempt.flags[flag], flag, extra) for flag in flags}
    names = [leaf.name for each in states for leaf in each.leaves]
    outputs: Sequence[Value] = ()
    raised = [attempt.raised] if isinstance(attempt.raised, Number) else []
    if not names and not extra and not raised:
        attempt.scope.discard()  # nobody uses what it computes, and a Loop without outputs is not valid
    else:
        with located(place):
            body = _finish(attempt, states, [*(value for _, value in extra), *raised])
            outputs = _emit(outer, source, first_test, states, body, collected=len(raised))
        outer.name_results(outputs, names, [(body, "out")])
    if raised:
        *outputs, codes = list(outputs)
        with located(place):
            cast(Raises, open_raises()).note_first(cast(TensorValue, codes))
    _assign_variables(stager, statement, states, outputs, tangles)
    for cell in only_inside.values():
        cell.home[cell.name] = Unassigned(place, _ONLY_INSIDE)
    results = [_like(value, output) for (_, value), output in zip(extra, outputs[len(names) :], strict=True)]
    ends = {flag: unflatten(form, results) for flag, form in forms.items()}
    return Ended(ends.get("break", False), ends.get("return", False), ends.get("value", MISSING))


def _widened(frame: Frame, attempt: _Attempt, states: Sequence[State], place: Span) -> list[State]:
    """The states whose types hold before an iteration and after it, with objects that it changes in place."""
    wider = [widened(*each, place) for each in zip(states, attempt.results, strict=True)]
    known = {id(each.carrier) for each in states}
    for carrier, _ in attempt.end.written.values():
        if id(carrier) not in known:
            wider.append(carrier_state(carrier, name_of(frame, carrier)))
    return wider


def _try_body(
    stager: Stager,
    statement: ast.For | ast.While,
    source: Iteration,
    leaf: Leaf,
    test: Callable[[], UserValue] | None,
    at_least_once: bool,
) -> None:
    """Stage the body once, and take all of it back."""
    frame, outer = stager.frame, current_graph()
    before, roll_back, cells = frame.variables, outer.checkpoint(), CellValues()
    frame.variables = dict(before)
    try:
        states = carried_states(stager, statement, at_least_once=at_least_once)
        tangles = Tangles(stager, statement)
        attempt, _ = _stage_as_asked(stager, statement, source, leaf, test, states, tangles)
        attempt.scope.discard()
    finally:
        frame.variables = before
        cells.put_back()
        roll_back()


def _flags(stager: Stager, statement: ast.For | ast.While) -> list[str]:
    """The flags that must be known after the loop besides the variables: it was left by break, or by return."""
    jumps = stager.flow.block_jumps(statement.body)
    flags: list[str] = []
    if jumps.breaks and statement.orelse:
        flags.append("break")
    if jumps.returns:
        flags += ["return", "value"]
    return flags


def _told(side: Side, flags: Sequence[str]) -> dict[str, Held]:
    """Of how an iteration ended, what somebody asks for after the loop."""
    return {flag: side.flags[flag] for flag in flags}


def _like(example: TensorLike, output: Value) -> Value:
    kind = kind_of(example)
    return output if kind is None else Number(cast(TensorValue, output), kind)


def _stage_as_asked(
    stager: Stager,
    statement: ast.For | ast.While,
    source: Iteration,
    leaf: Leaf,
    test: Callable[[], UserValue] | None,
    states: Sequence[State],
    tangles: Tangles,
) -> tuple[_Attempt, list[State]]:
    """Stage the body; where a loop in it asks for another start of a variable, once more with that."""
    frame = stager.frame
    before, cells = frame.variables, CellValues()
    while True:
        asked: Asked = {}
        roll_back = current_graph().checkpoint()
        frame.variables = dict(before)
        try:
            with inner_loops_ask(asked):
                made = _stage_body(stager, statement, source, leaf, test, states, tangles)
            return made, [*states]
        except LoopTypeError:
            roll_back()
            cells.put_back()
            other = granted(states, asked)
            if other is None:
                raise
            states = other


def _stage_body(
    stager: Stager,
    statement: ast.For | ast.While,
    source: Iteration,
    leaf: Leaf,
    test: Callable[[], UserValue] | None,
    states: Sequence[State],
    tangles: Tangles,
) -> _Attempt:
    outer = current_graph()
    scope = outer.subgraph()
    frame = stager.frame
    place = frame.span(statement)
    flags = _flags(stager, statement)
    tangles.begin(states)
    lists = appended_lists.lists_in(frame.variables)

    def refuse_grown() -> None:
        with located(place):
            merged = [each.name for each in states]
            appended_lists.refuse_lost(frame, lists, merged, stager.flow.live_wherever(statement))

    with (
        active(scope),
        watch_path(frame, frame.analysis.facts.names([statement]), statement),
        Journal() as journal,
    ):
        position: Any = scope.input(_counter_name(statement), TensorType(DType.INT64, ()), place)
        goes_on_before = scope.input("go_on", TensorType(DType.BOOL, ()), place)
        every: list[Any] = []
        for state in states:
            inputs: list[Any] = [scope.input(f"{each.name}_in", each.type, place) for each in state.leaves]
            every += inputs
            home = frame.variables if state.cell is None else state.cell.home
            if isinstance(state.form, Missing):
                home.pop(state.name, None)  # the first iteration says what it is
                continue
            if state.carrier is not None:
                state.carrier.rewrite(state.values_of(inputs))
                continue
            values = [
                value if each.number is None else Number(value, each.number)
                for value, each in zip(inputs, state.leaves, strict=True)
            ]
            home[state.name] = unflatten(state.form, values)
            if state.is_open:
                tangles.take_head(state, home[state.name])
        if isinstance(statement, ast.For) and source.element is not None:
            # In an exact script it is the tensor that the model has: an operator on it is that node, and no number's.
            counter: Any = position if scope.is_exact else Number(position, "int", is_natural=True)
            with located(frame.span(statement.iter)):
                element = source.element(counter)
            assign(stager, statement.target, element)

        def end(jump: Jump) -> Side:
            if lists and jump.kind != "return":
                refuse_grown()
            goes_on: Any = jump.kind in ("next", "continue")
            if goes_on and test is not None:
                value = test()  # before the variables are taken: a walrus in the test assigns one
                with located(frame.span(cast(ast.While, statement).test)):
                    is_open = is_symbolic(value)
                    goes_on = (
                        Number(truth(value, "the condition of 'while'"), "bool") if is_open else bool(value)
                    )
            side = leaf(jump)
            return Side({**_told(side, flags), "go_on": goes_on}, side.variables)

        last, raises = _trailing_break(stager, statement), open_raises()
        finds_later = raises is not None and _goes_on_after_errors(stager, statement)
        raised: list[Number | int] = []
        try:
            with (
                raises.of_one_call() if raises is not None and finds_later else nullcontext(raised) as raised
            ):
                side = (
                    stager.run(statement.body, Leaf(end))
                    if last is None
                    else _run_to_break(stager, statement, last, leaf)
                )
        except PathEnded:
            raise UnsupportedSyntaxError(
                "every iteration of this loop raises an error, and only the model knows whether there is one",
                help="ask before the loop: if n > 0: raise …",
            ).locate(place) from None
        if lists:
            refuse_grown()
        assigned = CellValues()
        raw = [_left(state, side, assigned) for state in states]
        told = _told(side, flags)
        ended = PathEnd(journal, (*raw, *told.values()))
        results = [_result(ended, state, each) for state, each in zip(states, raw, strict=True)]
        opened = {flag: ended.opened(each, keeps_older=True) for flag, each in told.items()}
        go_on = cast("Number | bool", side.flags["go_on"])
        if raises is not None and not finds_later:
            go_on = raises.not_after(go_on)
    found = raised[0] if raised else 0
    return _Attempt(scope, every, opened, go_on, goes_on_before, assigned, ended, raw, results, found)


def _goes_on_after_errors(stager: Stager, statement: ast.For | ast.While) -> bool:
    """True if a loop may go on after an iteration that raises an error, so that none has to wait for another.

    What follows computes with whatever is there, which must come to an end: a `while` in it may not.
    """
    if not isinstance(statement, ast.For) or stager.flow.block_jumps(statement.body):
        return False
    return not any(isinstance(each, ast.While) for part in statement.body for each in ast.walk(part))


def _left(state: State, side: Side, cells: CellValues) -> Held:
    """The value of a variable after an iteration."""
    if state.cell is not None:
        return cells.get(state.cell, MISSING)
    return MISSING if state.carrier is not None else side.variables.get(state.name, MISSING)


def _result(end: PathEnd, state: State, left: Held) -> Held:
    """The value of a variable after an iteration, as its state has it: other carriers are taken apart."""
    if state.carrier is not None:
        return Shell.of(state.carrier, end.parts_of(state.carrier))
    return end.opened(left, state.form) if state.is_open else all_as_carried(left)


def _counter_name(statement: ast.For | ast.While) -> str:
    is_named = isinstance(statement, ast.For) and isinstance(statement.target, ast.Name)
    return cast(ast.Name, cast(ast.For, statement).target).id if is_named else "iteration"


def _trailing_break(stager: Stager, statement: ast.For | ast.While) -> ast.If | None:
    """The `if …: break` at the end of an iteration that nothing else leaves: it only says whether to go on."""
    last = statement.body[-1]
    if not isinstance(last, ast.If) or last.orelse or len(last.body) != 1 or statement.orelse:
        return None
    is_endless_loop = isinstance(statement, ast.For) or is_endless(statement)
    if not isinstance(last.body[0], ast.Break) or not is_endless_loop:
        return None
    return None if stager.flow.block_jumps(statement.body[:-1]) else last


def _run_to_break(stager: Stager, statement: ast.For | ast.While, last: ast.If, leaf: Leaf) -> Side:
    frame = stager.frame
    stager.run(statement.body[:-1], NOTHING)
    test = last.test
    is_negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    operand = cast(ast.UnaryOp, test).operand if is_negated else None
    if isinstance(operand, ast.Name):
        go_on = frame.read(operand.id, operand)
        with located(frame.span(operand)):
            go_on = asked(go_on)
            goes_on = truth(go_on) if is_symbolic(go_on) else bool(go_on)
    else:
        value = frame.evaluate(test)
        with located(frame.span(test)):
            value = asked(value)
            goes_on = current_graph().operators.Not(truth(value)) if is_symbolic(value) else not value
    if isinstance(goes_on, TensorValue) and not isinstance(goes_on, Number):
        goes_on = Number(goes_on, "bool")
    following, leaving = leaf(Jump("next")), leaf(Jump("break"))
    variables = {
        name: leaving.variables[name] if value is MISSING else value
        for name, value in following.variables.items()
    }
    return Side({**_told(following, _flags(stager, statement)), "go_on": goes_on}, variables)


def _finish(attempt: _Attempt, states: Sequence[State], extra: Sequence[TensorLike]) -> RecordedBody:
    """The body's graph: whether to go on, the carried values, then what must be known after the loop."""
    scope = attempt.scope
    inputs = attempt.inputs
    with active(scope):
        is_endless_body = scope.is_exact and attempt.go_on is True
        outputs: list[Value] = [
            attempt.goes_on_before if is_endless_body else _tensor(scope, attempt.go_on, DType.BOOL)
        ]
        for state, result in zip(states, attempt.results, strict=True):
            for each, value in zip(state.leaves, result_leaves(state, result), strict=True):
                outputs.append(_as_carried(scope, each, value, inputs[len(outputs) - 1]))
        outputs += [_tensor(scope, each, None) for each in extra]
    return scope.finish_body(outputs, "loop_body")


def _tensor(scope: RecordingTarget, value: TensorLike, dtype: DType | None) -> Value:
    if isinstance(value, Number):
        return value.tensor if dtype is None or scope.is_exact else value.as_dtype(dtype)
    if isinstance(value, Value):
        return value
    kind = kind_of(value)
    if dtype is None and kind is not None:
        dtype = NUMBER_DTYPES[kind]
    return scope.constant(np.asarray(value if dtype is None else literal(cast(float, value), dtype)))


def _as_carried(
    scope: RecordingTarget, leaf: StateLeaf, value: TensorLike | Missing, like: Value | None
) -> Value:
    """A value of the state as the tensor that it is at every iteration; `like` is one of its type, or None."""
    if isinstance(value, Missing):
        return make_dummy(scope, leaf.type, leaf.name) if like is None else like
    if not is_number(value) or not isinstance(leaf.type, TensorType):
        return _tensor(scope, value, None)
    if leaf.type.dtype is not None:
        return number_as(scope, value, leaf.type.dtype, leaf.name, LoopTypeError)
    if like is None:
        raise needs_types(LoopTypeError, leaf.name)
    return value.as_like(like) if isinstance(value, Number) else constant_like(scope, np.asarray(value), like)


def _emit(
    outer: RecordingTarget,
    source: Iteration,
    first_test: UserValue,
    states: Sequence[State],
    body: RecordedBody,
    *,
    collected: int,
) -> Sequence[Value]:
    """The `Loop`; what the last outputs of its body give is collected, one element for each iteration."""
    count = None if source.count is None else _tensor(outer, source.count, DType.INT64)
    condition = truth(first_test) if is_symbolic(first_test) else outer.constant(np.array(bool(first_test)))
    if outer.is_exact and first_test is True:
        condition = None
    leaves = [leaf for state in states for leaf in state.leaves]
    initial = [_as_carried(outer, each, each.initial, None) for each in leaves]
    for extra in body.outputs[1 + len(leaves) : len(body.outputs) - collected]:
        initial.append(make_dummy(outer, extra.type, RESULT_NAME))
        body.add_unused_input(open_shape(extra.type))
    outputs = outer.operators.Loop(count, condition, *initial, body=body)
    return cast("Sequence[Value]", outputs) if isinstance(outputs, tuple) else (outputs,)


def _assign_variables(
    stager: Stager,
    statement: ast.For | ast.While,
    states: Sequence[State],
    outputs: Sequence[Value],
    tangles: Tangles,
) -> None:
    """Give the variables their values after the loop; those that only an iteration assigns may have none."""
    variables = stager.frame.variables
    rest = iter(outputs)
    carried: set[str] = set()
    for state in states:
        if isinstance(state.form, Missing):
            continue
        if state.carrier is not None:
            state.carrier.rewrite(state.values_of([next(rest) for _ in state.leaves]))
            continue
        if state.cell is None:
            carried.add(state.name)
        values = [
            value if each.number is None else Number(cast(TensorValue, value), each.number)
            for each, value in zip(state.leaves, rest, strict=False)
        ]
        home = variables if state.cell is None else state.cell.home
        before = home.get(state.name)
        home[state.name] = unflatten(state.form, values)
        if state.is_open:
            tangles.after(state, home[state.name])
        # If it runs zero times, they are the same.
        keep_unchanged((*containers_in((before, home[state.name])), *arrays_in(before)))
    for name in stager.flow.loop_names(statement):
        if name in carried:
            continue
        value = variables.get(name, MISSING)
        if isinstance(value, Missing | Unassigned | Differing):
            place = statement.iter if isinstance(statement, ast.For) else statement.test
            variables[name] = Unassigned(stager.frame.span(place), _ONLY_INSIDE)
