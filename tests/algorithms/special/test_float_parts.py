"""Signs, exponents and neighbours against numpy and torch, from bits and, before opset 26, computed."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

from onnxsmith.algorithms.special import float_parts
from onnxsmith.types.dtypes import DType
from tests.algorithms.running import computed

INF, NAN = np.inf, np.nan
HOSTILE = [0.0, -0.0, 1.0, -1.0, 0.1, -2.5, 3.0, INF, -INF, NAN, 1024.0]
FLOATS = ("float16", "float32", "float64")
OPSETS = [20, 26]


def _pair(dtype: str) -> tuple[Any, Any]:
    ends = np.finfo(dtype)
    x = np.array([*HOSTILE, ends.max, ends.min, ends.tiny, -ends.tiny, ends.smallest_subnormal], dtype)
    return x.reshape(-1, 1), x.reshape(1, -1)


def _agree(found: Any, wanted: Any) -> None:
    """Equal, with equal signs of zeros."""
    np.testing.assert_array_equal(found, wanted)
    is_number = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found)[is_number], np.signbit(wanted)[is_number])


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_signs(dtype: str, opset: int):
    x, y = _pair(dtype)
    is_number = ~np.isnan(x)
    (found,) = computed(float_parts.signbit, x, opset=opset)
    np.testing.assert_array_equal(found[is_number], np.signbit(x)[is_number])
    y = y[~np.isnan(y)].reshape(1, -1)
    _agree(computed(float_parts.copysign, x, y, opset=opset)[0], np.copysign(x, y))


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "bool"])
def test_signs_of_whole_numbers(dtype: str):
    x = np.array([0, 1, 100, -1, -100]).astype(dtype)
    np.testing.assert_array_equal(computed(float_parts.signbit, x)[0], torch.signbit(torch.from_numpy(x)))


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_parts(dtype: str, opset: int):
    x = _pair(dtype)[0]
    mantissa, exponent = computed(float_parts.frexp, x, opset=opset)
    wanted, power = np.frexp(x)
    np.testing.assert_array_equal(mantissa, wanted)
    np.testing.assert_array_equal(exponent[np.isfinite(x)], power[np.isfinite(x)])


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_neighbours(dtype: str, opset: int):
    x, y = _pair(dtype)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(
            computed(float_parts.nextafter, x, y, opset=opset)[0], np.nextafter(x, y)
        )


@pytest.mark.parametrize("opset", OPSETS)
def test_neighbours_of_bfloat16(opset: int):
    x = np.array([1.0, -1.0, 2.0, 0.0, 3.3895313892515355e38, INF, 1e-40], np.float32).astype(
        ml_dtypes.bfloat16
    )
    x, y = x.reshape(-1, 1), x.reshape(1, -1)
    (found,) = computed(float_parts.nextafter, x, y, opset=opset)
    a, b = (torch.from_numpy(each.astype(np.float32)).to(torch.bfloat16) for each in (x, y))
    np.testing.assert_array_equal(
        found.astype(np.float32), torch.nextafter(*torch.broadcast_tensors(a, b)).float()
    )


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_spacing(dtype: str, opset: int):
    x = _pair(dtype)[0]
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(computed(float_parts.spacing, x, opset=opset)[0], np.spacing(x))


@pytest.mark.parametrize("dtype", FLOATS)
def test_products_with_powers_of_two(dtype: str):
    x = _pair(dtype)[0]
    exponent = np.array([0, 1, -1, 10, -24, 200, -200, 2000, -2000], np.int32)
    with np.errstate(all="ignore"):
        _agree(computed(float_parts.ldexp, x, exponent)[0], np.ldexp(x, exponent))


def test_the_largest_numbers():
    for dtype in (DType.FLOAT16, DType.FLOAT, DType.DOUBLE):
        assert float_parts.largest(dtype) == np.finfo(dtype.numpy).max
    assert float_parts.largest(DType.BFLOAT16) == torch.finfo(torch.bfloat16).max
