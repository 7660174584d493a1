"""The outcomes of a case, the record that a run writes for each, and the file of records. Runs no case."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

Outcome = Literal["pass", "no_translation", "export_error", "rejected", "wrong", "torch_cannot"]

#: In the order that tables show them. The last one is not counted: torch itself cannot do the case.
OUTCOMES: tuple[Outcome, ...] = (
    "pass",
    "no_translation",
    "export_error",
    "rejected",
    "wrong",
    "torch_cannot",
)


@dataclass(frozen=True)
class Record:
    """What became of one case."""

    case: str
    group: str
    outcome: Outcome
    error: str = ""
    seconds: float = 0.0
    nodes: int = 0

    @property
    def is_counted(self) -> bool:
        """Whether the case belongs to the total."""
        return self.outcome != "torch_cannot"


def read(path: Path) -> dict[str, Record]:
    """The records of a file by case; the last one of a case holds. Nothing if there is no file."""
    if not path.exists():
        return {}
    lines = path.read_text().splitlines()
    records: dict[str, Record] = {}
    for line in lines:
        try:
            record = Record(**json.loads(line))
        except ValueError:
            continue  # the line that a stopped run did not finish
        records[record.case] = record
    return records


def append(path: Path, record: Record) -> None:
    """Add a record; flushed at once, so that a stopped run can be resumed."""
    with path.open("a") as file:
        file.write(json.dumps(asdict(record)) + "\n")


def summary(records: Iterable[Record], *, with_failures: bool = True) -> str:
    """A table of the outcomes of each group, the total, and the failures with the first line of their errors."""
    records = sorted(records, key=lambda record: record.case)
    groups = sorted({record.group for record in records})
    width = max([len("total"), *map(len, groups)])
    lines = ["  ".join(["".ljust(width), "counted", "passed %", *OUTCOMES])]
    for group in [*groups, "total"]:
        chosen = [record for record in records if group in (record.group, "total")]
        counts = {outcome: sum(record.outcome == outcome for record in chosen) for outcome in OUTCOMES}
        counted = sum(record.is_counted for record in chosen)
        share = f"{100 * counts['pass'] / counted:.1f}" if counted else "-"
        cells = [str(counts[outcome]).rjust(len(outcome)) for outcome in OUTCOMES]
        lines.append("  ".join([group.ljust(width), str(counted).rjust(7), share.rjust(8), *cells]))
    if with_failures:
        failures = [record for record in records if record.is_counted and record.outcome != "pass"]
        lines += ["", *(f"{record.outcome:15} {record.case}: {record.error}" for record in failures)]
    return "\n".join(lines)
