"""`GrownRows`: a list of tuples, or of lists of one length, that a loop of the model appends to.

Each place of the tuples is a list of its own, whose length only the model knows: `events.append((i, x[i]))`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias, cast

from onnxsmith.diagnostics import shown_as
from onnxsmith.errors import InputTypeError
from onnxsmith.numpy.grown import GrownList, missing_method
from onnxsmith.numpy.registry import FUNCTIONS

#: A place, known or of the model, or a slice.
_Index: TypeAlias = Any


@shown_as("list")
class GrownRows:
    """A list of tuples whose length only the model knows."""

    __slots__ = ("columns", "kind")

    def __init__(self, columns: Sequence[GrownList], kind: type) -> None:
        self.columns = tuple(columns)
        #: What a row is: a tuple or a list.
        self.kind = kind

    @property
    def stacked(self) -> Any:
        """Its rows as one array."""
        return FUNCTIONS["stack"]([each.stacked for each in self.columns], axis=1)

    def gone_through(self) -> tuple[Any, Callable[[Any], Any]]:
        """Row by row."""
        return self.columns[0].stacked.shape[0], lambda position: self[position]

    # -- what a list can do --------------------------------------------------------------------------------

    def append(self, item: object) -> None:
        """Add a row at the end."""
        row = cast("Sequence[object]", item)
        if type(item) is not self.kind or len(row) != len(self.columns):
            raise InputTypeError(
                f"a list that a loop of the model appends to has elements of one kind, {self.kind.__name__}s of "
                f"{len(self.columns)}, and this is another one",
                help="collect it in a list of its own",
            ).locate_at_caller()
        for column, each in zip(self.columns, row, strict=True):
            column.append(each)

    def extend(self, items: Iterable[object]) -> None:
        """Add rows at the end."""
        for each in items:
            self.append(each)

    def copy(self) -> GrownRows:
        """Another list of the same rows."""
        return GrownRows([each.copy() for each in self.columns], self.kind)

    def __getattr__(self, name: str) -> Any:
        raise missing_method(name)

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, index: _Index) -> Any:
        if isinstance(index, slice):
            return GrownRows([each[index] for each in self.columns], self.kind)
        return self.kind(each[index] for each in self.columns)

    def __iter__(self) -> Iterator[Any]:
        return iter([self[k] for k in range(len(self))])
