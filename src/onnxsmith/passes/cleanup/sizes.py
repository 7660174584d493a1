"""Arithmetic on sizes: what `Shape`, `Gather`, `Concat` and their like work out is known where the shapes are.

A size that is not a number is known by its name, or by the value and the axis that it is a size of: two that are
called the same are equal. So a shape that is put together from the sizes of a tensor becomes a constant for `Reshape`,
which has signs for "as it was" and for "whatever is left".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import onnx_ir as ir

from onnxsmith.graphs.notes import WEIGHT_KEY
from onnxsmith.passes.editor import Attempt, Editor, Outcome
from onnxsmith.passes.values import dimensions, int_attribute, ints_attribute, rank


class Expression(NamedTuple):
    """A size that is computed, or that has no name; equal to whatever is written the same."""

    operator: str
    parts: tuple[Size, ...]
    #: How many parts it has in all, so that what grows without end can be given up.
    weight: int


#: What a size is: a number, the name that the model has for it, or an expression.
Size: TypeAlias = "int | str | Expression"
#: How far a size is followed back.
_DEPTH = 40
_MOST = 64
_INTEGERS = (ir.DataType.INT64, ir.DataType.INT32)


Sizes: TypeAlias = "tuple[Size, ...] | None"


def sizes_of(edit: Editor, value: ir.Value | None) -> Sizes:
    """The elements of an integer scalar or vector, as far as they can be told; None where they cannot."""
    return _Search(edit).of(value, _DEPTH)


class _Search:
    """One search back from a value, which looks at each value on the way once."""

    def __init__(self, edit: Editor) -> None:
        self.edit = edit
        self._found: dict[ir.Value, Sizes] = {}

    def of(self, value: ir.Value | None, depth: int) -> Sizes:
        """The elements of a value."""
        if value is not None and not self.edit.folds_weights and WEIGHT_KEY in value.meta:
            return None  # state of a training, which is another number in the next step
        known = self.edit.numbers(value)
        if known is not None and rank(value) in (0, 1):
            return known
        node = None if value is None else value.producer()
        if node is None or node.domain or depth == 0 or value is None:
            return None
        if value not in self._found:
            find = _FINDERS.get(node.op_type)
            found = None if find is None else find(self, node, depth - 1)
            is_small = (
                found is not None and len(found) <= _MOST and all(_weight(each) <= _MOST for each in found)
            )
            self._found[value] = found if is_small else None
        return self._found[value]


def _weight(size: Size) -> int:
    return size.weight if isinstance(size, Expression) else 1


def shape_of(value: ir.Value | None) -> tuple[Size, ...] | None:
    """The sizes of a value, those without a name called after it."""
    shape = dimensions(value)
    if shape is None:
        return None
    return tuple(
        [
            Expression("size", (id(value), axis), 1) if each is None else each
            for axis, each in enumerate(shape)
        ]
    )


def _of_shape(search: _Search, node: ir.Node, depth: int) -> Sizes:
    shape = shape_of(node.inputs[0])
    if shape is None:
        return None
    start, end = int_attribute(node, "start", 0), int_attribute(node, "end", len(shape))
    return shape[slice(max(start + len(shape), 0) if start < 0 else start, end)]


def _of_size(search: _Search, node: ir.Node, depth: int) -> Sizes:
    shape = shape_of(node.inputs[0])
    return None if shape is None else (_product(shape),)


def _of_gather(search: _Search, node: ir.Node, depth: int) -> Sizes:
    given, places = search.of(node.inputs[0], depth), search.edit.numbers(node.inputs[1])
    if given is None or places is None or rank(node.inputs[0]) != 1 or (rank(node.inputs[1]) or 0) > 1:
        return None
    if any(not -len(given) <= each < len(given) for each in places):
        return None
    return tuple([given[each] for each in places])


def _of_slice(search: _Search, node: ir.Node, depth: int) -> Sizes:
    given = search.of(node.inputs[0], depth)
    if given is None or rank(node.inputs[0]) != 1:
        return None
    if len(node.inputs) > 1:
        parts = [search.edit.numbers(each) for each in (*node.inputs[1:3], *node.inputs[4:5])]
    else:
        parts = [ints_attribute(node, "starts"), ints_attribute(node, "ends")]
    if any(each is None or len(each) != 1 for each in parts):
        return None
    start, end, *step = [each[0] for each in parts if each is not None]
    if step and step[0] <= 0:
        return None
    return given[start : end : step[0] if step else 1]


def _of_concat(search: _Search, node: ir.Node, depth: int) -> Sizes:
    found: list[Size] = []
    for each in node.inputs:
        part = search.of(each, depth) if rank(each) == 1 else None
        if part is None:
            return None
        found += part
    return tuple(found)


def _of_same(search: _Search, node: ir.Node, depth: int) -> Sizes:
    given = search.of(node.inputs[0], depth)
    return given if rank(node.outputs[0]) in (0, 1) else None


def _of_cast(search: _Search, node: ir.Node, depth: int) -> Sizes:
    source = node.inputs[0]
    if source is None or source.dtype not in _INTEGERS or node.outputs[0].dtype not in _INTEGERS:
        return None
    return search.of(source, depth)


def _of_two(search: _Search, node: ir.Node, depth: int) -> Sizes:
    if len(node.inputs) != 2:  # Max and Min take any number
        return None
    left, right = (search.of(each, depth) for each in node.inputs)
    if left is None or right is None or node.outputs[0].dtype not in _INTEGERS:
        return None
    if len(left) != len(right):
        if 1 not in (len(left), len(right)):
            return None
        width = max(len(left), len(right))
        left, right = (each * width if len(each) == 1 else each for each in (left, right))
    results = [_combined(node.op_type, a, b) for a, b in zip(left, right, strict=True)]
    return (
        None
        if any(each is None for each in results)
        else tuple([each for each in results if each is not None])
    )


def _combined(op_type: str, left: Size, right: Size) -> Size | None:
    if isinstance(left, int) and isinstance(right, int):
        match op_type:
            case "Add":
                result = left + right
            case "Sub":
                result = left - right
            case "Mul":
                result = left * right
            case "Div":
                if right == 0:
                    return None
                result = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            case "Max":
                result = max(left, right)
            case "Min":
                result = min(left, right)
            case _:
                return None
        return result if abs(result) < 2**31 else None
    if op_type in ("Mul", "Div") and right == 1:
        return left
    if op_type == "Mul" and left == 1:
        return right
    if op_type in ("Add", "Sub") and right == 0:
        return left
    if op_type == "Add" and left == 0:
        return right
    if op_type == "Mul":
        return _product((left, right))
    if op_type == "Div":
        return _quotient(left, right)
    return Expression(op_type, (left, right), _weight(left) + _weight(right) + 1)


def _product(sizes: Sequence[Size]) -> Size:
    """A product, whose factors stand in one order."""
    number = 1
    factors: list[Size] = []
    for each in sizes:
        for factor in each.parts if isinstance(each, Expression) and each.operator == "product" else (each,):
            if isinstance(factor, int):
                number *= factor
            else:
                factors.append(factor)
    if not factors or number == 0:
        return number
    weight = sum(map(_weight, factors)) + 1
    if number == 1 and len(factors) == 1:
        return factors[0]
    if weight <= _MOST:
        factors.sort(key=repr)  # in one order; what is larger is given up in any case
    return Expression("product", (number, *factors) if number != 1 else tuple(factors), weight)


def _quotient(left: Size, right: Size) -> Size:
    """A division that comes out even where a factor is taken out again."""
    if isinstance(left, Expression) and left.operator == "product" and isinstance(right, int) and right:
        number, *rest = left.parts
        if isinstance(number, int) and number % right == 0:
            return _product([number // right, *rest])
    return Expression("Div", (left, right), _weight(left) + _weight(right) + 1)


def _of_product(search: _Search, node: ir.Node, depth: int) -> Sizes:
    given = search.of(node.inputs[0], depth)
    if given is None or rank(node.inputs[0]) != 1:
        return None
    return (_product(given),)


_FINDERS = {
    "Shape": _of_shape,
    "Size": _of_size,
    "Gather": _of_gather,
    "Slice": _of_slice,
    "Concat": _of_concat,
    "Identity": _of_same,
    "Squeeze": _of_same,
    "Unsqueeze": _of_same,
    "Reshape": _of_same,
    "Cast": _of_cast,
    "Add": _of_two,
    "Sub": _of_two,
    "Mul": _of_two,
    "Div": _of_two,
    "Max": _of_two,
    "Min": _of_two,
    "ReduceProd": _of_product,
}


# -- rules ---------------------------------------------------------------------------------------------------


def known_sizes(at: Attempt) -> Outcome:
    """Sizes that are all numbers: a constant."""
    result = at.node.outputs[0]
    if result.dtype not in _INTEGERS or len(at.node.outputs) != 1:
        return None
    if at.node.op_type == "Identity" and at.edit.is_constant(at.input(0)):
        return None  # an output of a body, which is a node's: there would be another one for it
    found, own = sizes_of(at.edit, result), rank(result)
    if found is None or own not in (0, 1) or (own == 0 and len(found) != 1):
        return None
    numbers = [each for each in found if isinstance(each, int)]
    if len(numbers) != len(found):
        return None
    dtype = np.int64 if result.dtype == ir.DataType.INT64 else np.int32
    return at.constant(np.array(numbers if own else numbers[0], dtype), "size")


def shape_as_constant(at: Attempt) -> Outcome:
    """A reshape to sizes that the tensor has in those places, but for one: a constant shape."""
    wanted = at.input(1)
    if at.version < 5 or wanted is None or at.edit.is_constant(wanted):
        return None
    sizes, source = sizes_of(at.edit, wanted), shape_of(at.input(0))
    result = dimensions(at.node.outputs[0])
    if sizes is None or source is None or int_attribute(at.node, "allowzero", 0):
        return None
    shape: list[int] = []
    is_new_open = False
    for place, size in enumerate(sizes):
        own = result[place] if result is not None and place < len(result) else None
        if isinstance(own, int) and own > 0:
            shape.append(own)
        elif isinstance(size, int):
            shape.append(size)
        elif place < len(source) and source[place] == size:
            shape.append(0)
        else:
            is_new_open = True
            shape.append(-1)
    # Where a size that is copied is 0, nothing says what -1 is: then the sizes stay as they are computed.
    if shape.count(-1) > 1 or (is_new_open and 0 in shape):
        return None
    return at.op("Reshape", at.input(0), at.constant(shape, "shape"))


def expand_as_constant(at: Attempt) -> Outcome:
    """An expansion to sizes of which the tensor has some already: 1 stands for those."""
    wanted = at.input(1)
    if wanted is None or at.edit.is_constant(wanted):
        return None
    sizes, source = sizes_of(at.edit, wanted), shape_of(at.input(0))
    if sizes is None or source is None or len(sizes) != len(source):
        return None
    shape = [1 if size == own else size for size, own in zip(sizes, source, strict=True)]
    numbers = [each for each in shape if isinstance(each, int)]
    if len(numbers) != len(shape):
        return None
    if all(each == 1 for each in numbers):
        return at.input(0)
    return at.op("Expand", at.input(0), at.constant(numbers, "shape"))


def reshape_to_own_shape(at: Attempt) -> Outcome:
    """A reshape to the very shape that a tensor has, computed from it."""
    sizes, source = sizes_of(at.edit, at.input(1)), shape_of(at.input(0))
    is_plain = sizes is not None and all(not isinstance(each, int) or each > 0 for each in sizes)
    return at.input(0) if is_plain and sizes == source else None


SIZES = {
    **{operator: [known_sizes] for operator in _FINDERS},
    "Reshape": [known_sizes, reshape_to_own_shape, shape_as_constant],
    "Expand": [expand_as_constant],
}
