"""The announced programs: eagerly, as functions, as models, in files."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from onnxsmith import BFLOAT16, BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT32, INT64, UINT8, UINT32, script
from onnxsmith import opset18 as op
from onnxsmith.errors import MixedDTypesError
from tests.scripting import announced

X = np.arange(6, dtype=np.float32)
SERIES = np.arange(48, dtype=np.float32)
FLAG = np.array(False)
RATIO = np.array(0.5, np.float32)

CASES: list[tuple[Any, list[Any], dict[str, Any], dict[str, Any]]] = [
    (announced.gelu, [X], {}, {}),
    (announced.aten_chunk, [SERIES], {"chunks": 10}, {}),
    (announced.ten_chunks_model, [SERIES], {}, {}),
    (announced.Dropout, [X, RATIO, FLAG], {"seed": 1.0}, {"input_types": [FLOAT["N"], FLOAT, BOOL]}),
    (announced.CumulativeSum, [np.arange(5)], {}, {"input_types": [INT64["N"]]}),
    (announced.simple, [X.reshape(2, 3), X.reshape(3, 2), X[:2]], {}, {}),
    (announced.lagged, [X], {}, {}),
    (announced.square_loss, [X[:, None], X[::-1, None].copy()], {}, {}),
]


@pytest.mark.parametrize(
    ("script", "inputs", "attributes", "options"), CASES, ids=lambda each: getattr(each, "name", "")
)
def test_eager_and_compiled_agree_and_the_file_loads_in_onnx_runtime(
    script: Any, inputs: list[Any], attributes: dict[str, Any], options: dict[str, Any], tmp_path: Path
) -> None:
    script.to_function_proto()
    eager = script(*inputs, **attributes)
    proto = script.to_model_proto(**options, attributes=attributes)
    onnx.save_model(proto, tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    results = session.run(
        None, {each.name: value for each, value in zip(session.get_inputs(), inputs, strict=True)}
    )
    expected = list(eager) if isinstance(eager, tuple) else [eager]
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected, strict=True):
        if isinstance(wanted, list):
            assert len(result) == len(wanted)
            for a, b in zip(result, wanted, strict=True):
                np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_allclose(result, wanted, rtol=1e-6)


def test_ten_chunks_are_nine_fives_and_a_three() -> None:
    assert [len(each) for each in announced.ten_chunks_model(SERIES)] == [5] * 9 + [3]


def test_the_model_calls_the_function_with_its_attribute() -> None:
    proto = announced.ten_chunks_model.to_model_proto()
    (node,) = proto.graph.node
    assert node.op_type == "aten_chunk"
    assert {each.name: each.i for each in node.attribute}["chunks"] == 10
    (function,) = proto.functions
    assert (function.name, function.domain) == ("aten_chunk", node.domain)
    assert list(function.attribute) == ["chunks"]
    assert [each.name for each in function.attribute_proto] == ["dim"]


def test_dropout_in_training_uses_its_seed() -> None:
    flag = np.array(True)
    first, mask = announced.Dropout(X, RATIO, flag, seed=1.0)
    again, _ = announced.Dropout(X, RATIO, flag, seed=1.0)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, np.where(mask, X, 0) / 0.5)


def test_a_type_stands_for_its_dtype() -> None:
    from onnxsmith import opset18 as op

    np.testing.assert_array_equal(op.Cast(X, to=INT64), op.Cast(X, to=INT64.dtype))


def test_captured_weights_are_stored_once_under_their_name() -> None:
    from onnxsmith import script

    weight = np.ones((64, 64), np.float32)  # small ones are copied, which costs less than watching them

    @script
    def layer(x: FLOAT["N", 64]):
        return announced.gelu(x @ weight) @ weight

    model = layer.to_model()
    assert [name for name in model.ir.graph.initializers if name == "weight"] == ["weight"]
    assert np.shares_memory(model.ir.graph.initializers["weight"].const_value.numpy(), weight)


def test_a_model_sees_what_its_script_refers_to_now() -> None:
    from onnxsmith import opset18 as op
    from onnxsmith import script

    factor = 2.0

    @script
    def scaled(x: FLOAT["N"]):
        return op.Mul(x, factor)

    factor = 3.0
    np.testing.assert_array_equal(scaled.to_model()(X), X * 3)
    np.testing.assert_array_equal(scaled.to_model()(X), scaled(X))


@pytest.mark.parametrize("dtype", [FLOAT, DOUBLE, FLOAT16, INT64, INT32, INT8, UINT8, UINT32, BFLOAT16])
def test_cumulative_sum_is_called_from_a_typed_script(dtype: Any) -> None:
    """Its state begins with `0`, which has the element type of what is summed: the caller knows it."""

    @script
    def caller(x: dtype["N"]):  # type: ignore[valid-type]
        return announced.CumulativeSum(x)

    x = np.array([1, 2, 3]).astype(dtype.dtype.numpy)
    wanted = np.cumsum(x, dtype=x.dtype)
    onnx.checker.check_model(caller.to_model_proto(), full_check=True)
    for run in (caller, caller.jit, caller.to_model(), caller.to_model(inline=True)):
        result = run(x)
        assert result.dtype == x.dtype
        np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("dtype", [FLOAT, DOUBLE, INT32])
def test_a_state_that_begins_with_a_number_has_the_type_of_what_the_body_reads(dtype: Any) -> None:
    @script
    def summed(x):
        def step(i, go_on, total):
            return go_on, total + x

        return op.Loop(3, True, 0, body=step)

    @script
    def counted(x):
        def step(i, go_on, total):
            return go_on, total + 1

        return op.Loop(3, True, 0, body=step), x

    @script
    def caller(x: dtype):  # type: ignore[valid-type]
        return summed(x), *counted(x)

    x = np.array(2).astype(dtype.dtype.numpy)
    for run in (caller, caller.jit, caller.to_model(), caller.to_model(inline=True)):
        first, second, _ = run(x)
        assert (first, first.dtype, second, second.dtype) == (6, x.dtype, 3, np.int64)
    counted.to_function_proto()
    with pytest.raises(MixedDTypesError, match="depends on tensors whose type is not known here"):
        summed.to_function_proto()


@pytest.mark.parametrize("training", [True, False])
def test_dropout_is_called_from_a_typed_script(training: bool) -> None:
    @script
    def caller(x: FLOAT["N"], ratio: FLOAT, training_mode: BOOL):
        return announced.Dropout(x, ratio, training_mode, seed=1.0)

    inputs = [X, RATIO, np.array(training)]
    wanted = announced.Dropout(*inputs, seed=1.0)
    for run in (caller, caller.jit, caller.to_model(), caller.to_model(inline=True)):
        for result, each in zip(run(*inputs), wanted, strict=True):
            np.testing.assert_array_equal(result, each)
