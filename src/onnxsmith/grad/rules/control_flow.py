"""`If`, `Loop`, `Scan`, `SequenceMap`: bodies that are recorded again on the way back, on the states that were kept.

A loop keeps the states that each turn begins with, as scan outputs; a state whose shape changes from turn to turn is
kept in a sequence. A state that is a sequence itself is not kept: the turns before are done again, unless nothing reads
it. The way back is a loop over the turns in reverse. What the body reads from outside is added up there. A loop inside
a loop keeps its states when it is recorded again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from onnxsmith.core.target import current_graph
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.errors import NotDifferentiableError
from onnxsmith.grad.broadcasting import as_type_of
from onnxsmith.grad.containers import added, element_at, element_type, or_zeros, zeros_like
from onnxsmith.grad.inner_graphs import ControlFlow, InnerGraph
from onnxsmith.grad.operators import op, values
from onnxsmith.grad.reverse import Reverse
from onnxsmith.grad.steps import Cotangents, Step, dtype_of, is_real, shape_of
from onnxsmith.grad.table import rule
from onnxsmith.grad.target import GradientTarget


def cotangents_inside(
    body: InnerGraph,
    arguments: Sequence[Value],
    seeds: Sequence[Value | None],
    wanted: Sequence[Value],
    title: str,
) -> list[Value | None]:
    """The cotangents of what is wanted, inputs of a body or values that it reads from outside.

    `seeds` are those of its outputs. The body is recorded in the graph that is being recorded now.
    """
    outputs, steps = body.steps(arguments, wanted)
    target = current_graph()
    assert isinstance(target, GradientTarget)  # who goes back has made it one
    reverse = Reverse(target, steps, title)
    for output, seed in zip(outputs, seeds, strict=True):
        if isinstance(seed, Tensor) and isinstance(output, Tensor) and not _is_fixed(seed):
            # The body may know more of the shape: that of one branch, or of this turn.
            reverse.seed(output, as_type_of(seed, output))
        elif seed is not None:
            reverse.seed(output, seed)
    reverse.run()
    return [reverse.of(each) for each in wanted]


def _is_fixed(value: Tensor) -> bool:
    """Whether all sizes of a tensor are known numbers."""
    shape = shape_of(value)
    return shape is not None and all(isinstance(each, int) for each in shape)


def _control(step: Step) -> ControlFlow:
    assert isinstance(step.kept, ControlFlow)  # who records a node with graphs inside keeps it
    return step.kept


def _wanted_captures(step: Step, control: ControlFlow) -> list[tuple[int, Value]]:
    """What bodies read from outside and the gradient is asked for, with its place among the step's inputs."""
    first = len(control.inputs)
    return [(first + k, value) for k, value in enumerate(control.captures) if step.active[first + k]]


# -- If ------------------------------------------------------------------------------------------------------


@rule("If")
def branch(step: Step, *gs: Value | None) -> Cotangents:
    control = _control(step)
    wanted = _wanted_captures(step, control)
    seen = [value for _, value in wanted]
    bodies = {name: _way_back(each, gs, seen) for name, each in control.graphs.items()}
    found = values(op.If(step.input(0), outputs=len(seen), **bodies))
    results: list[Value | None] = [None] * len(step.inputs)
    for (position, like), made in zip(wanted, found, strict=True):
        results[position] = or_zeros(made, like)
    return results


def _way_back(body: InnerGraph, gs: Sequence[Value | None], seen: Sequence[Value]):
    def back() -> list[Value]:
        found = cotangents_inside(body, (), gs, seen, "an output of the branch")
        return [or_zeros(made, like) for made, like in zip(found, seen, strict=True)]

    return back


# -- SequenceMap ---------------------------------------------------------------------------------------------


@rule("SequenceMap")
def mapped(step: Step, *gs: Value | None) -> Cotangents:
    """A loop over the elements: cotangents of elements are gathered, those of what each element meets are added up."""
    control = _control(step)
    body, captures = control.graphs["body"], _wanted_captures(step, control)
    inputs = [_given(each) for each in control.inputs]
    wanted = [k for k in range(len(inputs)) if step.active[k]]
    begun = [
        zeros_like(inputs[k])
        if isinstance(inputs[k], Tensor)
        else op.SequenceEmpty(dtype=element_type(inputs[k]).dtype)
        for k in wanted
    ]
    totals = [zeros_like(value) for _, value in captures]

    def back(turn: Tensor, goes_on: Tensor, *carried: Value) -> list[Value]:
        elements = [
            op.Identity(each) if isinstance(each, Tensor) else element_at(each, turn) for each in inputs
        ]
        seeds = [None if g is None else element_at(g, turn) for g in gs]
        sought = [*(elements[k] for k in wanted), *(value for _, value in captures)]
        found = cotangents_inside(body, elements, seeds, sought, "a result of the SequenceMap")
        results: list[Value] = [goes_on]
        for position, (kept, made) in enumerate(zip(carried, found, strict=True)):
            if position >= len(wanted) or isinstance(inputs[wanted[position]], Tensor):
                results.append(_added(kept, made))
            else:
                results.append(op.SequenceInsert(kept, or_zeros(made, elements[wanted[position]])))
        return results

    length = op.SequenceLength(inputs[0])
    made = values(op.Loop(length, None, *begun, *totals, body=back, outputs=len(begun) + len(totals)))
    found: list[Value | None] = [None] * len(step.inputs)
    for position, cotangent in zip([*wanted, *(place for place, _ in captures)], made, strict=True):
        found[position] = or_zeros(cotangent, _given(step.inputs[position]))
    return found


# -- Scan ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _ScanForm:
    """How a Scan is laid out."""

    states: int
    scanned: int
    outputs: int
    input_axes: tuple[int, ...]
    input_directions: tuple[int, ...]
    output_axes: tuple[int, ...]
    output_directions: tuple[int, ...]


def _form_of(control: ControlFlow) -> _ScanForm:
    scanned = _integers(control, "num_scan_inputs", 0)[0]
    states = len(control.inputs) - scanned
    outputs = control.output_count - states
    return _ScanForm(
        states,
        scanned,
        outputs,
        _integers(control, "scan_input_axes", scanned),
        _integers(control, "scan_input_directions", scanned),
        _integers(control, "scan_output_axes", outputs),
        _integers(control, "scan_output_directions", outputs),
    )


def _integers(control: ControlFlow, name: str, count: int) -> tuple[int, ...]:
    found = control.attributes.get(name)
    if found is None:
        return (0,) * count
    return cast("tuple[int, ...]", found) if isinstance(found, tuple) else (cast(int, found),)


def _scan_with_tape(control: ControlFlow) -> tuple[Value, ...]:
    form, body = _form_of(control), control.graphs["body"]

    def with_tape(*arguments: Value) -> Sequence[Value]:
        return [*body.record(arguments), *arguments[: form.states]]

    attributes = {
        **control.attributes,
        "scan_output_axes": (*form.output_axes, *(0,) * form.states),
        "scan_output_directions": (*form.output_directions, *(0,) * form.states),
    }
    count = control.output_count + form.states
    made = control.call(control.inputs, attributes, {"body": body.named(with_tape)}, count)
    control.tape = made[control.output_count :]
    return made[: control.output_count]


@rule("Scan", forward=_scan_with_tape)
def scan(step: Step, *gs: Value | None) -> Cotangents:
    control = _control(step)
    form, body = _form_of(control), control.graphs["body"]
    if step.definition.since_version < 9:
        raise NotDifferentiableError("there is no gradient of the Scan of opset 8")
    captures = _wanted_captures(step, control)
    if not all(isinstance(value, Tensor) for _, value in captures):
        raise NotDifferentiableError("there is no gradient of a Scan that reads a sequence from outside")
    real = [k for k in range(form.states) if is_real(step.outputs[k])]
    begun = [or_zeros(gs[k], step.output(k)) for k in real]
    totals = [zeros_like(value) for _, value in captures]
    scanned = [step.input(form.states + k) for k in range(form.scanned)]
    wanted = [k for k in range(form.scanned) if step.active[form.states + k]]
    given = [k for k in range(form.outputs) if gs[form.states + k] is not None]

    def back(*arguments: Tensor) -> list[Value]:
        carried, rest = arguments[: len(real)], arguments[len(real) :]
        sums, rest = rest[: len(captures)], rest[len(captures) :]
        inputs, weights = rest[: form.states + form.scanned], rest[form.states + form.scanned :]
        seeds: list[Value | None] = [None] * (form.states + form.outputs)
        for k, seed in zip(real, carried, strict=True):
            seeds[k] = seed
        for k, seed in zip(given, weights, strict=True):
            seeds[form.states + k] = seed
        states, rows = [inputs[k] for k in real], [inputs[form.states + k] for k in wanted]
        outside = [value for _, value in captures]
        found = cotangents_inside(body, inputs, seeds, [*states, *outside, *rows], "a result of the Scan")
        next_states = [or_zeros(made, like) for made, like in zip(found, states, strict=False)]
        parts = found[len(states) : len(states) + len(outside)]
        more = [_added(total, made) for total, made in zip(sums, parts, strict=True)]
        last = found[len(states) + len(outside) :]
        return [*next_states, *more, *(or_zeros(made, like) for made, like in zip(last, rows, strict=True))]

    backwards = tuple(1 - each for each in form.input_directions)
    weighted = tuple(form.output_axes[k] for k in given)
    results = control.call(
        (*begun, *totals, *control.tape, *scanned, *(gs[form.states + k] for k in given)),
        {
            "num_scan_inputs": form.states + form.scanned + len(given),
            "scan_input_axes": (*(0,) * form.states, *form.input_axes, *weighted),
            "scan_input_directions": (
                *(1,) * form.states,
                *backwards,
                *(1 - form.output_directions[k] for k in given),
            ),
            "scan_output_axes": tuple(form.input_axes[k] for k in wanted),
            "scan_output_directions": tuple(backwards[k] for k in wanted),
        },
        {"body": back},
        len(real) + len(captures) + len(wanted),
    )
    found: list[Value | None] = [None] * len(step.inputs)
    for k, made in zip(real, results, strict=False):
        found[k] = or_zeros(made, step.input(k))
    for (position, like), made in zip(captures, results[len(real) :], strict=False):
        found[position] = or_zeros(made, like)
    for k, made in zip(wanted, results[len(real) + len(captures) :], strict=True):
        found[form.states + k] = or_zeros(made, scanned[k])
    return found


def _added(total: Value, part: Value | None) -> Value:
    return total if part is None else or_zeros(added(total, part), total)


# -- Loop ----------------------------------------------------------------------------------------------------


class _ChangesShape(Exception):
    """A state whose shape is another one at each turn: it cannot be a scan output."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


def _loop_with_tape(control: ControlFlow) -> tuple[Value, ...]:
    """The states that each turn begins with, and the number of the turn where there are none, as further results."""
    in_sequences: set[int] = set()
    roll_back = current_graph().checkpoint()
    while True:
        try:
            return _recorded_loop(control, sorted(in_sequences))
        except _ChangesShape as found:
            in_sequences.add(found.position)
            roll_back()
            roll_back = current_graph().checkpoint()


def _recorded_loop(control: ControlFlow, in_sequences: list[int]) -> tuple[Value, ...]:
    body, count = control.graphs["body"], len(control.inputs) - 2
    # A sequence is made again when it is needed: sequences hold no sequences.
    in_rows = [k for k in range(count) if k not in in_sequences and isinstance(control.inputs[2 + k], Tensor)]

    def with_tape(turn: Tensor, goes_on: Tensor, *arguments: Value) -> Sequence[Value]:
        states, sequences = arguments[:count], arguments[count:]
        for k in in_rows:
            shape = shape_of(states[k])
            if shape is None or any(each is None for each in shape):
                raise _ChangesShape(k)
        results = body.record((turn, goes_on, *states))
        longer = [op.SequenceInsert(each, states[k]) for k, each in zip(in_sequences, sequences, strict=True)]
        rows = [states[k] for k in in_rows]
        return [*results[: count + 1], *longer, *results[count + 1 :], *rows, turn]

    empty = [op.SequenceEmpty(dtype=dtype_of(_given(control.inputs[2 + k]))) for k in in_sequences]
    total = control.output_count + len(empty) + len(in_rows) + 1
    made = control.call((*control.inputs, *empty), control.attributes, {"body": with_tape}, total)
    first = count + len(empty)
    *rows, turns = made[first + control.output_count - count :]
    kept: dict[int, Value] = dict(zip(in_rows, rows, strict=True))
    kept.update(zip(in_sequences, made[count:first], strict=True))
    control.tape = (*(kept.get(k) for k in range(count)), turns)
    return (*made[:count], *made[first : first + control.output_count - count])


def _given(value: Value | None) -> Value:
    assert value is not None  # the initial state of a loop, or what was kept
    return value


@rule("Loop", forward=_loop_with_tape)
def loop(step: Step, *gs: Value | None) -> Cotangents:
    control = _control(step)
    body, count = control.graphs["body"], len(control.inputs) - 2
    *tape, turns = control.tape
    captures = _wanted_captures(step, control)
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
        found = cotangents_inside(body, arguments, seeds, [*wanted, *outside], "a result of the Loop")
        next_states = [or_zeros(made, like) for made, like in zip(found, wanted, strict=False)]
        sums = carried[len(real) :]
        more = [_added(total, made) for total, made in zip(sums, found[len(wanted) :], strict=True)]
        return [goes_on, *next_states, *more]

    results = control.call((trips, None, *begun, *totals), {}, {"body": back}, len(begun) + len(totals))
    found: list[Value | None] = [None] * len(step.inputs)
    for position, made in zip(real, results, strict=False):
        found[2 + position] = or_zeros(made, _given(step.inputs[2 + position]))
    for (position, like), made in zip(captures, results[len(real) :], strict=True):
        found[position] = or_zeros(made, like)
    return found


def _states_at(control: ControlFlow, tape: Sequence[Value | None], turn: Tensor) -> list[Value]:
    """The states that a turn begins with: as they were kept, or by the turns before it once more."""
    states: list[Value | None] = [None if each is None else _at(each, turn) for each in tape]
    if None in states:
        body, count = control.graphs["body"], len(states)

        def again(k: Tensor, goes_on: Tensor, *arguments: Value) -> Sequence[Value]:
            return [goes_on, *body.record((k, goes_on, *arguments))[1 : count + 1]]

        made = control.call((turn, None, *control.inputs[2:]), {}, {"body": again}, count)
        states = [each if kept is None else kept for kept, each in zip(states, made, strict=True)]
    return [_given(each) for each in states]


def _at(kept: Value, turn: Tensor) -> Tensor:
    """A state as it was at a turn; a sequence has those whose shapes change."""
    return op.Gather(kept, turn, axis=0) if isinstance(kept, Tensor) else element_at(kept, turn)
