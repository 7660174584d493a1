"""Our types as onnx-ir's and as protos, there and back."""

from __future__ import annotations

import enum
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx_ir as ir
import pytest

from onnxsmith.errors import InvalidModelError, MissingDependencyError
from onnxsmith.graphs import ir_types
from onnxsmith.graphs.ir_types import (
    array_to_ir,
    dimensions_of,
    ir_dtype,
    proto_of_type,
    shape_from_ir,
    shape_to_ir,
    tensor_type_to_ir,
    type_from_ir,
    type_to_ir,
)
from onnxsmith.graphs.raw import read_type
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import UNKNOWN_TENSOR, MapType, OptionalType, SequenceType, TensorType

MATRIX = TensorType(DType.FLOAT, ("N", 3, None))
TYPES: list[Any] = [
    MATRIX,
    TensorType(DType.INT64, ()),
    TensorType(DType.STRING, None),
    SequenceType(MATRIX),
    OptionalType(MATRIX),
    OptionalType(SequenceType(MATRIX)),
]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_types_there_and_back(kind: Any) -> None:
    assert type_from_ir(*type_to_ir(kind)) == kind
    assert read_type(proto_of_type(kind)) == kind


def test_maps_are_known_to_protos_alone() -> None:
    kind = MapType(DType.STRING, TensorType(DType.FLOAT, ("N",)))
    assert type_to_ir(kind) == (None, None)
    assert type_to_ir(SequenceType(kind)) == (None, None)
    assert read_type(proto_of_type(SequenceType(kind))) == SequenceType(kind)


def test_unknown_types() -> None:
    assert type_to_ir(TensorType(None, (2,))) == (None, None)
    assert type_from_ir(None, None) is UNKNOWN_TENSOR
    assert type_from_ir(None, ir.Shape([2, "N"])) == TensorType(None, (2, "N"))
    assert type_from_ir(ir.TensorType(ir.DataType.UNDEFINED), None) == TensorType(None, None)
    assert proto_of_type(TensorType(None, None)).tensor_type.elem_type == 0
    assert not proto_of_type(TensorType(None, None)).tensor_type.HasField("shape")
    assert proto_of_type(TensorType(DType.FLOAT, ())).tensor_type.HasField("shape")


def test_shapes() -> None:
    assert shape_to_ir(None) is None
    assert shape_from_ir(None) is None
    assert shape_from_ir(ir.Shape([2, "N", None])) == (2, "N", None)
    assert shape_from_ir(ir.Shape([-1, 0])) == (None, 0)
    assert shape_from_ir(shape_to_ir((2, "N", None))) == (2, "N", None)


def test_types_are_shared() -> None:
    assert tensor_type_to_ir(DType.FLOAT) is tensor_type_to_ir(DType.FLOAT)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.int8).reshape(2, 3),
        np.array(1.5, ">f8"),
        np.array([1, 2], ml_dtypes.bfloat16),
        np.zeros((0, 2), bool),
    ],
    ids=lambda each: str(each.dtype),
)
def test_arrays(array: Any) -> None:
    made = array_to_ir(array, "name")
    assert made.name == "name"
    assert made.numpy().dtype.isnative
    np.testing.assert_array_equal(made.numpy(), array)
    assert dimensions_of(made) == array.shape


def test_texts() -> None:
    made = array_to_ir(np.array([["a", b"b"], ["ü", 1]], object), "texts")
    assert made.numpy().tolist() == [[b"a", b"b"], ["ü".encode(), b"1"]]
    assert (made.name, dimensions_of(made)) == ("texts", (2, 2))
    with pytest.raises(InvalidModelError, match="the model is not valid"):
        array_to_ir(np.array(["\udc80"], object))


def test_dimensions_of_a_proto() -> None:
    proto = onnx.numpy_helper.from_array(np.zeros((2, 3)))
    assert dimensions_of(ir.TensorProtoTensor(proto)) == (2, 3)


def test_an_element_type_that_the_installed_onnx_ir_does_not_have_yet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class OlderTypes(enum.IntEnum):
        FLOAT = 1

    monkeypatch.setattr(ir_types.ir, "DataType", OlderTypes)
    assert ir_dtype(DType.FLOAT) is OlderTypes.FLOAT
    with pytest.raises(
        MissingDependencyError, match=r"FLOAT6E2M3 needs a newer onnx-ir than the installed \d"
    ):
        ir_dtype(DType.FLOAT6E2M3)
