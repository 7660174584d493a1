"""Writing into a copy against numpy and torch: element types, reductions, NaN, positions that come twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from onnxsmith.algorithms import scattering
from tests.algorithms.running import computed
from tests.algorithms.test_indexing import CASES, as_numpy
from tests.numpy.every_argument import disagreements

NAN = np.nan
DTYPES = ("float32", "float64", "float16", "int64", "int32", "uint8")


def _data(dtype: str) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, (4, 5)).astype(dtype)
    source = rng.integers(0, 9, (6, 5)).astype(dtype)
    if dtype.startswith("float"):
        source[1, 2], x[0, 0] = NAN, NAN
    return x, rng.integers(0, 4, (5, 4)), source


@pytest.mark.parametrize("include_self", [False, True])
@pytest.mark.parametrize("reduction", ["sum", "mean", "prod", "amax", "amin"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_scatter(dtype: str, reduction: Any, include_self: bool):
    x, index, source = _data(dtype)
    (found,) = computed(
        lambda x, i, s: scattering.scatter(x, 0, i, s, reduction, include_self), x, index, source
    )
    wanted = torch.from_numpy(x).scatter_reduce(
        0, torch.from_numpy(index), torch.from_numpy(source), reduction, include_self=include_self
    )
    np.testing.assert_allclose(found, wanted.numpy(), 1e-3 if dtype == "float16" else 1e-6)


@pytest.mark.parametrize("axis", [0, 1])
def test_scatter_without_reduction(axis: int):
    x, source = np.zeros((4, 5)), np.random.default_rng(1).normal(size=(4, 5))
    index = np.argsort(source, axis=axis)
    (found,) = computed(lambda x, i, s: scattering.scatter(x, axis, i, s), x, index, source)
    np.put_along_axis(x, index, source, axis)
    np.testing.assert_array_equal(found, x)


@pytest.mark.filterwarnings("ignore:index_reduce")  # torch may change its API
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reduction", [None, "mean", "prod", "amax", "amin"])
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_slices(axis: int, reduction: Any, dtype: str):
    rng = np.random.default_rng(2)
    x = rng.integers(1, 9, (4, 5)).astype(dtype)
    index = np.array([0, 2, 0, 3]) if reduction else np.array([3, 0, 1])
    source = np.moveaxis(rng.integers(1, 9, (len(index), x.shape[1 - axis])), 0, axis).astype(dtype)
    source = np.ascontiguousarray(source)
    (found,) = computed(lambda x, i, s: scattering.index_write(x, axis, i, s, reduction), x, index, source)
    given = torch.from_numpy(x), axis, torch.from_numpy(index), torch.from_numpy(source)
    wanted = torch.index_reduce(*given, reduction) if reduction else torch.index_copy(*given)
    np.testing.assert_allclose(found, wanted.numpy(), 1e-6)


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_put(name: str, accumulate: bool):
    indices = CASES[name]
    x = np.arange(120.0).reshape(2, 3, 4, 5)
    given = [each for each in indices if each is not None]
    part = x[as_numpy(indices)]
    values = np.random.default_rng(3).normal(size=part.shape)

    def put(x: Any, values: Any, *tensors: Any) -> Any:
        rest = iter(tensors)
        places = [None if each is None else next(rest) for each in indices]
        return scattering.put(x, places, values, accumulate)

    (found,) = computed(put, x, values, *given)
    wanted = x.copy()
    if accumulate:
        np.add.at(wanted, as_numpy(indices), values)
    else:
        wanted[as_numpy(indices)] = values
    np.testing.assert_allclose(found, wanted, 1e-12)


@pytest.mark.parametrize("accumulate", [False, True])
def test_put_flat(accumulate: bool):
    x, index, source = np.arange(6.0).reshape(2, 3), np.array([[0, 5], [0, 2]]), np.ones((2, 2))
    (found,) = computed(lambda x, i, s: scattering.put_flat(x, i, s, accumulate), x, index, source)
    wanted = torch.from_numpy(x.copy()).put_(torch.from_numpy(index), torch.from_numpy(source), accumulate)
    np.testing.assert_array_equal(found, wanted.numpy())


@pytest.mark.parametrize("shape", [(3, 4), (4,), (0, 4)])
def test_masked_scatter(shape: tuple[int, ...]):
    rng = np.random.default_rng(4)
    x, mask = np.zeros((max(shape[0], 3) if shape[0] else 0, 4)), rng.integers(0, 2, shape) > 0
    source = rng.normal(size=20)
    (found,) = computed(scattering.masked_scatter, x, mask, source)
    wanted = torch.from_numpy(x).masked_scatter(torch.from_numpy(mask), torch.from_numpy(source))
    np.testing.assert_array_equal(found, wanted.numpy())


def test_what_numpys_functions_make_of_it() -> None:
    assert disagreements("inserting", {"insert": 7}) == []
