"""Tensors that do not hold what they declare are refused when a model is read, in whatever way it is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

from onnxsmith import FLOAT, Model, load, trace
from onnxsmith.cli import main
from onnxsmith.errors import ExternalDataError, UnreadableModelError


def with_weight(weight: TensorProto) -> onnx.ModelProto:
    proto = trace(lambda x: x + np.arange(4, dtype=np.float32), FLOAT["N"]).proto
    weight.name = proto.graph.initializer[0].name
    proto.graph.initializer[0].CopyFrom(weight)
    return proto


#: Weights that are refused, and the reason.
DAMAGED = {
    "cut": (TensorProto(dims=[4], data_type=1, raw_data=b"1234"), "has 4 bytes, and takes 16"),
    "of another type": (
        TensorProto(dims=[4], data_type=11, raw_data=bytes(16)),
        "has 16 bytes, and takes 32",
    ),
    "of one dimension more": (
        TensorProto(dims=[4, 3], data_type=1, raw_data=bytes(16)),
        r"of shape \[4, 3\] has 16 bytes, and takes 48",
    ),
    "of a negative size": (TensorProto(dims=[-4], data_type=1, raw_data=bytes(16)), "a negative size, -4"),
    "of 2 to the 93": (TensorProto(dims=[1 << 31] * 3, data_type=1), "no array is that large"),
    "of nothing and giants": (TensorProto(dims=[0, 1 << 62, 4], data_type=1), "no array is that large"),
    "of many dimensions": (TensorProto(dims=[1] * 65, data_type=1, raw_data=bytes(4)), "has 65 dimensions"),
    "of fewer numbers": (
        TensorProto(dims=[4], data_type=1, float_data=[1, 2]),
        "has 2 elements, and takes 4",
    ),
    "of no numbers": (TensorProto(dims=[4], data_type=7), "has 0 elements, and takes 4"),
    "of fewer texts": (TensorProto(dims=[4], data_type=8, string_data=[b"a"]), "has 1 elements, and takes 4"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_weights(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weight, reason = DAMAGED[name]
    proto = with_weight(weight)
    with pytest.raises(UnreadableModelError, match=reason):
        Model.from_proto(proto)
    place = tmp_path / "m.onnx"
    place.write_bytes(proto.SerializeToString())
    for command in (["info"], ["info", "--weights"], ["view", "-o", str(tmp_path / "m.html")], ["optimize"]):
        assert main([command[0], str(place), *command[1:]]) == 1
        assert "is not a valid ONNX model" in capsys.readouterr().err


#: Weights as some writers store them.
SOUND = {
    "empty": TensorProto(dims=[0], data_type=1),
    "a number": TensorProto(data_type=1, float_data=[1]),
    "half floats": TensorProto(dims=[2], data_type=10, int32_data=[1, 2]),
    "four bits": TensorProto(dims=[3], data_type=22, raw_data=b"12"),
    "four bits in numbers": TensorProto(dims=[3], data_type=22, int32_data=[1, 2]),
    "complex": TensorProto(dims=[2], data_type=14, float_data=[1, 2, 3, 4]),
    "texts": TensorProto(dims=[2], data_type=8, string_data=[b"a", b"b"]),
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_weights(name: str) -> None:
    Model.from_proto(with_weight(SOUND[name]))


@pytest.mark.parametrize(
    ("dims", "indices"), [([4], [4]), ([4], [-1]), ([2, 2], [[0, 2]]), ([2, 2], [[0]]), ([4], [0, 1])]
)
def test_sparse_weights(dims: list[int], indices: list[int] | list[list[int]]) -> None:
    proto = trace(lambda x: x + 1.0, FLOAT["N"]).proto
    sparse = proto.graph.sparse_initializer.add(dims=dims)
    sparse.values.CopyFrom(numpy_helper.from_array(np.float32([1]), "s"))
    sparse.indices.CopyFrom(numpy_helper.from_array(np.int64(indices)))
    with pytest.raises(UnreadableModelError, match="the tensor 's' of shape"):
        Model.from_proto(proto)


@pytest.mark.parametrize(
    ("key", "text"), [("offset", "-8"), ("offset", "begin"), ("length", "1e3"), ("offset", "")]
)
def test_external_data_without_a_place(key: str, text: str, tmp_path: Path) -> None:
    weight = TensorProto(dims=[4], data_type=1, data_location=TensorProto.EXTERNAL)
    weight.external_data.add(key="location", value="data.bin")
    weight.external_data.add(key=key, value=text)
    (tmp_path / "data.bin").write_bytes(bytes(64))
    (tmp_path / "m.onnx").write_bytes(with_weight(weight).SerializeToString())
    with pytest.raises(ExternalDataError, match=f"has no {key}: {text!r} is no number of bytes"):
        load(tmp_path / "m.onnx")
