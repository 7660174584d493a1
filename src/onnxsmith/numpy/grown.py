"""`GrownList`: a list of arrays that a loop of the model appends to, so that only the model knows how long it is.

It holds its elements as one array, the elements along the first dimension: all are of one element type and shape. What
was put in is not written to any more, and what is taken out is a copy that cannot be written to.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from onnxsmith.core.carried import MOMENTS, CarriedParts, note_change
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.diagnostics import shown_as
from onnxsmith.errors import UnsupportedSyntaxError
from onnxsmith.numpy.holding import Held, Holding
from onnxsmith.numpy.registry import FUNCTIONS

#: What stands between brackets: a place, known or of the model, or a slice.
_Index: TypeAlias = Any

#: What the elements are: numbers of Python's, numbers of numpy's, or arrays.
Kind: TypeAlias = Literal["python", "number", "array"]

_ELEMENT = "it is an element of a list that only the model knows the length of"


def missing_method(name: str) -> Exception:
    """The error for what lists can do, and those that only the model knows the length of cannot."""
    if name.startswith("_") or not hasattr(list, name):
        return AttributeError(f"'list' object has no attribute {name!r}")
    return UnsupportedSyntaxError(
        f"only the model knows how long this list is, and such a list has no '{name}'",
        help="it is appended to, indexed and gone through; np.array(items) is an array of it",
    ).locate_at_caller()


@shown_as("list")
class GrownList(Holding):
    """A list of arrays, or of numbers, whose length only the model knows."""

    __slots__ = ("__weakref__", "has_held_rows", "kind")

    def __init__(self, value: Held, is_plain: bool = True, kind: Kind = "number") -> None:
        super().__init__(value, is_plain)
        self.kind: Kind = kind
        #: Where it is the first column of a list of lists: something else may hold these, and see them change.
        self.has_held_rows = False

    @property
    def stacked(self) -> Any:
        """Its elements as one array."""
        return FUNCTIONS["_stacked"](self)

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

    def adopted(self, value: object) -> Holding | None:
        """A Python list of such elements, as one that may grow."""
        return cast("Holding | None", FUNCTIONS["_adopted_list"](self, value))

    def asked_for_truth(self) -> Tensor:
        """True if it has elements."""
        return cast(Tensor, FUNCTIONS["_has_elements"](self))

    def gone_through(self) -> tuple[Any, Callable[[Any], Any]]:
        """Element by element."""
        return self.stacked.shape[0], lambda position: self[position]

    def compared(self, item: object) -> object:
        """True where an element is equal to an item."""
        return self.stacked.compared(item)

    # -- what a list can do --------------------------------------------------------------------------------

    def append(self, item: object) -> None:
        """Add an element at the end."""
        longer = cast(Holding, FUNCTIONS["_longer"](self, item))
        note_change(self)
        self._value = longer.held
        self._version = next(MOMENTS)

    def __setitem__(self, index: UserValue, item: UserValue) -> None:
        """Put another element in the place of one."""
        if isinstance(index, slice):
            raise UnsupportedSyntaxError(
                "only the model knows how long this list is, and several elements of it are assigned at once",
                help="assign them one by one: items[k] = v",
            ).locate_at_caller()
        replaced = cast(Holding, FUNCTIONS["_with_element"](self, index, item))
        note_change(self)
        self._value = replaced.held
        self._version = next(MOMENTS)

    def extend(self, items: Iterable[object]) -> None:
        """Add elements at the end."""
        for each in items:
            self.append(each)

    def copy(self) -> GrownList:
        """Another list of the same elements."""
        return GrownList(self.held, self._is_plain, self.kind)

    def __add__(self, items: list[object]) -> GrownList:
        made = self.copy()
        made.extend(items)
        return made

    def __getattr__(self, name: str) -> Any:
        raise missing_method(name)

    def __len__(self) -> int:
        return len(self.stacked)

    def __bool__(self) -> bool:
        return len(self) > 0

    def __getitem__(self, index: _Index) -> Any:
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

    def __iter__(self) -> Iterator[Any]:
        return iter([self[k] for k in range(len(self))])

    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self.stacked.__array__(dtype, copy)
