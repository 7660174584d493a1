"""`GrownList`: a list of arrays that a loop of the model appends to, so that only the model knows how long it is.

It holds its elements as one array, the elements along the first dimension: all are of one element type and shape. What
was put in is not written to any more, and what is taken out is a copy that cannot be written to.
"""

# pyright: reportPrivateUsage=false
# How an array holds its elements is the business of this package, and no attribute that users see.

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.core.semantics.number import kind_of
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value_containers import MOMENTS, CarriedParts, note_change
from onnxsmith.diagnostics import shown_as
from onnxsmith.errors import InputTypeError, ShapeError, UnsupportedSyntaxError
from onnxsmith.errors.boundary import boundary
from onnxsmith.graphs.raising_nodes import LIMITED
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_from, array_of, item, python_numbers, tensors_of
from onnxsmith.numpy.holding import Held, Holding, Stacked
from onnxsmith.numpy.registry import public
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

#: What the elements are: numbers of Python's, numbers of numpy's, or arrays.
Kind: TypeAlias = Literal["python", "number", "array"]

_ELEMENT = "it is an element of a list that only the model knows the length of"


@shown_as("list")
class GrownList(Stacked, Holding):
    """A list of arrays, or of numbers, whose length only the model knows."""

    __slots__ = ("__weakref__", "has_held_rows", "kind")

    def __init__(self, value: Held, is_plain: bool = True, kind: Kind = "number") -> None:
        super().__init__(value, is_plain)
        self.kind: Kind = kind
        #: Where it is the first column of a list of lists: something else may hold these, and see them change.
        self.has_held_rows = False

    @property
    def stacked(self) -> Array:
        """Its elements as one array."""
        return Array(self.held, self._is_plain)

    @property
    def described(self) -> str:
        """The words for it in errors."""
        return f"array for each element of a list, {self.stacked.described}"

    @property
    def traits(self) -> Hashable:
        """How the elements lie, why they cannot be written to, and of which kind they are."""
        return super().traits, self.kind

    @classmethod
    def joined_traits(cls, first: Hashable, second: Hashable) -> Hashable:
        """The traits that both have."""
        (one, kind), (other, other_kind) = cast("tuple[tuple[Hashable, Kind], ...]", (first, second))
        return super().joined_traits(one, other), kind if kind == other_kind else "number"

    @classmethod
    def made_of(cls, traits: Hashable, parts: CarriedParts) -> GrownList:
        """A list of these elements."""
        inner, kind = cast("tuple[Hashable, Kind]", traits)
        made = cast(GrownList, super().made_of(inner, parts))
        made.kind = kind
        return made

    def adopted(self, value: object) -> GrownList | None:
        """A Python list of such elements, as one that may grow."""
        if not isinstance(value, list):
            return None
        whole = self.stacked
        sizes = _sizes(tensors_of(whole).re) if whole.is_symbolic else whole.shape
        shape = (0, *(each if isinstance(each, int) else 0 for each in sizes[1:]))
        return GrownList(np.zeros(shape, whole.dtype), kind=self.kind).extended(cast("list[object]", value))

    def grown(self, items: Sequence[object]) -> GrownList | None:
        """No list holds lists that grow."""
        raise InputTypeError(
            "a list of lists, where only the model knows how long they are",
            help="make an array of the inner list, np.array([…]), or compute with whole arrays, such as np.outer(x, y)",
        ).locate_at_caller()

    def asked_for_truth(self) -> Tensor:
        """True if it has elements, as a tensor; where that is known, what stands behind `and` need not fit."""
        tensor = tensors_of(self.stacked).re
        count = _sizes(tensor)[0]
        if isinstance(count, int):
            return cast(Tensor, count > 0)
        return op.Gather(op.Shape(tensor), np.int64(0)) > 0

    def gone_through(self) -> tuple[Any, Callable[[Any], Any]]:
        """Element by element."""
        return self.stacked.shape[0], lambda position: self[position]

    def compared(self, item: object) -> object:
        """True where an element is equal to an item."""
        return self.stacked.compared(item)

    # -- what a list can do --------------------------------------------------------------------------------

    @boundary
    def append(self, item: UserValue) -> None:
        """Add an element at the end, which is not written to any more."""
        whole, given = self.stacked, self._element(item)
        if whole.is_symbolic or given.is_symbolic or (len(whole) and whole.shape[1:] != given.shape):
            longer = array_from(_joined(tensors_of(whole), tensors_of(given)))
        else:
            first = cast("np.ndarray[Any, Any]", whole.held).reshape(len(whole), *given.shape)
            longer = Array(np.concatenate([first, cast("np.ndarray[Any, Any]", given.held)[None]]))
        self._hold(longer)

    def _hold(self, elements: Array) -> None:
        note_change(self)
        self._value = elements.held
        self._version = next(MOMENTS)

    @boundary
    def __setitem__(self, index: UserValue, item: UserValue) -> None:
        """Put another element in the place of one."""
        if isinstance(index, slice):
            raise UnsupportedSyntaxError(
                "only the model knows how long this list is, and several elements of it are assigned at once",
                help="assign them one by one: items[k] = v",
            ).locate_at_caller()
        given, whole = self._element(item), self.stacked.copy()
        whole[index] = given
        self._hold(whole)

    def _element(self, item: UserValue) -> Array:
        """An item as an element of a list, which is not written to any more."""
        check_writable(self)
        whole = self.stacked
        if self.kind == "python" and kind_of(cast(Any, item)) is None:
            raise InputTypeError(
                "a list that a loop of the model appends to has elements of one kind, Python numbers, and this is "
                "an array",
                help="collect it in a list of its own",
            ).locate_at_caller()
        adopted = item if isinstance(item, Array) else whole.adopted(item)
        given = array_of(item) if adopted is None else adopted
        if given.dtype != whole.dtype or given.ndim + 1 != whole.ndim:
            raise InputTypeError(
                f"a list that a loop of the model appends to has elements of one kind, {whole.dtype.name} with "
                f"{whole.ndim - 1} dimensions, and this is {given.dtype.name} with {given.ndim}",
                help="convert it with x.astype(…), or collect it in a list of its own",
            ).locate_at_caller()
        if not given.is_number and given.ndim:
            given.owner.keep_unchanged(_APPENDED)
        return given

    def extended(self, items: Sequence[object]) -> GrownList | None:
        """The list with items at the end; None where they are not like its elements."""
        try:
            self.extend(items)
        except (InputTypeError, ShapeError):
            return None
        return self

    def copy(self) -> GrownList:
        """Another list of the same elements."""
        return GrownList(self.held, self._is_plain, self.kind)

    def __add__(self, items: list[object]) -> GrownList:
        made = self.copy()
        made.extend(items)
        return made

    def __bool__(self) -> bool:
        return len(self) > 0

    def __getitem__(self, index: UserValue) -> Any:
        taken = self.stacked[index]
        if isinstance(index, slice):
            return GrownList(taken.held, kind=self.kind)
        if self.kind == "python":
            return taken.tensor.as_number() if taken.is_symbolic else taken.item()
        if self.kind == "number":
            return taken
        made = taken.copy()
        made.lock(_ELEMENT)
        return made

    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self.stacked.__array__(dtype, copy)


@public("_grown")
def grown(sample: Array, items: Sequence[object]) -> GrownList | None:
    """A list of items that are like an array, which may grow; None where they are not.

    Sizes that are not known are 0, until there is an element.
    """
    sizes = _sizes(tensors_of(sample).re) if sample.is_symbolic else sample.shape
    shape = (0, *(each if isinstance(each, int) else 0 for each in sizes))
    is_number = sample.is_number or not sample.ndim
    return GrownList(np.zeros(shape, sample.dtype), kind="number" if is_number else "array").extended(items)


def list_of_numbers(items: Sequence[object], taken: Sequence[object]) -> GrownList | None:
    """A list of Python numbers of one kind, known or of the model, which may grow."""
    kinds = {kind_of(cast(Any, each)) for each in (*items, *taken)}
    kind = kinds.pop() if len(kinds) == 1 else None
    if kind is None:
        return None
    return GrownList(np.zeros(0, _DTYPES[kind]), kind="python").extended(items)


def list_of_elements(array: Array) -> GrownList:
    """`list(x)`: what numpy goes through along the first dimension."""
    if array.ndim > 1:
        array.owner.keep_unchanged(_APPENDED)  # numpy's list has views of it
    return GrownList(array.held, array._is_plain, "number" if array.ndim == 1 else "array")


@public("_to_list")
def to_list(x: Array) -> object:
    """`x.tolist()`: nested lists of Python numbers, now or in the model."""
    if not x.is_symbolic:
        return cast("np.ndarray[Any, Any]", x.held).tolist()
    if x.ndim == 1 and not isinstance(x.shape[0], int) and x.dtype.kind != "c":
        return GrownList(python_numbers(x).held, kind="python")
    return [to_list(each) for each in x] if x.ndim else item(x, ())


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


def _sizes(tensor: Tensor) -> Sequence[object]:
    kind = tensor.known.type
    assert isinstance(kind, TensorType)  # an array holds tensors
    assert kind.shape is not None  # whose rank is known
    return kind.shape
