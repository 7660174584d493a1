"""Every backend case of the installed onnx comes back from Python as the same model, and gives the same data.

The networks run on ONNX Runtime only: the reference evaluator takes a minute for them, and `score.py` does that.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import pytest

from tests.decompile.backend_cases import SUITES, all_cases, suite_cases
from tests.decompile.engines import ENGINES, FAULTS
from tests.decompile.judge import STAGES, judge

#: Cases are dealt out to this many tests, about fifty to each.
SHARDS = 40

#: As many cases as onnx 1.23 has; a later onnx has more.
FEWEST = {"node": 1884, "simple": 23, "pytorch-operator": 35, "pytorch-converted": 82, "real": 9}

SCORE = Path(__file__).with_name("score.toml")


@pytest.mark.parametrize("shard", range(SHARDS))
def test_cases_come_back(shard: int) -> None:
    wrong: list[str] = []
    for case in all_cases()[shard::SHARDS]:
        engines = ENGINES if case.suite != "real" else ("onnxruntime",)
        verdict = judge(case, engines)
        if verdict.failed:
            wrong.append(str(verdict))
    assert not wrong, f"{len(wrong)} cases fail\n" + "\n".join(wrong)


def test_every_suite_is_there() -> None:
    assert tuple(FEWEST) == SUITES
    for suite, fewest in FEWEST.items():
        assert len(suite_cases(suite)) >= fewest


def test_faults_of_oracles_say_why() -> None:
    assert not set(FAULTS) - {str(case) for case in all_cases()}
    for name, fault in FAULTS.items():
        assert fault["reason"], name
        assert set(fault["engines"]) <= set(ENGINES), name


def test_committed_score_is_whole() -> None:
    """Written by `python -m tests.decompile.score`."""
    score = tomllib.loads(SCORE.read_text())
    assert {suite: score[suite]["cases"] for suite in SUITES} == FEWEST
    lost = Counter({stage: sum(score[suite][f"failed_{stage}"] for suite in SUITES) for stage in STAGES})
    assert not +lost, lost
