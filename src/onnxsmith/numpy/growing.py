"""Lists of arrays that only the model knows the length of: how they begin, grow, and become arrays."""

# pyright: reportPrivateUsage=false
# How an array holds its elements is the business of this package, and no attribute that users see.

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.core.semantics.number import kind_of
from onnxsmith.core.user_values import UserValue
from onnxsmith.errors import InputTypeError, ShapeError
from onnxsmith.graphs.raising_nodes import LIMITED
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_from, array_of, as_type, tensors_of
from onnxsmith.numpy.grown import GrownList
from onnxsmith.numpy.grown_rows import GrownRows
from onnxsmith.numpy.registry import FUNCTIONS, public
from onnxsmith.numpy.sharing import check_writable
from onnxsmith.types.value_types import TensorType

#: What numpy makes of Python's numbers.
_DTYPES = {"int": np.int64, "float": np.float64, "bool": np.bool_}
#: Part of the name of a node, which holds neither quotes of Python's nor lines.
_OF_SEVERAL_SHAPES = (
    "a list that a loop of the model appends to has arrays of one shape, and these differ;"
    ' xp.jit(f, static="shapes") runs such a loop in Python'
)
_APPENDED = "it was appended to a list that only the model knows the length of"


@public("_grown")
def grown(sample: Array | GrownList, items: Sequence[object]) -> GrownList | None:
    """A list of items that are like an array, which may grow; None where they are not."""
    if isinstance(sample, GrownList):
        raise InputTypeError(
            "a list of lists, where only the model knows how long they are",
            help="make an array of the inner list, np.array([…]), or compute with whole arrays, such as np.outer(x, y)",
        ).locate_at_caller()
    made = _empty(sample)
    return _extended(made, items)


def _empty(sample: Array) -> GrownList:
    """A list without elements; sizes that are not known are 0, until there is one."""
    held = tensors_of(sample).re if sample.is_symbolic else None
    sizes = sample.shape if held is None else _sizes(held)
    shape = (0, *(each if isinstance(each, int) else 0 for each in sizes))
    is_number = sample.is_number or not sample.ndim
    return GrownList(np.zeros(shape, sample.dtype), kind="number" if is_number else "array")


def _extended(made: GrownList, items: Sequence[object]) -> GrownList | None:
    try:
        made.extend(items)
    except (InputTypeError, ShapeError):
        return None
    return made


def list_of_numbers(items: Sequence[object], taken: Sequence[object]) -> GrownList | None:
    """A list of Python numbers of one kind, known or of the model, which may grow."""
    kinds = {kind_of(cast(Any, each)) for each in (*items, *taken)}
    kind = kinds.pop() if len(kinds) == 1 else None
    if kind is None:
        return None
    return _extended(GrownList(np.zeros(0, _DTYPES[kind]), kind="python"), items)


def list_of_rows(
    items: Sequence[object], taken: Sequence[object], keep: Callable[[list[object]], None]
) -> GrownRows | None:
    """A list of tuples or lists of numbers and arrays, which may grow; None where they are not alike.

    `keep` sees to it that a list is not written to any more, for it is a row.
    """
    rows = cast("list[Sequence[Any]]", [*items, *taken])
    kinds = {(type(each), len(each)) for each in rows if type(each) in (tuple, list)}
    if len(kinds) != 1 or not all(type(each) in (tuple, list) for each in rows) or not rows[0]:
        return None
    columns: list[GrownList] = []
    for place in range(len(rows[0])):
        before = [each[place] for each in rows[: len(items)]]
        after = [each[place] for each in rows[len(items) :]]
        sample = next((each for each in (*before, *after) if hasattr(each, "grown")), None)
        made = list_of_numbers(before, after) if sample is None else sample.grown(before)
        if not isinstance(made, GrownList):
            return None
        columns.append(made)
    made = GrownRows(columns, type(rows[0]), keep)
    for each in items:
        made.keep(cast(UserValue, each))
    return made


def list_of_elements(array: Array) -> GrownList:
    """`list(x)`: what numpy goes through along the first dimension."""
    if array.ndim > 1:
        array.owner.keep_unchanged(_APPENDED)  # numpy's list has views of it
    return GrownList(array.held, array._is_plain, "number" if array.ndim == 1 else "array")


@public("_listed")
def listed(array: Array) -> GrownList:
    """`x.tolist()` of a vector that only the model knows the length of."""
    wide = {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.bool_}[array.dtype.kind]
    return GrownList(as_type(array, np.dtype(wide)).held, kind="python")


@public("_adopted_list")
def adopted(like: GrownList, value: object) -> GrownList | None:
    """A Python list in the place of one that may grow."""
    if not isinstance(value, list):
        return None
    items = cast("list[object]", value)
    whole = like.stacked
    shape = (0, *(each if isinstance(each, int) else 0 for each in _static_shape(whole)[1:]))
    empty = GrownList(np.zeros(shape, whole.dtype), kind=like.kind)
    return _extended(empty, items)


@public("_stacked")
def stacked(items: GrownList) -> Array:
    """The elements of a list as one array."""
    return Array(items.held, items._is_plain)


@public("_has_elements")
def has_elements(items: GrownList) -> Tensor:
    """True if a list has elements, as a tensor; where that is known, what stands behind `and` need not fit."""
    tensor = tensors_of(stacked(items)).re
    count = _sizes(tensor)[0]
    if isinstance(count, int):
        return cast(Tensor, count > 0)
    return op.Gather(op.Shape(tensor), np.int64(0)) > 0


@public("_longer")
def longer(items: GrownList, item: UserValue) -> Array:
    """The elements of a list with another one at the end, which is not written to any more."""
    whole, given = stacked(items), _element(items, item)
    if not whole.is_symbolic and not given.is_symbolic and (not len(whole) or whole.shape[1:] == given.shape):
        first = cast("np.ndarray[Any, Any]", whole.held).reshape(len(whole), *given.shape)
        return Array(np.concatenate([first, cast("np.ndarray[Any, Any]", given.held)[None]]))
    return array_from(_joined(tensors_of(whole), tensors_of(given)))


@public("_with_element")
def with_element(items: GrownList, index: UserValue, item: UserValue) -> Array:
    """The elements of a list with another one in the place of one."""
    given, whole = _element(items, item), stacked(items).copy()
    whole[cast(Any, index)] = given
    return whole


def _element(items: GrownList, item: UserValue) -> Array:
    """An item as an element of a list, which is not written to any more."""
    check_writable(items)
    whole = stacked(items)
    if items.kind == "python" and kind_of(cast(Any, item)) is None:
        raise InputTypeError(
            "a list that a loop of the model appends to has elements of one kind, Python numbers, and this is an array",
            help="collect it in a list of its own",
        ).locate_at_caller()
    given = item if isinstance(item, Array) else cast(Any, FUNCTIONS["_adopted"](whole, item))
    if not isinstance(given, Array):
        given = array_of(item)
    if given.dtype != whole.dtype or given.ndim + 1 != whole.ndim:
        raise InputTypeError(
            f"a list that a loop of the model appends to has elements of one kind, {whole.dtype.name} with "
            f"{whole.ndim - 1} dimensions, and this is {given.dtype.name} with {given.ndim}",
            help="convert it with x.astype(…), or collect it in a list of its own",
        ).locate_at_caller()
    if not given.is_number and given.ndim:
        given.owner.keep_unchanged(_APPENDED)
    return given


def _joined(whole: Field, item: Field) -> Field:
    real = _with_row(whole.re, item.re)
    if whole.im is None or item.im is None:
        return Field(real)
    return Field(real, _with_row(whole.im, item.im))


def _with_row(whole: Tensor, item: Tensor) -> Tensor:
    sizes = _sizes(item)
    if not all(isinstance(each, int) for each in sizes):
        if len(sizes) > 1:
            raise ShapeError(
                "a list that a loop of the model appends to takes arrays of a shape that is known, or of one dimension",
                help="append x.reshape(-1)",
            ).locate_at_caller()
        # An empty list knows no size of its elements yet.
        count = op.Slice(op.Shape(whole), np.array([0]), np.array([1]))
        whole = op.Reshape(whole, op.Concat(count, op.Shape(item), axis=0), allowzero=1)
        # Whether the sizes stay the same from one iteration to the next shows when the model runs, and only here.
        node = cast(Any, cast(SymbolicTensor, whole).record).producer
        node.name = f"{LIMITED}{_OF_SEVERAL_SHAPES}|{node.name}"  # its own name tells the line
    return op.Concat(whole, op.Unsqueeze(item, np.array([0])), axis=0)


def _static_shape(array: Array) -> Sequence[object]:
    return _sizes(tensors_of(array).re) if array.is_symbolic else array.shape


def _sizes(tensor: Tensor) -> Sequence[object]:
    kind = tensor.known.type
    assert isinstance(kind, TensorType)  # an array holds tensors
    assert kind.shape is not None  # whose rank is known
    return kind.shape
