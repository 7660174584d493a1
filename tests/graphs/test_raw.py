"""Models with what onnx-ir has no place for: nothing is lost, and they run."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

import onnxsmith
from onnxsmith import FLOAT, errors, trace
from onnxsmith import opset18 as op
from tests.decompile.fidelity import differences

X = np.float32([[1, 2], [3, 4]])


def zip_map_model() -> onnx.ModelProto:
    node = helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", classlabels_strings=["a", "b"])
    value = helper.make_tensor_type_proto(1, [])
    result = helper.make_sequence_type_proto(helper.make_map_type_proto(onnx.TensorProto.STRING, value))
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info("x", 1, ["N", 2])], [helper.make_value_info("y", result)]
    )
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def test_a_model_with_maps_comes_back_whole_and_runs(tmp_path: Path) -> None:
    proto = zip_map_model()
    onnx.save_model(proto, tmp_path / "m.onnx")
    model = onnxsmith.load(tmp_path / "m.onnx")
    assert (
        repr(model)
        == "Model(x: FLOAT['N', 2]) -> y: Sequence[Map[STRING, FLOAT]], 1 node, opset 18, ai.onnx.ml 3"
    )
    assert model(X) == [{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 4.0}]
    model.save(tmp_path / "again.onnx")
    assert onnx.load(tmp_path / "again.onnx") == proto
    with pytest.raises(errors.InvalidModelError, match="no place for"):
        _ = model.ir


def test_sparse_weights_are_kept(tmp_path: Path) -> None:
    values = helper.make_tensor("w", 1, [1], [5.0])
    sparse = helper.make_sparse_tensor(values, helper.make_tensor("i", 7, [1], [1]), [3])
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", 1, [3])],
        [helper.make_tensor_value_info("y", 1, [3])],
        sparse_initializer=[sparse],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    model = onnxsmith.Model.from_proto(proto)
    assert model.proto == proto
    np.testing.assert_array_equal(model(np.float32([1, 1, 1])), [1, 6, 1])


def test_a_traced_model_carries_the_functions_of_the_scripts_it_calls() -> None:
    from onnxsmith import script

    @script
    def shifted(x: FLOAT["N"]):
        return op.Relu(x) + 1.0

    model = trace(lambda x: shifted(x) * 2.0, FLOAT["N"])
    assert [each.name for each in model.proto.functions] == ["shifted"]
    np.testing.assert_array_equal(model(np.float32([-1, 1])), [2, 4])


def test_a_dimension_of_minus_one_is_unknown() -> None:
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", 1, [-1])],
        [helper.make_tensor_value_info("y", 1, [-1])],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    np.testing.assert_array_equal(onnxsmith.Model.from_proto(proto)(np.float32([-1, 1])), [0, 1])


def test_a_sparse_constant_in_a_branch_of_a_function(tmp_path: Path) -> None:
    values, places = helper.make_tensor("", 1, [1], [2.0]), helper.make_tensor("", 7, [1], [1])
    sparse = helper.make_sparse_tensor(values, places, [3])

    def branch(name: str) -> onnx.GraphProto:
        constant = onnx.NodeProto(op_type="Constant", output=[name])
        constant.attribute.append(helper.make_attribute("sparse_value", sparse))
        return helper.make_graph([constant], name, [], [helper.make_tensor_value_info(name, 1, [3])])

    choice = helper.make_node("If", ["c"], ["y"], then_branch=branch("t"), else_branch=branch("e"))
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
    function = helper.make_function("own", "F", ["c"], ["y"], [choice], imports[:1])
    graph = helper.make_graph(
        [helper.make_node("F", ["c"], ["y"], domain="own")],
        "g",
        [helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("y", 1, [3])],
    )
    proto = helper.make_model(graph, functions=[function], opset_imports=imports, ir_version=8)
    model = onnxsmith.Model.from_proto(proto)
    model.save(tmp_path / "m.onnx")
    assert onnx.load(tmp_path / "m.onnx") == proto
    made = onnxsmith.recompile(onnxsmith.decompile(proto))
    assert isinstance(made, onnxsmith.Model)
    assert not differences(proto, made.proto)


def test_what_cannot_be_read_is_told_where_the_user_reads_it() -> None:
    proto = trace(lambda x: op.Relu(x), FLOAT["N"]).proto
    function = proto.functions.add(name="F", domain="own", output=["y"])
    function.opset_import.add(domain="", version=18)
    function.attribute_proto.add(name="s", type=onnx.AttributeProto.SPARSE_TENSOR)
    with pytest.raises(errors.UnreadableModelError) as caught:
        onnxsmith.decompile(proto)
    assert caught.value.span is not None
    assert caught.value.span.file == __file__


def test_a_map_without_a_type_of_its_keys_is_refused() -> None:
    proto = zip_map_model()
    proto.graph.output[0].type.sequence_type.elem_type.map_type.key_type = 0
    with pytest.raises(errors.InvalidModelError, match="no type of its keys"):
        _ = onnxsmith.Model.from_proto(proto).outputs


def test_one_name_for_two_functions_or_weights_is_refused() -> None:
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    functions = [
        helper.make_function("local", "f", ["a"], ["r"], [helper.make_node(each, ["a"], ["r"])], imports)
        for each in ("Neg", "Abs")
    ]
    graph = helper.make_graph(
        [helper.make_node("f", ["x"], ["y"], domain="local")],
        "g",
        [helper.make_tensor_value_info("x", 1, [1])],
        [helper.make_tensor_value_info("y", 1, [1])],
        [helper.make_tensor("w", 1, [1], [number]) for number in (1.0, 1.0)],
    )
    proto = helper.make_model(graph, functions=functions[:1], opset_imports=imports, ir_version=8)
    assert onnxsmith.Model.from_proto(proto)(np.float32([2])) == -2  # equal weights: it does not matter which
    proto.functions.append(functions[1])
    with pytest.raises(errors.UnreadableModelError, match="two functions are called 'local::f'"):
        onnxsmith.Model.from_proto(proto)
    del proto.functions[1]
    proto.graph.initializer[1].float_data[0] = 2.0
    with pytest.raises(errors.UnreadableModelError, match="two weights are called 'w'"):
        onnxsmith.Model.from_proto(proto)
