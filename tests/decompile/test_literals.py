"""Values as Python text: what the text says is evaluated by Python and compared with the value, bit by bit."""

from __future__ import annotations

import math
import struct
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx_ir as ir
import pytest

from onnxsmith.decompiling import literals
from onnxsmith.errors import DecompileError
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, MapType, OptionalType, SequenceType, TensorType


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (True, None, "True"),
        (np.False_, DType.BOOL, "False"),
        (7, None, "7"),
        (np.int8(-3), DType.INT8, "-3"),
        (0.1, None, "0.1"),
        (float(np.float32(0.1)), None, "0.1"),
        (float(np.float32(0.1)), DType.FLOAT, "0.1"),
        (float(np.float32(0.1)), DType.DOUBLE, "0.10000000149011612"),
        (float(np.float16(0.1)), DType.FLOAT16, "0.1"),
        (1e-7, DType.DOUBLE, "1e-07"),
        (1e20, DType.FLOAT, "1e20"),
        (1e300, DType.DOUBLE, "1e300"),
        (-0.0, DType.FLOAT, "-0.0"),
        (12.5, DType.FLOAT16, "12.5"),
        # In the fewest digits it would be above the largest number.
        (float(np.finfo(np.float32).max), DType.FLOAT, "3.4028234663852886e38"),
        (float(np.finfo(np.float32).max), None, "3.4028234663852886e38"),
        (math.inf, DType.FLOAT, 'float("inf")'),
        (-math.inf, DType.DOUBLE, 'float("-inf")'),
        (math.nan, DType.FLOAT, 'float("nan")'),
        (math.copysign(math.nan, -1), DType.FLOAT, 'float("-nan")'),
    ],
)
def test_a_number_has_the_fewest_digits(value: Any, dtype: DType | None, text: str) -> None:
    assert literals.number(value, dtype) == text


@pytest.mark.parametrize(
    ("dtype", "made"), [(DType.FLOAT16, np.float16), (DType.FLOAT, np.float32), (DType.DOUBLE, np.float64)]
)
def test_every_float_comes_back(dtype: DType, made: type[np.floating]) -> None:
    size = np.dtype(made).itemsize
    bits = np.random.default_rng(size).integers(0, 256, (400, size), np.uint8)
    values = bits.view(made)[:, 0]
    for value in values[np.isfinite(values)]:
        text = literals.number(float(value), dtype)
        assert made(eval(text)).tobytes() == value.tobytes()


@pytest.mark.parametrize(
    ("kind", "text", "used"),
    [
        (TensorType(DType.FLOAT), "FLOAT[...]", {"FLOAT"}),
        (TensorType(DType.INT64, ()), "INT64", {"INT64"}),
        (TensorType(DType.BOOL, (2, "N", None)), 'BOOL[2, "N", None]', {"BOOL"}),
        (TensorType(DType.BOOL, (" ", 0)), "BOOL[None, 0]", {"BOOL"}),
        (SequenceType(TensorType(DType.FLOAT, (1,))), "list[FLOAT[1]]", {"FLOAT"}),
        (OptionalType(SequenceType(TensorType(DType.FLOAT))), "list[FLOAT[...]] | None", {"FLOAT"}),
        (MapType(DType.STRING, TensorType(DType.FLOAT, ())), "dict[STRING, FLOAT]", {"STRING", "FLOAT"}),
    ],
)
def test_types_are_annotations_and_name_what_is_imported(
    kind: AnyValueType, text: str, used: set[str]
) -> None:
    names: set[str] = set()
    assert literals.type_text(kind, names) == text
    assert names == used


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain", "plain"),
        (b"bytes that are text", "bytes that are text"),
        ("ümlaut \n \x00 'single' \"double\" \\", "ümlaut \n \x00 'single' \"double\" \\"),
        (b"\xff\xfe", b"\xff\xfe"),
        (b"\xff \" ' \\ \n", b"\xff \" ' \\ \n"),
        ("\udcff after", b"\xff after"),
        ("\ue000 is no surrogate", "\ue000 is no surrogate"),
        ("\ud7ff is none", "\ud7ff is none"),
    ],
)
def test_strings_come_back(value: str | bytes, expected: str | bytes) -> None:
    text = literals.text_of(value)
    assert eval(text) == expected
    assert text.lstrip("b")[0] in "\"'"
    if isinstance(expected, bytes):
        assert text.startswith('b"')


ARRAYS: dict[str, np.ndarray[Any, Any]] = {
    "a number": np.array(2.5, np.float32),
    "a list": np.array([1, -2, 3], np.int64),
    "a table": np.arange(6, dtype=np.uint8).reshape(2, 3),
    "truth": np.array([True, False]),
    "a cube": np.arange(16, dtype=np.float64).reshape(2, 2, 4) / 3,
    "infinities": np.array([np.inf, -np.inf, -0.0], np.float16),
    "small floats": np.array([0.5, -1.5], ml_dtypes.bfloat16),
}


def _tensor(array: np.ndarray[Any, Any], name: str = "t") -> ir.TensorProtocol:
    return ir.tensor(array, name=name)


@pytest.mark.parametrize("name", ARRAYS)
def test_a_small_tensor_is_a_literal(name: str) -> None:
    array = ARRAYS[name]
    found = literals.literal(_tensor(array))
    assert found is not None
    value, text = found
    assert np.array(value, array.dtype).tobytes() == array.tobytes()
    assert np.shape(value) == array.shape
    assert np.array(eval(str(text)), array.dtype).tobytes() == array.tobytes()
    assert literals.says_exactly(_tensor(array))


def _special_nan() -> np.ndarray[Any, Any]:
    (value,) = struct.unpack("<f", struct.pack("<I", 0x7FC00123))
    array = np.array([0x7FC00123], np.uint32).view(np.float32)
    assert math.isnan(value)
    return array


@pytest.mark.parametrize(
    ("array", "is_exact"),
    [
        (np.zeros(17, np.float32), False),
        (np.zeros((1, 1, 1, 1), np.float32), False),
        (np.zeros((2, 0), np.float32), True),
        (np.array(["a"], object), True),
        (np.array([1 + 2j], np.complex64), False),
        (_special_nan(), False),
    ],
    ids=["too many", "too deep", "empty", "strings", "complex numbers", "a NaN with a payload"],
)
def test_what_is_no_literal(array: np.ndarray[Any, Any], is_exact: bool) -> None:
    tensor = ir.StringTensor([b"a"], shape=ir.Shape([1])) if array.dtype == object else _tensor(array)
    assert literals.literal(tensor) is None
    assert literals.says_exactly(tensor) == is_exact


def test_sixteen_elements_in_three_dimensions_are_small() -> None:
    assert literals.is_small(_tensor(np.zeros((2, 2, 4), np.float32)))
    assert not literals.is_small(_tensor(np.zeros((2, 2, 5), np.float32)))


@pytest.mark.parametrize(
    ("tensor", "kind", "text"),
    [
        (_tensor(np.array([[1.0, 2.0]], np.float32)), "FLOAT[1, 2]", "[[1.0, 2.0]]"),
        (_tensor(np.array(3, np.int8)), "INT8", "3"),
        (_tensor(np.array([1 - 2j], np.complex64)), "COMPLEX64[1]", "[(1-2j)]"),
        (ir.StringTensor([b"a", b"\xff"], shape=ir.Shape([2, 1])), "STRING[2, 1]", '["a", b"\\xff"]'),
    ],
)
def test_elements_with_their_type(tensor: ir.TensorProtocol, kind: str, text: str) -> None:
    used: set[str] = set()
    found, elements = literals.typed_elements(tensor, used)
    assert (found, str(elements)) == (kind, text)
    assert used == {kind.partition("[")[0]}


def test_a_damaged_tensor_is_named() -> None:
    tensor = ir.serde.TensorProtoTensor(
        onnx.TensorProto(name="weight", data_type=1, dims=[3], raw_data=b"123")
    )
    with pytest.raises(DecompileError, match="the tensor 'weight' is damaged"):
        literals.array_of(tensor)


def test_a_tuple_of_one_has_its_comma() -> None:
    assert eval(str(literals.tuple_of(["1"]))) == (1,)
    assert eval(str(literals.tuple_of(["1", "2"]))) == (1, 2)
