"""Numbers beside products of matrices keep their precision, and vectors are multiplied by what is transposed.

Both also where a function ends with the product, or with the transposition.
"""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith import DOUBLE, FLOAT, UINT8, script, trace
from onnxsmith import opset21 as op
from onnxsmith.runtime.facts import fusing
from tests.runtime.facts.probing import wrong_probes


@script
def product(a: DOUBLE["N", 3], b: DOUBLE[3, 2]):
    return op.MatMul(a, b)


@script
def scaled(a: DOUBLE["N", 3], b: DOUBLE[3, 2]):
    return op.Mul(product(a, b), np.float64(1 / 3))


def test_a_number_beside_the_product_of_a_function_is_not_rounded() -> None:
    a, b = np.arange(6.0).reshape(2, 3) + 0.1, np.arange(6.0).reshape(3, 2) + 0.7
    np.testing.assert_allclose(scaled.to_model()(a, b), a @ b * (1 / 3), rtol=1e-15)


@script
def turned(a: FLOAT["N", "M"]):
    return op.Transpose(a)


@script
def turned_double(a: DOUBLE["N", "M"]):
    return op.Transpose(a)


@pytest.mark.parametrize(
    "program",
    [
        lambda a, v: op.MatMul(op.Transpose(a), v),
        lambda a, v: op.MatMul(op.Identity(op.Transpose(a, perm=[1, 0])), v),
        lambda a, v: op.MatMul(turned_double(a) if a.dtype is DOUBLE.dtype else turned(a), v),
        lambda a, v: op.MatMul(op.Transpose(a), op.Reshape(v, op.Shape(v))),
        lambda a, v: op.MatMul(op.Transpose(a), v * 1.0),
    ],
    ids=["plain", "behind identity", "by a function", "of unknown size", "and scaled"],
)
def test_a_transposed_matrix_times_a_vector(program) -> None:
    a, v = np.arange(12.0).reshape(3, 4) + 0.1, np.array([1.0, 10, 100])
    np.testing.assert_allclose(trace(program, DOUBLE["N", "M"], DOUBLE["N"])(a, v), a.T @ v, rtol=1e-14)
    a, v = a.astype(np.float32), v.astype(np.float32)
    np.testing.assert_allclose(trace(program, FLOAT["N", "M"], FLOAT["N"])(a, v), a.T @ v, rtol=1e-6)


@pytest.mark.parametrize(
    "turned",
    [
        lambda a: op.Transpose(a, perm=[1, 0, 2]),
        lambda a: op.Transpose(a, perm=[1, 0, 2]) * 0.5,
        lambda a: op.Mul(np.float32(0.5), op.Transpose(a, perm=[1, 0, 2])),
        lambda a: op.Transpose(a, perm=[1, 0, 2]) + op.Transpose(a * 2.0, perm=[1, 0, 2]),
    ],
    ids=["plain", "scaled", "number first", "moved down"],
)
def test_nothing_transposed_and_multiplied(turned) -> None:
    """ONNX Runtime's fusion of both ends the process."""

    def program(a, b):
        return op.MatMul(turned(a), b), op.MatMul(b, op.Transpose(turned(a), perm=[0, 2, 1]))

    model = trace(program, FLOAT["N", 2, 4], FLOAT[2, 4, 4])
    assert [each.shape for each in model(np.ones((0, 2, 4), "f4"), np.ones((2, 4, 4), "f4"))] == [
        (2, 0, 4),
        (2, 4, 0),
    ]
    a, b = np.arange(24, dtype="f4").reshape(3, 2, 4), np.ones((2, 4, 4), "f4")
    np.testing.assert_allclose(model(a, b)[0], np.asarray(turned(a)) @ b)


def test_adapted_models_of_probes_are_right() -> None:
    assert wrong_probes(fusing) == []


@script
def dequantized(q: UINT8["N"], scale: FLOAT, zero: UINT8):
    return op.DequantizeLinear(q, scale, zero)


@pytest.mark.parametrize(
    "between",
    [
        lambda d: d,
        lambda d: op.Identity(d),
        lambda d: op.Dropout(d),
        lambda d: op.Cast(d, to=1),
        lambda d: op.Expand(d, np.array([1])),
        lambda d: 0.0 + d * 1.0,
    ],
    ids=["nothing", "identity", "dropout", "cast", "expand", "numbers that do nothing"],
)
@pytest.mark.parametrize("zero", [np.uint8(128), np.uint8(3), np.int8(0)], ids=repr)
def test_two_quantizations_stay_two(between, zero) -> None:
    def twice(x):
        first, second = np.float32(0.1), np.float32(0.25)
        last = op.QuantizeLinear(x, first, zero)
        middle = between(op.DequantizeLinear(last, first, zero))
        return op.DequantizeLinear(op.QuantizeLinear(middle, second, zero), second, zero)

    x = np.float32([1, -20, 3.33, 12.6, 0.37])
    model = trace(twice, FLOAT["N"])
    np.testing.assert_array_equal(model(x), model.with_outputs("dequantize_linear")(x)[0])
    np.testing.assert_array_equal(model(x), twice(x))
    if zero == np.uint8(128):
        np.testing.assert_array_equal(model(x), np.float32([1, -12.75, 3.25, 12.5, 0.5]))


def test_a_quantization_by_a_function_stays_apart() -> None:
    scale, zero = np.float32(0.1), np.uint8(128)

    def twice(x):
        d = dequantized(op.QuantizeLinear(x, scale, zero), scale, zero)
        return op.DequantizeLinear(op.QuantizeLinear(d, np.float32(0.25), zero), np.float32(0.25), zero)

    np.testing.assert_array_equal(trace(twice, FLOAT["N"])(np.float32([12.6])), np.float32([12.5]))


def test_equal_quantizations_may_become_one() -> None:
    def twice(x):
        for _ in range(2):
            x = op.DequantizeLinear(
                op.QuantizeLinear(x, np.float32(0.1), np.uint8(9)), np.float32(0.1), np.uint8(9)
            )
        return x

    assert trace(twice, FLOAT["N"]).for_runtime().report.edits == ()
