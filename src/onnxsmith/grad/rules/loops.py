"""`Loop`: the body is recorded again on the way back, on the states that were kept.

A loop keeps the states that each turn begins with, as scan outputs; a state whose shape changes from turn to turn is
kept in a sequence. A state that is a sequence itself is not kept: the turns before are done again, unless nothing reads
it. The way back is a loop over the turns in reverse. What the body reads from outside is added up there. A loop inside
a loop keeps its states when it is recorded again, or on the way forward where the model is asked to keep them. In the
second case the outer loop keeps at each turn what the inner one has kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onnxsmith.core.target import current_graph
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.grad.containers import element_at, or_zeros, zeros_like
from onnxsmith.grad.inner_graphs import ControlFlow, Held, typed, without_names
from onnxsmith.grad.operators import op
from onnxsmith.grad.rules.control_flow import (
    added_to,
    control_of,
    cotangents_inside,
    present,
    wanted_captures,
)
from onnxsmith.grad.steps import Cotangents, Step, dtype_of, is_real, shape_of
from onnxsmith.grad.table import rule
from onnxsmith.types.dtypes import DType


@dataclass(frozen=True, slots=True)
class _Plan:
    """The values that a loop keeps in sequences, as their shapes change: states, and values of loops inside."""

    states: tuple[int, ...] = ()
    #: For each value that loops inside have kept: the element type if it goes into a sequence, None for a scan output.
    inside: tuple[DType | None, ...] = ()

    @property
    def in_sequences(self) -> list[DType]:
        """The element types of what loops inside keep in sequences."""
        return [each for each in self.inside if each is not None]


class _Otherwise(Exception):
    """Raised while a body is recorded, where it has to be kept by another plan."""

    def __init__(self, plan: _Plan) -> None:
        super().__init__(plan)
        self.plan = plan


def _loop_with_tape(control: ControlFlow) -> tuple[Value, ...]:
    """The states that each turn begins with, and the number of the turn where there are none, as further results."""
    plan = _Plan()
    roll_back = current_graph().checkpoint()
    while True:
        try:
            return _recorded_loop(control, plan)
        except _Otherwise as found:
            plan = found.plan
            roll_back()
            roll_back = current_graph().checkpoint()


def _recorded_loop(control: ControlFlow, plan: _Plan) -> tuple[Value, ...]:
    body, count = control.graphs["body"], len(control.inputs) - 2
    # A sequence is made again when it is needed: sequences hold no sequences.
    in_rows = [k for k in range(count) if k not in plan.states and isinstance(control.inputs[2 + k], Tensor)]
    held: list[Held | None] = []

    def with_tape(turn: Tensor, goes_on: Tensor, *arguments: Value) -> Sequence[Value]:
        states, sequences = arguments[:count], arguments[count:]
        control.state_types = tuple([without_names(each.known.type) for each in states])
        for k in in_rows:
            if not _is_of_one_shape(states[k]):
                raise _Otherwise(_Plan((*plan.states, k), plan.inside))
        active = [*filter(is_real, states), *filter(body.replay.is_active, control.captures)]
        results, inside = body.record_held((turn, goes_on, *states), active)
        held[:] = inside
        flat = [value for each in inside if each is not None for value in each.values]
        fixed = [is_fixed for each in inside if each is not None for is_fixed in each.are_of_one_shape()]
        pairs = zip(flat, fixed, strict=True)
        wanted = tuple([None if is_fixed else dtype_of(each) for each, is_fixed in pairs])
        if wanted != plan.inside:
            raise _Otherwise(_Plan(plan.states, wanted))
        put = [*(states[k] for k in plan.states), *_of(flat, plan, in_sequences=True)]
        longer = [op.SequenceInsert(each, value) for each, value in zip(sequences, put, strict=True)]
        rows = [*(states[k] for k in in_rows), *_of(flat, plan, in_sequences=False)]
        return [*results[: count + 1], *longer, *results[count + 1 :], *rows, turn]

    kinds = [*(dtype_of(present(control.inputs[2 + k])) for k in plan.states), *plan.in_sequences]
    empty = [op.SequenceEmpty(dtype=each) for each in kinds]
    more = plan.inside.count(None)
    total = control.output_count + len(empty) + len(in_rows) + more + 1
    made = control.call((*control.inputs, *empty), control.attributes, {"body": with_tape}, total)
    first = count + len(empty)
    *rows, turns = made[first + control.output_count - count :]
    kept: dict[int, Value] = dict(zip(in_rows, rows, strict=False))
    kept.update(zip(plan.states, made[count:first], strict=False))
    control.tape = (*(kept.get(k) for k in range(count)), turns)
    control.held = _stacked(held, plan, rows[len(in_rows) :], made[count + len(plan.states) : first])
    return (*made[:count], *made[first : first + control.output_count - count])


def _is_of_one_shape(value: Value) -> bool:
    """True if a value certainly has the same shape at each turn."""
    shape = shape_of(value)
    return shape is not None and all(each is not None for each in shape)


def _of(flat: Sequence[Value], plan: _Plan, *, in_sequences: bool) -> list[Value]:
    pairs = zip(flat, plan.inside, strict=True)
    return [value for value, kind in pairs if (kind is not None) == in_sequences]


def _stacked(
    held: Sequence[Held | None], plan: _Plan, rows: Sequence[Value], sequences: Sequence[Value]
) -> tuple[Held | None, ...]:
    """The kept values of loops inside, of all turns."""
    from_rows, from_sequences = iter(rows), iter(sequences)
    stacks = iter([next(from_rows if kind is None else from_sequences) for kind in plan.inside])
    return tuple([None if each is None else each.made_of(stacks) for each in held])


@rule("Loop", forward=_loop_with_tape)
def loop(step: Step, *gs: Value | None) -> Cotangents:
    control = control_of(step)
    body, count = control.graphs["body"], len(control.inputs) - 2
    *tape, turns = control.tape
    captures = wanted_captures(step, control)
    real = [k for k in range(count) if is_real(step.outputs[k])]
    begun = [or_zeros(gs[k], step.outputs[k]) for k in real]
    totals = [zeros_like(value) for _, value in captures]
    trips = op.Size(turns)
    outputs = len(step.outputs) - count

    def back(turn: Tensor, goes_on: Tensor, *carried: Value) -> list[Value]:
        k = trips - turn - np.int64(1)
        states = _states_at(control, tape, k)
        seeds: list[Value | None] = [None] * (1 + count + outputs)
        for position, seed in zip(real, carried, strict=False):
            seeds[1 + position] = seed
        for position in range(outputs):
            weights = gs[count + position]
            if weights is not None:
                seeds[1 + count + position] = op.Gather(weights, k, axis=0)
        wanted = [states[position] for position in real]
        outside = [value for _, value in captures]
        arguments = (k, current_graph().lift(np.array(True)), *states)
        held = [None if each is None else each.at(lambda stack: _at(stack, k)) for each in control.held]
        found = cotangents_inside(body, arguments, seeds, [*wanted, *outside], "a result of the Loop", held)
        next_states = [or_zeros(made, like) for made, like in zip(found, wanted, strict=False)]
        sums = carried[len(real) :]
        more = [added_to(total, made) for total, made in zip(sums, found[len(wanted) :], strict=True)]
        return [goes_on, *next_states, *more]

    results = control.call((trips, None, *begun, *totals), {}, {"body": back}, len(begun) + len(totals))
    found: list[Value | None] = [None] * len(step.inputs)
    for position, made in zip(real, results, strict=False):
        found[2 + position] = or_zeros(made, present(step.inputs[2 + position]))
    for (position, like), made in zip(captures, results[len(real) :], strict=True):
        found[position] = or_zeros(made, like)
    return found


def _states_at(control: ControlFlow, tape: Sequence[Value | None], turn: Tensor) -> list[Value]:
    """The states that a turn begins with: as they were kept, or by the turns before it once more."""
    # Of a loop inside another one that keeps its iterations, the tape comes from outside, and no types with it.
    kinds = control.state_types or (None,) * len(tape)
    states: list[Value | None] = [
        None
        if kept is None
        else _at(kept, turn)
        if kind is None or isinstance(kept, Tensor)
        else typed(_at(kept, turn), kind)
        for kept, kind in zip(tape, kinds, strict=True)
    ]
    if None in states:
        body, count = control.graphs["body"], len(states)

        def again(k: Tensor, goes_on: Tensor, *arguments: Value) -> Sequence[Value]:
            return [goes_on, *body.record((k, goes_on, *arguments))[1 : count + 1]]

        made = control.call((turn, None, *control.inputs[2:]), {}, {"body": again}, count)
        states = [each if kept is None else kept for kept, each in zip(states, made, strict=True)]
    return [present(each) for each in states]


def _at(kept: Value, turn: Tensor) -> Tensor:
    """A value as it was at a turn; a sequence has those whose shapes change."""
    return op.Gather(kept, turn, axis=0) if isinstance(kept, Tensor) else element_at(kept, turn)
