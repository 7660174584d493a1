"""Sums, extremes and variances along dimensions: what comes out of ONNX Runtime is what torch computes."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from tests.torch.test_sorting import agrees  # noqa: E402  # torch may be missing

NAN, INF = float("nan"), float("inf")


def test_extremes_without_a_dimension():
    agrees(lambda x: (x.amax(), x.amin(), x.max(), x.min()), torch.randn(3, 4), others=[(torch.randn(5, 4),)])


@pytest.mark.parametrize("name", ["amax", "amin", "max", "min", "argmax", "argmin"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_extremes_among_what_is_no_number(name: str, dtype: Any):
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, NAN, INF], [NAN, -INF, NAN]], dtype=dtype)
    agrees(lambda x: getattr(torch, name)(x, 1), x)


@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_of_truth_and_their_places(name: str):
    x = torch.tensor([[True, False, True], [False, False, True]])
    agrees(lambda x: getattr(torch, name)(x, 1, keepdim=True), x)
    agrees(lambda x: getattr(torch, name)(x), x)


def test_extremes_of_two_truth_values():
    x, y = torch.tensor([True, False, True]), torch.tensor([True, False, False])
    agrees(lambda x, y: (torch.maximum(x, y), torch.minimum(x, y), torch.where(x, x, y)), x, y)


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
def test_variance_of_one_element_has_no_value():
    for shape in ((1,), (3, 1)):
        agrees(lambda x: x.var(-1), torch.randn(shape))
    agrees(lambda x: x.var(0), torch.randn(4, 2), others=[(torch.randn(7, 2),)])


@pytest.mark.parametrize("correction", [0, 1, 2, 0.5])
def test_deviation_and_mean(correction: float):
    agrees(
        lambda x: torch.std_mean(x, (0, 2), correction=correction, keepdim=True),
        torch.randn(3, 4, 5),
        others=[(torch.randn(6, 4, 5),)],
    )


def test_variance_of_halves_stays_in_range():
    agrees(lambda x: x.var(0), torch.tensor([[300.0], [-300.0], [250.0]]).half(), tolerance=1e-2)


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.sum(0),
        lambda x: x.sum(-1),
        lambda x: x.mean(0),
        lambda x: x.mean(-1),
        lambda x: x.mean(),
        lambda x: x.prod(0),
        lambda x: x.any(0),
        lambda x: x.any(-1),
        lambda x: x.all(),
        lambda x: x.amax(1),
        lambda x: x.argmax(-1),
        lambda x: torch.var_mean(x, 0),
    ],
)
def test_of_nothing(function: Any):
    agrees(function, torch.zeros(0, 3))


@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8, torch.bool, torch.int64])
def test_sums_of_integers_are_long(dtype: Any):
    x = torch.tensor([[1, 0, 200], [3, 1, 100]]).to(dtype)
    agrees(lambda x: (x.sum(0), x.sum(), x.prod(1), x.cumsum(0)), x)
    agrees(lambda x: x.sum(0, dtype=torch.float32), x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8, torch.bool])
def test_differences_of_dynamic_sizes(dtype: Any):
    def differences(x: Any) -> Any:
        y = x.to(dtype)
        return y.diff(dim=0), y.diff(3, prepend=y[:, :1], append=y[:, -1:] * 2), y.flatten().diff(2)

    x = torch.tensor([[3.0, 7, 0], [5, 1, 0], [4, 4, 9], [0, 2, 1]])
    agrees(differences, x, others=[(x[:1],), (x[:3],), (x[:0],)])


@pytest.mark.parametrize("reduction", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize("initial", [None, 0.5])
def test_segments(reduction: str, initial: float | None):
    x = torch.randn(6, 2)
    lengths, offsets = torch.tensor([2, 0, 4]), torch.tensor([0, 1, 1, 6])
    agrees(lambda x, n: torch.segment_reduce(x, reduction, lengths=n, initial=initial), x, lengths)
    by_offsets = [x.half(), offsets]
    agrees(
        lambda x, n: torch.segment_reduce(x, reduction, offsets=n, initial=initial),
        *by_offsets,
        tolerance=1e-2,
    )


@pytest.mark.parametrize("values", [[-1, 4, 2**62], [1.5, -2.5, 3.0], [True, True, True]])
def test_hashes(values: list[Any]):
    x = torch.tensor([values, values])
    # As longs: the numbers are the bits.
    agrees(lambda x: torch.hash_tensor(x, dim=1).to(torch.int64), x)
    agrees(lambda x: torch.hash_tensor(x[0]).to(torch.int64), x)
