"""Elements of small tensors as text."""

from __future__ import annotations

import warnings

import ml_dtypes
import numpy as np
import onnx
import onnx_ir as ir
import pytest

from onnxsmith.view import attribute_texts
from onnxsmith.view.attribute_texts import attribute_text, constant_of, elements_text, summary_of, tensor_text


@pytest.mark.parametrize(
    ("elements", "text"),
    [
        (np.array([1.5, 2], np.float32), "[1.5, 2]"),
        (np.array([[1], [-2]], np.int64), "[[1], [-2]]"),
        (np.array([True]), "[True]"),
        (np.array([1 + 2j, 0.5 - 1j], np.complex64), "[1+2j, 0.5-1j]"),
        (np.array(3j, np.complex128), "0+3j"),
        (np.array([1.5], ml_dtypes.bfloat16), "[1.5]"),
        (np.array([1, -2], ml_dtypes.int4), "[1, -2]"),
        (np.zeros(65, np.float32), ""),
    ],
)
def test_elements(elements: np.ndarray, text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert elements_text(ir.tensor(elements)) == text


def test_texts_and_what_cannot_be_read() -> None:
    assert elements_text(ir.tensor(["a", "b"])) == "['a', 'b']"
    broken = ir.TensorProtoTensor(onnx.TensorProto(dims=[2], data_type=1, raw_data=b"1"))
    assert elements_text(broken) == ""
    assert tensor_text(broken) == "FLOAT[2]"
    assert tensor_text(ir.tensor(np.float32(2))) == "FLOAT 2"
    assert tensor_text(ir.tensor(np.zeros((5, 20)))) == "DOUBLE[5, 20]"


@pytest.mark.parametrize(
    ("attribute", "text"),
    [
        (ir.AttrFloat32("a", 0.1), "0.10000000149011612"),
        (ir.AttrFloat32("a", 1e-40), "1e-40"),
        (ir.AttrFloat32("a", 0.12345678), "0.1234568"),
        (ir.AttrFloat32s("a", [1.0, 2.5]), "[1.0, 2.5]"),
        (ir.AttrInt64s("a", [1, 2]), "[1, 2]"),
        (ir.AttrInt64("a", 3), "3"),
        (ir.AttrString("a", "x\x1b"), "'x\\x1b'"),
        (ir.AttrStrings("a", ["x"] * 41), f"[{', '.join(['&'] * 40)}, … 1 more]".replace("&", "'x'")),
        (ir.AttrTensor("a", ir.tensor(np.int64([1]))), "INT64[1] [1]"),
        (ir.AttrTensors("a", [ir.tensor(np.int64(1))] * 2), "[INT64 1, INT64 1]"),
        (ir.RefAttr("a", "other", ir.AttributeType.INT), "@other"),
    ],
    ids=lambda each: "" if isinstance(each, str) else each.type.name,
)
def test_attributes(attribute: ir.Attr, text: str) -> None:
    assert attribute_text(attribute) == text


def test_long_attributes_are_cut() -> None:
    assert attribute_text(ir.AttrInt64s("a", [1] * 201)).endswith("1, 1, … 1 more]")
    assert attribute_text(ir.AttrInt64s("a", [1] * 200)).endswith("1, 1, 1]")
    long = attribute_text(ir.AttrInt64s("a", [10**9] * 200))
    assert "more characters" in long
    assert len(long) < 700
    assert len(attribute_text(ir.AttrString("a", "x" * 900))) < 700


def node(operator: str, domain: str = "", **attributes: object) -> ir.Node:
    made = [ir.convenience.convert_attribute(name, value) for name, value in attributes.items()]  # type: ignore[arg-type]
    return ir.Node(domain, operator, [], made)


@pytest.mark.parametrize(
    ("given", "elements"),
    [
        (node("Constant", value_float=1.5), np.float32(1.5)),
        (node("Constant", value_floats=[1.5, 2.0]), np.float32([1.5, 2])),
        (node("Constant", value_int=3), np.int64(3)),
        (node("Constant", "ai.onnx", value_ints=[3]), np.int64([3])),
        (node("Constant", value=ir.tensor(np.int8([1]))), np.int8([1])),
        (node("Constant", value_string="a"), None),
        (node("Constant", value=3), None),
        (node("Constant", "own", value_int=3), None),
        (node("Relu", value_int=3), None),
        (node("Constant"), None),
    ],
)
def test_constants(given: ir.Node, elements: np.ndarray | None) -> None:
    found = constant_of(given)
    if elements is None:
        assert found is None
        return
    assert found is not None
    assert found.numpy().dtype == elements.dtype
    np.testing.assert_array_equal(found.numpy(), elements)


def test_a_constant_by_reference_is_not_known() -> None:
    reference = ir.RefAttr("value", "other", ir.AttributeType.TENSOR)
    assert constant_of(ir.Node("", "Constant", [], [reference])) is None
    assert summary_of(ir.Node("", "Concat", [], [ir.RefAttr("axis", "other", ir.AttributeType.INT)])) == ""


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ({"kernel_shape": [3, 3]}, "3×3"),
        ({"kernel_shape": [3, 1], "strides": [1, 1], "pads": [0, 0], "dilations": [1, 1], "group": 1}, "3×1"),
        ({"kernel_shape": [3], "strides": [2, 2], "pads": [1, 1], "dilations": [2]}, "3 /2 pad 1 dilated 2"),
        ({"kernel_shape": [3], "strides": [2, 1], "group": 4}, "3 /2×1 group 4"),
        ({"to": 1}, "to float32"),
        ({"to": 99}, "to 99"),
        ({"perm": [0, 2, 1]}, "perm 0×2×1"),
        ({"epsilon": 1e-5}, "epsilon 1e-05"),
        ({"mode": "linear", "axis": 1}, "axis 1"),
        ({"unknown": 1}, ""),
        ({"equation": "a" * 50}, "equation aaaaaaaa… (25 more characters) …aaaaaaaaaaaaaaaaa"),
    ],
)
def test_summaries(attributes: dict[str, object], text: str) -> None:
    assert summary_of(node("Any", **attributes)) == text


@pytest.mark.parametrize("name", attribute_texts._TELLING)
def test_attributes_that_tell_are_those_of_operators(name: str) -> None:
    assert any(name in schema.attributes for schema in onnx.defs.get_all_schemas())
