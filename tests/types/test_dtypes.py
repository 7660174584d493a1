"""The table of element types against onnx's own."""

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import helper

from onnxsmith import DType
from onnxsmith.types.annotations import read_dtype

#: A newer onnx may have more of them: the IR version that an element type came with says which.
OF_THIS_ONNX = [each for each in DType if each.ir_version <= onnx.IR_VERSION]


def test_every_element_type_of_onnx_is_there_under_its_name_and_code() -> None:
    theirs = {name: code for name, code in onnx.TensorProto.DataType.items() if name != "UNDEFINED"}
    assert {dtype.name: int(dtype) for dtype in OF_THIS_ONNX} == theirs


@pytest.mark.parametrize(
    "dtype", [each for each in OF_THIS_ONNX if each is not DType.STRING], ids=lambda each: each.name
)
def test_numpy_dtypes_are_those_that_onnx_uses(dtype: DType) -> None:
    assert dtype.numpy == helper.tensor_dtype_to_np_dtype(int(dtype))
    assert DType.from_numpy(dtype.numpy) is dtype
    assert DType.from_onnx_name(dtype.onnx_name) is dtype


def test_strings_are_read_from_every_kind_of_text_array() -> None:
    for array in (
        np.array(["a"]),
        np.array([b"a"]),
        np.array(["a"], object),
        *([np.array(["a"], np.dtypes.StringDType())] if int(np.__version__.split(".")[0]) >= 2 else []),
    ):
        assert DType.from_numpy(array.dtype) is DType.STRING


def test_byte_order_does_not_matter_and_foreign_dtypes_are_none() -> None:
    assert DType.from_numpy(np.dtype(">f4")) is DType.FLOAT
    assert DType.from_numpy(np.dtype("datetime64[s]")) is None


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (DType.FLOAT, DType.FLOAT),
        (1, DType.FLOAT),
        (np.float32, DType.FLOAT),
        ("float32", DType.FLOAT),
        ("bfloat16", DType.BFLOAT16),
        (ml_dtypes.bfloat16, DType.BFLOAT16),
        (float, DType.DOUBLE),
        (int, DType.INT64),
        (bool, DType.BOOL),
        (str, DType.STRING),
        (99, None),
        (True, None),
        (None, None),
        ("nonsense", None),
        (object(), None),
    ],
)
def test_what_users_may_write_for_an_element_type(written: object, expected: DType | None) -> None:
    assert read_dtype(written) is expected
