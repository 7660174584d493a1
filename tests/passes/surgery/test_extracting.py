"""`model.extract`: what a part has, and that the whole stays what it was."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, parser

import onnxsmith
from onnxsmith import FLOAT, Model, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import CutError, OnnxsmithError
from onnxsmith.graphs.origins import SOURCE_KEY
from tests.passes.surgery.test_laws import run


def parsed(text: str) -> Model:
    return Model.from_proto(parser.parse_model(text))


def two_layers() -> Model:
    first, second = np.ones((4, 8), np.float32), np.ones((8, 3), np.float32)
    return trace(lambda x: op.Relu(x @ first) @ second, FLOAT["N", 4])


def test_weights_are_the_very_tensors() -> None:
    model = two_layers()
    part = model.extract(inputs=["relu"])
    (name,) = part.ir.graph.initializers
    assert part.ir.graph.initializers[name].const_value is model.ir.graph.initializers[name].const_value
    assert name == "second"


def test_nothing_is_read_of_weights_in_a_file(tmp_path: Path) -> None:
    first, second = np.zeros((4, 800), np.float32), np.zeros((800, 300), np.float32)
    model = trace(lambda x: op.Relu(x @ first) @ second, FLOAT["N", 4])
    model.save(tmp_path / "m.onnx", external_data="m.data")
    loaded = onnxsmith.load(tmp_path / "m.onnx")
    # Whoever reads a file that was changed is told so: nobody is.
    data = tmp_path / "m.data"
    data.write_bytes(b"\1" * data.stat().st_size)
    part = loaded.extract(inputs=["relu"]).rename(prefix="p.").with_shapes({"N": 2})
    front, back = loaded.split("relu")
    front.then(back).bind_inputs(x=np.zeros((2, 4), np.float32)).with_outputs("relu")
    tensors = [each.const_value for each in part.ir.graph.initializers.values()]
    assert [each.nbytes for each in tensors if each is not None] == [800 * 300 * 4]
    with pytest.raises(onnxsmith.errors.ExternalDataError):
        part.save(tmp_path / "part.onnx")


def test_metadata_versions_and_origins_stay() -> None:
    proto = two_layers().proto
    helper.set_model_props(proto, {"author": "me"})
    proto.doc_string, proto.producer_version, proto.domain, proto.model_version = "doc", "7", "d", 3
    proto.graph.doc_string = "graph"
    given = Model.from_proto(proto)
    found = given.extract(outputs=["relu"]).proto
    for field in (
        "ir_version",
        "opset_import",
        "producer_name",
        "producer_version",
        "domain",
        "model_version",
    ):
        assert getattr(found, field) == getattr(proto, field), field
    assert (found.doc_string, found.graph.doc_string, found.graph.name) == ("doc", "graph", proto.graph.name)
    assert list(found.metadata_props) == list(proto.metadata_props)
    noted = [each for each in given.proto.graph.value_info if each.name in ("first", "mat_mul")]
    assert list(found.graph.value_info) == noted
    assert [[each.key for each in node.metadata_props] for node in found.graph.node] == [[SOURCE_KEY]] * 2


def test_spans_stay_spans() -> None:
    model = two_layers()
    node = next(iter(model.extract(outputs=["relu"]).ir.graph))
    assert node.metadata_props[SOURCE_KEY] is next(iter(model.ir.graph)).metadata_props[SOURCE_KEY]


def test_a_weight_can_be_an_input() -> None:
    model = two_layers()
    part = model.extract(["relu", "second"])
    assert [port.name for port in part.inputs] == ["relu", "second"]
    assert not part.ir.graph.initializers
    assert model.ir.graph.initializers["second"].const_value is not None


def test_an_input_that_another_output_of_its_node_is_needed_for() -> None:
    model = parsed(
        """<ir_version: 10, opset_import: ["": 21]>
        g (float[4] x) => (float[2] y) {
            a, b = Split <axis = 0, num_outputs = 2> (x)
            y = Sub (a, b)
        }"""
    )
    part = model.extract(["x", "a"], ["y"])
    onnx.checker.check_model(part.proto, full_check=True)
    found = run(part.proto, {"x": np.float32([1, 2, 3, 4]), "a": np.float32([10, 20])})
    np.testing.assert_array_equal(found["y"], np.float32([7, 16]))


def test_what_bodies_read_is_needed() -> None:
    @script
    def branches(x: FLOAT["N"], y: FLOAT["N"]):
        scale = op.Exp(y)
        if op.ReduceSum(x, keepdims=0) > 0.0:
            z = x * scale
        else:
            z = x - scale
        return z

    model = branches.to_model()
    assert [port.name for port in model.extract(outputs="z").inputs] == ["x", "y"]
    with pytest.raises(CutError, match=r"'y' is read by node"):
        model.extract(["x"], ["z"])
    part = model.extract(["x", "scale"], ["z"])
    x, scale = np.float32([1, 2]), np.float32([3, 4])
    np.testing.assert_array_equal(run(part.proto, {"x": x, "scale": scale})["z"], x * scale)


def test_functions_come_along_and_no_others() -> None:
    @script
    def inner(x: FLOAT["N"]):
        return op.Exp(x)

    @script
    def outer(x: FLOAT["N"]):
        return inner(x) + 1.0

    @script
    def unused(x: FLOAT["N"]):
        return op.Neg(x)

    @script
    def whole(x: FLOAT["N"]):
        a = outer(x)
        return unused(a)

    model = whole.to_model()
    part = model.extract(outputs=["a"])
    assert sorted(name for _, name, _ in part.ir.functions) == ["inner", "outer"]
    np.testing.assert_allclose(part(np.float32([0])), [2.0])


def test_inputs_with_defaults_stay_optional() -> None:
    model = parsed(
        """<ir_version: 3, opset_import: ["": 8]>
        g (float[2] x, float[2] w = {1.0, 2.0}, float[2] v = {3.0, 4.0}) => (float[2] y) {
            a = Add (x, w)
            y = Mul (a, v)
        }"""
    )
    part = model.extract(outputs=["a"])
    assert ([port.name for port in part.inputs], [port.name for port in part.optional_inputs]) == (
        ["x"],
        ["w"],
    )
    onnx.checker.check_model(part.proto, full_check=True)
    named = model.extract(["a", "v"])
    assert [port.name for port in named.optional_inputs] == ["v"]


def test_types_that_nobody_declared_are_worked_out() -> None:
    model = parsed(
        """<ir_version: 10, opset_import: ["": 21]>
        g (float[N, 4] x) => (float[N, M] y) { a = Transpose (x)  b = Relu (a)  y = Transpose (b) }"""
    )
    part = model.extract(["a"], ["b"])
    assert repr(part).startswith("Model(a: FLOAT[4, 'N']) -> b: FLOAT[4, 'N']")


def test_types_that_nobody_can_work_out_are_said() -> None:
    mine = onnxsmith.Opset("mine", 1)
    model = trace(lambda x: op.Relu(mine.Foo(x)), FLOAT["N"])
    with pytest.raises(CutError, match="is not known"):
        model.extract(["foo"])
    assert model.extract({"foo": FLOAT["N"]}).inputs[0].type == FLOAT["N"]
    declared = two_layers()
    with pytest.raises(CutError, match="float32 of shape"):
        declared.extract({"relu": FLOAT["N", 9]})


def test_sparse_weights_and_maps_pass_through() -> None:
    values = helper.make_tensor("w", TensorProto.FLOAT, [1], [2.0])
    indices = helper.make_tensor("", TensorProto.INT64, [1], [1])
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["a"]), helper.make_node("Relu", ["a"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
        sparse_initializer=[helper.make_sparse_tensor(values, indices, [2])],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    part = Model.from_proto(proto).extract(outputs=["a"])
    assert part.is_proto_only
    assert [each.values.name for each in part.proto.graph.sparse_initializer] == ["w"]
    renamed = part.rename({"w": "weight"})
    assert [each.values.name for each in renamed.proto.graph.sparse_initializer] == ["weight"]
    behind = Model.from_proto(proto).extract(["a"])
    assert not behind.is_proto_only


def map_model() -> Model:
    kind = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    sequence = helper.make_sequence_type_proto(kind)
    graph = helper.make_graph(
        [
            helper.make_node("Relu", ["x"], ["a"]),
            helper.make_node("ZipMap", ["a"], ["m"], domain="ai.onnx.ml", classlabels_int64s=[5, 6]),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2])],
        [helper.make_value_info("m", sequence)],
    )
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 3)]
    return Model.from_proto(helper.make_model(graph, opset_imports=imports, ir_version=10))


def test_maps() -> None:
    model = map_model()
    back = model.extract(["a"]).rename(outputs={"m": "scores"})
    assert repr(back.outputs[0].type) == repr(model.outputs[0].type)
    assert back(np.float32([[1, 2]])) == [{5: 1.0, 6: 2.0}]
    front, rest = model.split("a")
    assert not front.is_proto_only
    assert front.then(rest)(np.float32([[-1, 2]])) == [{5: 0.0, 6: 2.0}]


def test_quantisation_comes_along() -> None:
    proto = two_layers().proto
    proto.graph.initializer.append(helper.make_tensor("scale", TensorProto.FLOAT, [1], [0.5]))
    annotation = proto.graph.quantization_annotation.add(tensor_name="relu")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="scale")
    part = Model.from_proto(proto).extract(outputs=["relu"])
    assert {"first", "scale"} == set(part.ir.graph.initializers)
    renamed = part.rename(prefix="p/").proto.graph.quantization_annotation[0]
    assert renamed.tensor_name == "p/relu"
    assert renamed.quant_parameter_tensor_names[0].value == "p/scale"
    assert part.proto.graph.quantization_annotation[0].quant_parameter_tensor_names[0].value == "scale"


@pytest.mark.parametrize("name", ["", 3, None, "nix"])
def test_names_that_are_none(name: object) -> None:
    with pytest.raises(OnnxsmithError):
        two_layers().extract(outputs=[name])  # type: ignore[list-item]


def test_it_does_what_onnx_does() -> None:
    model = two_layers()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        model.save(place / "m.onnx")
        onnx.utils.extract_model(str(place / "m.onnx"), str(place / "part.onnx"), ["relu"], ["mat_mul_1"])
        theirs = onnx.load(place / "part.onnx")
    ours = model.extract(["relu"], ["mat_mul_1"]).proto
    for field in ("node", "input", "output", "initializer"):
        assert list(getattr(ours.graph, field)) == list(getattr(theirs.graph, field)), field


def test_types_of_maps_inside_stay() -> None:
    proto = map_model().proto
    kind = proto.graph.output[0].type
    proto.graph.value_info.add(name="m").type.CopyFrom(kind)
    del proto.graph.output[:]
    proto.graph.node.append(helper.make_node("Foo", ["m"], ["z"], domain="mine"))
    proto.graph.output.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, [1]))
    proto.opset_import.append(helper.make_opsetid("mine", 1))
    renamed = Model.from_proto(proto).rename({"m": "scores"}).proto
    assert {each.name: each.type for each in renamed.graph.value_info}["scores"] == kind


def test_a_body_that_gives_a_value_from_around_it() -> None:
    model = parsed(
        """<ir_version: 10, opset_import: ["": 21]>
        g (float[2] x, bool c) => (float[2] y) {
            h = Relu (x)
            y = If (c) <then_branch = t () => (float[2] a) { a = Identity (x) },
                        else_branch = e () => (float[2] b) { b = Neg (x) }>
        }"""
    )
    hidden, chosen = model.ir.graph
    chosen.attributes["then_branch"].as_graph().outputs[0] = hidden.outputs[0]
    assert {node.op_type for node in model.extract().ir.graph} == {"Relu", "If"}
