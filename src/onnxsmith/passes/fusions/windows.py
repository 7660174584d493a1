"""Reductions of all windows of a vector, without the windows: two sums side by side are the sum of a wider one.

`sliding_window_view(x, 64).sum(axis=-1)` is a `Gather` of 64 times the elements, and a reduction. Windows of 64 are
made of pairs of windows of 32, and so on: six additions of vectors. What is done with each element of a window is done
with the elements of the vector.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnxsmith.passes.editor import Attempt, Editor, Outcome
from onnxsmith.passes.fusions.expressions import both_ways
from onnxsmith.passes.values import int_attribute, made_by, rank, same_shape
from onnxsmith.schema.elementwise_operators import ELEMENTWISE

#: From here on all reductions take their axes as an input.
_VERSION = 18
#: Elements of a window. Wider ones are no constants that somebody wrote.
_WIDEST = 1 << 16
#: The operator that reduces two elements to one.
_OF_TWO = {
    "ReduceSum": "Add",
    "ReduceMean": "Add",
    "ReduceMax": "Max",
    "ReduceMin": "Min",
    "ReduceProd": "Mul",
}
#: Element types that runtimes take for all of them.
_TYPES = frozenset([ir.DataType.FLOAT, ir.DataType.DOUBLE, ir.DataType.INT32, ir.DataType.INT64])
#: Element types whose extremes are those of a wider type.
_WIDENED = frozenset([ir.DataType.UINT8, ir.DataType.INT8])
#: The last place of an axis, as `Slice` takes it.
_END = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Windows:
    """All windows of a vector, one for each place at which one begins."""

    vector: ir.Value
    width: int
    #: The places of the elements, a row for each window.
    places: ir.Value


def windows_in(edit: Editor, value: ir.Value | None) -> Windows | None:
    """The windows that a value is."""
    gather = made_by(value, "Gather")
    if gather is None or int_attribute(gather, "axis", 0):
        return None
    vector, places = gather.inputs
    sum_of_places = made_by(places, "Add")
    if vector is None or places is None or rank(vector) != 1 or sum_of_places is None:
        return None
    for column, row in both_ways(sum_of_places):
        offsets = None if row is None or not edit.is_fixed(row) else edit.array(row, _WIDEST)
        if offsets is None or offsets.ndim != 1 or offsets.size < 2:
            continue
        if np.array_equal(offsets, np.arange(offsets.size)) and _are_starts(
            edit, column, vector, offsets.size
        ):
            return Windows(vector, offsets.size, places)
    return None


def _are_starts(edit: Editor, column: ir.Value | None, vector: ir.Value, width: int) -> bool:
    """True if a column has the places 0, 1, … at which windows of a vector begin."""
    upright = made_by(column, "Reshape", "Unsqueeze")
    if upright is None:
        return False
    shape = edit.numbers(upright.inputs[1])
    if shape not in (((-1, 1),) if upright.op_type == "Reshape" else ((1,), (-1,))):
        return False
    counted = made_by(upright.inputs[0], "Range")
    if counted is None or edit.number(counted.inputs[0]) != 0 or edit.number(counted.inputs[2]) != 1:
        return False
    limit = made_by(counted.inputs[1], "Sub")
    if limit is None or edit.number(limit.inputs[1]) != width - 1:
        return False
    size = made_by(limit.inputs[0], "Gather", "Squeeze", "Size")
    if size is not None and size.op_type != "Size":
        size = made_by(size.inputs[0], "Shape")
    if size is None or size.attributes:
        return False
    return _are_as_long(edit, vector, size.inputs[0])


def _are_as_long(edit: Editor, vector: ir.Value, source: ir.Value | None, depth: int = 8) -> bool:
    """True if a vector is surely as long as another, of which it may have been computed element by element."""
    if vector is source or same_shape(vector, source):
        return True
    node = vector.producer()
    if node is None or node.domain or node.op_type not in ELEMENTWISE or not depth:
        return False
    varying = [each for each in node.inputs if each is not None and edit.number(each) is None]
    return bool(varying) and all(_are_as_long(edit, each, source, depth - 1) for each in varying)


def reduction_of_windows(at: Attempt) -> Outcome:
    """A reduction of each window: of two halves, which are windows themselves."""
    node, windows = at.node, windows_in(at.edit, at.input(0))
    if windows is None or at.version < _VERSION or at.numbers(1) not in ((1,), (-1,)):
        return None
    kind = windows.vector.dtype
    operator = _OF_TWO[node.op_type]
    is_widened = kind in _WIDENED and operator in ("Max", "Min")
    if kind is None or (kind not in _TYPES and not is_widened):
        return None
    if node.op_type == "ReduceMean" and not kind.is_floating_point():
        return None
    vector = at.op("Cast", windows.vector, to=int(ir.DataType.INT32)) if is_widened else windows.vector
    result = _reduced(at, windows.width, vector, operator)
    if is_widened:
        result = at.op("Cast", result, to=int(kind))
    if node.op_type == "ReduceMean":
        width = at.like(windows.width, windows.vector)
        assert width is not None
        result = at.op("Div", result, width)
    if int_attribute(node, "keepdims", 1):
        result = at.op("Unsqueeze", result, at.constant([1], "axes"))
    return result


def product_of_windows(at: Attempt) -> Outcome:
    """`MatMul` of windows with ones: their sums, as whole numbers are added up."""
    windows, weight = windows_in(at.edit, at.input(0)), at.input(1)
    if windows is None or weight is None or not at.edit.is_fixed(weight):
        return None
    ones = at.array(1, windows.width)
    if ones is None or at.version < _VERSION or windows.vector.dtype not in _TYPES:
        return None
    if ones.shape not in ((windows.width,), (windows.width, 1)) or not np.all(ones == 1):
        return None
    result = _reduced(at, windows.width, windows.vector, "Add")
    return result if ones.ndim == 1 else at.op("Unsqueeze", result, at.constant([1], "axes"))


def _reduced(at: Attempt, width: int, vector: ir.Value, operator: str) -> ir.Value:
    """The reduction of all windows of a width."""

    def part(value: ir.Value, start: int, end: int) -> ir.Value:
        return at.op("Slice", value, *[at.constant([each]) for each in (start, end, 0)])

    if width == 1:
        return vector
    if width % 2:
        rest = _reduced(at, width - 1, vector, operator)
        return at.op(operator, part(rest, 0, -1), part(vector, width - 1, _END))
    half = _reduced(at, width // 2, vector, operator)
    return at.op(operator, part(half, 0, -(width // 2)), part(half, width // 2, _END))


def elements_of_windows(at: Attempt) -> Outcome:
    """Computes on the vector in the place of each element of all its windows, and takes windows of the result."""
    node = at.node
    found: Windows | None = None
    inputs: list[ir.Value | None] = []
    for each in node.inputs:
        if each is not None and at.edit.is_constant(each):
            if rank(each) not in (0, 1) or at.edit.number(each) is None:
                return None
            inputs.append(each)
            continue
        windows = windows_in(at.edit, each)
        if windows is None or (found is not None and found != windows):
            return None
        found = windows
        inputs.append(windows.vector)
    if found is None:
        return None
    made = at.op(node.op_type, *inputs, attributes=node.attributes)
    made.type, made.shape = node.outputs[0].type, found.vector.shape
    return at.op("Gather", made, found.places, axis=0)


WINDOWS = {
    **{name: [elements_of_windows] for name in sorted(ELEMENTWISE - {"Identity"})},
    **{name: [reduction_of_windows] for name in _OF_TWO},
    "MatMul": [product_of_windows],
}
