"""Weights that lie in another file: in the model's folder, or behind links into a folder that the user names."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import helper

import onnxsmith
from onnxsmith import FLOAT, Model, data_root, errors, trace
from onnxsmith import opset21 as op

WEIGHTS = np.arange(4096, dtype=np.float32).reshape(64, 64)
X = np.ones((2, 64), np.float32)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A download cache: the files lie in one folder, and links to them under their names in another."""
    blobs, snapshot = tmp_path / "cache" / "blobs", tmp_path / "cache" / "snapshots" / "main"
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    trace(lambda x: op.Relu(x @ WEIGHTS), FLOAT["N", 64]).save(blobs / "m.onnx", external_data="m.data")
    for name in ("m.onnx", "m.data"):
        (snapshot / name).symlink_to(os.path.relpath(blobs / name, snapshot))
    return tmp_path / "cache"


def test_links_out_of_the_folder_are_refused_with_what_to_do(cache: Path) -> None:
    with pytest.raises(errors.ExternalDataError) as caught:
        onnxsmith.load(cache / "snapshots" / "main" / "m.onnx")
    assert "'m.data' is a link to" in str(caught.value)
    assert "with onnxsmith.data_root(folder)" in str(caught.value)


def test_links_into_the_root_are_followed(cache: Path, tmp_path: Path) -> None:
    with data_root(cache):
        model = onnxsmith.load(cache / "snapshots" / "main" / "m.onnx")
        text = onnxsmith.decompile_to(cache / "snapshots" / "main" / "m.onnx", tmp_path / "out")
    np.testing.assert_array_equal(model(X), np.maximum(X @ WEIGHTS, 0))
    assert text.is_file()


def test_the_environment_can_name_the_root(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONNXSMITH_DATA_ROOT", str(cache))
    assert onnxsmith.load(cache / "snapshots" / "main" / "m.onnx")(X).shape == (2, 64)


def test_another_root_does_not_help(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with data_root(tmp_path / "other"), pytest.raises(errors.ExternalDataError):
        onnxsmith.load(cache / "snapshots" / "main" / "m.onnx")


def test_a_root_does_not_let_a_model_name_what_lies_there(cache: Path, tmp_path: Path) -> None:
    proto = onnx.load(cache / "blobs" / "m.onnx", load_external_data=False)
    proto.graph.initializer[0].external_data[0].value = str(cache / "blobs" / "m.data")
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    with data_root(cache), pytest.raises(errors.ExternalDataError, match="outside the model's folder"):
        onnxsmith.load(tmp_path / "m.onnx")


@pytest.mark.parametrize("location", ["../m.data", "sub/../../m.data", "./../m.data"])
def test_a_root_does_not_let_a_model_go_upwards(
    cache: Path, location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = cache / "blobs" / "inner"
    inner.mkdir()
    proto = onnx.load(cache / "blobs" / "m.onnx", load_external_data=False)
    proto.graph.initializer[0].external_data[0].value = location
    (inner / "m.onnx").write_bytes(proto.SerializeToString())
    monkeypatch.chdir(inner)
    for path in ("m.onnx", "./m.onnx", inner / "m.onnx"):
        with data_root(cache), pytest.raises(errors.ExternalDataError, match="outside the model's folder"):
            onnxsmith.load(path)


def test_hard_links_are_refused_with_what_to_do(cache: Path) -> None:
    os.link(cache / "blobs" / "m.data", cache / "again")
    with pytest.raises(errors.ExternalDataError, match="several names"):
        onnxsmith.load(cache / "blobs" / "m.onnx")
    with data_root(cache):
        assert onnxsmith.load(cache / "blobs" / "m.onnx")(X).shape == (2, 64)


def test_a_proto_lies_in_no_folder(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(cache / "blobs")
    proto = onnx.load("m.onnx", load_external_data=False)
    for read in (Model.from_proto, onnxsmith.decompile):
        with pytest.raises(errors.ExternalDataError, match=r"keeps the weight '.*' in the file 'm.data'"):
            read(proto)
    assert Model.from_proto(onnx.load("m.onnx"))(X).shape == (2, 64)


@pytest.mark.parametrize("location", ["", "a\0b", "x" * 5000, "loop"])
def test_names_that_no_file_has(cache: Path, location: str) -> None:
    (cache / "blobs" / "loop").symlink_to("loop")
    proto = onnx.load(cache / "blobs" / "m.onnx", load_external_data=False)
    proto.graph.initializer[0].external_data[0].value = location
    (cache / "blobs" / "odd.onnx").write_bytes(proto.SerializeToString())
    with pytest.raises(errors.ExternalDataError):
        onnxsmith.load(cache / "blobs" / "odd.onnx")


@pytest.mark.parametrize(
    "location", ["m.data/", "m.data/.", "m.data//", "m.data/../m.data", "nope/../m.data"]
)
def test_names_that_are_a_file_for_a_path_alone(cache: Path, location: str) -> None:
    """A path leaves out what the system stumbles over when the file is opened."""
    proto = onnx.load(cache / "blobs" / "m.onnx", load_external_data=False)
    (cache / "blobs" / "m.data").write_bytes(b"\0" * 4096)
    proto.graph.initializer[0].external_data[0].value = location
    (cache / "blobs" / "odd.onnx").write_bytes(proto.SerializeToString())
    with pytest.raises(errors.ExternalDataError, match="there is no file"):
        onnxsmith.load(cache / "blobs" / "odd.onnx")


def test_a_root_that_is_not_there_is_told() -> None:
    with pytest.raises(errors.AttributeValueError, match="there is no folder"), data_root("nowhere"):
        pass


def _in_file(name: str, offset: int) -> onnx.TensorProto:
    tensor = onnx.TensorProto(name=name, data_type=1, dims=[2], data_location=onnx.TensorProto.EXTERNAL)
    for key, value in (("location", "w.data"), ("offset", offset), ("length", 8)):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def test_tensors_of_attributes_lie_in_files_beside_attributes_of_all_kinds(tmp_path: Path) -> None:
    body = onnx.parser.parse_graph("b () => (float[2] r) { r = Constant <value = float[2] {0, 0}> () }")
    body.node[0].attribute[0].t.CopyFrom(_in_file("t", 16))
    own = helper.make_node(
        "Own", ["x"], ["y"], domain="own", i=1, f=0.5, s="text", ints=[1, 2], strings=["a"]
    )
    own.attribute.append(helper.make_attribute("several", [_in_file("first", 0), _in_file("second", 8)]))
    own.attribute.append(helper.make_attribute("one", _in_file("one", 24)))
    own.attribute.append(helper.make_attribute("body", body))
    graph = onnx.parser.parse_graph("g (float[2] x) => (float[2] y) { y = Abs(x) }")
    graph.node[0].CopyFrom(own)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)]
    proto = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    (tmp_path / "w.data").write_bytes(np.arange(8, dtype=np.float32).tobytes())
    model = onnxsmith.load(tmp_path / "m.onnx")
    model.save(tmp_path / "whole.onnx")
    (tmp_path / "w.data").unlink()
    attributes = onnxsmith.load(tmp_path / "whole.onnx").ir.graph[0].attributes
    found = [each.numpy().tolist() for each in attributes["several"].value]
    found.append(attributes["one"].value.numpy().tolist())
    found.append(attributes["body"].value[0].attributes["value"].value.numpy().tolist())
    assert found == [[0, 1], [2, 3], [6, 7], [4, 5]]
    with pytest.raises(errors.ExternalDataError, match=r"'w\.data'"):
        onnxsmith.load(tmp_path / "m.onnx")
