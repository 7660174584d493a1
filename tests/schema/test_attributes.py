"""Values of attributes in every spelling: the normal form of each type, the type of each form, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from onnxsmith import FLOAT
from onnxsmith.errors import AttributeTypeError, AttributeValueError
from onnxsmith.schema import registry
from onnxsmith.schema.attributes import attribute_type_of, guess_attribute, is_limited, read_attribute
from onnxsmith.schema.definition import AttributeReference, AttributeType

TENSOR = helper.make_tensor("t", onnx.TensorProto.INT64, [2], [1, 2])
SPARSE = helper.make_sparse_tensor(
    helper.make_tensor("v", onnx.TensorProto.FLOAT, [1], [1.0]),
    helper.make_tensor("i", onnx.TensorProto.INT64, [1], [0]),
    [3],
)
TYPE = helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [2])


def read(operator: str, name: str, value: Any) -> Any:
    op = registry.find("", operator, 21)
    assert op is not None
    return read_attribute(op, op.attributes[name], value)


@pytest.mark.parametrize(
    ("operator", "name", "value", "normal"),
    [
        ("Softmax", "axis", np.int8(-1), -1),
        ("Softmax", "axis", True, 1),
        ("Gemm", "transA", False, 0),
        ("LeakyRelu", "alpha", 1, 1.0),
        ("LeakyRelu", "alpha", np.float32(0.5), 0.5),
        ("Einsum", "equation", b"ij->i", "ij->i"),
        ("StringSplit", "delimiter", b"\xff", b"\xff"),
        ("Transpose", "perm", [1, 0], (1, 0)),
        ("Transpose", "perm", np.array([1, 0]), (1, 0)),
        ("Resize", "mode", "linear", "linear"),
        ("RNN", "activation_alpha", (1, 0.5), (1.0, 0.5)),
        ("RNN", "activations", ["Tanh", b"Relu"], ("Tanh", "Relu")),
        ("Cast", "to", np.float16, 10),
        ("Cast", "to", FLOAT, 1),
        ("Cast", "to", 7, 7),
        ("RandomNormalLike", "dtype", 0, 0),
        ("Constant", "sparse_value", SPARSE, SPARSE),
        ("Optional", "type", TYPE, TYPE),
        ("Optional", "type", FLOAT[2], FLOAT[2]),
    ],
)
def test_the_normal_form(operator: str, name: str, value: Any, normal: Any) -> None:
    found = read(operator, name, value)
    assert found == normal
    assert type(found) is type(normal)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ([1.5], "float32"),
        (np.array([1.5]), "float64"),
        (3, "int64"),
        (TENSOR, "int64"),
        (np.float16(2), "float16"),
        (True, "bool"),
    ],
)
def test_tensors_keep_their_element_type_and_numbers_of_python_are_single(value: Any, dtype: str) -> None:
    assert read("Constant", "value", value).dtype == dtype


@pytest.mark.parametrize(
    ("operator", "name", "value", "message", "help_text"),
    [
        ("Softmax", "axis", 1.0, "Softmax needs axis= to be an int, not 1.0 (float)", None),
        ("Softmax", "axis", 2**63, "needs axis= to be an int, not 9223372036854775808 (int)", "64 bits"),
        ("Softmax", "axis", np.array(1), "needs axis= to be an int, not array(1)", None),
        ("LeakyRelu", "alpha", "0.5", "needs alpha= to be a float, not '0.5' (str)", None),
        ("Einsum", "equation", 3, "needs equation= to be a string, not 3 (int)", None),
        ("Transpose", "perm", 1, "needs perm= to be a list of ints, not 1 (int)", "in brackets: [value]"),
        ("Transpose", "perm", [0.5], "needs perm= to be a list of ints, not [0.5] (list)", None),
        ("Transpose", "perm", np.eye(2), "needs perm= to be a list of ints, not a ndarray", "in brackets"),
        ("RNN", "activations", "Tanh", "needs activations= to be a list of strings", "in brackets"),
        ("RNN", "activation_alpha", ["a"], "needs activation_alpha= to be a list of floats", None),
        ("Cast", "to", "nothing", "needs to= to be an element type", "FLOAT.dtype, a numpy dtype"),
        ("Constant", "value", np.datetime64("2020-01-01"), "needs value= to be an array", "no element type"),
        ("Constant", "value", [[1], [2, 3]], "needs value= to be an array", "cannot be read as an array"),
        (
            "Constant",
            "sparse_value",
            TENSOR,
            "needs sparse_value= to be a sparse tensor",
            "SparseTensorProto",
        ),
        ("Optional", "type", 1, "needs type= to be a type, not 1 (int)", "FLOAT[...]"),
        ("If", "then_branch", 1, "needs then_branch= to be a graph, not 1 (int)", "a GraphProto"),
        ("Softmax", "axis", "x" * 58, f"needs axis= to be an int, not '{'x' * 58}' (str)", None),
        ("Softmax", "axis", "x" * 59, "needs axis= to be an int, not a str (str)", None),
    ],
)
def test_what_is_of_another_type_is_refused(
    operator: str, name: str, value: Any, message: str, help_text: str | None
) -> None:
    with pytest.raises(AttributeTypeError) as caught:
        read(operator, name, value)
    assert message in str(caught.value)
    assert caught.value.culprit == ("attribute", name)
    if help_text is None:
        assert caught.value.help is None
    else:
        assert help_text in (caught.value.help or "")


@pytest.mark.parametrize(
    ("operator", "name", "value", "message", "help_text"),
    [
        ("Gemm", "transA", 2, "Gemm does not know transA=2", "it is 0 or 1"),
        ("RandomNormal", "seed", np.inf, "does not know seed=inf", "leave it out"),
        ("Resize", "mode", "linea", "does not know mode='linea'", "'linear'"),
        ("Resize", "mode", "?", "does not know mode='?'", "it is one of 'nearest', 'linear', 'cubic'"),
        ("RandomNormal", "dtype", np.int64, "does not know dtype=INT64", "FLOAT16"),
    ],
)
def test_what_an_operator_does_not_know_is_refused(
    operator: str, name: str, value: Any, message: str, help_text: str
) -> None:
    with pytest.raises(AttributeValueError) as caught:
        read(operator, name, value)
    assert message in str(caught.value)
    assert help_text in (caught.value.help or "")
    assert caught.value.culprit == ("attribute", name)


@pytest.mark.parametrize(
    ("operator", "name", "limited"),
    [
        *(
            ("Gemm", "transA", True),
            ("Resize", "mode", True),
            ("Cast", "to", True),
            ("RandomNormal", "seed", True),
        ),
        *(("Softmax", "axis", False), ("Gemm", "alpha", False)),
    ],
)
def test_attributes_of_which_some_values_are_known(operator: str, name: str, limited: bool) -> None:
    op = registry.find("", operator, 21)
    assert op is not None
    assert is_limited(op.attributes[name]) is limited


def test_a_reference_has_the_type_of_the_attribute() -> None:
    given = AttributeReference("factor", AttributeType.FLOAT)
    assert read("LeakyRelu", "alpha", given) is given
    with pytest.raises(
        AttributeTypeError, match="needs axis= to be an int, but the parameter 'factor' is a float"
    ):
        read("Softmax", "axis", given)


ARRAY = np.arange(3)


@pytest.mark.parametrize(
    ("value", "normal", "kind"),
    [
        (3, 3, "INT"),
        (True, 1, "INT"),
        (np.float32(0.5), 0.5, "FLOAT"),
        (b"text", "text", "STRING"),
        (ARRAY, ARRAY, "TENSOR"),
        ([1, True], (1, 1), "INTS"),
        ([], (), "INTS"),
        ([1, 0.5], (1.0, 0.5), "FLOATS"),
        (["a", b"b"], ("a", "b"), "STRINGS"),
        ([ARRAY], (ARRAY,), "TENSORS"),
        (FLOAT[2], FLOAT[2], "TYPE_PROTO"),
        ([FLOAT[2]], (FLOAT[2],), "TYPE_PROTOS"),
        (SPARSE, SPARSE, "SPARSE_TENSOR"),
        (len, len, "GRAPH"),
        ([len], (len,), "GRAPHS"),
    ],
)
def test_attributes_of_an_unknown_operator_go_by_their_value(value: Any, normal: Any, kind: str) -> None:
    op = registry.find("", "Relu", 21)
    assert op is not None
    found = guess_attribute(op, "name", value)
    assert found is normal or found == normal
    assert attribute_type_of(found) is AttributeType[kind]


def test_a_value_that_is_no_attribute_is_refused() -> None:
    op = registry.find("", "Relu", 21)
    assert op is not None
    with pytest.raises(AttributeTypeError, match=r"Relu cannot take name=\{1\}: an attribute is a number"):
        guess_attribute(op, "name", {1})
    with pytest.raises(AttributeTypeError, match="Relu cannot take name="):
        guess_attribute(op, "name", [1, "a"])
