"""Sequences and optionals. The cotangent of a sequence is one of the same length; see `containers`."""

from __future__ import annotations

from collections.abc import Callable

from onnxsmith.core.value import Value
from onnxsmith.errors import NotDifferentiableError
from onnxsmith.grad.broadcasting import filled_like
from onnxsmith.grad.containers import counted_position, sizes_along, zeros_like
from onnxsmith.grad.operators import op
from onnxsmith.grad.steps import Cotangents, Step
from onnxsmith.grad.table import rule


def _sequence(step: Step) -> Value:
    value = step.inputs[0]
    assert value is not None  # what all of these operators are given
    return value


@rule("SequenceConstruct")
def construct(step: Step, g: Value) -> Cotangents:
    def element(k: int) -> Callable[[], Value]:
        return lambda: op.SequenceAt(g, k)

    return [element(k) for k in range(len(step.inputs))]


@rule("SequenceAt")
def at(step: Step, g: Value) -> Cotangents:
    zeros = zeros_like(_sequence(step))
    position = counted_position(step.input(1), zeros)
    return (op.SequenceInsert(op.SequenceErase(zeros, position), g, position),)


@rule("SequenceInsert")
def insert(step: Step, g: Value) -> Cotangents:
    if not step.has(2):
        return (lambda: op.SequenceErase(g)), (lambda: op.SequenceAt(g, -1))
    position = counted_position(step.input(2), _sequence(step))
    return (lambda: op.SequenceErase(g, position)), (lambda: op.SequenceAt(g, position))


@rule("SequenceErase")
def erase(step: Step, g: Value) -> Cotangents:
    sequence = _sequence(step)
    if not step.has(1):
        return (op.SequenceInsert(g, filled_like(op.SequenceAt(sequence, -1), 0.0)),)
    position = counted_position(step.input(1), sequence)
    return (op.SequenceInsert(g, filled_like(op.SequenceAt(sequence, position), 0.0), position),)


@rule("ConcatFromSequence")
def concat(step: Step, g: Value) -> Cotangents:
    axis = step.integer("axis")
    if step.integer("new_axis"):
        return (op.SplitToSequence(g, axis=axis, keepdims=0),)
    return (op.SplitToSequence(g, sizes_along(_sequence(step), axis), axis=axis),)


@rule("SplitToSequence")
def split(step: Step, g: Value) -> Cotangents:
    is_stacked = not step.has(1) and not step.integer("keepdims", 1)
    return (op.ConcatFromSequence(g, axis=step.integer("axis"), new_axis=int(is_stacked)),)


@rule("Optional", "OptionalGetElement")
def held(step: Step, g: Value) -> Cotangents:
    if not step.inputs:
        raise NotDifferentiableError("an optional that holds nothing has no gradient")
    return (g,)
