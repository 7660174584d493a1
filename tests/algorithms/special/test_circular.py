"""Angles are reduced exactly, however far out they lie and however near to a multiple of a quarter turn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onnxsmith import trace
from onnxsmith.algorithms.special.circular import reduced
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType


def _parts(angles: list[float]) -> tuple[Any, ...]:
    def recorded(x: Any) -> Any:
        quarter, (high, low) = reduced(x)
        return quarter, high, low

    model = trace(recorded, *[TensorType(DType.DOUBLE, (None,))])
    return tuple(np.asarray(each) for each in model(np.array(angles)))


def test_the_double_that_is_nearest_to_a_multiple_of_a_quarter_turn() -> None:
    """Of all doubles this one leaves least: 61 bits cancel beyond the 53 that it has (Muller, Elementary Functions)."""
    quarter, high, _ = _parts([6381956970095103.0 * 2.0**797])
    assert quarter.tolist() == [1]
    assert math.isclose(abs(high[0]), 4.687165924254624e-19, rel_tol=1e-15)


def test_quarters_and_rests_of_angles_of_all_sizes() -> None:
    angles = [0.0, 1.0, -2.0, 1.6e6, -1.7e6, 1e10, -1e22, 2.0**1023, np.finfo(float).max]
    quarters, highs, _ = _parts(angles)
    for angle, quarter, rest in zip(angles, quarters, highs, strict=True):
        assert abs(rest) <= math.pi / 4 + 1e-12
        turned = (math.sin(rest), math.cos(rest), -math.sin(rest), -math.cos(rest))[int(quarter)]
        assert math.isclose(turned, math.sin(angle), rel_tol=1e-14, abs_tol=1e-300)


def test_infinity_has_no_angle() -> None:
    _, highs, _ = _parts([math.inf, -math.inf, math.nan])
    assert np.isnan(highs).all()
