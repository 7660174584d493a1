"""The gradients of torch's operators, exported, are those of torch.autograd: a sample of one for every fifth operator.

All of them, with more samples each, are run by `python -m benchmarks gradient_operators`.
"""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

#: The database is in the order of topics, so that every Nth operator is a fair choice.
EVERY = 5
SHARDS = 2


def _problems(names: list[str]) -> list[str]:
    # Here, not above: they import torch, which a run of other tests should not wait for.
    from tests.grad.operator_gradients import make_runner
    from tests.torch.opinfo.workers import run_all

    records = run_all([(name, "") for name in names], make_runner, ())
    failed = [each for each in records if each.outcome not in ("pass", "torch_cannot")]
    return [f"{each.case}: {each.outcome}: {each.error}" for each in failed]


@pytest.mark.parametrize("shard", range(SHARDS))
def test_gradients_of_operators_are_torchs(shard: int) -> None:
    from tests.grad.operator_gradients import differentiable_cases

    problems = _problems([str(each) for each in differentiable_cases(1)[::EVERY][shard::SHARDS]])
    assert not problems, "\n".join(problems)


def test_numbers_that_are_handled_as_bits_have_gradients() -> None:
    names = ("atan2", "copysign", "fmax", "frexp", "log1p", "nextafter")
    problems = _problems([f"{name} float32 0/1" for name in names])
    assert not problems, "\n".join(problems)


def test_operators_that_torch_differentiates_wrongly_and_those_on_nothing() -> None:
    names = [
        *(f"as_strided_scatter float32 {k}/8" for k in (0, 2, 6)),
        *(f"nn.functional.pixel_shuffle float32 {k}/8" for k in (3, 4)),
        "index_fill float32 5/8",
    ]
    problems = _problems(names)
    assert not problems, "\n".join(problems)


def test_products_at_places_have_gradients_where_a_factor_is_zero() -> None:
    problems = _problems(["index_reduce.prod float32 7/8", "scatter_reduce.prod float32 7/8"])
    assert not problems, "\n".join(problems)
