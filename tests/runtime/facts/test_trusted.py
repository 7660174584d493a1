"""Small inputs that kernels take on trust: what may be is computed, all else is refused, at the edges of each."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
import pytest
from onnx import parser

from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.adapting import adapt
from tests.laws.bare_session import BareProcess

CUMSUM = "g (float[{0}] x, int64 axis) => (float[{0}] y) {{ y = CumSum(x, axis) }}"
CROP = "g (float[N] x, int64[K] s) => (float[M] y) { y = CenterCropPad(x, s) }"
MEAN = "g (float[{0}] x) => (float[{0}] y) {{ y = MeanVarianceNormalization <axes = [{1}]> (x) }}"
SLOPE = "g (float[{0}] x, float[{1}] s) => (float[{0}] y) {{ y = PRelu(x, s) }}"
GRID = "g (float[2, R, C] theta, int64[K] size) => (float[] y) { y = AffineGrid(theta, size) }"
TOP = "g (float[N] x, int64[1] k) => (float[M] y, int64[M] i) { y, i = TopK(x, k) }"
PICK = "g (float[N] x, int64[{0}] p) => (float[K] y) {{ s = SequenceConstruct(x, x) y = SequenceAt(s, p) }}"
LIMITS = (
    "g (float[B, N, 4] b, float[B, C, N] s, int64[K] n, float[A] i, float[M] t) => (int64[R, 3] y)"
    " { y = NonMaxSuppression(b, s, n, i, t) }"
)


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def at(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def limits(*counts: int) -> list[np.ndarray]:
    boxes, scores = np.float32([[[0, 0, 1, 1]]]), np.float32([[[0.9]]])
    kinds = (np.array(3), np.float32(0.5), np.float32(0.1))
    return [boxes, scores, *(np.full(count, each) for count, each in zip(counts, kinds, strict=True))]


#: The program, its inputs, and whether they are computed.
CASES: list[tuple[str, list[np.ndarray], bool]] = [
    *((CUMSUM.format("N"), [ones(0), np.array(k)], -1 <= k < 1) for k in range(-3, 3)),
    *((CUMSUM.format("N, M"), [ones(0, 2), np.array(k)], -2 <= k < 2) for k in range(-4, 4)),
    *((CROP, [ones(4), at(k)], k >= 0) for k in (0, 1, 4, 6, -1, -(2**63))),
    (CROP, [ones(4), at(2**31)], False),
    *(
        (MEAN.format("N, M", axes), [ones(2, 3)], why)
        for axes, why in (("0", True), ("-2", True), ("0, 1", True))
    ),
    *((MEAN.format("N, M", axes), [ones(2, 3)], False) for axes in ("2", "0, -3", "-3, 1")),
    *((SLOPE.format("N, 3", "M"), [ones(2, 3), ones(k)], k in (1, 3)) for k in (1, 2, 3)),
    *((SLOPE.format("N, 3", "M, 3"), [ones(2, 3), ones(k, 3)], k in (1, 2)) for k in (1, 2, 3)),
    (SLOPE.format("N", "M, N"), [ones(3), ones(1, 3)], False),
    *((GRID, [ones(2, k - 2, k - 1), at(*[2] * k)], True) for k in (4, 5)),
    *((GRID, [ones(2, 2, 3), at(*[2] * k)], False) for k in (1, 3, 6)),
    *((TOP, [ones(4), at(k)], True) for k in (0, 1, 4)),
    *((TOP, [ones(4), at(k)], False) for k in (2**31, 2**40)),
    *((PICK.format("K"), [ones(2), at(*[1] * k)], k == 1) for k in (0, 1, 2)),
    (PICK.format(""), [ones(2), np.array(1)], True),
    (LIMITS, limits(1, 1, 1), True),
    (LIMITS, limits(0, 1, 1), False),
    (LIMITS, limits(1, 2, 1), False),
    (LIMITS, limits(1, 1, 0), False),
]


@pytest.fixture(scope="module")
def bare() -> Iterator[BareProcess]:
    with contextlib.closing(BareProcess()) as process:
        yield process


@pytest.mark.parametrize(("text", "given", "is_right"), CASES)
def test_an_adapted_model_computes_what_may_be_and_fails_otherwise(
    bare: BareProcess, text: str, given: list[np.ndarray], is_right: bool
) -> None:
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {text}')
    inputs = {each.name: array for each, array in zip(model.graph.input, given, strict=True)}
    adapted = adapt(model, onnxruntime_api.version())
    outcome = bare.ask(adapted.model.SerializeToString(), inputs, timeout=30)
    assert outcome.kind == ("results" if is_right else "error"), outcome
