"""Normalisations that models spell out: LayerNormalization and RMSNormalization over the last dimension."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
import onnx_ir as ir

from onnxsmith.passes.editor import Attempt, Editor, Outcome
from onnxsmith.passes.fusions.expressions import both_ways, mean_over_last, plus_number, root_below, square_of
from onnxsmith.passes.values import dimensions, int_attribute, made_by, only_for, rank, readers

_LAYER_VERSION = 17
_RMS_VERSION = 23
_FLOATS = (ir.DataType.FLOAT, ir.DataType.DOUBLE)


def layer_normalisation(at: Attempt) -> Outcome:
    """`(x - mean) / sqrt(variance + e)`: `LayerNormalization`; scale and bias are taken in by the rules below."""
    return _as_one(at, "LayerNormalization", _LAYER_VERSION, _centred)


def scaled_normalisation(at: Attempt) -> Outcome:
    """A normalisation without a scale of its own, times a row: its scale."""
    for unit, scale in both_ways(at.node):
        node = only_for(unit, "LayerNormalization", "RMSNormalization")
        if node is None or len(node.inputs) != 2 or len(node.outputs) != 1 or not _is_over_last(node):
            continue
        ones = at.edit.array(node.inputs[1])
        if (
            node.inputs[0] is not None
            and ones is not None
            and (ones == 1).all()
            and _fits(node.inputs[0], scale)
        ):
            return at.op(node.op_type, node.inputs[0], scale, attributes=node.attributes)
    return None


def shifted_normalisation(at: Attempt) -> Outcome:
    """A `LayerNormalization` without a bias, plus a row: its bias."""
    for unit, bias in both_ways(at.node):
        node = only_for(unit, "LayerNormalization")
        if node is None or len(node.inputs) != 2 or len(node.outputs) != 1 or not _is_over_last(node):
            continue
        if node.inputs[0] is not None and _fits(node.inputs[0], bias):
            return at.op(node.op_type, *node.inputs, bias, attributes=node.attributes)
    return None


def _is_over_last(node: ir.Node) -> bool:
    size = rank(node.inputs[0])
    axis = int_attribute(node, "axis", -1)
    return axis == -1 or (size is not None and axis == size - 1)


#: `x` and `e`, from a numerator and what is under the root below it; None where it is no such normalisation.
_Reading: TypeAlias = Callable[
    [Editor, "ir.Value | None", "tuple[ir.Value, float]"], "tuple[ir.Value, float] | None"
]


def _as_one(at: Attempt, operator: str, since: int, reading: _Reading) -> Outcome:
    """The normalisation that a node is the end of, with a scale that changes nothing."""
    if at.version < since:
        return None
    for numerator, below in _divided_by_root(at.edit, at.node):
        found = reading(at.edit, numerator, below)
        ones = None if found is None else _ones(at, found[0])
        if found is not None and ones is not None:
            return at.op(operator, found[0], ones, axis=-1, epsilon=found[1])
    return None


def _ones(at: Attempt, x: ir.Value) -> ir.Value | None:
    """A scale that changes nothing."""
    shape = dimensions(x)
    if x.dtype is None or x.dtype not in _FLOATS or not shape or not isinstance(shape[-1], int):
        return None
    return at.constant(np.ones(shape[-1], x.dtype.numpy()), "ones")


def _divided_by_root(edit: Editor, node: ir.Node) -> Iterator[tuple[ir.Value | None, tuple[ir.Value, float]]]:
    """`n` with `x` and `e`, for a node that gives `n / sqrt(x + e)`, however that is written."""
    if node.op_type == "Div":
        root = only_for(node.inputs[1], "Sqrt")
        below = None if root is None else plus_number(edit, root.inputs[0])
        if below is not None:
            yield node.inputs[0], below
        return
    for numerator, inverse in both_ways(node):
        below = root_below(edit, inverse)
        if below is not None:
            yield numerator, below


def _centred(
    edit: Editor, centred: ir.Value | None, below: tuple[ir.Value, float]
) -> tuple[ir.Value, float] | None:
    difference = made_by(centred, "Sub")
    if difference is None or centred is None:
        return None
    x = difference.inputs[0]
    square = mean_over_last(edit, below[0])
    if x is None or mean_over_last(edit, difference.inputs[1], is_shared=True) is not x:
        return None
    deviation = square_of(edit, square)
    if deviation is centred:
        # In the square (twice in a product with itself) and in the quotient.
        return (x, below[1]) if readers(centred) <= 3 else None
    other = made_by(deviation, "Sub")
    is_same = other is not None and other.inputs[0] is x and other.inputs[1] is difference.inputs[1]
    return (x, below[1]) if is_same else None


def rms_normalisation(at: Attempt) -> Outcome:
    """`x / sqrt(mean(x²) + e)`: `RMSNormalization`; the rules above take its scale in."""
    return _as_one(at, "RMSNormalization", _RMS_VERSION, _mean_square)


def _mean_square(
    edit: Editor, x: ir.Value | None, below: tuple[ir.Value, float]
) -> tuple[ir.Value, float] | None:
    if x is None:
        return None
    square = mean_over_last(edit, below[0])
    return (x, below[1]) if square is not None and square_of(edit, square) is x else None


def _is_row(value: ir.Value | None) -> bool:
    return value is not None and value.shape is not None and len(value.shape) == 1


def _fits(x: ir.Value, weight: ir.Value | None) -> bool:
    """Whether a weight is a row of the last dimension of `x`, in its element type."""
    if weight is None or x.dtype not in _FLOATS or weight.dtype != x.dtype or not _is_row(weight):
        return False
    shape, row = dimensions(x), dimensions(weight)
    return shape is not None and row is not None and isinstance(row[0], int) and shape[-1:] == row


NORMALISATION = {
    "Div": [layer_normalisation, rms_normalisation],
    "Mul": [scaled_normalisation, layer_normalisation, rms_normalisation],
    "Add": [shifted_normalisation],
}
