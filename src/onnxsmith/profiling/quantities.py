"""Times and sizes for people, and columns to put them in."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Times:
    """How long something took in each run, in seconds.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a: op.Relu(op.Exp(a)), FLOAT["N"])
    >>> profile = model.profile([np.ones(64, np.float32)], runs=3)
    >>> profile.total.minimum <= profile.total.mean
    True
    """

    per_run: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The arithmetic mean of the runs."""
        return sum(self.per_run) / len(self.per_run) if self.per_run else 0.0

    @property
    def median(self) -> float:
        """The run in the middle: one that was disturbed does not move it."""
        return statistics.median(self.per_run) if self.per_run else 0.0

    def share_of(self, whole: Times) -> str:
        """How much of a whole it is, in percent; by the mean: medians of parts do not add up to that of the whole.

        >>> from onnxsmith.profiling import Times
        >>> Times((1.0, 2.0)).share_of(Times((2.0, 4.0)))
        '50.0 %'
        """
        return described_share(self.mean, whole.mean)

    @property
    def minimum(self) -> float:
        """The fastest run: the least disturbed by what else the machine does."""
        return min(self.per_run, default=0.0)

    @property
    def deviation(self) -> float:
        """The standard deviation between runs; 0 for a single one."""
        count = len(self.per_run)
        if count < 2:
            return 0.0
        mean = self.mean
        return (sum((each - mean) ** 2 for each in self.per_run) / (count - 1)) ** 0.5

    def as_dict(self) -> dict[str, float | list[float]]:
        """Plain values, for JSON."""
        return {
            "median": self.median,
            "mean": self.mean,
            "min": self.minimum,
            "deviation": self.deviation,
            "runs": list(self.per_run),
        }

    def __repr__(self) -> str:
        spread = f" ± {described_seconds(self.deviation)}" if len(self.per_run) > 1 else ""
        return f"<{described_seconds(self.median)}{spread}, least {described_seconds(self.minimum)}>"


def described_seconds(seconds: float) -> str:
    """A time in the unit that people would choose.

    >>> described_seconds(0.0000123), described_seconds(0.0456), described_seconds(0), described_seconds(12.3)
    ('12.3 µs', '45.6 ms', '0.0 µs', '12.3 s')
    """
    for factor, unit in ((1e6, "µs"), (1e3, "ms")):
        if abs(seconds) * factor < 999.95:
            return f"{seconds * factor:.1f} {unit}"
    return f"{seconds:.1f} s"


def described_share(part: float, whole: float) -> str:
    """A part of a whole in percent.

    >>> described_share(1, 8), described_share(0, 0)
    ('12.5 %', '0.0 %')
    """
    return f"{100 * part / whole if whole else 0.0:.1f} %"


def described_size(count: int) -> str:
    """A number of bytes in the unit that people would choose.

    >>> described_size(999), described_size(1500), described_size(2_340_000_000)
    ('999 B', '1.5 kB', '2.3 GB')
    """
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 999.95:
            return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def columns(
    head: Sequence[str], rows: Sequence[Sequence[str]], sides: Sequence[Literal["<", ">"]]
) -> list[str]:
    """Lines of a table; `sides` says for each column to which side its cells go."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return [
        "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)
        ).rstrip()
        for row in (head, *rows)
    ]
