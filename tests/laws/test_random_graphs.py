"""The rule of `for_runtime`, on small random graphs: it refuses a model where ONNX Runtime does, and nowhere else.

What it gives runs without us and gives what `Model` gives; what it refuses `Model` runs on the reference evaluator, as
a whole, or says why not.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from onnxsmith import Model
from onnxsmith.errors import NotRunnableError, OnnxsmithError
from onnxsmith.runtime.for_runtime import RuntimeModel
from onnxsmith.runtime.model_session import load_on_onnxruntime
from tests.laws.bare_session import BareProcess
from tests.laws.outcome import difference
from tests.laws.roads import COSTS_PRECISION

GRAPHS = 60
DTYPES = (
    TensorProto.INT64,
    TensorProto.INT32,
    TensorProto.UINT64,
    TensorProto.INT16,
    TensorProto.UINT8,
    TensorProto.DOUBLE,
    TensorProto.FLOAT,
)
#: On types that have no kernel for some, with definitions that not every type is allowed by.
UNARY = ("Abs", "Neg", "Sign", "Relu", "Acos", "Identity", "ReduceSum", "ReduceProd", "ReduceMax", "NonZero")
BINARY = ("Add", "Mul", "Div", "Mod", "Max", "Pow", "BitShift", "MatMul")


def random_model(seed: int) -> onnx.ModelProto:
    """Up to four nodes, one after the other; the second operands are constants, 0 among them."""
    rng = random.Random(seed)
    dtype = rng.choice(DTYPES)
    kind = helper.tensor_dtype_to_np_dtype(dtype)
    nodes, constants, last = [], [], "x"
    for number in range(rng.randint(1, 4)):
        name = rng.choice((*UNARY, *BINARY))
        inputs = [last]
        if name in BINARY:
            content = np.array([rng.choice((0, 1, 2, 3)) for _ in range(2)]).astype(kind)
            constants.append(numpy_helper.from_array(content, f"c{number}"))
            inputs.append(f"c{number}")
        attributes: dict[str, Any] = {"direction": "LEFT"} if name == "BitShift" else {}
        last = f"v{number}"
        nodes.append(helper.make_node(name, inputs, [last], name=f"n{number}", **attributes))
    ports = [helper.make_tensor_value_info("x", dtype, ["N", 2])]
    outputs = [onnx.ValueInfoProto(name=last)]
    graph = helper.make_graph(nodes, "random", ports, outputs, initializer=constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.fixture(scope="module")
def bare() -> Iterator[BareProcess]:
    process = BareProcess()
    yield process
    process.close()


def given(proto: onnx.ModelProto) -> dict[str, np.ndarray]:
    kind = helper.tensor_dtype_to_np_dtype(proto.graph.input[0].type.tensor_type.elem_type)
    return {"x": np.array([[1, 2], [3, 0]]).astype(kind)}


def run(proto: onnx.ModelProto) -> Any:
    """What the model gives here, or the code of its error."""
    try:
        return Model.from_proto(proto)(*given(proto).values())
    except OnnxsmithError as error:
        return error.code


def shipped(proto: onnx.ModelProto) -> RuntimeModel | str | None:
    """The model for the runtime; the code of a mistake; None where the runtime is said to be unable."""
    try:
        return Model.from_proto(proto).for_runtime()
    except NotRunnableError:
        return None
    except OnnxsmithError as error:
        return error.code


def runs_as_it_is(proto: onnx.ModelProto) -> bool:
    try:
        load_on_onnxruntime(proto)
    except Exception:  # the runtime's exceptions have no common base
        return False
    return True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(GRAPHS))
def test_it_refuses_what_the_runtime_refuses(seed: int, bare: BareProcess) -> None:
    proto = random_model(seed)
    here = run(proto)
    made = shipped(proto)
    if made is None:
        assert not runs_as_it_is(proto)
        return
    if isinstance(made, str):  # a mistake in the model: the same one, wherever it is found
        assert here == made
        return
    outcome = bare.ask(made.proto.SerializeToString(), given(proto))
    assert outcome.kind in ("results", "error"), outcome
    if any(words in change.reason for change in made.report.edits for words in COSTS_PRECISION):
        return
    assert (outcome.kind == "error") == isinstance(here, str), (here, outcome)
    if outcome.kind == "results":
        found = difference([*outcome.results.values()], [np.asarray(getattr(here, "array", here))])
        assert found is None, (found, here, outcome)
