"""How many gradients of torch's operators, exported and differentiated, are those of torch.autograd.

`--set samples=8` samples of each operator, spread over all; `--set every=10` takes every tenth operator only;
`--set numbers=1` makes the samples of other random numbers, `--set jobs=1` takes one process.
"""

from __future__ import annotations

import os

from benchmarks.contest import Context
from benchmarks.rows import Row, at_most

NAME = "gradient_operators"
DESCRIPTION = (
    "gradients of torch's operators beside torch.autograd, float32 (--set samples=8 --set numbers=0)"
)


def run(context: Context) -> list[Row]:
    """The share that is not right, and what is wrong or missing; each failure is printed."""
    try:
        import torch
    except ImportError:
        return []
    del torch
    from tests.grad.operator_gradients import differentiable_cases, make_runner
    from tests.torch.opinfo.outcomes import Record
    from tests.torch.opinfo.workers import run_all

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    samples, every = int(context.number("samples", 8)), int(context.number("every", 1))
    chosen = {case.operator: None for case in differentiable_cases(1)}
    kept = set(list(chosen)[::every])
    cases = [(str(case), case.family) for case in differentiable_cases(samples) if case.operator in kept]
    numbers, jobs = int(context.number("numbers", 0)), int(context.number("jobs", 2))
    counted: list[Record] = []
    for record in run_all(cases, make_runner, (numbers,), jobs=jobs):
        if record.is_counted:
            counted.append(record)
            if record.outcome != "pass":
                print(f"{record.outcome:15} {record.case}: {record.error}", flush=True)
    passed = sum(record.outcome == "pass" for record in counted)
    wrong = sum(record.outcome == "wrong" for record in counted)
    name = f"gradients of {len(counted):,} samples"
    return [
        Row(name, 100 - 100 * passed / max(len(counted), 1), "% not right", bar=at_most(3)),
        Row(name, wrong, "wrong", bar=at_most(0)),
        Row(name, len(counted) - passed - wrong, "missing"),
    ]
