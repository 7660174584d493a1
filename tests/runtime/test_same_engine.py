"""The law that there is one road: an operator that is called eagerly runs on the engine that its model runs on.

On forms of operators that ONNX Runtime has no kernel for: the newest opset, narrow types, function bodies.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.adapting import rules_for
from onnxsmith.runtime.engine import needs_ranks, prepare
from onnxsmith.runtime.model_session import load_session
from onnxsmith.runtime.single_node import Call, make_model
from onnxsmith.schema import registry
from onnxsmith.types.dtypes import DType
from tests.runtime.calls import find

#: Of operators with inputs of one type: required attributes, and how many inputs a variadic one is given.
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "Einsum": {"equation": "i,i->i"},
    "DepthToSpace": {"blocksize": 1},
    "SpaceToDepth": {"blocksize": 1},
    "Concat": {"axis": 0},
    "AveragePool": {"kernel_shape": (1,)},
    "MaxPool": {"kernel_shape": (1,)},
    "LpPool": {"kernel_shape": (1,)},
    "BitShift": {"direction": "LEFT"},
}
NEWEST = registry.latest_version("")
TYPES = (DType.BFLOAT16, DType.FLOAT16, DType.DOUBLE, DType.INT8, DType.UINT64, DType.BOOL)


def forms() -> list[Call]:
    """Every operator whose required inputs are of one type, on each of these types, as the newest opset has it.

    Without those that are opened anew for each combination of ranks, and say who runs them only then.
    """
    found: list[Call] = []
    for name in sorted(registry.names("", NEWEST)):
        op = find(name, NEWEST)
        required = [each for each in op.inputs if each.option != "optional"]
        if not required or len({each.type_name for each in required}) != 1 or op.is_deprecated:
            continue
        if any(each.is_required for each in op.attributes.values()) and name not in ATTRIBUTES:
            continue
        for dtype in TYPES:
            if f"tensor({dtype.onnx_name})" in required[0].types:
                types = (dtype,) * max(len(required), required[-1].min_arity)
                call = Call(op, types, ATTRIBUTES.get(name, {}), 1)
                if not needs_ranks(call):
                    found.append(call)
    return found


FORMS = forms()


def test_there_are_enough() -> None:
    assert len(FORMS) > 300


@pytest.mark.parametrize("shard", range(8))
def test_eager_calls_run_where_models_run(shard: int) -> None:
    others: list[str] = []
    for call in FORMS[shard::8]:
        eager = prepare(call.op, call.input_types, call.attributes, call.output_count).source
        # In the same opset: later ones have operators that facts can be met with.
        is_late = (call.op.domain, call.op.name) in rules_for(onnxruntime_api.version())
        try:
            model = load_session(make_model(call, is_late=is_late)).source
        except Exception:  # nothing has it
            model = "nothing"
        if eager != model:
            others.append(f"{call.op.name} on {call.input_types}: {eager}, as a model {model}")
    assert not others, "\n".join(others)


@pytest.mark.parametrize("name", ["Elu", "HardSigmoid", "Selu", "Softplus", "Softsign", "ThresholdedRelu"])
def test_function_bodies_serve_where_there_is_no_kernel(name: str) -> None:
    runner = prepare(find(name, 22), [DType.DOUBLE], {}, 1)
    assert runner.source == "onnxruntime"
    assert runner([np.array([-1.0, 2.0])])[0].dtype == np.float64


@pytest.mark.parametrize("version", [9, 12, 13, 18, 26])
def test_mean_variance_normalization_on_double(version: int) -> None:
    x = np.random.default_rng(7).normal(3.0, 2.0, (2, 3, 4, 5))
    x[:, 1] = 0.1  # without deviation: nothing may come out below zero under the root
    mean = x.mean((0, 2, 3), keepdims=True)
    expected = (x - mean) / (x.std((0, 2, 3), keepdims=True) + 1e-9)
    call = Call(find("MeanVarianceNormalization", version), (DType.DOUBLE,), {}, 1)
    runner = prepare(call.op, call.input_types, call.attributes, 1)
    loaded = load_session(make_model(call))
    assert runner.source == loaded.source == "onnxruntime"
    for run in (runner, loaded):
        (given,) = run([x])
        assert given.dtype == np.float64
        np.testing.assert_allclose(given, expected, rtol=1e-12, atol=1e-6)


@pytest.mark.parametrize("version", [10, 11, 13, 18, 19, 26])
def test_resize_of_booleans(version: int) -> None:
    x = np.array([[[[True, False, True], [False, True, True]]]])
    scales = np.array([1, 1, 2, 2], np.float32)
    op = find("Resize", version)
    inputs = [x, scales] if version == 10 else [x, np.zeros(0, np.float32), scales]
    types = [DType.BOOL, *[DType.FLOAT] * (len(inputs) - 1)]
    runner = prepare(op, types, {"mode": "nearest"}, 1)
    assert runner.source == "onnxruntime"
    (given,) = runner(inputs)
    assert given.dtype == np.bool_
    assert np.array_equal(given, x.repeat(2, 2).repeat(2, 3))
