"""Cotangents of sequences: sequences of the same length, whose elements are the cotangents of its elements.

That of an optional is that of what it holds. Elements are gone over by a `Loop`, which all runtimes run.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from onnxsmith.core.target import current_graph
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.errors import NotDifferentiableError
from onnxsmith.grad.broadcasting import as_type_of, filled_like
from onnxsmith.grad.operators import op
from onnxsmith.graphs.records import tensor_inside
from onnxsmith.types.value_types import SequenceType, TensorType


def zeros_like(value: Value) -> Value:
    """Zeros in the form of a tensor or a sequence."""
    if isinstance(value, Tensor):
        return filled_like(value, 0.0)
    return _mapped(_zeros, value)


def _zeros(element: Tensor) -> Tensor:
    return filled_like(element, 0.0)


def added(left: Value, right: Value) -> Value:
    """The sum of two cotangents of one value."""
    if isinstance(left, Tensor):
        return op.Add(left, right)
    return _mapped(op.Add, left, right)


def or_zeros(cotangent: Value | None, like: Value) -> Value:
    """A cotangent with what is known of its value's type; zeros for None."""
    if cotangent is None:
        return zeros_like(like)
    if isinstance(cotangent, Tensor) and isinstance(like, Tensor):
        return as_type_of(cotangent, like)
    return cotangent


def element_at(sequence: Value, position: Tensor) -> Tensor:
    """An element of a sequence, with what is known of all of them."""
    element = op.SequenceAt(sequence, position)
    kind = element_type(sequence)
    if kind.dtype is None or kind.shape is None or element.known.type == kind:
        return element
    made = current_graph().refined(element, kind)
    assert isinstance(made, Tensor)  # a tensor stays one
    return made


def element_type(sequence: Value) -> TensorType:
    """The type of the elements of a sequence."""
    kind = sequence.known.type
    found = tensor_inside(kind)
    if not isinstance(kind, SequenceType) or found is None:
        raise NotDifferentiableError(f"a value is {kind.described}, and there is no gradient of those")
    return found


def _mapped(function: Callable[..., Tensor], first: Value, *others: Value) -> Value:
    """The results of a function for each element of sequences of one length."""

    def body(turn: Tensor, goes_on: Tensor, made: Value) -> tuple[Tensor, Value]:
        elements = [element_at(each, turn) for each in (first, *others)]
        return goes_on, op.SequenceInsert(made, function(*elements))

    empty = op.SequenceEmpty(dtype=element_type(first).dtype)
    return op.Loop(op.SequenceLength(first), None, empty, body=body, outputs=1)


def counted_position(position: Tensor, sequence: Value) -> Tensor:
    """A position in a sequence, counted from the front."""
    return op.Where(
        position < 0, position + op.Cast(op.SequenceLength(sequence), to=position.dtype), position
    )


def sizes_along(sequence: Value, axis: int) -> Tensor:
    """The sizes of a sequence's elements along an axis."""

    def body(turn: Tensor, goes_on: Tensor) -> tuple[Tensor, Tensor]:
        sizes = op.Shape(op.SequenceAt(sequence, turn))
        return goes_on, op.Gather(sizes, np.array(axis))

    return op.Loop(op.SequenceLength(sequence), None, body=body, outputs=1)
