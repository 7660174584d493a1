"""Generated programs of numpy code, as models: how many give what numpy gives, are refused, or are wrong.

Two thousand programs with control flow that data decide, views and writing in place. `--set first=5000` begins at
another seed, `--set count=500` makes fewer. `tests/numpy/test_flow_programs.py` asks for some of them.
"""

from __future__ import annotations

import collections
from typing import Literal

from benchmarks.contest import Context
from benchmarks.rows import Row, at_most

NAME = "numpy_programs"
DESCRIPTION = "generated programs with branches, loops, views and writing in place, beside numpy"

Verdict = Literal["equal", "refused", "wrong", "an error that is not ours"]


def run(context: Context) -> list[Row]:
    """What is wrong, and what fails with an error that is not ours; the rest is equal or refused."""
    first = int(context.settings.get("first", "100000"))
    count = int(context.settings.get("count", "2000"))
    counts = collections.Counter(_verdict(seed) for seed in range(first, first + count))
    print(f"{count} programs from seed {first}: {counts['equal']} equal, {counts['refused']} refused")
    return [
        Row("wrong", counts["wrong"], "programs", "all", count, at_most(0)),
        Row("an error that is not ours", counts["an error that is not ours"], "programs", bar=at_most(0)),
        Row("refused", counts["refused"], "programs", "all", count),
    ]


def _verdict(seed: int) -> Verdict:
    from tests.numpy.test_flow_programs import (
        check,
    )  # what is measured, and not needed to list the benchmarks

    try:
        # Every other one as `xp.jit` runs it.
        return "equal" if check(seed, is_optimised=seed % 2 == 1) else "refused"
    except AssertionError as error:
        print(f"seed {seed} is wrong: {error}")
        return "wrong"
    except Exception as error:  # whatever it is, it should have been an error of ours
        print(f"seed {seed} fails: {type(error).__name__}: {error}")
        return "an error that is not ours"
