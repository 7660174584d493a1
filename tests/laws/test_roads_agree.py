"""The law on a sample: every road gives what the eager call gives, or fails the same way.

`dev.py laws` takes all cases; this takes those that once went wrong, some of the backend's and some spoiled ones.
"""

from __future__ import annotations

import functools

import pytest

from tests.laws.case import Case
from tests.laws.judge import Finding, judge
from tests.laws.pool import Worker
from tests.laws.report import table
from tests.laws.selection import sample

SHARDS = 8
SEED = 1


@functools.cache
def _sample() -> list[Case]:
    return sample(SEED, backend_count=120, spoiled_count=180)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_roads_agree(shard: int) -> None:
    worker = Worker()
    findings: list[Finding] = []
    try:
        for case in _sample()[shard::SHARDS]:
            findings += judge(worker, case)
    finally:
        worker.stop()
    assert not findings, table(findings)
