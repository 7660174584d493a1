"""Greatest and least of 64-bit integers: right for all of them, and as cheap as before for shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import parser

from onnxsmith import INT64, tensor, trace
from onnxsmith import opset18 as op
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.adapting import adapt
from onnxsmith.runtime.facts import extremes
from tests.runtime.facts.probing import wrong_probes

HEADER = '<ir_version: 10, opset_import: ["" : 18]> '
#: Pairs whose high halves agree and whose low ones straddle 2**31, and the ends.
NUMBERS = [1, 2**31, 2**32 - 1, -(2**32), -(2**31) - 1, 2**62, 2**62 + 2**31, -(2**63), 2**63 - 1, 2**53 + 1]


def changes(body: str) -> list[str]:
    text = f"g (float[N, M] x, int64[K] v, int32[K] s, bool c) => (int64[] y) {{ {body} }}"
    return [edit.rule for edit in adapt(parser.parse_model(HEADER + text), onnxruntime_api.version()).edits]


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 8, 17])
@pytest.mark.parametrize(
    ("call", "right"),
    [
        (lambda a, b: op.Max(a, b), np.maximum),
        (lambda a, b: op.Min(a, b), np.minimum),
        (lambda a, _: op.Sign(a), lambda a, _: np.sign(a)),
        (lambda a, _: op.Relu(a), lambda a, _: np.maximum(a, 0)),
        (lambda a, _: op.Clip(a, np.array(2), np.array(2**32)), lambda a, _: a.clip(2, 2**32)),
        (lambda a, _: op.ReduceMax(a, keepdims=0), lambda a, _: a.max()),
        (lambda a, _: op.ReduceMin(a, keepdims=0), lambda a, _: a.min()),
    ],
    ids=["Max", "Min", "Sign", "Relu", "Clip", "ReduceMax", "ReduceMin"],
)
def test_every_pair_of_halves(call: Callable[..., Any], right: Callable[..., Any], length: int) -> None:
    rng = np.random.default_rng(length)
    model = trace(call, INT64["N"], INT64["N"])
    for _ in range(20):
        a, b = rng.choice(np.array(NUMBERS), (2, length))
        assert np.asarray(call(a, b)).tolist() == right(a, b).tolist()
        assert np.asarray(model(a, b)).tolist() == right(a, b).tolist()


def test_the_greatest_of_a_tensor_and_of_unsigned_numbers() -> None:
    assert int(tensor(np.array([1, 3, 2**32 - 1, 2])).max()) == 2**32 - 1
    unsigned = np.array([1, 3, 2**32 - 1, 2], np.uint32)
    assert int(np.asarray(op.ReduceMax(unsigned, keepdims=0))) == 2**32 - 1
    assert int(np.asarray(op.ReduceMin(unsigned + np.uint32(0), keepdims=0))) == 1


@pytest.mark.parametrize(
    "body",
    [
        "a = Shape(x)  b = Size(x)  y = Max(a, b)",
        "a = Shape(x)  b = Constant <value = int64[1] {1}> ()  y = Min(a, b)",
        "a = Shape(x)  y = ReduceMax <keepdims = 0> (a)",
        "a = Cast <to = 7> (s)  b = Shape(v)  d = Where(c, a, b)  y = Sign(d)",
        "a = Cast <to = 7> (s)  y = Clip(a)",
    ],
)
def test_numbers_that_are_small_are_left_alone(body: str) -> None:
    assert changes(body) == []


@pytest.mark.parametrize(
    "body",
    [
        "y = Max(v, v)",
        "a = Cast <to = 7> (s)  b = Neg(a)  y = Sign(b)",
        "a = Cast <to = 7> (x)  b = Shape(x)  y = Min(b, a)",
        "a = Shape(x)  b = Constant <value = int64 {2147483648}> ()  y = Clip(a, b)",
    ],
)
def test_numbers_that_may_be_large_are_not(body: str) -> None:
    assert len(changes(body)) == 1


def test_a_long_chain_of_maxima_is_looked_at_in_no_time() -> None:
    # Each of the two ways back from each node would be 2**400 ways.
    steps = " ".join(f"v{k} = Max(v{k - 1}, v{k - 2})" for k in range(2, 402))
    assert len(changes(f"v0 = Shape(x)  v1 = Size(x)  {steps}  y = Identity(v401)")) > 300


def test_adapted_models_of_probes_are_right() -> None:
    assert wrong_probes(extremes) == []
