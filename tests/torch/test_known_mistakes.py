"""What exporters are known to get wrong and no other file has: element types, masks, experts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from torch import nn  # noqa: E402  # torch may be missing
from torch.nn import functional  # noqa: E402

import onnxsmith  # noqa: E402
from tests.torch.function_agreement import agree  # noqa: E402


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.float16])
@pytest.mark.parametrize("wanted", [torch.float32, torch.float64])
def test_softmax_of_integers_in_another_type(dtype: Any, wanted: Any) -> None:
    x, other = (torch.randint(0, 9, shape).to(dtype) for shape in ((3, 4), (5, 4)))

    def function(x: Any) -> Any:
        return torch.softmax(x, -1, dtype=wanted), torch.log_softmax(x, 0, dtype=wanted)

    agree(function, x, dims=((0,),), others=[(other,)])


def test_truth_values_in_the_place_of_numbers() -> None:
    x, y = torch.tensor([True, False, True]), torch.tensor([True, True, False])
    agree(lambda x, y: (torch.where(x, x, y), x + y, x * y, x.sum(), x.cumsum(0), x.sort()[0]), x, y)
    agree(lambda x: (x.amax(0), x.any(), x.all(), x.max(0)[1], x.clone().masked_fill(x, False)), x)


@pytest.mark.parametrize("is_causal", [False, True])
def test_masked_rows_of_any_length(is_causal: bool) -> None:
    def attend(query: Any, key: Any, value: Any, keep: Any) -> Any:
        keep = None if is_causal else keep[:, None, None, :].expand(-1, 1, query.shape[2], -1)
        return functional.scaled_dot_product_attention(query, key, value, keep, is_causal=is_causal)

    def example(batch: int, length: int) -> list[Any]:
        keep = torch.rand(batch, length) > 0.4
        keep[1] = False  # nothing of this one counts
        return [*torch.randn(3, batch, 2, length, 8), keep]

    dims = ((0, 2), (0, 2), (0, 2), (0, 1))
    agree(attend, *example(2, 5), dims=dims, others=[example(3, 7)])


def test_zeros_around_before_a_pool_are_numbers() -> None:
    x = -torch.rand(1, 2, 4, 4) - 1
    agree(lambda x: functional.max_pool2d(functional.pad(x, (1, 1, 1, 1)), 3, 2), x)


def test_chunks_of_a_dynamic_dimension() -> None:
    agree(
        lambda x: [part.sum(0) for part in x.chunk(3, 0)],
        torch.randn(9, 2),
        dims=((0,),),
        others=[(torch.randn(11, 2),), (torch.randn(12, 2),)],
    )


def test_bfloat16_runs_and_agrees() -> None:
    module = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3), nn.Softmax(-1))
    module = module.to(torch.bfloat16).eval()
    x = torch.randn(4, 6, dtype=torch.bfloat16)
    model = onnxsmith.torch.export(module, (x,), dynamic_shapes=({0: "n"},))
    with torch.no_grad():
        wanted = module(x).float().numpy()
    got = np.asarray(model(x.view(torch.int16).numpy().view("bfloat16")), np.float32)
    np.testing.assert_allclose(got, wanted, atol=0.02)


@pytest.mark.parametrize("count", [4, 40])
def test_rows_of_experts(count: int) -> None:
    """The operator that models of the transformers package call for their experts."""
    pytest.importorskip("transformers.integrations.moe")
    weight = torch.randn(count, 5, 6)

    def example(length: int) -> list[Any]:
        ends = torch.randint(0, length + 1, (count,)).sort()[0].int()
        return [torch.randn(length, 5), ends]

    def function(x: Any, ends: Any) -> Any:
        return torch.ops.transformers.grouped_mm_fallback(x, weight, ends)

    agree(function, *example(9), dims=((0,), ()), others=[example(12)])


def test_experts_that_each_take_their_rows() -> None:
    class Mixture(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.router = nn.Linear(6, 3)
            self.experts = nn.ModuleList(nn.Linear(6, 6) for _ in range(3))

        def forward(self, x: Any) -> Any:
            weights, chosen = self.router(x).softmax(-1).topk(2, -1)
            result = torch.zeros_like(x)
            for number, expert in enumerate(self.experts):
                rows, places = torch.where(chosen == number)
                result.index_add_(0, rows, expert(x[rows]) * weights[rows, places, None])
            return result

    module = Mixture().eval()
    with torch.no_grad():
        agree(module, torch.randn(5, 6), dims=((0,),), others=[(torch.randn(8, 6),)])


#: What the transformers package patches before it exports by other means.
PATCHED: dict[str, tuple[Any, list[tuple[int, ...]]]] = {
    "where of two types": (lambda x: torch.where(x > 0, x, 1), [(4, 5), (6, 5)]),
    "split by sizes": (lambda x: [y.sum(0) for y in x.split(2, 0)][:2], [(4, 5), (4, 6)]),
    "split of a part": (lambda x: x.split([x.shape[1] - 2, 2], 1), [(4, 5), (6, 7)]),
    "running extremes": (lambda x: [*x.cummax(1), *x.cummin(0)], [(4, 5), (6, 7)]),
    "exp of integers": (lambda x: x.round().long().exp(), [(4, 5), (6, 7)]),
    "full of a size": (lambda x: torch.full((2, 3), x.shape[0]) + x.sum(), [(4, 5), (6, 7)]),
    "full of truth": (lambda x: torch.full(x.shape, True) & (x > 0), [(4, 5), (6, 7)]),
    "masked scatter": (lambda x: x.masked_scatter(x > 0, x.flip(0)), [(4, 5), (6, 7)]),
    "roll": (lambda x: x.roll((-1, 2), (0, 1)), [(4, 5), (6, 7)]),
    "detach": (lambda x: (x * 2).detach_() + x.detach(), [(4, 5), (6, 7)]),
    "slice to the end": (lambda x: x[:, 1:] + x[:, :-1], [(4, 5), (6, 7)]),
    "diagonal": (lambda x: x.clone().fill_diagonal_(3.0), [(4, 5)]),  # torch.export fixes its sizes
    "triangle": (lambda x: torch.full_like(x, -1e9).triu_(1) + x, [(4, 5), (6, 7)]),
    "remainder": (lambda x: (x % 3, x.long() % 3, x.long() * 2.5, x.long() // 2), [(4, 5), (6, 7)]),
    "bincount": (lambda x: x.abs().long().flatten().bincount(minlength=9), [(4, 5), (6, 7)]),
    "fill by a tensor": (lambda x: x.masked_fill(x > 0, x.sum()), [(4, 5), (6, 7)]),
    "fill of integers": (lambda x: x.long().masked_fill(x > 0, -7), [(4, 5), (6, 7)]),
    "repeats": (lambda x: x.repeat_interleave(2, 1), [(4, 5), (6, 7)]),
    "irfft": (lambda x: torch.fft.irfft(torch.fft.rfft(x), n=8), [(4, 5), (6, 7)]),
    "positions written": (lambda x: x.clone().index_put_((x[:, 0] > 0,), x[0]), [(4, 5), (6, 7)]),
}


@pytest.mark.parametrize("name", PATCHED)
def test_what_is_patched_elsewhere(name: str) -> None:
    function, (shape, *others) = PATCHED[name]
    args = [(torch.randn(each) * 2,) for each in others]
    agree(function, torch.randn(shape) * 2, dims=((0, 1),) if others else None, others=args)


class Grouped(nn.Module):
    def forward(self, x: Any, y: Any, ends: Any) -> Any:
        return torch.ops.aten._grouped_mm(x, y, ends)


@pytest.mark.parametrize("is_by_columns", [False, True])
def test_products_of_groups(is_by_columns: bool) -> None:
    """The operator of torch that is for bfloat16."""
    rows, weight = torch.randn(16, 16).bfloat16(), torch.randn(3, 16, 8).bfloat16()
    ends = torch.tensor([2, 2, 16], dtype=torch.int32)
    wanted = torch.cat([rows[:2] @ weight[0], rows[2:] @ weight[2]])
    args = (weight.mT.contiguous(), rows.mT.contiguous(), ends) if is_by_columns else (rows, weight, ends)
    model = onnxsmith.torch.export(Grouped(), args)
    got = model(*(each.view(torch.int16).numpy().view("bfloat16") for each in args[:2]), ends.numpy())
    found = np.asarray(got, np.float32)
    np.testing.assert_allclose(found.T if is_by_columns else found, wanted.float(), rtol=0.02, atol=0.02)
