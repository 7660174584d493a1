"""Gradients of generated programs with branches and loops are those of torch.

More programs are run by `python -m benchmarks gradient_programs`.
"""

from __future__ import annotations

import functools

import pytest

from tests.grad.program_gradients import failure, told

#: How many programs are run, in how many tests.
COUNT, SHARDS = 16, 4
#: Programs that once failed: what is gone was copied, a value was an output of two graphs, and ONNX Runtime folded a
#: check in a body.
FOUND = (1008, 1022, 35)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_gradients_of_generated_programs_are_torchs(shard: int) -> None:
    wrong = [found for seed in range(shard, COUNT, SHARDS) if (found := told(seed, failure))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("seed", [0, 3, *FOUND])
def test_second_derivatives_of_generated_programs_are_torchs(seed: int) -> None:
    found = told(seed, functools.partial(failure, is_second=True))
    assert found is None, found
