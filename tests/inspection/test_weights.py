"""`model.weights` and `model.metadata`: by name, read when asked for, never to be changed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import parser

import onnxsmith
from onnxsmith import FLOAT, Model, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import AttributeTypeError, UnreadableModelError, WeightError


def test_arrays_by_name() -> None:
    scale = np.arange(6, dtype=np.float32).reshape(2, 3)
    model = trace(lambda a: a * scale, FLOAT["N", 2, 3])
    assert list(model.weights) == ["scale"]
    assert "scale" in model.weights
    assert model.weights.get("nothing") is None
    np.testing.assert_array_equal(model.weights["scale"], scale)
    with pytest.raises(ValueError, match="read-only"):
        model.weights["scale"][0] = 1
    scale[0, 0] = 7  # the array of the user stays the user's
    with pytest.raises(WeightError, match="no weight 'scle'"):
        model.weights["scle"]


def test_mapped_weights_are_not_read(tmp_path: Path) -> None:
    weight = np.ones((1024, 256), np.float32)
    trace(lambda a: a @ weight, FLOAT["N", 1024]).save(tmp_path / "m.onnx", external_data="m.data")
    model = onnxsmith.load(tmp_path / "m.onnx")
    info = model.weights.info("weight")
    assert (info.file, info.nbytes, info.size, info.shape) == ("m.data", 1 << 20, 1 << 18, (1024, 256))
    base = model.weights["weight"]
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    assert not isinstance(base, np.ndarray)  # the mapped file itself
    # Nothing of the above needs the content: a file that was changed since is found out only by who reads it.
    other = onnxsmith.load(tmp_path / "m.onnx")
    (tmp_path / "m.data").write_bytes(bytes(1 << 20))
    assert other.summary().parameters == 1 << 18
    assert other.weights.nbytes == 1 << 20


def test_strings_and_packed_and_sparse_weights() -> None:
    proto = parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 21]> g () => (string[2] s, float[3] y, int8[3] z)'
        "{ s = Identity (words) y = Identity (thin) z = Cast <to = 3> (small) }"
    )
    proto.graph.initializer.append(
        onnx.helper.make_tensor("words", onnx.TensorProto.STRING, [2], [b"a", b"\xff"])
    )
    proto.graph.initializer.append(onnx.helper.make_tensor("small", onnx.TensorProto.INT4, [3], [1, -2, 7]))
    sparse = proto.graph.sparse_initializer.add(dims=[3])
    sparse.values.CopyFrom(onnx.numpy_helper.from_array(np.array([5], np.float32), "thin"))
    sparse.indices.CopyFrom(onnx.numpy_helper.from_array(np.array([2], np.int64), ""))
    model = Model.from_proto(proto)
    assert model.is_proto_only
    assert model.weights["words"].tolist() == ["a", "\udcff"]
    assert model.weights["thin"].tolist() == [0, 0, 5]
    assert model.weights["small"].astype(int).tolist() == [1, -2, 7]
    assert model.weights.info("thin").is_sparse


def _damaged(case: str) -> onnx.ModelProto:
    proto = parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 21]> g (float[4] x) => (float[4] y) { y = Add (x, w) }'
    )
    if case == "sparse":
        sparse = proto.graph.sparse_initializer.add(dims=[4])
        sparse.values.CopyFrom(onnx.numpy_helper.from_array(np.array([5], np.float32), "w"))
        sparse.indices.CopyFrom(onnx.numpy_helper.from_array(np.array([99999], np.int64), ""))
    else:
        dims, data = {"long": ([2**40], 16), "longer": ([2**40, 2**40], 0), "short": ([4], 5)}[case]
        tensor = proto.graph.initializer.add(name="w", data_type=1, dims=dims)
        tensor.raw_data = bytes(data)
    return proto


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ("long", "of shape [1099511627776] has 16 bytes, and takes 4398046511104"),
        ("longer", "has the shape [1099511627776, 1099511627776], and no array is that large"),
        ("short", "of shape [4] has 5 bytes, and takes 16"),
        ("sparse", "of shape [4] has an element outside of it"),
    ],
)
def test_damaged_weights_are_refused_when_the_model_is_read(case: str, reason: str) -> None:
    with pytest.raises(UnreadableModelError, match=re.escape(f"the tensor 'w' {reason}")):
        Model.from_proto(_damaged(case))


def test_weights_of_bodies_whose_name_is_taken() -> None:
    body = "then_branch = p () => (float[1] q) <float[1] w = {2.0}> { q = Add (x, w) }"
    rest = "else_branch = r () => (float[1] s) { s = Add (x, w) }"
    proto = parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 21]> g (float[1] x, bool c) => (float[1] y) <float[1] w = {1.0}>'
        f"{{ y = If (c) <{body}, {rest}> }}"
    )
    weights = Model.from_proto(proto).weights
    assert {name: each.tolist() for name, each in weights.items()} == {"w": [1], "0.then_branch/w": [2]}


def test_metadata() -> None:
    model = trace(lambda a: a + 1.0, FLOAT["N"])
    made = model.with_metadata({"a.b": "1"}, c="2")
    assert dict(made.metadata) == {"a.b": "1", "c": "2"}
    assert dict(made.with_metadata({"a.b": None}).metadata) == {"c": "2"}
    assert dict(model.metadata) == {}
    with pytest.raises(TypeError):
        made.metadata["x"] = "y"  # type: ignore[index]
    with pytest.raises(AttributeTypeError, match="metadata is text, and 'c' is an int"):
        model.with_metadata(c=2)  # type: ignore[arg-type]


def test_what_functions_hold_is_counted_and_keeps_its_name() -> None:
    scales = np.float32([1, 2, 3, 4])

    @script
    def scaled(x: FLOAT["N", 4]):
        return x * scales

    @script
    def twice(x: FLOAT["N", 4]) -> FLOAT["N", 4]:
        return scaled(scaled(x))

    model = twice.to_model()
    (name,) = model.weights
    assert name.endswith("::scaled/scales")
    assert np.array_equal(model.weights[name], scales)
    assert model.summary().parameters == 4
    x = np.ones((1, 4), np.float32)
    assert np.array_equal(model.replace_weights({name: scales * 2})(x), [(scales * 2) ** 2])


def test_constants_and_initializers_count_alike() -> None:
    """Whether a node or an initializer holds a tensor, which passes change, it is the same number of parameters."""

    def forward(x):
        return op.Add(x, op.Constant(value=np.float32([1, 2, 3, 4])))

    model = trace(forward, FLOAT["N", 4])
    assert [each.op_type for each in model.nodes] == ["Constant", "Add"]
    optimized = model.optimize()
    assert [each.op_type for each in optimized.nodes] == ["Add"]
    assert model.summary().parameters == optimized.summary().parameters == 4
    assert list(model.weights) == list(optimized.weights)
