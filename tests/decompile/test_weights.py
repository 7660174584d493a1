"""Weights come back to the bit, wherever they are kept; large ones are kept once and out of the text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import onnxsmith
from tests.decompile.fidelity import differences
from tests.decompile.random_tensors import BITS
from tests.decompile.round_trip import compile_text, proto_of_file, through_folder

WEIGHTS = ("inline", "external", "safetensors")
LARGE = 4096


def random_bits(name: str, dtype: int, size: int) -> TensorProto:
    """A tensor of any bits, the same for the same name."""
    generator = np.random.default_rng(len(name) + dtype)
    content = generator.integers(
        0, 2 if dtype == TensorProto.BOOL else 256, size * BITS[dtype] // 8, np.uint8
    )
    return TensorProto(name=name, data_type=dtype, dims=[size], raw_data=content.tobytes())


def model_of(*tensors: TensorProto) -> onnx.ModelProto:
    """A model that hands each weight to a custom operator."""
    nodes = [
        helper.make_node("Use", ["x", each.name], [f"y{index}"], domain="custom")
        for index, each in enumerate(tensors)
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", 1, ["N"])],
        [helper.make_tensor_value_info(f"y{index}", 1, ["N"]) for index in range(len(tensors))],
        tensors,
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("custom", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


@pytest.mark.parametrize("size", [8, LARGE])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_every_element_type_comes_back(tmp_path: Path, weights: Any, size: int) -> None:
    tensors = [random_bits(f"w{dtype}", dtype, size) for dtype in BITS]
    tensors.append(
        helper.make_tensor("text", TensorProto.STRING, [size], [f"é{i}\n".encode() for i in range(size)])
    )
    model = model_of(*tensors)
    assert differences(model, through_folder(model, tmp_path, weights)) == []


def test_inline_weights_need_no_other_file() -> None:
    model = model_of(*(random_bits(f"w{dtype}", dtype, LARGE) for dtype in BITS))
    assert differences(model, compile_text(onnxsmith.decompile(model, weights="inline"))) == []


def test_large_weights_stay_out_of_the_text(tmp_path: Path) -> None:
    model = model_of(*(random_bits(f"w{index}", TensorProto.FLOAT, 100_000) for index in range(3)))
    path = Path(onnxsmith.decompile_to(model, tmp_path, weights="safetensors"))
    assert path.stat().st_size < 20_000


def test_inline_text_is_not_many_times_the_weights() -> None:
    model = model_of(random_bits("w", TensorProto.FLOAT, 100_000))
    assert len(onnxsmith.decompile(model, weights="inline")) < 2.5 * 400_000


def test_equal_weights_are_kept_once(tmp_path: Path) -> None:
    one = random_bits("w0", TensorProto.FLOAT, 50_000)
    tensors = []
    for index in range(4):
        each = TensorProto()
        each.CopyFrom(one)
        each.name = f"w{index}"
        tensors.append(each)
    model = model_of(*tensors)
    path = Path(onnxsmith.decompile_to(model, tmp_path, weights="safetensors"))
    assert sum(each.stat().st_size for each in tmp_path.rglob("*") if each.is_file()) < 250_000
    assert differences(model, proto_of_file(path)) == []


@pytest.mark.parametrize("weights", WEIGHTS)
def test_names_of_weights_are_never_paths(tmp_path: Path, weights: Any) -> None:
    names = ("../up", "/absolute", "a/b", "a.b", "a_b", "__metadata__", "CON", "a\0b", "x" * 300, "..", ".")
    model = model_of(*(random_bits(name, TensorProto.FLOAT, LARGE) for name in names))
    folder = tmp_path / "inside"
    folder.mkdir()
    assert differences(model, through_folder(model, folder, weights)) == []
    assert [each.name for each in tmp_path.iterdir()] == ["inside"]


@pytest.mark.parametrize("weights", WEIGHTS)
def test_weights_in_bodies_functions_and_attributes(tmp_path: Path, weights: Any) -> None:
    large = random_bits("inner", TensorProto.FLOAT, LARGE)
    body = helper.make_graph(
        [helper.make_node("Add", ["x", "inner"], ["sum"])],
        "body",
        [],
        [helper.make_tensor_value_info("sum", 1, None)],
        [large],
    )
    constant = helper.make_node("Constant", [], ["c"], value=random_bits("", TensorProto.FLOAT, LARGE))
    function = helper.make_function(
        "local",
        "f",
        ["a"],
        ["r"],
        [constant, helper.make_node("Mul", ["a", "c"], ["r"])],
        [helper.make_opsetid("", 21)],
    )
    graph = helper.make_graph(
        [
            constant,
            helper.make_node("If", ["b"], ["chosen"], then_branch=body, else_branch=body),
            helper.make_node("Add", ["chosen", "c"], ["d"]),
            helper.make_node("f", ["d"], ["y"], domain="local"),
        ],
        "g",
        [helper.make_tensor_value_info("x", 1, [LARGE]), helper.make_tensor_value_info("b", 9, [])],
        [helper.make_tensor_value_info("y", 1, [LARGE])],
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    model = helper.make_model(graph, functions=[function], opset_imports=opsets, ir_version=10)
    assert differences(model, through_folder(model, tmp_path, weights)) == []


def test_special_floats_come_back_to_the_bit() -> None:
    patterns = [
        0x7FC00000,
        0x7FC00001,
        0xFFC00000,
        0x7F800001,
        0x7F800000,
        0xFF800000,
        0x80000000,
        0,
        1,
        0x7F7FFFFF,
    ]
    content = np.array(patterns, np.uint32).view(np.float32)
    model = model_of(
        numpy_helper.from_array(content, "all"),
        *(numpy_helper.from_array(each, f"w{index}") for index, each in enumerate(content)),
    )
    assert differences(model, compile_text(onnxsmith.decompile(model))) == []


@pytest.mark.parametrize("weights", WEIGHTS)
def test_sparse_weights_stay_sparse(tmp_path: Path, weights: Any) -> None:
    model = model_of(random_bits("dense", TensorProto.FLOAT, LARGE))
    values = random_bits("sparse", TensorProto.FLOAT, 2000)
    indices = numpy_helper.from_array(np.arange(0, 4000, 2), "indices")
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [LARGE]))
    model.graph.node[0].input[0] = "sparse"
    assert differences(model, through_folder(model, tmp_path, weights)) == []
