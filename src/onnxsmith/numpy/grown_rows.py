"""`GrownRows`: a list of tuples, or of lists of one length, that a loop of the model appends to.

Each place of the tuples is a list of its own, whose length only the model knows: `events.append((i, x[i]))`. Rows that
are lists are written to in their place, `rows[-1][1] = v`. Lists that were put in or taken out stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.diagnostics import shown_as
from onnxsmith.errors import InputTypeError
from onnxsmith.numpy.conversions import stacked
from onnxsmith.numpy.grown_list import GrownList, list_of_numbers
from onnxsmith.numpy.holding import Stacked


@shown_as("list")
class GrownRows(Stacked):
    """A list of tuples whose length only the model knows."""

    __slots__ = ("_keep", "columns", "kind")

    def __init__(
        self, columns: Sequence[GrownList], kind: type, keep: Callable[[list[object]], None]
    ) -> None:
        self.columns = tuple(columns)
        #: What a row is: a tuple or a list.
        self.kind = kind
        self._keep = keep

    @property
    def is_symbolic(self) -> bool:
        """True if the rows exist only when the model runs."""
        return self.columns[0].is_symbolic

    @property
    def has_own_rows(self) -> bool:
        """True if rows are lists that nothing else can hold, so that a row may be written to in its place."""
        return self.kind is list and not self.columns[0].has_held_rows

    def asked_for_truth(self) -> Tensor:
        """True if it has rows."""
        return self.columns[0].asked_for_truth()

    def keep(self, row: UserValue) -> None:
        """See to it that a row which is a list, in somebody's hands, is not written to any more."""
        if self.kind is list:
            self._keep(cast("list[object]", row))

    def write(self, position: UserValue, place: UserValue, value: UserValue) -> None:
        """`rows[position][place] = value`"""
        if not isinstance(place, int):
            raise InputTypeError(
                "only the model knows which element of a row is written to",
                help="write to an array: table = np.array(rows), table[i, k] = v",
            ).locate_at_caller()
        if not -len(self.columns) <= place < len(self.columns):
            raise IndexError("list assignment index out of range")
        self.columns[place][position] = value

    @property
    def stacked(self) -> Any:
        """Its rows as one array."""
        return stacked([each.stacked for each in self.columns], 1)

    def gone_through(self) -> tuple[Any, Callable[[Any], Any]]:
        """Row by row."""
        return self.columns[0].stacked.shape[0], lambda position: self[position]

    # -- what a list can do --------------------------------------------------------------------------------

    def append(self, item: UserValue) -> None:
        """Add a row at the end, which something else may hold."""
        self.append_new(item)
        self._note_held(item)

    def append_new(self, item: UserValue) -> None:
        """Add a row at the end, which nothing else holds."""
        for column, each in zip(self.columns, self._row(item), strict=True):
            column.append(each)

    def __setitem__(self, index: UserValue, item: UserValue) -> None:
        row = self._row(item)
        for column, each in zip(self.columns, row, strict=True):
            column[index] = each
        self._note_held(item)

    def _note_held(self, row: UserValue) -> None:
        self.keep(row)
        self.columns[0].has_held_rows = True

    def _row(self, item: UserValue) -> Sequence[UserValue]:
        row = cast("Sequence[UserValue]", item)
        if type(item) is not self.kind or len(row) != len(self.columns):
            raise InputTypeError(
                f"a list that a loop of the model appends to has elements of one kind, {self.kind.__name__}s of "
                f"{len(self.columns)}, and this is another one",
                help="collect it in a list of its own",
            ).locate_at_caller()
        return row

    def copy(self) -> GrownRows:
        """Another list of the same rows."""
        return self._sharing([each.copy() for each in self.columns])

    def _sharing(self, columns: Sequence[GrownList]) -> GrownRows:
        """A list that has rows of this one."""
        made = GrownRows(columns, self.kind, self._keep)
        made.columns[0].has_held_rows = self.columns[0].has_held_rows = True
        return made

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, index: UserValue) -> Any:
        if isinstance(index, slice):
            return self._sharing([each[index] for each in self.columns])
        row = self.kind(each[index] for each in self.columns)
        self.keep(row)
        return row


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
