"""Two profiles beside each other: what became faster, slower, or is only in one of them."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from onnxsmith.profiling.kernel import Kernel, described_lines, described_nodes, lines_of
from onnxsmith.profiling.pairing import paired
from onnxsmith.profiling.quantities import Times, columns, described_seconds
from onnxsmith.profiling.rows import ProfileGrouping, grouped, total_of

#: How many rows a table has unless somebody asks for more.
_SHOWN = 20
_HEAD = ("before", "after", "difference", "ratio")


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A line, a node or an operator in two profiles; None where a profile does not have it.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a: op.Relu(op.Exp(a)), FLOAT["N"])
    >>> profile = model.profile([np.ones(64, np.float32)], runs=3)
    >>> profile.compare(profile).rows[0].ratio
    1.0
    """

    label: str
    before: Times | None
    after: Times | None

    @property
    def difference(self) -> float:
        """By how many seconds the mean of the runs rose: the differences of all rows add up to that of all kernels."""
        return _mean(self.after) - _mean(self.before)

    @property
    def ratio(self) -> float | None:
        """The mean after, as a multiple of that before; None where one is not there."""
        if self.before is None or self.after is None or not self.before.mean:
            return None
        return self.after.mean / self.before.mean

    @property
    def is_clear(self) -> bool:
        """True if the difference is larger than the spread of the runs, so that it is likely more than noise."""
        spread = sum(0.0 if each is None else 2 * each.deviation for each in (self.before, self.after))
        return abs(self.difference) > spread


@dataclass(frozen=True, slots=True, repr=False)
class ProfileComparison:
    """Two profiles beside each other, by line, node or operator; the largest difference comes first.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a: op.Relu(op.Exp(a)), FLOAT["N"])
    >>> profile = model.profile([np.ones(64, np.float32)], runs=3)
    >>> len(profile.compare(profile).rows)
    1
    """

    by: ProfileGrouping
    rows: tuple[ComparedRow, ...]
    #: All kernels.
    total: ComparedRow
    #: Whole runs without the profile.
    plain: ComparedRow
    called: tuple[str, str]

    def table(self, limit: int | None = _SHOWN) -> str:
        """A table as text; a difference that is not larger than the spread of the runs has a `?`.

        Times are means of the runs; `limit` None or 0 shows all rows.
        """
        shown = self.rows[:limit] if limit else self.rows
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
) -> tuple[ComparedRow, ...]:
    """The kernels of two profiles side by side: a row has all that stand for the same in both."""
    rows: list[ComparedRow] = []
    for group in paired(before, after, by):
        label = _label(group, by)
        mine, theirs = (total_of(each) if each else None for each in group)
        rows.append(ComparedRow(label, mine, theirs))
    return tuple(sorted(rows, key=lambda row: -abs(row.difference)))


def _label(group: tuple[Sequence[Kernel], Sequence[Kernel]], by: ProfileGrouping) -> str:
    """The label of a row: all lines or nodes that the first model has for it."""
    shown = group[0] or group[1]
    if by == "operator":
        return " / ".join(dict.fromkeys(each.operator for side in group for each in side))
    (first, *_) = grouped(shown, by)
    if by == "line":
        return described_lines(lines_of(node for each in shown for node in each.nodes)) or first.label
    if by == "node":
        nodes = dict.fromkeys(node for each in shown for node in each.nodes)
        return described_nodes(nodes) or first.label
    return first.label


def best_grouping(before: Sequence[Kernel], after: Sequence[Kernel]) -> ProfileGrouping:
    """The finest grouping that two profiles have in common: lines, else nodes, else operators."""
    if _have_lines(before) and _have_lines(after) and _share_most(before, after, "line"):
        return "line"  # two versions of a file have other numbers for the same lines
    return "node" if _share_most(before, after, "node") else "operator"


def _share_most(before: Sequence[Kernel], after: Sequence[Kernel], by: ProfileGrouping) -> bool:
    both = [each for group in paired(before, after, by) if all(group) for side in group for each in side]
    return _seconds(both) > _seconds([*before, *after]) / 2


def _seconds(kernels: Iterable[Kernel]) -> float:
    return sum(each.times.median for each in kernels)


def _have_lines(kernels: Sequence[Kernel]) -> bool:
    return _seconds(each for each in kernels if each.lines) > _seconds(kernels) / 2


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
