"""`If`, `Scan`, `SequenceMap`: bodies that are recorded again on the way back, on the states that were kept.

The way back of a `Scan` goes over the turns in reverse. What a body reads from outside is added up there. `Loop` is in
`loops`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from onnxsmith.core.target import current_graph
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.errors import NotDifferentiableError
from onnxsmith.grad.broadcasting import as_type_of
from onnxsmith.grad.containers import added, element_at, element_type, or_zeros, zeros_like
from onnxsmith.grad.inner_graphs import ControlFlow, Held, InnerGraph
from onnxsmith.grad.operators import op, values
from onnxsmith.grad.reverse import Reverse
from onnxsmith.grad.steps import Cotangents, Step, is_real, shape_of
from onnxsmith.grad.table import rule
from onnxsmith.grad.target import GradientTarget


def cotangents_inside(
    body: InnerGraph,
    arguments: Sequence[Value],
    seeds: Sequence[Value | None],
    wanted: Sequence[Value],
    title: str,
    held: Sequence[Held | None] | None = None,
) -> list[Value | None]:
    """The cotangents of what is wanted, inputs of a body or values that it reads from outside.

    `seeds` are those of its outputs, `held` what loops inside it have kept. The body is recorded in the graph that is
    being recorded now.
    """
    outputs, steps = body.steps(arguments, wanted, held)
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
    """True if all sizes of a tensor are known numbers."""
    shape = shape_of(value)
    return shape is not None and all(isinstance(each, int) for each in shape)


def control_of(step: Step) -> ControlFlow:
    """The kept record of a node with graphs inside."""
    assert isinstance(step.kept, ControlFlow)  # who records a node with graphs inside keeps it
    return step.kept


def wanted_captures(step: Step, control: ControlFlow) -> list[tuple[int, Value]]:
    """The outside values of bodies that need a gradient, with their places among the step's inputs."""
    first = len(control.inputs)
    return [(first + k, value) for k, value in enumerate(control.captures) if step.active[first + k]]


# -- If ------------------------------------------------------------------------------------------------------


@rule("If")
def branch(step: Step, *gs: Value | None) -> Cotangents:
    control = control_of(step)
    wanted = wanted_captures(step, control)
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
    control = control_of(step)
    body, captures = control.graphs["body"], wanted_captures(step, control)
    inputs = [present(each) for each in control.inputs]
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
                results.append(added_to(kept, made))
            else:
                results.append(op.SequenceInsert(kept, or_zeros(made, elements[wanted[position]])))
        return results

    length = op.SequenceLength(inputs[0])
    made = values(op.Loop(length, None, *begun, *totals, body=back, outputs=len(begun) + len(totals)))
    found: list[Value | None] = [None] * len(step.inputs)
    for position, cotangent in zip([*wanted, *(place for place, _ in captures)], made, strict=True):
        found[position] = or_zeros(cotangent, present(step.inputs[position]))
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
    control = control_of(step)
    form, body = _form_of(control), control.graphs["body"]
    if step.definition.since_version < 9:
        raise NotDifferentiableError("there is no gradient of the Scan of opset 8")
    captures = wanted_captures(step, control)
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
        more = [added_to(total, made) for total, made in zip(sums, parts, strict=True)]
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


def added_to(total: Value, part: Value | None) -> Value:
    """A sum of cotangents and one more."""
    return total if part is None else or_zeros(added(total, part), total)


def present(value: Value | None) -> Value:
    """An input that is there: the initial state of a loop, or what was kept."""
    assert value is not None  # the rule knows its operator
    return value
