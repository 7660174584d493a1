"""A product that is added to a matrix is one Gemm, whatever the order and the numbers; numpy says what it gives."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from onnxsmith import DOUBLE, FLOAT, Tensor, trace
from onnxsmith import opset21 as op
from tests.passes.agreement import CLOSE, operators, optimized

RNG = np.random.default_rng(0)
C, A, B = (RNG.standard_normal(shape).astype(np.float32) for shape in ((8, 6), (4, 8), (4, 6)))


def product(a: Tensor, b: Tensor) -> Tensor:
    return op.Gemm(a, b, transA=1, alpha=2.0)


FORMS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "sum": lambda c, a, b: c + product(a, b),
    "sum, turned": lambda c, a, b: product(a, b) + c,
    "difference": lambda c, a, b: c - product(a, b),
    "difference, turned": lambda c, a, b: product(a, b) - c,
    "a step": lambda c, a, b: c - product(a, b) * 0.1,
    "a step, divided": lambda c, a, b: c - product(a, b) / 8.0,
    "momentum": lambda c, a, b: c * 0.9 + product(a, b),
    "both": lambda c, a, b: product(a, b) * 0.25 - c * 0.5,
}


@pytest.mark.parametrize("name", FORMS)
def test_it_is_one_node(name: str) -> None:
    model = trace(FORMS[name], FLOAT[8, 6], FLOAT[4, 8], FLOAT[4, 6])
    assert operators(optimized(model, C, A, B, within=CLOSE)) == ["Gemm"]


def test_a_rate_that_is_given_scales_what_is_smaller() -> None:
    model = trace(
        lambda c, a, b, rate: c - product(a, b) * rate, FLOAT[8, 6], FLOAT[4, 8], FLOAT[4, 6], FLOAT[()]
    )
    small = optimized(model, C, A, B, np.float32(0.3), within=CLOSE)
    assert operators(small) == ["Gemm", "Mul"]


def test_what_is_read_elsewhere_or_broadcast_stays() -> None:
    read = trace(lambda c, a, b: (c - (p := product(a, b)), p), FLOAT[8, 6], FLOAT[4, 8], FLOAT[4, 6])
    assert operators(optimized(read, C, A, B, within=CLOSE)) == ["Gemm", "Sub"]
    larger = trace(lambda c, a, b: c - product(a, b), FLOAT[3, 8, 6], FLOAT[4, 8], FLOAT[4, 6])
    assert operators(optimized(larger, np.stack([C] * 3), A, B, within=CLOSE)) == ["Gemm", "Sub"]
    row = trace(lambda c, a, b: c * 0.5 - product(a, b), FLOAT[1, 6], FLOAT[4, 8], FLOAT[4, 6])
    assert operators(optimized(row, C[:1], A, B, within=CLOSE)) == ["Gemm", "Mul", "Sub"]


@pytest.mark.parametrize(("number", "wanted"), [(0.5, ["Gemm"]), (0.1, ["Gemm", "Mul", "Sub"])])
def test_numbers_of_double_precision_are_not_rounded(number: float, wanted: list[str]) -> None:
    model = trace(lambda c, a, b: c - product(a, b) * number, DOUBLE[8, 6], DOUBLE[4, 8], DOUBLE[4, 6])
    given = [each.astype(np.float64) for each in (C, A, B)]
    assert operators(optimized(model, *given, within=1e-15)) == wanted


def test_every_way_of_turning_the_operands() -> None:
    for turns_a, turns_b in itertools.product((0, 1), repeat=2):
        a, b = (A if turns_a else A.T.copy()), (B.T.copy() if turns_b else B)
        model = trace(
            lambda c, a, b, s=turns_a, t=turns_b: c - op.Gemm(a, b, transA=s, transB=t) * 0.5,
            FLOAT[8, 6],
            FLOAT[a.shape],
            FLOAT[b.shape],
        )
        small = optimized(model, C, a, b, within=CLOSE)
        np.testing.assert_allclose(small(C, a, b), C - A.T @ B * 0.5, rtol=1e-5, atol=1e-6)
