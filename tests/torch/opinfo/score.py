"""The committed score: totals by element type, and every case that does not pass, with its reason.

Read by the test of the sample, written by `--write-score`. A reason that a person wrote is kept.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.torch.opinfo.outcomes import OUTCOMES, Record

PATH = Path(__file__).with_name("score.toml")

_HEADER = """\
# The score of the operator suite; `python -m tests.torch.opinfo --out FILE --write-score` writes it.
# [totals]: cases by element type and outcome. [exceptions]: cases that do not pass, as "outcome: reason".
# Every case that is not listed has to pass.
"""


def totals() -> dict[str, dict[str, int]]:
    """Cases by element type and outcome."""
    return _content().get("totals", {})


def exceptions() -> dict[str, str]:
    """The cases that do not pass, with the outcome and its reason."""
    return _content().get("exceptions", {})


def write(records: Iterable[Record]) -> None:
    """Write the score of the records; element types that they do not have keep theirs."""
    records = sorted(records, key=lambda record: record.case)
    dtypes = {record.case.split()[1] for record in records}
    counts = {dtype: numbers for dtype, numbers in totals().items() if dtype not in dtypes}
    for dtype in dtypes:
        counts[dtype] = dict(Counter(record.outcome for record in records if record.case.split()[1] == dtype))
    before = exceptions()
    reasons = {case: text for case, text in before.items() if case.split()[1] not in dtypes}
    for record in records:
        if record.outcome == "pass":
            continue
        kept = before.get(record.case, "")
        reasons[record.case] = (
            kept if kept.startswith(record.outcome + ":") else f"{record.outcome}: {record.error}"
        )
    lines = [_HEADER.rstrip()]
    for dtype in sorted(counts):
        cells = ", ".join(f"{outcome} = {counts[dtype].get(outcome, 0)}" for outcome in OUTCOMES)
        lines.append(f"totals.{dtype} = {{ {cells} }}")
    lines += [
        "",
        "[exceptions]",
        *(f"{json.dumps(case)} = {json.dumps(reasons[case])}" for case in sorted(reasons)),
    ]
    PATH.write_text("\n".join(lines) + "\n")


def _content() -> dict[str, dict]:
    return tomllib.loads(PATH.read_text()) if PATH.exists() else {}
