"""Two profiles beside each other: what became faster, slower, or is only in one of them."""

from __future__ import annotations

import html
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from onnxsmith.profiling.kernel import Kernel
from onnxsmith.profiling.quantities import Times, columns, described_seconds
from onnxsmith.profiling.rows import ProfileGrouping, ProfileRow, grouped, total_of

#: How many rows a table has unless somebody asks for more.
_SHOWN = 20
_HEAD = ("before", "after", "difference", "ratio")


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A line, a node or an operator in two profiles; None where a profile does not have it."""

    label: str
    before: Times | None
    after: Times | None

    @property
    def difference(self) -> float:
        """By how many seconds the mean rose."""
        return _mean(self.after) - _mean(self.before)

    @property
    def ratio(self) -> float | None:
        """The mean after, as a multiple of the mean before; None where one is not there."""
        if self.before is None or self.after is None or not self.before.mean:
            return None
        return self.after.mean / self.before.mean

    @property
    def is_clear(self) -> bool:
        """Whether the difference is larger than the spread of the runs, so that it is likely more than noise."""
        spread = sum(0.0 if each is None else 2 * each.deviation for each in (self.before, self.after))
        return abs(self.difference) > spread


@dataclass(frozen=True, slots=True, repr=False)
class ProfileComparison:
    """Two profiles beside each other, by line, node or operator; the largest difference comes first."""

    by: ProfileGrouping
    rows: tuple[ComparedRow, ...]
    #: All kernels.
    total: ComparedRow
    #: Whole runs without the profile.
    plain: ComparedRow
    called: tuple[str, str]

    def table(self, limit: int | None = _SHOWN) -> str:
        """A table as text; a difference that is not larger than the spread of the runs has a `?`."""
        shown = self.rows if limit is None else self.rows[:limit]
        rows = [(*_numbers(each), each.label) for each in (*shown, self.total, self.plain)]
        lines = columns((*_HEAD, self.by), rows, (">", ">", ">", ">", "<"))
        more = len(self.rows) - len(shown)
        rest = [f"and {more} more"] if more else []
        return "\n".join([*lines[:-2], *rest, "", *lines[-2:]])

    def __repr__(self) -> str:
        ratio = self.total.ratio
        told = "" if ratio is None else f": kernels take {ratio:.2f} times as long"
        return f"<{self.called[1]} compared with {self.called[0]}{told}>"

    def __str__(self) -> str:
        head = f"before: {self.called[0]}, after: {self.called[1]}; ? is within the spread of the runs"
        return f"{head}\n\n{self.table()}"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON; times are in seconds."""
        return {
            "by": self.by,
            "rows": [_as_dict(each) for each in self.rows],
            "total": _as_dict(self.total),
            "plain": _as_dict(self.plain),
        }


def compared(
    before: Sequence[Kernel], after: Sequence[Kernel], by: ProfileGrouping
) -> tuple[tuple[ComparedRow, ...], ComparedRow]:
    """The groups of two profiles side by side, and the totals."""
    mine: dict[Hashable, ProfileRow] = {row.key: row for row in grouped(before, by)}
    theirs: dict[Hashable, ProfileRow] = {row.key: row for row in grouped(after, by)}
    rows: list[ComparedRow] = []
    for key in dict.fromkeys((*mine, *theirs)):
        one, other = mine.get(key), theirs.get(key)
        label = next(row.label for row in (other, one) if row is not None)
        rows.append(
            ComparedRow(label, None if one is None else one.times, None if other is None else other.times)
        )
    total = ComparedRow("all kernels", total_of(before), total_of(after))
    return tuple(sorted(rows, key=lambda row: -abs(row.difference))), total


def best_grouping(before: Sequence[Kernel], after: Sequence[Kernel]) -> ProfileGrouping:
    """What two profiles have in common: lines, nodes where both are of one model, else operators."""
    places = [
        {(node.address, node.operator) for each in side for node in each.nodes} for side in (before, after)
    ]
    if places[0] == places[1]:
        return "line" if _have_lines(before) else "node"
    return "line" if _have_lines(before) and _have_lines(after) else "operator"


def _have_lines(kernels: Sequence[Kernel]) -> bool:
    known = sum(each.times.mean for each in kernels if each.lines)
    return known > sum(each.times.mean for each in kernels) / 2


def _mean(times: Times | None) -> float:
    return 0.0 if times is None else times.mean


def _numbers(row: ComparedRow) -> tuple[str, str, str, str]:
    before, after = (
        "–" if each is None else described_seconds(each.mean) for each in (row.before, row.after)
    )
    sign = "+" if row.difference > 0 else ""
    ratio = "new" if row.before is None else "gone" if row.after is None else "–"
    if row.ratio is not None:
        ratio = f"{row.ratio:.2f}"
    doubt = "" if row.is_clear else "?"
    return before, after, f"{sign}{described_seconds(row.difference)}{doubt:1}", ratio


def _as_dict(row: ComparedRow) -> dict[str, Any]:
    return {
        "label": row.label,
        "before": None if row.before is None else row.before.as_dict(),
        "after": None if row.after is None else row.after.as_dict(),
        "difference": row.difference,
        "ratio": row.ratio,
        "clear": row.is_clear,
    }
