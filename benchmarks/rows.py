"""What a benchmark returns: one row for each comparison, and the bar it should reach. Prints and converts rows.

Measures nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

#: A peer's figure, or the words that say why there is none.
Figure = float | str

NOT_INSTALLED = "not installed"


@dataclass(frozen=True)
class Bar:
    """What a row should reach. Make one with `at_most`, `ratio_at_most` or `times_better`."""

    kind: Literal["value", "ratio", "speedup"]
    limit: float

    def __str__(self) -> str:
        match self.kind:
            case "value":
                return f"≤ {self.limit:g}"
            case "ratio":
                return f"≤ {self.limit:g} × peer"
            case "speedup":
                return f"≤ peer / {self.limit:g}"


def at_most(limit: float) -> Bar:
    """Our figure, in the row's unit, is at most this."""
    return Bar("value", limit)


def ratio_at_most(limit: float) -> Bar:
    """Our figure is at most this many times the peer's."""
    return Bar("ratio", limit)


def times_better(limit: float) -> Bar:
    """The peer's figure is at least this many times ours."""
    return Bar("speedup", limit)


@dataclass(frozen=True)
class Row:
    """One comparison. Every figure is a cost: less is better."""

    name: str
    ours: float
    unit: str
    peer: str = ""
    theirs: Figure = ""
    bar: Bar | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours over theirs; None without a peer's figure."""
        return self.ours / self.theirs if isinstance(self.theirs, float) and self.theirs else None

    @property
    def is_met(self) -> bool | None:
        """Whether the bar is reached; None if there is no bar, or no figure to hold it against."""
        if self.bar is None:
            return None
        if self.bar.kind == "value":
            return self.ours <= self.bar.limit
        if self.ratio is None:
            return None
        limit = self.bar.limit if self.bar.kind == "ratio" else 1 / self.bar.limit
        return self.ratio <= limit

    def as_json(self) -> dict[str, object]:
        """The row as plain data."""
        return {
            "name": self.name,
            "unit": self.unit,
            "ours": self.ours,
            "peer": self.peer,
            "theirs": self.theirs,
            "ratio": self.ratio,
            "bar": None if self.bar is None else str(self.bar),
            "met": self.is_met,
            "note": self.note,
        }


_HEADINGS = ("what", "ours", "peer", "theirs", "ours/peer", "bar", "", "note")
_RIGHT_ALIGNED = frozenset({"ours", "theirs", "ours/peer"})


def table(rows: Sequence[Row]) -> str:
    """The rows as aligned text."""
    cells = [_HEADINGS, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEADINGS))]
    return "\n".join(
        "  ".join(
            text.rjust(width) if heading in _RIGHT_ALIGNED else text.ljust(width)
            for text, width, heading in zip(line, widths, _HEADINGS, strict=True)
        ).rstrip()
        for line in cells
    )


def _cells(row: Row) -> tuple[str, ...]:
    verdict = {None: "", True: "met", False: "MISSED"}[row.is_met]
    return (
        row.name,
        f"{_number(row.ours)} {row.unit}",
        row.peer,
        row.theirs if isinstance(row.theirs, str) else f"{_number(row.theirs)} {row.unit}",
        "" if row.ratio is None else _number(row.ratio),
        "" if row.bar is None else str(row.bar),
        verdict,
        row.note,
    )


def _number(value: float) -> str:
    """Three significant digits, without an exponent."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 10 else f"{value:.3f}"
