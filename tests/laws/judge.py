"""The verdict on one case: take it along all roads, and say where the law is broken.

The law: every road gives what the eager call gives, or fails with the same class and code; no road ends the process,
hangs, lets a foreign exception out, or writes into what it was given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.backend.node_cases import NotEqual, all_cases, check_equal
from tests.backend.overruled import OVERRULED
from tests.laws.case import Case
from tests.laws.outcome import BARE, MOST_ULPS, Outcome, difference, distance
from tests.laws.pool import Worker
from tests.laws.roads import ROADS

#: Operators whose results are drawn: only their form can be compared here; `random_draws` has the rest.
RANDOM = frozenset(
    {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
)


#: Kinds of findings where the reference evaluator is asked who is right.
ASKED = ("values differ", "only eager works", "only eager fails")


#: What the eager call says where the result is larger than what a worker may take.
NO_MEMORY = "there is not enough memory for the result"


@dataclass(frozen=True)
class Finding:
    """One way in which a case breaks the law."""

    case: Case
    kind: str
    roads: tuple[str, ...]
    detail: str
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)


def judge(worker: Worker, case: Case) -> list[Finding]:
    """What is wrong with a case; nothing when the law holds."""
    outcomes = worker.outcomes(case, list(ROADS))
    findings: list[Finding] = []
    first = outcomes["eager"]
    if first.kind == "large" or (first.kind == "error" and NO_MEMORY in first.text):
        return findings  # that other roads run out of time or memory with it says nothing

    def find(kind: str, roads: list[str], detail: str) -> None:
        if kind in ASKED and "reference" not in outcomes:
            outcomes.update(worker.outcomes(case, ["reference"]))
        said = f"; reference {outcomes['reference']}" if kind in ASKED else ""
        findings.append(Finding(case, kind, tuple(roads), detail + said, outcomes))

    for kind in ("died", "hang", "raw error", "overwritten"):
        roads = [road for road, each in outcomes.items() if each.kind == kind]
        if roads and kind == "hang":  # what the reference does not get done either is just much work
            outcomes.update(worker.outcomes(case, ["reference"]))
            roads = [] if outcomes["reference"].kind == "hang" else roads
        if roads:
            find(kind, roads, str(outcomes[roads[0]]))
    _compare(worker, case, outcomes, find)
    if case.expected is not None and first.kind == "values" and not is_random(case):
        right, tolerance = case.expected, case.rtol
        if case.name in OVERRULED:  # the specification says otherwise
            oracle, wider = OVERRULED[case.name]
            right, tolerance = oracle(all_cases()[case.name]), wider or tolerance
        try:
            for actual, expected in zip(first.values, right, strict=True):
                check_equal(actual, expected, tolerance, case.atol)
        except NotEqual as objection:
            find("data differs", ["eager"], str(objection))
    return findings


def _compare(worker: Worker, case: Case, outcomes: Mapping[str, Outcome], find: Any) -> None:
    first = outcomes["eager"]
    fails = first.kind in ("error", "raw error")
    if not fails and first.kind != "values":
        return
    other = {road: each for road, each in outcomes.items() if road in ROADS and road != "eager"}
    compared = {road: each for road, each in other.items() if each.kind in ("values", "error", "raw error")}
    if fails:
        gives = [road for road, each in compared.items() if each.kind == "values"]
        if gives:
            find("only eager fails", gives, f"eager {first}; {gives[0]} {outcomes[gives[0]]}")
        differs = [
            road
            for road, each in compared.items()
            if each.kind == "error" and each.name not in (first.name, BARE)
        ]
        written = [road for road in differs if not road.startswith("model")]
        foreign = [road for road in differs if road.startswith("model")]
        for kind, roads in (("error differs", written), ("error differs in a foreign model", foreign)):
            if roads and first.kind == "error":
                find(kind, roads, f"eager {first}; {roads[0]} {outcomes[roads[0]]}")
        return
    failing = [road for road, each in compared.items() if each.kind == "error"]
    if failing:
        find("only eager works", failing, f"eager {first}; {failing[0]} {outcomes[failing[0]]}")
    unlike: dict[str, str] = {}
    for road, each in compared.items():
        if each.kind == "values" and (found := _unlike(case, first.values, each.values)) is not None:
            unlike[road] = found
    if any("ulp" in each for each in unlike.values()):
        unlike = _past_rounding(worker, case, outcomes, unlike)
    if unlike:
        road = next(iter(unlike))
        find("values differ", list(unlike), f"{unlike[road]}; eager {first}; {road} {outcomes[road]}")


def is_random(case: Case) -> bool:
    """Whether the results are drawn."""
    for node in case.graph.node:
        if node.op_type in RANDOM and node.domain == "":
            return True
        if node.op_type == "Dropout" and len(node.input) > 2:
            return True
    return False


def _unlike(case: Case, one: tuple[Any, ...], other: tuple[Any, ...]) -> str | None:
    if not is_random(case):
        return difference(one, other)
    forms = [[(each.dtype, each.shape) for each in map(np.asarray, values)] for values in (one, other)]
    return None if forms[0] == forms[1] else f"forms {forms[0]}, {forms[1]}"


def _past_rounding(
    worker: Worker, case: Case, outcomes: Mapping[str, Outcome], unlike: Mapping[str, str]
) -> dict[str, str]:
    """What differs by more than twice the runtime's own error against float64."""
    exact = worker.outcomes(case, ["float64"])["float64"]
    if exact.kind != "values":
        exact = worker.outcomes(case, ["reference"])["reference"]
    if exact.kind != "values":
        return dict(unlike)
    errors = {
        road: distance(each.values, exact.values)
        for road, each in outcomes.items()
        if road in ROADS and each.kind == "values" and len(each.values) == len(exact.values)
    }
    best, own = min(errors.values(), default=0.0), errors.get("eager", np.inf)
    if best == np.inf:  # nobody knows what is right
        return dict(unlike)
    unit = _last_place(outcomes["eager"].values)
    if own > 16 * best + 64 * unit:  # then the eager call is the one that is wrong
        return {
            road: f"{words}, error {errors.get(road)} (eager {own:.3g})" for road, words in unlike.items()
        }
    allowed = 2 * own + MOST_ULPS * unit
    return {
        road: f"{words}, error {errors.get(road, np.inf):.3g} (eager {own:.3g})"
        for road, words in unlike.items()
        if "ulp" not in words or errors.get(road, np.inf) > allowed
    }


def _last_place(values: tuple[Any, ...]) -> float:
    """The unit in the last place of the greatest value."""
    most = 0.0
    for each in values:
        if isinstance(each, list | tuple):
            most = max(most, _last_place(tuple(each)))
        elif isinstance(each, np.ndarray) and each.dtype.kind == "f" and each.size:
            finite = np.abs(each[np.isfinite(each)])
            most = max(most, float(np.spacing(finite.max())) if finite.size else 0.0)
    return most
