"""Runners: who runs a call, what is kept, what bodies capture, what errors say."""

from __future__ import annotations

import contextlib
import threading

import ml_dtypes
import numpy as np
import onnx
import pytest

from onnxsmith.errors import NotRunnableError, OperatorFailedError
from onnxsmith.runtime import clear_cache, engine, using
from onnxsmith.types.dtypes import DType
from tests.runtime.calls import call, find, floats, ints, prepare

X = floats(1, 2, 3, 4)


def test_shapes_are_open() -> None:
    runner = prepare("Add", X, X)
    assert runner([X, X])[0].tolist() == [2, 4, 6, 8]
    assert runner([X.reshape(2, 2), floats(1)])[0].tolist() == [[2, 3], [4, 5]]
    assert runner([np.zeros((0, 3), np.float32), floats(1, 2, 3)])[0].shape == (0, 3)


@pytest.mark.parametrize(
    ("name", "inputs", "version", "attributes", "source"),
    [
        ("Add", [X, X], 21, {}, "onnxruntime"),
        ("Cast", [X], 28, {"to": 7}, "onnxruntime"),  # Cast-28 only allows more types than Cast-25
        ("SwiGLU", [X, X], 28, {}, "onnxruntime"),  # by its function body
        ("Mod", [X, X], 28, {}, "reference"),  # floats with fmod=0 are new in 28
        ("DFT", [X.reshape(1, 4, 1)], 20, {}, "onnxruntime"),
        ("Frobnicate", [X], 1, {}, "nothing"),
    ],
)
def test_who_runs_a_call(name, inputs, version, attributes, source) -> None:
    if name == "Frobnicate":
        from onnxsmith.schema import registry

        runner = engine.prepare(registry.lookup("no.such.domain", name, 1), [DType.FLOAT], attributes, 1)
    else:
        runner = prepare(name, *inputs, version=version, **attributes)
    assert runner.source == source


def test_runners_are_kept() -> None:
    assert prepare("Add", X, X) is prepare("Add", X, X)
    assert prepare("Softmax", X, axis=0) is not prepare("Softmax", X, axis=-1)
    assert prepare("LeakyRelu", X, alpha=0.0) is not prepare("LeakyRelu", X, alpha=-0.0)
    before = prepare("Add", X, X)
    clear_cache()
    assert prepare("Add", X, X) is not before


def test_settings_have_runners_of_their_own() -> None:
    with using(runtime="reference"):
        assert prepare("Add", X, X).source == "reference"
        assert call("Add", X, X).tolist() == [2, 4, 6, 8]
    assert prepare("Add", X, X).source == "onnxruntime"


def test_holes() -> None:
    clipped = engine.prepare(find("Clip"), [DType.FLOAT, None, DType.FLOAT], {}, 1)
    assert clipped([X, None, np.array(2, np.float32)])[0].tolist() == [1, 2, 2, 2]
    trailing = engine.prepare(find("Clip"), [DType.FLOAT, DType.FLOAT, None], {}, 1)
    assert trailing([X, np.array(2, np.float32), None])[0].tolist() == [2, 2, 3, 4]


def test_bodies_and_what_they_capture() -> None:
    then_branch = onnx.parser.parse_graph("t () => (float[N] y) { y = Add(outer, outer) }")
    else_branch = onnx.parser.parse_graph("e () => (float[N] y) { y = Neg(outer) }")
    for version in (16, 28):
        runner = engine.prepare(
            find("If", version),
            [DType.BOOL],
            {"then_branch": then_branch, "else_branch": else_branch},
            1,
            captured={"outer": DType.FLOAT},
            opset_version=version,
        )
        assert runner.source == "onnxruntime"
        assert runner([np.array(True), X])[0].tolist() == [2, 4, 6, 8]
        assert runner([np.array(False), X])[0].tolist() == [-1, -2, -3, -4]


@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
def test_scan_with_states_of_any_rank(runtime) -> None:
    body = onnx.parser.parse_graph(
        "b (float[N] s, float[N] x) => (float[N] t, float[N] y) { t = Add(s, x) y = Identity(t) }"
    )
    with using(runtime=runtime):
        runner = engine.prepare(
            find("Scan", 16), [DType.FLOAT] * 2, {"body": body, "num_scan_inputs": 1}, 2, opset_version=16
        )
        for width in (1, 3):
            state, scanned = runner([np.zeros(width, np.float32), np.ones((4, width), np.float32)])
            assert state.tolist() == [4] * width
            assert scanned.tolist() == [[k] * width for k in (1, 2, 3, 4)]


def test_attributes_of_every_kind() -> None:
    assert call("Constant", value_ints=(1, 2)).tolist() == [1, 2]
    assert call("Constant", value_float=1.5).tolist() == 1.5
    assert call("Constant", value_string="é").tolist() == "é"
    assert call("Constant", value_strings=("a", "b")).tolist() == ["a", "b"]
    assert call("Constant", value=np.array([[1.5]], ml_dtypes.bfloat16)).dtype == ml_dtypes.bfloat16
    assert call("ConstantOfShape", ints(2), value=np.array([7], np.int8)).tolist() == [7, 7]
    sparse = onnx.helper.make_sparse_tensor(
        onnx.numpy_helper.from_array(floats(5), "v"), onnx.numpy_helper.from_array(ints(1), "i"), [3]
    )
    assert call("Constant", sparse_value=sparse, version=11).tolist() == [0, 5, 0]
    empty = engine.prepare(find("Optional", 15), [], {"type": onnx.helper.make_tensor_type_proto(1, None)}, 1)
    assert empty([]) == [None]


def test_wrong_input_is_named() -> None:
    with pytest.raises(OperatorFailedError) as caught:
        call("Gather", X, ints(99))
    assert str(caught.value) == (
        "Gather cannot run on (data: float32 of shape (4,), indices: int64 of shape (1,)): "
        "indices element out of data bounds, idx=99 must be within the inclusive range [-4,3] [R101]"
    )


@pytest.mark.parametrize(
    ("name", "inputs", "attributes", "words"),
    [
        ("Add", [X, floats(1, 2, 3)], {}, "broadcast"),
        ("MatMul", [X, floats(1)], {}, "dimension"),
        ("Reshape", [X, ints(3)], {}, "reshaped"),
        ("Concat", [X, X.reshape(2, 2)], {"axis": 0}, ""),
        ("Cast", [X], {"to": 99}, ""),
        ("Softmax", [X], {"axis": 5}, "axis"),
        ("Div", [ints(1), ints(0)], {}, "division by zero"),
        ("Squeeze", [X, ints(0)], {}, ""),
    ],
)
@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
def test_errors_are_plain(name, inputs, attributes, words, runtime) -> None:
    with using(runtime=runtime), pytest.raises((OperatorFailedError, NotRunnableError)) as caught:
        call(name, *inputs, **attributes)
    text = str(caught.value)
    assert text.startswith((f"{name} cannot run on (", f"nothing installed can run {name}"))
    if runtime == "onnxruntime":
        assert words in text
    for noise in ("ONNXRuntimeError", ".cc:", ".h:", "Status Message", "was false", "/onnxruntime_src"):
        assert noise not in text


def test_what_nothing_can_run_says_who_was_asked() -> None:
    from onnxsmith.schema import registry

    runner = engine.prepare(registry.lookup("no.such.domain", "Frobnicate", 1), [DType.FLOAT], {}, 1)
    for _ in range(2):
        with pytest.raises(NotRunnableError) as caught:
            runner([X])
    assert (
        "nothing installed can run no.such.domain.Frobnicate-1 on (inputs[0]: float32 of shape (4,))"
        in str(caught.value)
    )
    assert "ONNX Runtime and the reference evaluator do not know the operator" in str(caught.value)
    assert "a script says what it computes" in str(caught.value)


def test_operators_of_onnx_runtime() -> None:
    gelu = find("Gelu", 1, "com.microsoft")
    runner = engine.prepare(gelu, [DType.FLOAT], {}, 1)
    assert runner.source == "onnxruntime"
    np.testing.assert_allclose(runner([floats(0, 1)])[0], [0, 0.8413447], rtol=1e-5)


def test_nothing_is_printed(capfd) -> None:
    clear_cache()
    for attempt in (
        lambda: call("Add", X, floats(1, 2, 3)),
        lambda: call("Mod", X, X, version=28),
        lambda: call(
            "RoiAlign", np.ones((1, 1, 4, 4), np.float32), floats([0, 0, 2, 2]), ints(0), mode="max"
        ),
        lambda: call("Cast", X, to=99),
    ):
        with contextlib.suppress(OperatorFailedError):
            attempt()
    assert capfd.readouterr() == ("", "")


def test_many_threads_make_one_runner() -> None:
    clear_cache()
    made: list[engine.Runner] = []
    results: list[list[float]] = []

    def work() -> None:
        runner = prepare("Sub", X, X)
        made.append(runner)
        results.extend(runner([X, floats(k)])[0].tolist() for k in range(50))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, made))) == 1
    assert results.count([0, 1, 2, 3]) == 8


def test_random_operators() -> None:
    shape = {"shape": (100,)}
    first, second = call("RandomNormal", **shape), call("RandomNormal", **shape)
    assert not np.array_equal(first, second)
    assert not np.array_equal(
        call("RandomUniform", shape=(100,)), call("RandomUniform", shape=(50, 2)).reshape(-1)
    )
    assert np.array_equal(call("RandomNormal", **shape, seed=1.0), call("RandomNormal", **shape, seed=1.0))
    assert not np.array_equal(
        call("RandomNormal", **shape, seed=1.0), call("RandomNormal", **shape, seed=2.0)
    )
    assert call("Bernoulli", floats(0, 1, 1)).tolist() == [0, 1, 1]


def test_results_do_not_share_memory_with_inputs() -> None:
    for name, inputs in (("Identity", [X]), ("Reshape", [X, ints(2, 2)]), ("Squeeze", [X.reshape(1, 4)])):
        result = call(name, *inputs)
        assert not np.shares_memory(result, inputs[0])
        assert result.flags.writeable


def test_arrays_that_are_not_contiguous() -> None:
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert call("Identity", matrix.T).tolist() == matrix.T.tolist()
    assert call("Identity", matrix[:, ::-1]).tolist() == matrix[:, ::-1].tolist()
    assert call("Identity", matrix.astype(ml_dtypes.bfloat16).T).tolist() == matrix.T.tolist()
