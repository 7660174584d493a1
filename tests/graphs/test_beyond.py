"""Models with sparse tensors and maps, there and back: what onnx-ir has no place for is kept to the last byte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper, parser

from onnxsmith.errors import OnnxsmithError
from onnxsmith.graphs import beyond
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import MapType, SequenceType, TensorType


def sparse(name: str = "", element: float = 2.0) -> onnx.SparseTensorProto:
    values = numpy_helper.from_array(np.float32([element]), name)
    return helper.make_sparse_tensor(values, numpy_helper.from_array(np.int64([1])), [3])


def constant(output: str, element: float = 2.0) -> onnx.NodeProto:
    node = helper.make_node("Constant", [], [output])
    node.attribute.append(helper.make_attribute("sparse_value", sparse(element=element)))
    node.attribute[0].doc_string = "why"
    return node


def plain() -> onnx.ModelProto:
    text = "g (float[3] x) => (float[3] y) <float[3] w = {1.0, 2.0, 3.0}> { y = Add(x, w) }"
    return parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}')


def with_initializer() -> onnx.ModelProto:
    proto = plain()
    proto.graph.sparse_initializer.append(sparse("s"))
    proto.graph.node.append(helper.make_node("Add", ["y", "s"], ["z"]))
    return proto


def with_attribute() -> onnx.ModelProto:
    proto = plain()
    proto.graph.node.insert(0, constant("c"))
    return proto


def in_a_branch() -> onnx.ModelProto:
    proto = plain()
    bodies = [
        helper.make_graph([constant("c", k)], f"b{k}", [], [helper.make_tensor_value_info("c", 1, [3])])
        for k in (4.0, 5.0)
    ]
    bodies[0].sparse_initializer.append(sparse("inner", 6.0))
    node = helper.make_node("If", ["k"], ["t"], then_branch=bodies[0], else_branch=bodies[1])
    proto.graph.input.append(helper.make_tensor_value_info("k", TensorProto.BOOL, []))
    proto.graph.node.append(node)
    return proto


def in_a_function() -> onnx.ModelProto:
    proto = plain()
    imports = [helper.make_opsetid("", 17)]
    proto.functions.append(helper.make_function("own", "F", [], ["c"], [constant("c", 7.0)], imports))
    proto.opset_import.append(helper.make_opsetid("own", 1))
    return proto


def with_maps() -> onnx.ModelProto:
    proto = plain()
    kind = helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(1, [None]))
    proto.graph.input.append(helper.make_value_info("m", kind))
    proto.graph.output.append(helper.make_value_info("n", helper.make_sequence_type_proto(kind)))
    proto.graph.value_info.append(helper.make_value_info("inside", kind))
    proto.graph.value_info.append(helper.make_tensor_value_info("known", 1, [3]))
    proto.graph.node.append(helper.make_node("Identity", ["m"], ["inside"]))
    proto.graph.node.append(helper.make_node("SequenceConstruct", ["inside"], ["n"]))
    proto.graph.node.append(helper.make_node("Relu", ["y"], ["known"]))
    return proto


MODELS: list[Callable[[], onnx.ModelProto]] = [
    with_initializer,
    with_attribute,
    in_a_branch,
    in_a_function,
    with_maps,
]


def found_sparse(proto: onnx.ModelProto) -> list[bytes]:
    def of_nodes(nodes: object) -> list[bytes]:
        found: list[bytes] = []
        for node in nodes:  # type: ignore[attr-defined]
            for each in node.attribute:
                if each.HasField("sparse_tensor"):
                    assert (each.type, each.doc_string) == (onnx.AttributeProto.SPARSE_TENSOR, "why")
                    found.append(each.sparse_tensor.SerializeToString())
                if each.HasField("g"):
                    found += of_graph(each.g)
        return found

    def of_graph(graph: onnx.GraphProto) -> list[bytes]:
        return [*(each.SerializeToString() for each in graph.sparse_initializer), *of_nodes(graph.node)]

    return sorted([*of_graph(proto.graph), *(each for one in proto.functions for each in of_nodes(one.node))])


@pytest.mark.parametrize("make", MODELS, ids=lambda each: each.__name__)
def test_there_and_back(make: Callable[[], onnx.ModelProto]) -> None:
    proto = make()
    before = proto.SerializeToString(deterministic=True)
    model, types = beyond.from_proto(proto, "it")
    assert proto.SerializeToString(deterministic=True) == before
    assert beyond.needs_proto(model, types)
    after = beyond.to_proto(model, types)
    assert found_sparse(after) == found_sparse(proto)
    assert [each.SerializeToString() for each in (*after.graph.input, *after.graph.output)] == [
        each.SerializeToString() for each in (*proto.graph.input, *proto.graph.output)
    ]
    assert [each.name for each in after.graph.initializer] == ["w"]
    assert [node.op_type for node in after.graph.node] == [node.op_type for node in proto.graph.node]
    again, more = beyond.from_proto(after, "it")
    assert found_sparse(beyond.to_proto(again, more)) == found_sparse(proto)


def test_types_of_maps() -> None:
    _, types = beyond.from_proto(with_maps(), "it")
    kind = MapType(DType.STRING, TensorType(DType.FLOAT, (None,)))
    assert types == {"m": kind, "n": SequenceType(kind)}
    model, types = beyond.from_proto(with_maps(), "it")
    infos = {each.name for each in beyond.to_proto(model, types).graph.value_info}
    assert "inside" not in infos


def test_other_models_need_no_proto() -> None:
    model, types = beyond.from_proto(plain(), "it")
    assert types == {}
    assert not beyond.needs_proto(model, types)


@pytest.mark.parametrize("make", [plain, with_initializer])
def test_external_data_lies_in_the_folder(make: Callable[[], onnx.ModelProto], tmp_path: Path) -> None:
    proto = make()
    proto.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.float32([1, 2, 3]), "w"))
    onnx.external_data_helper.convert_model_to_external_data(proto, location="w.bin", size_threshold=0)
    onnx.save(proto, tmp_path / "m.onnx")
    read = onnx.load(tmp_path / "m.onnx", load_external_data=False)
    model, _ = beyond.from_proto(read, "it", tmp_path)
    value = model.graph.initializers["w"].const_value
    assert value is not None
    assert value.numpy().tolist() == [1, 2, 3]
    with pytest.raises(OnnxsmithError):
        beyond.from_proto(read, "it")
