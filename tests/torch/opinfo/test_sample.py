"""A fixed sample of the operator suite: every case of it passes but those that score.toml lists.

The whole suite is run by `python -m tests.torch.opinfo`.
"""

from __future__ import annotations

import os

import pytest

from tests.torch.opinfo import score
from tests.torch.opinfo.outcomes import Record

pytest.importorskip("onnxsmith.torch")

#: The test database is in the order of files and topics, so that every Nth operator is a fair choice.
EVERY = 13
SHARDS = 4


def _problem(record: Record, known: dict[str, str]) -> str | None:
    """What is wrong with an outcome, or None."""
    if record.outcome in ("pass", "torch_cannot"):
        if record.outcome == "pass" and record.case in known:
            return f"{record.case} passes now: remove it from score.toml"
        return None
    if record.case in known:
        return None
    return f"{record.case}: {record.outcome}: {record.error}"


@pytest.mark.parametrize("shard", range(SHARDS))
def test_sample_passes(shard: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Here, not above: they import torch, which a run of other tests should not wait for.
    from tests.torch.opinfo.cases import all_cases, operators
    from tests.torch.opinfo.suite import make_runner
    from tests.torch.opinfo.workers import run_all

    monkeypatch.setitem(os.environ, "OMP_NUM_THREADS", "1")
    chosen = set(list(operators())[::EVERY][shard::SHARDS])
    cases = [(str(case), case.family) for case in all_cases() if case.operator in chosen]
    known = score.exceptions()
    problems = [_problem(record, known) for record in run_all(cases, make_runner, ("onnxsmith",))]
    assert not any(problems), "\n".join(filter(None, problems))
