"""Promotion: which element type a literal takes, and what is refused."""

from typing import Any

import numpy as np
import pytest

from onnxsmith import DType, errors
from onnxsmith.schema import registry
from onnxsmith.schema.bind import check_types
from onnxsmith.schema.promote import Like, is_literal, literal_array, resolve_literals
from onnxsmith.types import TensorType

ADD = registry.lookup("", "Add", 21)


def tensor(dtype: DType | None) -> TensorType:
    return TensorType(dtype, None)


@pytest.mark.parametrize(
    ("name", "types", "literals", "expected"),
    [
        ("Add", [tensor(DType.FLOAT16), None], {1: 1}, {1: DType.FLOAT16}),
        ("Add", [None, tensor(DType.INT8)], {0: 1}, {0: DType.INT8}),
        ("Add", [None, None], {0: 1, 1: 2.5}, {0: DType.FLOAT, 1: DType.FLOAT}),
        ("Add", [None, None], {0: 1, 1: 2}, {0: DType.INT64, 1: DType.INT64}),
        ("Sqrt", [None], {0: 4}, {0: DType.FLOAT}),
        ("Sqrt", [None], {0: np.float64(4)}, {0: DType.DOUBLE}),
        ("Reshape", [tensor(DType.FLOAT), None], {1: [2, -1]}, {1: DType.INT64}),
        ("Where", [None, tensor(DType.DOUBLE), None], {0: True, 2: 0}, {0: DType.BOOL, 2: DType.DOUBLE}),
        ("Pow", [tensor(DType.FLOAT), None], {1: 2}, {1: DType.INT64}),
        ("Add", [tensor(None), None], {1: 1}, {1: Like(0)}),
        ("Equal", [tensor(DType.STRING), None], {1: "a"}, {1: DType.STRING}),
    ],
)
def test_the_type_a_literal_takes(
    name: str, types: Any, literals: dict[int, Any], expected: dict[int, Any]
) -> None:
    assert resolve_literals(registry.lookup("", name, 21), types, literals) == expected


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (0.1, DType.FLOAT),
        (2**24 + 1, DType.FLOAT),
        (1e-60, DType.FLOAT),
        (True, DType.FLOAT),
        (127, DType.INT8),
        (-128, DType.INT8),
        (255, DType.UINT8),
        (7, DType.INT4),
        (float("inf"), DType.BFLOAT16),
        (float("nan"), DType.FLOAT8E4M3FN),
        (1.5 + 1j, DType.COMPLEX64),
        ([[1, 2], [3, 4]], DType.INT32),
        ("text", DType.STRING),
    ],
)
def test_literals_that_fit_are_rounded_as_numpy_rounds_them(value: Any, dtype: DType) -> None:
    array = literal_array(ADD, 0, value, dtype)
    assert array.dtype == dtype.numpy
    expected = np.array(value, dtype=object) if dtype is DType.STRING else np.array(value).astype(dtype.numpy)
    assert array.tobytes() == expected.tobytes() or array.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("value", "dtype", "reason"),
    [
        (300, DType.INT8, "int8 holds -128 to 127"),
        (-1, DType.UINT8, "uint8 holds 0 to 255"),
        (8, DType.INT4, "int4 holds -8 to 7"),
        (2.5, DType.INT64, "a float would be cut to an integer"),
        (2.0, DType.INT64, "a float would be cut to an integer"),
        (1e39, DType.FLOAT, "float32 ends at 3.40282e+38"),
        (70000, DType.FLOAT16, "float16 ends at 65504"),
        (1, DType.BOOL, "only True and False fit a bool tensor"),
        ("a", DType.FLOAT, "it is text"),
        (1, DType.STRING, "it is a number, and the tensor holds strings"),
        (1j, DType.FLOAT, "it is complex"),
        (float("inf"), DType.FLOAT8E4M3FN, "float8_e4m3fn has no such value"),
        ([1, 300], DType.INT8, "int8 holds -128 to 127"),
    ],
)
def test_literals_that_would_lose_more_than_rounding_are_refused(
    value: Any, dtype: DType, reason: str
) -> None:
    with pytest.raises(errors.LiteralError) as caught:
        literal_array(ADD, 1, value, dtype)
    assert caught.value.message.endswith(f"in Add: {reason}")


def test_ragged_lists_are_refused() -> None:
    with pytest.raises(errors.InputTypeError, match="different lengths"):
        literal_array(ADD, 0, [[1, 2], [3]], DType.FLOAT)


def test_types_that_disagree_or_are_not_allowed() -> None:
    with pytest.raises(errors.MixedDTypesError) as mixed:
        check_types(ADD, [tensor(DType.FLOAT), tensor(DType.INT64)])
    assert mixed.value.message == "Add needs 'A' and 'B' to have one element type, got float32 and int64"
    with pytest.raises(errors.DTypeNotAllowedError) as refused:
        check_types(registry.lookup("", "Erf", 13), [tensor(DType.STRING)])
    assert refused.value.message == "Erf does not take string as 'input'"
    check_types(ADD, [tensor(DType.FLOAT), tensor(None)])


def test_what_counts_as_a_literal() -> None:
    for value in (1, 1.5, True, 1j, "a", [1, [2, 3]], (1.0,), np.int64(1), np.bool_(True), np.float64(1)):
        assert is_literal(value)
    for value in (np.float32(1), np.zeros(2), None, object(), [np.zeros(2)]):
        assert not is_literal(value)
