"""Normalisations that models spell out: LayerNormalization and RMSNormalization over the last dimension."""

from __future__ import annotations

import onnx_ir as ir

from onnxsmith.passes.editor import Attempt, Editor, Outcome
from onnxsmith.passes.fusions.expressions import both_ways, mean_over_last, plus_number, root_below, square_of
from onnxsmith.passes.values import dimensions, made_by, only_for, readers

_LAYER_VERSION = 17
_RMS_VERSION = 23
_FLOATS = (ir.DataType.FLOAT, ir.DataType.DOUBLE)


def layer_normalisation(at: Attempt) -> Outcome:
    """`(x - mean) / sqrt(variance + e) * scale + bias`."""
    if at.version < _LAYER_VERSION:
        return None
    for product, bias in both_ways(at.node):
        scaled = only_for(product, "Mul")
        if scaled is None or not _is_row(bias):
            continue
        for unit, scale in both_ways(scaled):
            found = _normalised(at.edit, unit)
            if found is not None and _fits(found[0], scale) and _fits(found[0], bias):
                return at.op("LayerNormalization", found[0], scale, bias, axis=-1, epsilon=found[1])
    return None


def _normalised(edit: Editor, value: ir.Value | None) -> tuple[ir.Value, float] | None:
    """`x` and `e`, for a value that is `(x - mean(x)) / sqrt(mean((x - mean(x))²) + e)`."""
    quotient = only_for(value, "Div")
    if quotient is not None:
        root = only_for(quotient.inputs[1], "Sqrt")
        below = None if root is None else plus_number(edit, root.inputs[0])
        return _centred(edit, quotient.inputs[0], below)
    product = only_for(value, "Mul")
    if product is None:
        return None
    for centred, inverse in both_ways(product):
        found = _centred(edit, centred, root_below(edit, inverse))
        if found is not None:
            return found
    return None


def _centred(
    edit: Editor, centred: ir.Value | None, below: tuple[ir.Value, float] | None
) -> tuple[ir.Value, float] | None:
    difference = made_by(centred, "Sub")
    if difference is None or below is None or centred is None:
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
    """`weight * (x / sqrt(mean(x²) + e))`."""
    if at.version < _RMS_VERSION:
        return None
    for unit, scale in both_ways(at.node):
        found = _of_unit_square(at.edit, unit)
        if found is not None and _fits(found[0], scale):
            return at.op("RMSNormalization", found[0], scale, axis=-1, epsilon=found[1])
    return None


def _of_unit_square(edit: Editor, value: ir.Value | None) -> tuple[ir.Value, float] | None:
    quotient = only_for(value, "Div")
    if quotient is not None:
        root = only_for(quotient.inputs[1], "Sqrt")
        below = None if root is None else plus_number(edit, root.inputs[0])
        return _mean_square(edit, quotient.inputs[0], below)
    product = only_for(value, "Mul")
    if product is None:
        return None
    for x, inverse in both_ways(product):
        found = _mean_square(edit, x, root_below(edit, inverse))
        if found is not None:
            return found
    return None


def _mean_square(
    edit: Editor, x: ir.Value | None, below: tuple[ir.Value, float] | None
) -> tuple[ir.Value, float] | None:
    if x is None or below is None:
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


NORMALISATION = {"Add": [layer_normalisation], "Mul": [rms_normalisation]}
