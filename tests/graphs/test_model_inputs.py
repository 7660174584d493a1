"""Inputs that have a default: an initializer of the same name, which a call may replace."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser

import onnxsmith.numpy as xp
from onnxsmith import FLOAT, Model, errors, jit, script, tensor, trace
from onnxsmith import opset18 as op
from onnxsmith.graphs.model_inputs import Port
from onnxsmith.runtime.settings import using
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

X = np.float32([1, 2, 3])
W, B = np.float32([10, 20, 30]), np.float32([0.5, 0.5, 0.5])
OTHER = np.float32([-1, -1, -1])
TEXT = """<ir_version: {ir_version}, opset_import: ["" : 18]>
g (float[3] w, float[N] x, float[3] b) => (float[N] y) {{ h = Mul(x, w)  y = Add(h, b) }}"""


def layer(ir_version: int = 8) -> Model:
    """w * x + b, where w and b have defaults, and w stands before x."""
    proto = parser.parse_model(TEXT.format(ir_version=ir_version))
    proto.graph.initializer.extend([numpy_helper.from_array(W, "w"), numpy_helper.from_array(B, "b")])
    return Model.from_proto(proto)


#: What is given, and what comes of it.
CALLS: list[tuple[tuple[Any, ...], dict[str, Any], Any]] = [
    ((X,), {}, X * W + B),
    ((X, OTHER), {}, X * OTHER + B),
    ((X, OTHER, W), {}, X * OTHER + W),
    ((X,), {"w": OTHER}, X * OTHER + B),
    ((X,), {"b": OTHER}, X * W + OTHER),
    ((), {"b": OTHER, "x": X, "w": X}, X * X + OTHER),
    ((X, None, OTHER), {}, X * W + OTHER),
    ((X,), {"w": None}, X * W + B),
    ((X,), {"w": [1, 1, 1]}, X + B),
]


@pytest.mark.parametrize(("args", "kwargs", "right"), CALLS)
@pytest.mark.parametrize("ir_version", [3, 8])
@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
def test_a_default_holds_unless_another_is_given(
    args: tuple[Any, ...], kwargs: dict[str, Any], right: Any, ir_version: int, runtime: Any
) -> None:
    model = layer(ir_version)
    with using(runtime=runtime):
        np.testing.assert_array_equal(model(*args, **kwargs), right)
        np.testing.assert_array_equal(model(X), X * W + B)
        np.testing.assert_array_equal(model.run(*args, **kwargs), right)


@pytest.mark.parametrize(("args", "kwargs", "right"), CALLS)
def test_it_is_the_same_in_a_graph(args: tuple[Any, ...], kwargs: dict[str, Any], right: Any) -> None:
    model = layer()

    def call(x: Any) -> Any:
        given = [x if each is X else each for each in args]
        return model(*given, **{name: x if each is X else each for name, each in kwargs.items()}), model(x)

    for made in (trace(call, FLOAT["N"]), trace(call, FLOAT["N"]).for_runtime()):
        onnx.checker.check_model(made.proto)
        replaced, default = made(X)
        np.testing.assert_array_equal(replaced, right)
        np.testing.assert_array_equal(default, X * W + B)


def test_scripts_give_values_for_defaults() -> None:
    model = layer()

    @script
    def both(x: FLOAT[3], w: FLOAT[3]):
        y = model(x, w)
        if w.sum() < 0.0:
            y = y + model(x, b=w)
        return y

    right = (X * OTHER + B) + (X * W + OTHER)
    for run in (both, jit(both), both.to_model()):
        np.testing.assert_array_equal(run(X, OTHER), right)


def test_weights_that_are_not_replaced_are_shared() -> None:
    large = np.arange(4096, dtype=np.float32)
    text = """<ir_version: 8, opset_import: ["" : 18]>
    g (float[4096] x, float[1] s) => (float[4096] y) { h = Mul(x, s)  y = Add(h, w) }"""
    proto = parser.parse_model(text)
    proto.graph.initializer.extend(
        [numpy_helper.from_array(large, "w"), numpy_helper.from_array(np.ones(1, np.float32), "s")]
    )
    model = Model.from_proto(proto)
    two = trace(lambda x: model(x) + model(x, s=np.float32([2])), FLOAT[4096])
    assert two.proto.ByteSize() < 2 * large.nbytes
    np.testing.assert_array_equal(two(large), 5 * large)


def test_isolated_runs_and_mappings_take_them() -> None:
    model = layer()
    given = {"x": X, "w": OTHER}
    np.testing.assert_array_equal(model.run(given), X * OTHER + B)
    np.testing.assert_array_equal(model.run(given, isolated=True, timeout=60), X * OTHER + B)
    np.testing.assert_array_equal(model.run({"x": X}, isolated=True, timeout=60), X * W + B)


def test_copies_keep_them() -> None:
    model = layer()
    model(X, OTHER)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model))(X, OTHER), X * OTHER + B)


def test_a_model_for_the_runtime_keeps_them(tmp_path: Path) -> None:
    proto = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 18]> g (int64[N] x, int64[1] d) => (int64[N] y) { y = Div(x, d) }'
    )
    proto.graph.initializer.append(numpy_helper.from_array(np.array([2]), "d"))
    shipped = Model.from_proto(proto).for_runtime()
    assert [each.name for each in shipped.optional_inputs] == ["d"]
    lowest = np.array([-(2**63), 7])
    assert shipped(lowest, d=np.array([-1])).tolist() == [-(2**63), -7]
    shipped.save(tmp_path / "m.onnx")
    code = f"""
import numpy as np, onnxruntime
session = onnxruntime.InferenceSession({str(tmp_path / "m.onnx")!r})
x = np.array([{lowest[0]}, 7])
print(session.run(None, {{"x": x}})[0].tolist(), session.run(None, {{"x": x, "d": np.array([-1])}})[0].tolist())
"""
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == f"{[-(2**62), 3]} {[-(2**63), -7]}"


def test_what_a_model_says_of_them() -> None:
    model = layer()
    assert [each.name for each in model.inputs] == ["x"]
    assert model.optional_inputs == (
        Port("w", TensorType(DType.FLOAT, (3,))),
        Port("b", TensorType(DType.FLOAT, (3,))),
    )
    assert repr(model).startswith("Model(x: FLOAT['N'], w: FLOAT[3] = ..., b: FLOAT[3] = ...) -> y")
    assert "optional input" in model._repr_mimebundle_()["text/html"]
    assert trace(lambda x: x + 1.0, FLOAT["N"]).optional_inputs == ()


@pytest.mark.parametrize(
    ("args", "kwargs", "culprit", "words"),
    [
        ((X, OTHER, OTHER, X), {}, ("input", 3), "the model has 3 inputs, and was given 4"),
        ((X, np.int64([1, 1, 1])), {}, ("input", 1), "input 'w' is float32, and was given int64"),
        ((X,), {"b": np.ones(2, np.float32)}, ("attribute", "b"), "input 'b' has shape"),
        ((X, OTHER), {"w": OTHER}, ("attribute", "w"), "input 'w' was given twice"),
        ((X,), {"v": OTHER}, ("attribute", "v"), "the model has no input 'v'"),
        ((), {"w": OTHER}, None, "input 'x' is missing"),
    ],
)
def test_wrong_ones_are_refused(
    args: tuple[Any, ...], kwargs: dict[str, Any], culprit: Any, words: str
) -> None:
    with pytest.raises(errors.OnnxsmithError, match=words) as caught:
        layer()(*args, **kwargs)
    assert caught.value.culprit == culprit


def test_models_that_onnx_ir_has_no_place_for_take_them() -> None:
    text = """<ir_version: 8, opset_import: ["" : 18, "ai.onnx.ml" : 1]>
    g (float[N, 2] x, float[2] w) => (seq(map(int64, float)) z)
    { y = Mul(x, w)  z = ai.onnx.ml.ZipMap <classlabels_int64s = [4, 5]> (y) }"""
    proto = parser.parse_model(text)
    proto.graph.initializer.append(numpy_helper.from_array(np.float32([1, 2]), "w"))
    model = Model.from_proto(proto)
    assert model.is_proto_only
    x = np.ones((1, 2), np.float32)
    assert model(x) == [{4: 1.0, 5: 2.0}]
    assert model(x, w=np.float32([3, 4])) == [{4: 3.0, 5: 4.0}]
    assert model(x) == [{4: 1.0, 5: 2.0}]


@pytest.mark.parametrize("key", [1, b"x", None])
@pytest.mark.parametrize("called", ["run", "profile"])
def test_a_mapping_whose_keys_are_no_strings_is_refused(called: str, key: Any) -> None:
    with pytest.raises(errors.ModelInputError, match=f"the model has no input {key!r}"):
        getattr(layer(), called)({key: X})


def _endless() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


class _Refusing:
    def __array__(self, *args: object, **kwargs: object) -> Any:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")


@pytest.mark.parametrize("value", [_endless(), (_endless(), 1.0), _Refusing()])
@pytest.mark.parametrize(
    "called",
    [
        lambda x: layer()(x),
        tensor,
        op.Abs,
        xp.asarray,
        trace(lambda x: x, FLOAT["N"]).run,
    ],
)
def test_what_gives_no_array_is_refused(called: Callable[[Any], Any], value: Any) -> None:
    with pytest.raises(errors.InputTypeError):
        called(value)


def test_numpy_code_takes_no_list_that_holds_itself() -> None:
    with pytest.raises(errors.InputTypeError, match="holds itself"):
        xp.jit(lambda x: np.abs(x))(_endless())
