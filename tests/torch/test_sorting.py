"""Sorting, searching, distinct values, order statistics, running sums: what ONNX Runtime gives is what torch does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")
from tests.torch.function_agreement import agree  # noqa: E402  # torch may be missing

NAN, INF = float("nan"), float("inf")


def agrees(
    function: Callable[..., Any],
    *tensors: Any,
    others: Sequence[Any] = (),
    tolerance: float = 1e-5,
    opset: int | None = None,
) -> None:
    """Compare a model of a function with torch, with a dynamic first dimension if there are others."""
    dims = [(0,)] * len(tensors) if others else None
    agree(function, *tensors, others=others, tolerance=tolerance, dims=dims, opset_version=opset)


def _ties(*shape: int) -> Any:
    return torch.randint(0, 3, shape, generator=torch.Generator().manual_seed(0))


# -- sorting -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool, torch.uint8, torch.float16])
def test_stable_sort(descending: bool, dtype: Any):
    agrees(lambda x: torch.sort(x, dim=0, descending=descending, stable=True), _ties(40, 3).to(dtype))


def test_sort_of_a_dynamic_dimension():
    agrees(
        lambda x: torch.sort(x, dim=0, stable=True),
        _ties(4, 3).float(),
        others=[(_ties(9, 3).float(),)],
        opset=18,
    )


@pytest.mark.parametrize("descending", [False, True])
def test_what_is_no_number_is_sorted_last(descending: bool):
    x = torch.tensor([[3.0, NAN, 1.0, INF, NAN, -INF]])
    agrees(lambda x: torch.sort(x, dim=1, descending=descending, stable=True), x)


def test_largest_few():
    agrees(lambda x: torch.topk(x, 2, 0), torch.randn(5, 3), others=[(torch.randn(8, 3),)])
    agrees(lambda x: torch.topk(x, x.shape[0] - 1, 0), torch.randn(5, 3), others=[(torch.randn(8, 3),)])


# -- searching -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("right", [False, True])
def test_searchsorted(right: bool):
    steps = torch.tensor([[-1.0, 0.0, 0.0, 2.0], [0.0, 1.0, 2.0, 3.0]])
    values = torch.tensor([[-2.0, 0.0, 5.0], [1.0, NAN, 2.5]])
    agrees(lambda s, v: torch.searchsorted(s, v, right=right), steps, values)


@pytest.mark.parametrize("length", [0, 1, 2, 7, 8])
def test_bucketize_by_any_number_of_boundaries(length: int):
    agrees(
        lambda x: torch.bucketize(x, torch.arange(float(length)), right=True),
        torch.linspace(-1, 9, 21),
        others=[(torch.linspace(-2, 8, 5),)],
    )


def test_isin_nothing():
    agrees(
        lambda x, y: (torch.isin(x, y), torch.isin(x, y, invert=True)), torch.arange(4), torch.zeros(0).long()
    )
    agrees(lambda x: torch.isin(x, torch.tensor([1, 3])), torch.arange(4), others=[(torch.arange(7),)])


# -- distinct values -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.int32, torch.bool])
def test_unique(dtype: Any):
    x = _ties(4, 5).to(dtype)
    agrees(lambda x: torch.unique(x, return_inverse=True, return_counts=True), x)
    agrees(torch.unique, x)
    agrees(lambda x: torch.unique(x, dim=1, return_inverse=True, return_counts=True), x)


@pytest.mark.parametrize("dim", [None, 0, 1])
def test_unique_consecutive(dim: int | None):
    def function(x: Any) -> Any:
        return torch.unique_consecutive(x, return_inverse=True, return_counts=True, dim=dim)

    agrees(function, _ties(6, 1), others=[(_ties(9, 1),)])
    agrees(function, torch.zeros(3, 0) if dim is None else _ties(4, 2))
    agrees(torch.unique_consecutive, torch.tensor([1.0, 1.0, NAN, NAN, 2.0]))


# -- order statistics ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_medians(name: str):
    x = torch.tensor([[3.0, 1.0, 2.0, 4.0], [1.0, NAN, 5.0, 0.0], [NAN, NAN, NAN, NAN]])
    agrees(lambda x: getattr(torch, name)(x, 1)[0], x)
    agrees(getattr(torch, name), torch.randn(4, 3), others=[(torch.randn(7, 3),)])
    agrees(getattr(torch, name), torch.tensor(2.0))


@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_quantiles(name: str, interpolation: str):
    x = torch.tensor([[3.0, 1.0, 2.0, 4.0], [1.0, NAN, 5.0, 0.0]])
    q = torch.tensor([0.0, 0.3, 0.5, 1.0])
    function = getattr(torch, name)
    agrees(lambda x, q: function(x, q, 1, keepdim=True, interpolation=interpolation), x, q)
    agrees(lambda x: function(x, 0.4, interpolation=interpolation), x)


def test_mode_is_the_least_of_the_most_frequent():
    agrees(lambda x: torch.mode(x, 0), torch.tensor([[2, 1], [1, 1], [2, 0], [1, 0], [0, 5]]))
    agrees(lambda x: torch.mode(x, 0)[0], _ties(5, 4), others=[(_ties(11, 4),)])


def test_histograms():
    x = torch.tensor([-1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 3.0])
    agrees(lambda x: (torch.histc(x, 4), torch.histc(x, 4, -1, 1)), x)
    agrees(lambda x: torch.histogram(x, 4, density=True), x)
    agrees(lambda x: torch.histogram(x, torch.tensor([-1.0, 0.0, 0.5, 1.0]), weight=x.abs()), x)
    agrees(lambda x: torch.histogramdd(x, [2, 3]), torch.randn(20, 2))


def test_bincount():
    x = torch.tensor([0, 3, 3, 1])
    agrees(lambda x: torch.bincount(x, minlength=6), x)
    agrees(lambda x, w: torch.bincount(x, w), x, torch.tensor([0.5, 1.0, 2.0, 4.0]))


# -- running sums --------------------------------------------------------------------------------------


@pytest.mark.parametrize("opset", [None, 18])
@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"])
def test_running(name: str, opset: int | None):
    others = [(torch.randn(9, 3),), (torch.randn(2, 3),)]
    agrees(lambda x: getattr(torch, name)(x, 0), torch.randn(5, 3), others=others, opset=opset)
    agrees(lambda x: getattr(torch, name)(x, -1), torch.tensor(2.0), opset=opset)
    agrees(lambda x: getattr(torch, name)(x, 0), torch.zeros(0, 3), opset=opset)


@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_running_extremes_of_ties_and_what_is_no_number(name: str):
    x = torch.tensor([[1.0, 1.0, NAN, 2.0, NAN, 0.0], [2.0, 1.0, 2.0, 1.0, 3.0, INF]])
    agrees(lambda x: getattr(torch, name)(x, 1), x)


def test_running_logarithms_of_infinities():
    agrees(lambda x: x.logcumsumexp(1), torch.tensor([[-INF, -INF, 1.0, 2.0], [INF, 1.0, INF, 2.0]]))
