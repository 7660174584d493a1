"""Celu keeps its digits whatever alpha is, on every road."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import parser

from onnxsmith import BFLOAT16, DOUBLE, FLOAT, FLOAT16, trace
from onnxsmith import opset28 as op
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.adapting import adapt
from onnxsmith.runtime.facts import activations
from tests.runtime.facts.probing import wrong_probes

TYPES = {
    np.float32: FLOAT["N"],
    np.float64: DOUBLE["N"],
    np.float16: FLOAT16["N"],
    ml_dtypes.bfloat16: BFLOAT16["N"],
}
#: The widest error, in last places of the largest number.
ULPS = 4


def exact(x: Any, alpha: float) -> Any:
    wide = x.astype(np.float64)
    with np.errstate(over="ignore"):
        return np.maximum(wide, 0) + np.minimum(0, alpha * np.expm1(wide / alpha))


@pytest.mark.parametrize("alpha", [-1e30, -8.0, -2.0, 1e-3, 1.0, 4.0, 5.0, 1e4, 9e18, 1e30, 3e38])
@pytest.mark.parametrize("dtype", TYPES, ids=lambda each: each.__name__)
def test_celu_is_right_for_every_alpha_on_every_road(dtype: type[Any], alpha: float) -> None:
    alpha = float(np.float32(alpha))
    x = np.concatenate([-np.logspace(-3, 1, 50), [-0.0, 0.0], np.logspace(-3, 1, 20)]).astype(dtype)
    model = trace(lambda x: op.Celu(x, alpha=alpha), TYPES[dtype])
    right = exact(x, alpha)
    last_place = float(ml_dtypes.finfo(np.float32 if dtype is np.float64 else dtype).eps)
    for result in (op.Celu(x, alpha=alpha), model(x), model.for_runtime()(x)):
        assert result.dtype == x.dtype
        assert np.abs(result.astype(np.float64) - right).max() <= ULPS * last_place * np.abs(right).max()


@pytest.mark.parametrize("alpha", [8.0, 1e30])
def test_celu_keeps_what_is_not_finite(alpha: float) -> None:
    x = np.array([-np.inf, np.nan, np.inf, -3e38, 3e38, -1e-45], np.float32)
    right = exact(x, float(np.float32(alpha))).astype(np.float32)
    np.testing.assert_allclose(op.Celu(x, alpha=alpha), right, rtol=1e-6)


@pytest.mark.parametrize(("alpha", "is_changed"), [(1.0, False), (4.0, False), (4.5, True), (1e30, True)])
def test_celu_is_left_alone_where_the_kernel_is_right(alpha: float, is_changed: bool) -> None:
    text = f"g (float[N] x) => (float[N] y) {{ y = Celu <alpha = {alpha}> (x) }}"
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {text}')
    assert bool(adapt(model, onnxruntime_api.version()).edits) is is_changed


def test_adapted_models_of_probes_are_right() -> None:
    assert wrong_probes(activations) == []
