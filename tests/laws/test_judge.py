"""The judge finds what breaks the law, and nothing where it holds; a worker's death or hang is an outcome."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tests.laws.case import Case, node_case
from tests.laws.judge import judge
from tests.laws.outcome import Outcome
from tests.laws.pool import Worker
from tests.laws.report import table
from tests.laws.roads import ROADS

SUM = node_case("sum", "Add", 14, [np.ones(2, np.float32), np.ones(2, np.float32)], {})


class Told(Worker):
    """Says what it was told, where a worker would run the case."""

    def __init__(self, **unlike: Outcome) -> None:
        super().__init__()
        self._unlike = {name.replace("_", " "): each for name, each in unlike.items()}

    def outcomes(self, case: Case, roads: object) -> dict[str, Outcome]:
        assert isinstance(roads, list)
        usual = Outcome("values", (np.full(2, 2, np.float32),))
        return {road: self._unlike.get(road, usual) for road in roads}


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    made = Worker()
    yield made
    made.stop()


def test_what_agrees_is_no_finding(worker: Worker) -> None:
    assert {each.kind for each in worker.outcomes(SUM, list(ROADS)).values()} == {"values"}
    assert judge(worker, SUM) == []


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (Outcome("died", name="SIGFPE"), "died"),
        (Outcome("hang"), "hang"),
        (Outcome("raw error", name="KeyError"), "raw error"),
        (Outcome("overwritten"), "overwritten"),
        (Outcome("error", name="ShapeError C402"), "only eager works"),
        (Outcome("values", (np.full(2, 3, np.float32),)), "values differ"),
        (Outcome("values", (np.full(3, 2, np.float32),)), "values differ"),
    ],
)
def test_what_does_not_is_one(outcome: Outcome, kind: str) -> None:
    (finding,) = judge(Told(jit_if=outcome), SUM)
    assert (finding.kind, finding.roads) == (kind, ("jit if",))
    assert f"| {kind} | Add | 1 | jit if |" in table([finding])


def test_errors_are_compared_by_class_and_code() -> None:
    failed = {road.replace(" ", "_"): Outcome("error", name="ShapeError C402") for road in ROADS}
    assert judge(Told(**failed), SUM) == []
    (finding,) = judge(Told(**{**failed, "jit": Outcome("error", name="OperatorFailedError R101")}), SUM)
    assert finding.kind == "error differs"


def test_eager_alone_fails() -> None:
    (finding,) = judge(Told(eager=Outcome("error", name="ShapeError C402")), SUM)
    assert finding.kind == "only eager fails"
    assert len(finding.roads) == len(ROADS) - 1


def test_data_of_the_case_is_compared() -> None:
    case = node_case("sum", "Add", 14, SUM.inputs, {}, expected=(np.full(2, 5, np.float32),))
    assert [each.kind for each in judge(Told(), case)] == ["data differs"]
