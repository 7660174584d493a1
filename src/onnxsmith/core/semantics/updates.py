"""Functional updates: `x.at[index].set(v)` is `x` with `v` at `index`, for every index that `x[index]` takes.

Where an index names a place twice, `add` and the like count both, and `set` takes the last, as numpy does; in a graph
whose indices are tensors, ONNX leaves open which one `set` takes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.core.operands import dtype_of, needed_rank, operators_for
from onnxsmith.core.semantics import indexing
from onnxsmith.core.semantics.index_items import Index, Item, parse
from onnxsmith.core.semantics.scatter import Reduction, write
from onnxsmith.core.value import NumberValue, Operand, TensorValue, Value
from onnxsmith.diagnostics import shown_as
from onnxsmith.errors import DTypeNotAllowedError, boundary
from onnxsmith.schema.promote import is_literal, literal_array


@shown_as("x.at")
class Updates:
    """`x.at`: index it to say where."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: TensorValue) -> None:
        self._tensor = tensor

    @boundary
    def __getitem__(self, index: Index) -> Place:
        """The place that `x[index]` names."""
        return Place(self._tensor, parse(index))


@shown_as("x.at[…]")
class Place:
    """A place in a tensor; its methods return the tensor with that place changed."""

    __slots__ = ("_items", "_tensor")

    def __init__(self, tensor: TensorValue, items: list[Item]) -> None:
        self._tensor = tensor
        self._items = items

    @boundary
    def get(self) -> TensorValue:
        """The elements at the index: `x[index]`."""
        return indexing.get_items(self._tensor, self._items)

    @boundary
    def set(self, value: Operand) -> TensorValue:
        """With `value` there, broadcast as in an assignment."""
        return _update(self._tensor, self._items, value, "none")

    @boundary
    def add(self, value: Operand) -> TensorValue:
        """With `value` added there; a place that is named twice gets both."""
        return _update(self._tensor, self._items, value, "add")

    @boundary
    def multiply(self, value: Operand) -> TensorValue:
        """With what is there multiplied by `value`."""
        return _update(self._tensor, self._items, value, "mul")

    @boundary
    def min(self, value: Operand) -> TensorValue:
        """With the lesser of what is there and `value`."""
        return _update(self._tensor, self._items, value, "min")

    @boundary
    def max(self, value: Operand) -> TensorValue:
        """With the greater of what is there and `value`."""
        return _update(self._tensor, self._items, value, "max")


def _update(x: TensorValue, items: Sequence[Item], value: Operand, reduction: Reduction) -> TensorValue:
    op = operators_for(x, value, *indexing.tensors_in(items))
    dtype = dtype_of(x)
    if reduction != "none" and dtype is not None and not dtype.is_integer and not dtype.is_float:
        raise DTypeNotAllowedError(f"{reduction} is for numbers, not {dtype.spelling}")
    if isinstance(value, NumberValue) and dtype is not None:
        value = value.as_dtype(dtype)
    elif is_literal(value):
        value = value if dtype is None else literal_array(op.ScatterND.definition, 2, value, dtype)
    elif not isinstance(value, Value):
        value = np.array(value)
    expanded = indexing.expand(items, needed_rank(x, "an update"))
    return write(op, x, expanded, value, reduction)
