"""The law of devices: values on a device give what calls on numpy's arrays give, along every road, or an error of ours.

`python -m tests.laws.device_law --device cuda` takes every node case of ONNX, the calls that once went wrong, and
spoiled cases along the roads of `device_roads`, in processes of its own. It needs no pytest. On the CPU, where the
kernels are the same, results are equal up to rounding (`EXACT`); elsewhere they are apart as those of two libraries may
be (`CONVERTED`).
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from onnxsmith.graphs.agreement import CONVERTED, EXACT, Tolerance, compare
from tests.backend.node_cases import NotEqual, check_equal
from tests.chosen_device import VARIABLE
from tests.laws.case import Case
from tests.laws.judge import NO_MEMORY, is_random
from tests.laws.outcome import Outcome, distance
from tests.laws.pool import Pool, Worker
from tests.laws.report import described
from tests.laws.selection import selected

WORKER = "tests.laws.device_worker"
#: As `device_roads` names them; this process must not load what may take hold of a device.
NUMPY = "numpy"
ROADS = (
    "calls",
    "jit",
    "model",
    "model if",
    "model loop",
    "model of arrays",
    "session",
    "session of arrays",
)
#: So many times the error of the CPU's own result may that of a device be, where both are compared with float64.
_MOST_ERROR = 4
#: On a device a session takes a while to be made.
SECONDS = 60.0
#: So much of a reason tells refusals apart.
_REASON = 100


@dataclass(frozen=True)
class Judged:
    """What came of a case, by road: `equal`, `refused`, `not said`, or a finding in words."""

    case: Case
    verdicts: Mapping[str, str]
    #: The reason of each road that refuses.
    refused: Mapping[str, str] = field(default_factory=dict[str, str])
    #: What each finding is.
    wrong: Mapping[str, str] = field(default_factory=dict[str, str])


def judge(worker: Worker, case: Case, *, tolerance: Tolerance) -> Judged:
    """The verdict on each road."""
    first = worker.outcomes(case, [NUMPY])[NUMPY]
    if first.kind in ("large", "inexpressible") or (first.kind == "error" and NO_MEMORY in first.text):
        return Judged(case, dict.fromkeys(ROADS, "not said"))
    outcomes = worker.outcomes(case, ROADS)
    verdicts: dict[str, str] = {}
    refused: dict[str, str] = {}
    wrong: dict[str, str] = {}
    for road, outcome in outcomes.items():
        verdict, text = _verdict(worker, case, first, outcome, tolerance)
        verdicts[road] = verdict
        if verdict == "refused":
            refused[road] = text
        elif verdict not in ("equal", "not said"):
            wrong[road] = text
    return Judged(case, verdicts, refused, wrong)


def _verdict(
    worker: Worker, case: Case, first: Outcome, outcome: Outcome, tolerance: Tolerance
) -> tuple[str, str]:
    """The verdict on an outcome, and its reason."""
    if outcome.kind in ("inexpressible", "large"):
        return "not said", outcome.text
    if outcome.kind not in ("values", "error"):
        return outcome.kind, str(outcome)
    if outcome.kind == "error":
        return ("equal" if first.kind == "error" else "refused"), f"{outcome.name}: {outcome.text}"
    if first.kind == "error":
        return "numpy refuses", f"numpy {first}; here {outcome}"
    if first.kind != "values":
        return "not said", str(first)
    unlike = _unlike(worker, case, first.values, outcome.values, tolerance)
    if unlike is None:
        return "equal", ""
    return "other values", f"{unlike}; numpy {first}; here {outcome}"


def _unlike(
    worker: Worker, case: Case, wanted: tuple[Any, ...], found: tuple[Any, ...], tolerance: Tolerance
) -> str | None:
    """How results differ beyond the tolerance, and beyond what the case itself and float64 allow; None if not."""
    if len(wanted) != len(found):
        return f"{len(found)} values instead of {len(wanted)}"
    if is_random(case):
        forms = [[(each.dtype, each.shape) for each in map(np.asarray, values)] for values in (wanted, found)]
        return None if forms[0] == forms[1] else f"forms {forms[0]}, {forms[1]}"
    differences = [compare(one, other, tolerance) for one, other in zip(wanted, found, strict=True)]
    first = next((each for each in differences if each is not None), None)
    if first is None:
        return None
    if case.expected is not None and _as_expected(case, found):
        return None
    if first.kinds is None and _as_exact(worker, case, wanted, found):
        return None
    return str(first)


def _as_expected(case: Case, found: tuple[Any, ...]) -> bool:
    assert case.expected is not None
    try:
        for actual, expected in zip(found, case.expected, strict=True):
            check_equal(actual, expected, case.rtol, case.atol)
    except (NotEqual, ValueError):
        return False
    return True


def _as_exact(worker: Worker, case: Case, wanted: tuple[Any, ...], found: tuple[Any, ...]) -> bool:
    """True if the device is about as far from float64 as the CPU is: then the case itself is inexact."""
    exact = worker.outcomes(case, ["float64"])["float64"]
    if exact.kind != "values" or len(exact.values) != len(found):
        return False
    own, theirs = distance(wanted, exact.values), distance(found, exact.values)
    return bool(np.isfinite(theirs) and theirs <= _MOST_ERROR * own)


# -- the report -----------------------------------------------------------------------------------------------


def summary(judged: Sequence[Judged], device: str) -> dict[str, Any]:
    """The counts by road, what is refused and why, and every finding, as plain data."""
    roads = {road: dict(Counter(each.verdicts[road] for each in judged if each.verdicts)) for road in ROADS}
    reasons: Counter[tuple[str, str]] = Counter()
    operators: dict[tuple[str, str], set[str]] = {}
    for each in judged:
        for road, text in each.refused.items():
            key = road, _kind_of_reason(text)
            reasons[key] += 1
            operators.setdefault(key, set()).add(each.case.operator)
    findings = [
        {
            "case": each.case.name,
            "road": road,
            "kind": each.verdicts[road],
            "what": text,
            "how": described(each.case),
        }
        for each in judged
        for road, text in each.wrong.items()
    ]
    return {
        "device": device,
        "cases": len(judged),
        "roads": roads,
        "refused": [
            {"road": road, "count": count, "reason": reason, "operators": sorted(operators[road, reason])}
            for (road, reason), count in reasons.most_common()
        ],
        "findings": findings,
    }


def _kind_of_reason(text: str) -> str:
    """The beginning of a reason, without the operator's own name."""
    words = text.split("\n", 1)[0]
    return words[:_REASON]


def table(found: Mapping[str, Any]) -> str:
    """A summary in Markdown."""
    kinds = sorted({kind for counts in found["roads"].values() for kind in counts})
    lines = ["| road | " + " | ".join(kinds) + " |", "| --- " * (len(kinds) + 1) + "|"]
    for road, counts in found["roads"].items():
        lines.append(f"| {road} | " + " | ".join(str(counts.get(kind, 0)) for kind in kinds) + " |")
    lines += ["", f"{len(found['findings'])} findings in {found['cases']} cases on {found['device']}"]
    for each in found["findings"]:
        lines.append(
            f"- {each['kind']}, {each['road']}, `{each['case']}` {each['how']}: {each['what'][:400]}"
        )
    if found["refused"]:
        lines += ["", "refused:"]
    for each in found["refused"]:
        lines.append(
            f"- {each['count']} × {each['road']}: {each['reason']} ({', '.join(each['operators'][:12])})"
        )
    return "\n".join(lines) + "\n"


def run(
    device: str,
    *,
    seed: int = 0,
    spoiled: int = 600,
    jobs: int | None = None,
    only: str = "",
    part: tuple[int, int] = (0, 1),
    seconds: float = SECONDS,
    limit: float | None = None,
    echo: bool = True,
) -> list[Judged]:
    """Take the cases along all roads on a device; `limit` ends it after so many seconds."""
    os.environ[VARIABLE] = device  # the workers read it
    tolerance = EXACT if device == "cpu" else CONVERTED
    cases = [case for case in selected(seed, spoiled) if only in case.name][part[0] :: part[1]]
    pool = Pool(jobs or os.cpu_count() or 1, seconds, WORKER)
    judged: list[Judged] = []
    begun = last = time.monotonic()
    for each in pool.map(functools.partial(judge, tolerance=tolerance), cases):
        judged.append(each)
        now = time.monotonic()
        if echo and (now - last > 20 or len(judged) == len(cases)):
            last, wrong = now, sum(len(one.wrong) for one in judged)
            print(f"{len(judged)} of {len(cases)} cases, {wrong} findings, {now - begun:.0f} s", flush=True)
        if limit is not None and now - begun > limit:
            print(f"ended after {len(judged)} of {len(cases)} cases", flush=True)
            break
    return judged


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the arguments choose; the exit status is 1 when the law is broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.laws.device_law", description=__doc__)
    parser.add_argument("--device", default=os.environ.get(VARIABLE, "cpu"))
    parser.add_argument("--seed", type=int, default=0, help="what spoiled cases are drawn from")
    parser.add_argument("--spoiled", type=int, default=600, metavar="N", help="how many spoiled cases")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name contains this")
    parser.add_argument("--part", default="0/1", metavar="K/N", help="every Nth case, from the Kth")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long one road may take")
    parser.add_argument("--limit", type=float, metavar="S", help="end after so many seconds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the summary there, too")
    options = parser.parse_args(arguments)
    first, parts = map(int, options.part.split("/"))
    judged = run(
        options.device,
        seed=options.seed,
        spoiled=options.spoiled,
        jobs=options.jobs,
        only=options.only,
        part=(first, parts),
        seconds=options.seconds,
        limit=options.limit,
    )
    found = summary(judged, options.device)
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n")
    print(table(found))
    return int(bool(found["findings"]))


if __name__ == "__main__":
    sys.exit(main())
