"""The law of devices on a sample: with values on a device every road gives what numpy's arrays give, or refuses.

`python -m tests.laws.device_law` takes all cases; `dev.py gpu` does so on a GPU.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

from onnxsmith.graphs.agreement import CONVERTED, EXACT
from tests.chosen_device import DEVICE
from tests.laws.case import Case, node_case
from tests.laws.device_law import NUMPY, ROADS, WORKER, Judged, judge, summary, table
from tests.laws.outcome import Outcome
from tests.laws.pool import Worker
from tests.laws.selection import sample

SHARDS = 3
TOLERANCE = EXACT if DEVICE.kind == "cpu" else CONVERTED


@functools.cache
def _sample() -> list[Case]:
    # Calls that ask for terabytes, which `test_roads_agree` takes, say nothing more here.
    return [each for each in sample(2, 40, 30) if not each.name.startswith("hostile_")][::4]


@pytest.mark.parametrize("shard", range(SHARDS))
def test_values_on_the_device_give_the_same(shard: int) -> None:
    worker = Worker(module=WORKER)
    try:
        judged = [judge(worker, case, tolerance=TOLERANCE) for case in _sample()[shard::SHARDS]]
    finally:
        worker.stop()
    found = summary(judged, str(DEVICE))
    assert not found["findings"], table(found)
    assert sum(counts.get("equal", 0) for counts in found["roads"].values()) > len(judged) * 5


class Scripted:
    """Answers as a worker does, with outcomes that are written down."""

    def __init__(self, first: Outcome, others: Outcome, exact: Outcome | None = None) -> None:
        self._answers = {NUMPY: first, "float64": exact or Outcome("error")}
        self._others = others

    def outcomes(self, case: Case, roads: list[str]) -> dict[str, Outcome]:
        return {road: self._answers.get(road, self._others) for road in roads}


def values(*numbers: float) -> Outcome:
    return Outcome("values", (np.float32(numbers),))


REFUSED = Outcome("error", name="NotRunnableError R102", text="nothing can run it")
VERDICTS = {
    "the same": (values(1, np.nan), values(1, np.nan), None, "equal"),
    "rounded otherwise": (values(1, 2), values(1, 2.00001), None, "equal"),
    "NaN for a number": (values(1, 2), values(1, np.nan), None, "other values"),
    "the other infinity": (values(np.inf), values(-np.inf), None, "other values"),
    "another number": (values(1, 2), values(1, 2.1), None, "other values"),
    "as far from float64 as numpy": (values(1.2), values(1.1), values(1.0), "equal"),
    "further from float64 than numpy": (values(1.01), values(1.2), values(1.0), "other values"),
    "a shape more": (values(1), values(1, 1), None, "other values"),
    "refused here": (values(1), REFUSED, None, "refused"),
    "refused everywhere": (REFUSED, REFUSED, None, "equal"),
    "refused by numpy alone": (REFUSED, values(1), None, "numpy refuses"),
    "an error of somebody else's": (values(1), Outcome("raw error", text="CUDA"), None, "raw error"),
    "the end of the process": (values(1), Outcome("died", name="SIGSEGV"), None, "died"),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_verdicts(name: str) -> None:
    first, others, exact, verdict = VERDICTS[name]
    case = node_case("relu", "Relu", 14, [np.zeros(2, np.float32)], {})
    judged = judge(Scripted(first, others, exact), case, tolerance=CONVERTED)  # pyright: ignore[reportArgumentType]
    assert set(judged.verdicts.values()) == {verdict}
    is_finding = verdict not in ("equal", "refused")
    assert len(judged.wrong) == (len(ROADS) if is_finding else 0)


def test_what_is_drawn_is_compared_by_its_form() -> None:
    case = node_case("drawn", "RandomNormalLike", 1, [np.zeros(2, np.float32)], {})
    for found, verdict in ((values(1, 2), "equal"), (values(1), "other values")):
        judged = judge(Scripted(values(3, 4), found), case, tolerance=EXACT)  # pyright: ignore[reportArgumentType]
        assert judged.verdicts["calls"] == verdict


def test_the_report_counts_refusals_by_reason() -> None:
    case = node_case("relu", "Relu", 14, [np.zeros(2, np.float32)], {})
    judged = [
        Judged(case, dict.fromkeys(ROADS, "refused"), {"calls": "no kernel"}),
        Judged(case, {**dict.fromkeys(ROADS, "equal"), "jit": "died"}, {}, {"jit": "SIGSEGV"}),
    ]
    text = table(summary(judged, "cuda"))
    assert "| calls | 0 | 1 | 1 |" in text
    assert "1 × calls: no kernel (Relu)" in text
    assert "- died, jit, `relu` Relu-14() on float32[2] [0. 0.]: SIGSEGV" in text
