"""A case that crashes its process or takes too long does not end the run."""

from __future__ import annotations

import os
import time

from tests.torch.opinfo.outcomes import Record
from tests.torch.opinfo.workers import Runner, run_all


def make_runner(outcome: str) -> Runner:
    def run(name: str) -> Record | None:
        match name:
            case "crash":
                os._exit(9)
            case "slow":
                time.sleep(30)
            case "missing":
                return None
        return Record(name, "group", outcome)  # type: ignore[arg-type]

    return run


def test_every_case_has_its_outcome() -> None:
    names = ["first", "crash", "missing", "slow", "last"]
    records = list(run_all([(name, "group") for name in names], make_runner, ("pass",), limit=1))
    assert [(record.case, record.outcome) for record in records] == [
        ("first", "pass"),
        ("crash", "rejected"),
        ("slow", "export_error"),
        ("last", "pass"),
    ]
    assert "status 9" in records[1].error
    assert "1 s" in records[2].error
