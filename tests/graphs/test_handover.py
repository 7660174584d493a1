"""Models reach a runtime with their weights apart: where they lie, and never changed or copied on the way."""

from __future__ import annotations

import gc
import os
import tempfile
import threading
import weakref

import ml_dtypes
import numpy as np
import onnx
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import onnxsmith
from onnxsmith import FLOAT, Model, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import AttributeValueError
from onnxsmith.graphs import files
from onnxsmith.graphs.handover import (
    HANDED_OVER,
    SessionModel,
    content_of,
    recorded_session_model,
    session_model,
)
from onnxsmith.graphs.records import ModelRecord
from onnxsmith.runtime import onnxruntime_api, using
from onnxsmith.runtime.model_session import load_on_onnxruntime

SHAPE = (40, 30)


def table(dtype=np.float32) -> np.ndarray:
    return (np.arange(SHAPE[0] * SHAPE[1]) % 7).reshape(SHAPE).astype(dtype)


def added(weight: np.ndarray) -> Model:
    return trace(lambda x: op.Cast(op.Identity(weight), to=1) + x, FLOAT[1])


X = np.ones(1, np.float32)


def own_tensor(model: Model) -> ir.TensorProtocol:
    (tensor,) = (v.const_value for v in model.ir.graph.initializers.values() if v.const_value.nbytes >= 500)
    return tensor


def test_weights_lie_apart_in_their_own_memory() -> None:
    weight = table()
    apart = session_model(added(weight).ir)
    ((tensor, held),) = apart.apart()
    assert np.shares_memory(held.read(), weight)
    assert held.part is None
    assert {each.key: each.value for each in tensor.external_data} == {"location": HANDED_OVER}
    assert weight.tobytes() not in apart.proto.SerializeToString()


def test_the_model_is_not_changed() -> None:
    model = added(table())
    before = own_tensor(model)
    session_model(model.ir)
    assert own_tensor(model) is before


def test_whole_is_the_model() -> None:
    model = added(table())
    assert session_model(model.ir).whole().graph == model.proto.graph


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, ml_dtypes.int4])
def test_a_recorded_model_is_handed_over_as_its_ir_is(dtype: type) -> None:
    weight = table(dtype)
    model = trace(lambda x: op.Cast(op.Identity(weight), to=1) + x[:2], FLOAT["N"], doc_string="for people")
    record = model._held
    assert isinstance(record, ModelRecord)
    recorded, made = recorded_session_model(record), session_model(model.ir)
    assert recorded is not None
    assert recorded.proto == made.proto
    assert recorded.weights.keys() == made.weights.keys()
    assert all(
        np.array_equal(recorded.weights[name].read(), made.weights[name].read()) for name in made.weights
    )


def test_running_a_model_needs_no_onnx_ir() -> None:
    model = added(table())
    assert model(X).shape == SHAPE
    assert isinstance(model._held, ModelRecord)


def test_a_graph_that_the_user_brings_is_looked_at() -> None:
    node = onnx.helper.make_node("Cast", ["x"], ["y"], to=1, saturate=7)
    output = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["N"])
    branch = onnx.helper.make_graph([node], "branch", [], [output])
    model = trace(lambda x: op.If(x.sum() > 0.0, then_branch=branch, else_branch=branch), FLOAT["N"])
    with pytest.raises(AttributeValueError, match="saturate"):
        model(X)


def test_small_weights_and_sizes_stay_in_the_graph() -> None:
    sizes = np.ones(200, np.int64)
    model = trace(
        lambda x: op.Split(x * np.float32([2.0]), sizes, axis=0, outputs=200)[7], FLOAT[200], opset_version=21
    )
    assert session_model(model.ir).weights == {}
    assert model(np.ones(200, np.float32)).tolist() == [2]


@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
@pytest.mark.parametrize("stored", ["memory", "inside", "beside"])
@pytest.mark.parametrize(
    "dtype",
    [
        *("float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"),
        *("uint64", "bool", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4"),
    ],
)
def test_every_element_type_from_everywhere(dtype, stored, runtime, tmp_path) -> None:
    weight = table(getattr(ml_dtypes, dtype, None) or np.dtype(dtype))
    model = added(weight)
    if stored != "memory":
        model.save(tmp_path / "m.onnx", external_data=stored == "beside")
        model = onnxsmith.load(tmp_path / "m.onnx")
    with using(runtime=runtime):
        assert np.array_equal(model(X), weight.astype(np.float32) + 1)


@pytest.mark.parametrize("made", [np.asfortranarray, lambda a: a.repeat(2, 1)[:, ::2]])
def test_arrays_that_do_not_lie_as_onnx_lays_them(made) -> None:
    weight = made(table())
    tensor = ir.Tensor(weight, dtype=ir.DataType.FLOAT)
    assert content_of(tensor).tobytes() == table().tobytes()
    assert np.array_equal(added(weight)(X), table() + 1)


def test_weights_in_a_file_are_named_and_not_read(tmp_path) -> None:
    added(table()).save(tmp_path / "m.onnx", external_data=True)
    model = onnxsmith.load(tmp_path / "m.onnx")
    ((_, held),) = session_model(model.ir).apart()
    assert held.part is not None
    assert held.part.path == os.path.realpath(tmp_path / "m.onnx.data")
    assert held.part.length == table().nbytes
    assert np.array_equal(model(X), table() + 1)
    if onnxruntime_api.takes_folders():
        assert own_tensor(model).raw is None, "the file was mapped, though nobody asked for its content"


def test_a_file_that_was_replaced_is_not_taken_for_the_one_that_was_mapped(tmp_path) -> None:
    added(table()).save(tmp_path / "m.onnx", external_data=True)
    model = onnxsmith.load(tmp_path / "m.onnx")
    own_tensor(model).numpy()
    (tmp_path / "new").write_bytes(bytes(table().nbytes))
    os.replace(tmp_path / "new", tmp_path / "m.onnx.data")
    assert np.array_equal(model(X), table() + 1)


def test_files_of_two_folders(tmp_path) -> None:
    models = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        added(table()).save(tmp_path / name / "m.onnx", external_data=True)
        models.append(onnxsmith.load(tmp_path / name / "m.onnx"))
    first, second = (own_tensor(each) for each in models)
    joined = models[0].ir
    (value,) = (v for v in joined.graph.initializers.values() if v.const_value is first)
    other = ir.Value(name="other", const_value=second, type=value.type, shape=value.shape)
    joined.graph.register_initializer(other)
    total = ir.node("Add", [joined.graph.outputs[0], other])
    total.outputs[0].type, total.outputs[0].shape = (
        joined.graph.outputs[0].type,
        joined.graph.outputs[0].shape,
    )
    total.outputs[0].name = "total"
    joined.graph.append(total)
    joined.graph.outputs[0] = total.outputs[0]
    assert np.array_equal(Model(joined)(X), 2 * table() + 1)


@pytest.mark.parametrize("stored", ["inside", "beside"])
def test_weights_of_nested_graphs(stored, tmp_path) -> None:
    text = """<ir_version: 10, opset_import: ["" : 21]> g (float[1] x, bool c) => (float[40, 30] y) {
        y = If (c) <then_branch = t () => (float[40, 30] a) { a = Add(x, w) },
                    else_branch = e () => (float[40, 30] b) { b = Sub(x, w) }> }"""
    proto = onnx.parser.parse_model(text)
    for attribute, sign in zip(proto.graph.node[0].attribute, (1, 2), strict=True):
        attribute.g.initializer.append(onnx.numpy_helper.from_array(sign * table(), "w"))
    onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=stored == "beside", size_threshold=0)
    model = onnxsmith.load(tmp_path / "m.onnx")
    assert np.array_equal(model(X, True), 1 + table())
    assert np.array_equal(model(X, False), 1 - 2 * table())


def test_the_optimizer_may_transpose_a_weight() -> None:
    weight = np.random.default_rng(0).random((1, *SHAPE), np.float32)
    model = trace(
        lambda x: op.Transpose(op.Relu(op.Transpose(x, perm=[0, 2, 1]) + weight), perm=[0, 2, 1]),
        FLOAT[2, 30, 40],
    )
    x = np.random.default_rng(1).random((2, 30, 40), np.float32)
    want = np.maximum(x.transpose(0, 2, 1) + weight, 0).transpose(0, 2, 1)
    assert np.array_equal(model(x), want)
    assert np.array_equal(model(x), want), "the weight of the user was transposed"


def test_arrays_live_as_long_as_the_session() -> None:
    weight = table()
    kept = weakref.ref(weight)
    model = added(weight)
    session = load_on_onnxruntime(session_model(model.ir))
    del weight, model
    gc.collect()
    assert kept() is not None
    assert np.array_equal(session([X])[0], table() + 1)
    del session
    gc.collect()
    assert kept() is None


def test_threads_load_one_model_at_once(tmp_path) -> None:
    added(table()).save(tmp_path / "m.onnx", external_data=True)
    model = onnxsmith.load(tmp_path / "m.onnx")
    before = own_tensor(model)
    results: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: results.append(Model(model.ir)(X))) for _ in range(8)]
    for thread in threads:
        thread.start()
    model.proto  # noqa: B018  # stands in for the tensors meanwhile
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert all(np.array_equal(each, table() + 1) for each in results)
    assert own_tensor(model) is before


def test_a_model_is_saved_and_loaded_at_once(tmp_path, monkeypatch) -> None:
    model = added(table())
    handed: list[SessionModel] = []
    thread = threading.Thread(target=lambda: handed.append(session_model(model.ir)))
    serialize = files.serialize

    def meanwhile(given: ir.Model) -> bytes:
        thread.start()  # the model refers to the file that is being written, and must not be handed over so
        thread.join(0.2)
        return serialize(given)

    monkeypatch.setattr(files, "serialize", meanwhile)
    model.save(tmp_path / "m.onnx", external_data=True)
    thread.join()
    ((_, held),) = handed[0].apart()
    assert held.part is None
    assert held.read().tobytes() == table().tobytes()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_runs_the_model() -> None:
    model = added(table())
    want = model(X)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            same = np.array_equal(model(X), want) and np.array_equal(Model(model.ir)(X), want)
            status = 0 if same else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


WEIGHTS = arrays.arrays(
    st.sampled_from(["f4", "f8", "f2", "i1", "i4", "i8", "u2", "?"]),
    arrays.array_shapes(max_dims=3, min_side=0, max_side=40),
    fill=st.nothing() | st.just(1),
)


@settings(max_examples=60)
@given(WEIGHTS, st.sampled_from(["memory", "inside", "beside"]), st.sampled_from("CFT"))
def test_whatever_the_weight_is_the_whole_is_the_model(weight, stored, order) -> None:
    """The law: nothing is lost between the graph and what is handed over apart from it."""
    weight = weight.T if order == "T" else np.array(weight, order=order)
    model = trace(lambda x: (op.Identity(weight), x), FLOAT[1])
    with tempfile.TemporaryDirectory() as folder:
        if stored != "memory":
            model.save(f"{folder}/m.onnx", external_data=stored == "beside")
            model = onnxsmith.load(f"{folder}/m.onnx")
        apart = session_model(model.ir)
        assert apart.whole().graph == model.proto.graph
        assert apart.proto.ByteSize() < 2048 + 65536 * (weight.dtype.kind == "i")
        got = model(X)[0]
        assert got.dtype == weight.dtype
        assert np.array_equal(got, weight, equal_nan=weight.dtype.kind == "f")


def test_no_file_is_written(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    weight = np.ones((1 << 11, 1 << 12), np.float32)  # past what once went through a file
    assert added(weight)(X).max() == 2
    assert not list(tmp_path.iterdir())
