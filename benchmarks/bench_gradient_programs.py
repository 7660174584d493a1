"""How many gradients of generated programs with branches and loops are those of torch.autograd.

`--set count=200` programs from `--set first=0` on; every fifth has second derivatives compared, too.
"""

from __future__ import annotations

from benchmarks.contest import Context
from benchmarks.rows import Row, at_most

NAME = "gradient_programs"
DESCRIPTION = "gradients of programs with control flow beside torch.autograd (--set count=200 --set first=0)"


def run(context: Context) -> list[Row]:
    """How many are wrong; each is printed."""
    try:
        import torch
    except ImportError:
        return []
    del torch
    from tests.grad.program_gradients import failure, told

    first, count = int(context.number("first", 0)), int(context.number("count", 200))
    wrong = 0
    for seed in range(first, first + count):
        found = told(seed, lambda each: failure(each, is_second=each % 5 == 0))
        if found is not None:
            wrong += 1
            print(found)
    return [Row(f"gradients of {count:,} programs", wrong, "wrong", bar=at_most(0))]
