"""Function bodies expanded with the attributes, holes and types of a call."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.feeds import runner_over
from onnxsmith.runtime.function_body import inlined_model
from onnxsmith.runtime.single_node import Call, make_model
from onnxsmith.types.dtypes import DType
from tests.runtime.calls import find, floats, type_of


def raising(error: Exception, inputs: object) -> list[object]:
    raise error


def run(model: onnx.ModelProto, call: Call, inputs: list[np.ndarray]) -> np.ndarray:
    session = onnxruntime_api.create_session(
        model.SerializeToString(), choices=onnxruntime_api.SessionChoices(1, optimize=False)
    )
    return runner_over(session, call.feed_names, call.input_types, raising)(inputs)[0]


X = floats([-1, 0.5], [2, -3])


@pytest.mark.parametrize(
    ("name", "version", "inputs", "attributes"),
    [
        ("Elu", 22, [X], {}),
        ("Elu", 22, [X], {"alpha": 0.5}),
        ("Clip", 13, [X, np.array(0, np.float32)], {}),
        ("Clip", 13, [X, None, np.array(0, np.float32)], {}),
        ("LogSoftmax", 13, [X], {"axis": 0}),
        ("MeanVarianceNormalization", 13, [X.reshape(1, 1, 2, 2)], {}),
        ("LayerNormalization", 17, [X, floats(1, 2), floats(0, 1)], {}),
        ("Softplus", 22, [X], {}),
        ("HardSwish", 22, [X], {}),
        ("Gelu", 20, [X], {"approximate": "tanh"}),
        ("GreaterOrEqual", 16, [X, X], {}),
    ],
)
def test_the_body_gives_what_the_operator_gives(name, version, inputs, attributes) -> None:
    call = Call(find(name, version), tuple(type_of(each) for each in inputs), attributes, 1)
    given = make_model(call, is_late=True)
    expected = run(given, call, inputs)
    for inlined in (inlined_model(given, {name}), inlined_model(given)):
        assert all(node.op_type != name for node in inlined.graph.node)
        np.testing.assert_allclose(run(inlined, call, inputs), expected, rtol=1e-5, atol=1e-6)


def test_most_operators_have_none() -> None:
    model = make_model(Call(find("Add"), (DType.FLOAT, DType.FLOAT), {}, 1))
    assert inlined_model(model) == model
