"""Bombs in the data of a model: weights, files beside it, names, attributes, metadata, types."""

from __future__ import annotations

import json

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.cli.bombs.making import (
    BROKEN,
    FOREVER,
    GIANT,
    INVALID,
    UNRUNNABLE,
    bomb,
    call,
    info,
    model,
    tensor,
)


def _with_weight(weight: TensorProto) -> onnx.ModelProto:
    weight.name = "w"
    return model([call("Add", ["x", "w"])], [weight], inputs=[info("x", shape=[3])])


def _external(**entries: str) -> onnx.ModelProto:
    weight = TensorProto(dims=[4], data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        weight.external_data.add(key=key, value=value)
    return _with_weight(weight)


def _sparse(dims: list[int], indices: object) -> onnx.ModelProto:
    found = model([call("Add", ["x", "w"])], inputs=[info("x", shape=[3])])
    sparse = found.graph.sparse_initializer.add(dims=dims)
    sparse.values.CopyFrom(tensor("w", np.ones(len(np.asarray(indices))), np.float32))
    sparse.indices.CopyFrom(tensor("", indices))
    return found


@bomb(refused_by=INVALID)
def weight_of_2_to_the_93() -> onnx.ModelProto:
    return _with_weight(TensorProto(dims=[1 << 31] * 3, data_type=TensorProto.FLOAT, raw_data=b"1234"))


@bomb(refused_by=INVALID)
def weight_of_a_negative_size() -> onnx.ModelProto:
    return _with_weight(TensorProto(dims=[-1, 4], data_type=TensorProto.FLOAT, raw_data=b"1234"))


@bomb(refused_by=INVALID)
def weight_of_a_negative_size_and_nothing() -> onnx.ModelProto:
    """Its bytes are as many as its sizes say: none."""
    return _with_weight(TensorProto(dims=[-1, 0], data_type=TensorProto.FLOAT, raw_data=b""))


@bomb(refused_by=INVALID)
def weight_of_many_dimensions() -> onnx.ModelProto:
    return _with_weight(TensorProto(dims=[1] * 100_000, data_type=TensorProto.FLOAT, raw_data=b"1234"))


@bomb(refused_by=INVALID)
def weight_of_nothing_and_giants() -> onnx.ModelProto:
    return _with_weight(TensorProto(dims=[0, FOREVER, FOREVER], data_type=TensorProto.FLOAT))


@bomb(refused_by=INVALID)
def text_of_another_count() -> onnx.ModelProto:
    weight = TensorProto(name="w", dims=[GIANT], data_type=TensorProto.STRING, string_data=[b"a"])
    return model([call("Identity", ["w"])], [weight], output=TensorProto.STRING)


@bomb(refused_by=INVALID)
def sparse_weight_of_giant_size() -> onnx.ModelProto:
    return _sparse([FOREVER], [3])


@bomb(refused_by=INVALID)
def sparse_weight_beyond_64_bits() -> onnx.ModelProto:
    return _sparse([1 << 40, 1 << 40], [[0, 3]])


@bomb(refused_by=INVALID)
def sparse_weight_out_of_its_size() -> onnx.ModelProto:
    return _sparse([4], [FOREVER])


@bomb(refused_by=INVALID)
def external_data_at_a_negative_offset() -> onnx.ModelProto:
    return _external(location="data.bin", offset="-8", length="16")


@bomb(refused_by=INVALID)
def external_data_at_a_word() -> onnx.ModelProto:
    return _external(location="data.bin", offset="begin", length="16")


@bomb(refused_by=INVALID)
def external_data_far_behind_its_file() -> onnx.ModelProto:
    return _external(location="data.bin", offset=str(1 << 70), length="16")


@bomb(refused_by=INVALID)
def external_data_of_giant_length() -> onnx.ModelProto:
    return _external(location="data.bin", length=str(GIANT))


@bomb(refused_by=INVALID)
def external_data_in_a_device() -> onnx.ModelProto:
    return _external(location="/dev/zero", length="16")


@bomb(refused_by=INVALID)
def external_data_in_a_folder() -> onnx.ModelProto:
    return _external(location=".", length="16")


@bomb(refused_by=INVALID)
def external_data_in_a_long_path() -> onnx.ModelProto:
    return _external(location="a/" * 100_000, length="16")


@bomb()
def long_name_of_a_dimension() -> onnx.ModelProto:
    return model([call("Relu", ["x"])], inputs=[info("x", shape=["N" * 1_000_000])])


@bomb()
def deep_expression_of_a_dimension() -> onnx.ModelProto:
    return model([call("Relu", ["x"])], inputs=[info("x", shape=["(" * 20_000 + "N" + ")" * 20_000])])


@bomb()
def power_of_a_dimension() -> onnx.ModelProto:
    return model([call("Relu", ["x"])], inputs=[info("x", shape=["9**9**9**9*N", "(N+1)**100000"])], rank=2)


@bomb()
def product_of_many_dimensions() -> onnx.ModelProto:
    shape = [f"({'+'.join(f'{letter}{n}' for n in range(12))})" for letter in "abcdefgh"]
    nodes = [call("Reshape", ["x", "s"])]
    return model(nodes, [tensor("s", [-1])], inputs=[info("x", shape=shape)])


@bomb()
def input_of_many_dimensions() -> onnx.ModelProto:
    return model(
        [call("Relu", ["x"])], inputs=[info("x", shape=[f"d{n}" for n in range(10_000)])], rank=10000
    )


@bomb()
def long_names() -> onnx.ModelProto:
    name = "n" * 1_000_000
    found = model([call("Relu", ["x"], name), call("Relu", [name])], inputs=[info("x", shape=[3])])
    found.graph.node[0].name = found.graph.name = found.graph.doc_string = name
    return found


@bomb(refused_by=(*BROKEN, *UNRUNNABLE))
def long_name_of_an_operator() -> onnx.ModelProto:
    return model([call("Relu" * 250_000, ["x"])], inputs=[info("x", shape=[3])])


@bomb(refused_by=(*BROKEN, *UNRUNNABLE))
def attribute_of_a_million_numbers() -> onnx.ModelProto:
    perm = list(range(1_000_000))
    return model([call("Transpose", ["x"], perm=perm)], inputs=[info("x", shape=["N", 2])])


@bomb()
def metadata_of_deep_lists() -> onnx.ModelProto:
    found = model([call("Relu", ["x"])], inputs=[info("x", shape=[3])])
    deep = "[" * 100_000 + "]" * 100_000
    for key in ("onnxsmith.sizes", "onnxsmith.sources", "onnxsmith.source", "namespace"):
        found.metadata_props.add(key=key, value=deep)
        found.graph.node[0].metadata_props.add(key=key, value=deep)
    return found


@bomb()
def metadata_of_wild_conditions() -> onnx.ModelProto:
    found = model([call("Relu", ["x"])], inputs=[info("x", shape=[3])])
    power = "N**99999999"
    text = json.dumps([{"left": power, "right": 9**99, "text": power, "relation": ">="}, power])
    for key in ("onnxsmith.sizes", "onnxsmith.parameters", "pkg.torch.onnx.name_scopes"):
        found.metadata_props.add(key=key, value=text)
    return found


@bomb()
def sequence_of_sequences() -> onnx.ModelProto:
    found = model([call("Relu", ["x"])], inputs=[info("x", shape=[3])])
    kind = helper.make_tensor_type_proto(TensorProto.FLOAT, ["N"])
    for _ in range(40):
        kind = helper.make_sequence_type_proto(kind)
    found.graph.input.append(helper.make_value_info("s", kind))
    return found


@bomb(refused_by=BROKEN)
def opset_of_a_giant_version() -> onnx.ModelProto:
    found = model([call("Relu", ["x"])], inputs=[info("x", shape=[3])], opset=FOREVER)
    found.ir_version = FOREVER
    return found


@bomb(refused_by=INVALID)
def zeros_only() -> bytes:
    return bytes(1_000_000)
