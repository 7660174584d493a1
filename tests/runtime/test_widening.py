"""Operators without a kernel run in wider types, on every road alike, and give what they are defined to give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import onnxruntime
import pytest
from onnx import parser

from onnxsmith import BFLOAT16, DOUBLE, FLOAT16, INT16, INT64, UINT64, Model, jit, script, trace
from onnxsmith import opset21 as op
from onnxsmith.graphs.handover import SessionModel
from onnxsmith.runtime import using
from onnxsmith.runtime.fallback_forms import open_as_it_can, opener
from onnxsmith.runtime.settings import Settings
from onnxsmith.runtime.widening import widened
from tests.runtime.calls import prepare

SMALL = np.array([[-32768, 32767, 3], [2, -1, 0]], np.int16)
BITS = np.array([[2**64 - 1, 5], [2**63, 0]], np.uint64)
HALF = np.array([[1.5, -2.0, 3.25]], ml_dtypes.bfloat16)
MASK = np.array([True, False, True])


@pytest.mark.parametrize(
    ("operator", "inputs", "attributes"),
    [
        ("Max", (SMALL, SMALL[::-1].copy()), {}),
        ("Clip", (SMALL, np.array(-5, np.int16), np.array(9, np.int16)), {}),
        ("Where", (MASK, SMALL, SMALL[::-1].copy()), {}),
        ("Trilu", (SMALL,), {}),
        ("ArgMax", (SMALL,), {}),
        ("Einsum", (SMALL, SMALL), {"equation": "ij,kj->ik"}),  # wraps around
        ("Relu", (SMALL,), {}),
        ("ReduceSum", (SMALL.astype(np.uint32),), {"keepdims": 0}),
        ("Where", (MASK[:2], BITS, BITS[::-1].copy()), {}),
        ("CumSum", (BITS, np.array(1)), {}),
        ("ReduceMax", (BITS, np.array([0])), {}),
        ("ReduceMin", (BITS, np.array([1])), {}),
        ("ArgMax", (BITS,), {}),
        ("ArgMin", (BITS,), {"axis": 1}),
        ("Unique", (BITS,), {}),
        ("Abs", (HALF,), {}),
        ("Exp", (HALF,), {}),
        ("Pad", (HALF, np.array([0, 1, 0, 1])), {}),
    ],
)
def test_an_eager_call_is_what_the_reference_gives(
    operator: str, inputs: tuple[Any, ...], attributes: dict[str, Any]
) -> None:
    runner = prepare(operator, *inputs, version=21, **attributes)
    assert runner.source == "onnxruntime"
    (result,) = runner(inputs)
    with using(runtime="reference"):
        (wanted,) = prepare(operator, *inputs, version=21, **attributes)(inputs)
    assert result.dtype == wanted.dtype
    if result.dtype == HALF.dtype:
        assert np.allclose(result.astype(np.float32), wanted.astype(np.float32), rtol=2**-7)
    else:
        assert result.tolist() == wanted.tolist()


def _bare(model: Model, value: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(
        model.proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {model.inputs[0].name: value})[0]


def _sums(x: Any) -> Any:
    return op.Trilu(op.Max(x, op.Transpose(x)) + x)


@script
def _looped(x: INT16[2, 2], n: INT64):
    for _ in range(n):
        if op.ReduceMax(op.Cast(x, to=INT64), keepdims=0) < 100:
            x = op.Max(x, op.Transpose(x)) + x
    return x


@script
def _inner(x: INT16[2, 2]):
    return op.Max(x, op.Transpose(x))


def test_all_roads_agree() -> None:
    square = SMALL[:, :2].copy()
    model = trace(_sums, INT16[2, 2])
    eager = np.asarray(_sums(square))
    assert np.array_equal(model(square), eager)
    assert np.array_equal(jit(_sums)(square), eager)
    assert np.array_equal(_bare(model.for_runtime(), square), eager)
    assert [each.reason for each in model.for_runtime().report.edits] == [
        "there is no kernel for int16, computed in int32"
    ] * 2


def test_in_bodies_and_functions() -> None:
    square = np.array([[1, 2], [3, 4]], np.int16)
    model = _looped.to_model()
    shipped = model.for_runtime()
    assert {each.operator for each in shipped.report.edits} == {"Max"}
    assert np.array_equal(model(square, 3), _looped(square, 3))
    called = trace(lambda x: _inner(x) + x, INT16[2, 2])
    shipped = called.for_runtime()
    assert [each.name for each in shipped.ir.functions.values()] == ["_inner"]
    assert np.array_equal(_bare(shipped, square), _inner(square) + square)


def test_in_a_model_that_only_calls_a_function() -> None:
    text = """<ir_version: 10, opset_import: ["" : 21, "own" : 1]>
        g (int16[N] x) => (int16[N] y) { y = own.twice(x) }
        <opset_import: ["" : 21], domain: "own"> twice (x) => (y) { y = Max(x, x) }"""
    model = Model.from_proto(parser.parse_model(text))
    assert _bare(model.for_runtime(), SMALL[0]).tolist() == SMALL[0].tolist()


def test_an_operator_that_a_fact_is_met_for() -> None:
    text = """<ir_version: 10, opset_import: ["" : 23]>
        g (bfloat16[B, H, N, D] q, bfloat16[B, H, M, D] k, bfloat16[B, H, M, D] v, bfloat16[N, M] m)
        => (bfloat16[B, H, N, D] y) { y = Attention <is_causal = 1> (q, k, v, m) }"""
    model = SessionModel(parser.parse_model(text))
    assert "widened" in {each.rule for each in open_as_it_can(model, opener(Settings())).edits}


def test_a_function_that_is_not_of_the_type_it_is_for() -> None:
    given = np.random.default_rng(0).normal(size=(2, 3, 4, 1)).astype(np.float16)
    model = trace(lambda x: op.MeanVarianceNormalization(x), FLOAT16["N", 3, "H", "W"])
    assert np.array_equal(model(given), op.MeanVarianceNormalization(given))


def _opened(model: Model) -> Any:
    return open_as_it_can(model.handed_over(), opener(Settings()))


def test_one_operator_does_not_send_the_model_elsewhere() -> None:
    model = trace(lambda x: op.Softmax(op.Erf(x)), BFLOAT16["N", "M"])
    assert [each.rule for each in _opened(model).edits] == ["widened"] * 2


def test_a_model_with_all_kernels_goes_as_it_is() -> None:
    model = trace(lambda x: op.Add(x, x), INT64["N"]).handed_over()
    assert open_as_it_can(model, opener(Settings())).model is model
    assert widened(model.proto).model is model.proto


def test_precision_is_given_up_only_for_shipping() -> None:
    model = trace(lambda x: op.Acos(x), DOUBLE["N"])
    x = np.array([0.1])
    assert model(x)[0] == np.arccos(0.1)
    with pytest.raises(Exception, match="Acos"):
        _opened(model)
    shipped = model.for_runtime()
    assert "computed in float32, which is less precise" in str(shipped.report)
    assert _bare(shipped, x)[0] == pytest.approx(np.arccos(0.1), rel=1e-6)


def test_a_single_constant_is_cast_at_once() -> None:
    model = trace(lambda x: op.Max(x, np.array(3, np.int16)), INT16["N"])
    shipped = model.for_runtime()
    assert [node.op_type for node in shipped.ir.graph] == ["Cast", "Max", "Cast"]
    assert len(shipped.ir.graph.initializers) == 1
    assert _bare(shipped, SMALL[0]).tolist() == [3, 32767, 3]


@pytest.mark.parametrize("opset", [9, 12])
def test_old_opsets(opset: int) -> None:
    text = f'<ir_version: 4, opset_import: ["" : {opset}]> g (uint16[N] x) => (int64[M, N] y) {{ y = NonZero(x) }}'
    model = SessionModel(parser.parse_model(text))
    (edit,) = open_as_it_can(model, opener(Settings())).edits
    assert edit.operator == "NonZero"


def test_an_output_with_a_type_of_its_own_is_left_alone() -> None:
    text = (
        '<ir_version: 10, opset_import: ["" : 21]> '
        "g (int8[N] x, bfloat16 s) => (bfloat16[N] y) { y = DequantizeLinear(x, s) }"
    )
    # Up to opset 21 the scale's type is the output's. From 23 on an attribute may say another.
    result = widened(parser.parse_model(text)).model
    assert [node.op_type for node in result.graph.node] == ["Cast", "DequantizeLinear", "Cast"]
    assert not widened(parser.parse_model(text.replace("21", "23"))).edits


_CALLABLES: list[Callable[..., Any]] = [op.Max, op.Min]


@pytest.mark.parametrize("operator", _CALLABLES)
def test_variadic_inputs_are_all_cast(operator: Callable[..., Any]) -> None:
    model = trace(lambda x: operator(x, x, x), INT16["N"])
    assert _bare(model.for_runtime(), SMALL[0]).tolist() == SMALL[0].tolist()


def test_the_order_of_uint64_stays_in_a_model_for_the_runtime() -> None:
    model = trace(lambda x: (*op.TopK(x, [3]), op.ReduceMin(x)), UINT64["N"])
    shipped = model.for_runtime()
    assert {each.reason for each in shipped.report.edits} == {
        "there is no kernel for uint64, computed in int64",
        "the low halves of 64-bit integers are compared as if they were signed",  # of the minimum in int64
    }
    values, places, least = shipped(np.array([5, 2**63, 2**64 - 1, 2**63 - 1, 7], np.uint64))
    assert values.tolist() == [2**64 - 1, 2**63, 2**63 - 1]
    assert places.tolist() == [2, 1, 3]
    assert least.tolist() == [5]


def test_what_is_no_operator_of_its_version_is_left_alone() -> None:
    """`Gelu` came with opset 20. The runtime says so; widening has no definition to go by."""
    proto = parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 13]> g (int16[2] x) => (int16[2] y) { y = Gelu(x) }"""
    )
    assert not widened(proto).edits
    assert [each.op_type for each in widened(proto).model.graph.node] == ["Gelu"]
