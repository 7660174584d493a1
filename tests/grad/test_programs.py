"""Gradients of generated programs with branches and loops are those of torch.

More programs are run by `python -m benchmarks gradient_programs`.
"""

from __future__ import annotations

import pytest

from tests.grad.program_gradients import failure, told

SHARDS, COUNT = 4, 24


@pytest.mark.parametrize("shard", range(SHARDS))
def test_gradients_of_generated_programs_are_torchs(shard: int) -> None:
    wrong = [found for seed in range(shard, COUNT, SHARDS) if (found := told(seed, failure))]
    assert not wrong, "\n".join(wrong)
