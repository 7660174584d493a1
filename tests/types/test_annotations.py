"""Annotations: what each spelling means, and what a wrong one is told."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Sequence as AbstractSequence
from typing import Annotated, Any, Optional, Union

import numpy as np
import pytest

from onnxsmith import FLOAT, INT64, Dim, errors, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import ModelInputError, ShapeError
from onnxsmith.types import DType, OptionalType, SequenceType, TensorType
from onnxsmith.types.annotations import read_attribute_annotation, read_value_type
from onnxsmith.types.value_types import MapType, parse_onnx_type

N = Dim("N")


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (FLOAT, TensorType(DType.FLOAT, ())),
        (FLOAT[...], TensorType(DType.FLOAT, None)),
        (FLOAT[2, 10], TensorType(DType.FLOAT, (2, 10))),
        (FLOAT["M", "N"], TensorType(DType.FLOAT, ("M", "N"))),
        (FLOAT[None, 4], TensorType(DType.FLOAT, (None, 4))),
        (FLOAT[N, 4], TensorType(DType.FLOAT, ("N", 4))),
        (FLOAT[N + 1], TensorType(DType.FLOAT, ("N+1",))),
        (FLOAT[np.int64(3)], TensorType(DType.FLOAT, (3,))),
        (Annotated[FLOAT, "N", 4], TensorType(DType.FLOAT, ("N", 4))),
        (Annotated[FLOAT, ...], TensorType(DType.FLOAT, None)),
        (Sequence[FLOAT[...]], SequenceType(TensorType(DType.FLOAT, None))),
        (AbstractSequence[INT64["N"]], SequenceType(TensorType(DType.INT64, ("N",)))),
        (list[FLOAT[2]], SequenceType(TensorType(DType.FLOAT, (2,)))),
        (Optional[FLOAT[2]], OptionalType(TensorType(DType.FLOAT, (2,)))),  # noqa: UP045
        (FLOAT[2] | None, OptionalType(TensorType(DType.FLOAT, (2,)))),
        (None | FLOAT[2], OptionalType(TensorType(DType.FLOAT, (2,)))),
        (np.zeros((2, 3), np.float32), TensorType(DType.FLOAT, (2, 3))),
    ],
)
def test_what_an_annotation_means(annotation: Any, expected: object) -> None:
    assert read_value_type(annotation) == expected


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (
            lambda: FLOAT[2.5],
            "dimension 0 of FLOAT[2.5] is 2.5: a dimension is an int, a name, a Dim, or None",
        ),
        (lambda: FLOAT[1, -2], "dimension 1 of FLOAT[1, -2] is -2: a dimension cannot be negative"),
        (
            lambda: FLOAT[True],
            "dimension 0 of FLOAT[True] is True: a dimension is an int, a name, a Dim, or None",
        ),
        (lambda: FLOAT[""], "dimension 0 of FLOAT[''] is '': a dimension's name cannot be empty"),
        (
            lambda: FLOAT[..., 3],
            "dimension 0 of FLOAT[..., 3] is ...: '...' leaves the whole shape open and stands alone; "
            "write None for one unknown dimension",
        ),
        (lambda: FLOAT[2][3], "FLOAT[2] already has a shape, and cannot be given 3"),
        (lambda: Dim(" "), "a dimension's name is a non-empty string, not ' '"),
        (lambda: read_value_type(dict), "annotation is dict, which is no tensor type"),
        (lambda: read_value_type(Sequence[int]), "the element of annotation is int, which is no tensor type"),
        (
            lambda: read_value_type(Union[FLOAT[2], Sequence[INT64[2]]]),  # noqa: UP007
            "annotation is a tensor or something else: an ONNX value has one type",
        ),
        (lambda: FLOAT(3), "FLOAT is a type, not a function"),
    ],
)
def test_a_bad_annotation_says_which_part_is_wrong_and_why(write: Any, message: str) -> None:
    with pytest.raises(errors.AnnotationError) as caught:
        write()
    assert caught.value.message == message
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    ("annotation", "scalar", "is_list"),
    [(int, int, False), (float, float, False), (str, str, False), (bool, bool, False), (list[int], int, True)]  # noqa: RUF005
    + [(Sequence[float], float, True), (tuple[int, ...], int, True)],
)
def test_attribute_annotations(annotation: Any, scalar: type, is_list: bool) -> None:
    found = read_attribute_annotation(annotation)
    assert found is not None
    assert (found.scalar, found.is_list) == (scalar, is_list)


@pytest.mark.parametrize("annotation", [FLOAT, dict, list, tuple[int, str], np.ndarray])
def test_other_annotations_are_no_attributes(annotation: Any) -> None:
    assert read_attribute_annotation(annotation) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tensor(float)", TensorType(DType.FLOAT, None)),
        ("seq(tensor(int64))", SequenceType(TensorType(DType.INT64, None))),
        ("optional(seq(tensor(bool)))", OptionalType(SequenceType(TensorType(DType.BOOL, None)))),
        ("seq(map(int64,float))", SequenceType(MapType(DType.INT64, TensorType(DType.FLOAT, None)))),
        ("map(string, tensor(float))", MapType(DType.STRING, TensorType(DType.FLOAT, None))),
        ("sparse_tensor(float)", None),
        ("nonsense", None),
    ],
)
def test_type_strings_of_onnx(text: str, expected: object) -> None:
    assert parse_onnx_type(text) == expected


@script
def stacked(a: FLOAT["N"], b: FLOAT["N"]):
    return op.Concat(a, b, axis=0)


@script
def square(a: FLOAT["N", "N"]):
    return a + 1.0


MODEL = trace(lambda a, b: op.Concat(a, b, axis=0), FLOAT["N"], FLOAT["N"])
TWO, THREE = np.ones(2, np.float32), np.ones(3, np.float32)
WORDS = "dimension 'N' is 2 in 'a' and 3 in 'b', and the same name is the same size"


def test_a_model() -> None:
    assert MODEL(TWO, TWO).shape == (4,)
    with pytest.raises(ModelInputError, match=WORDS):
        MODEL(TWO, THREE)
    with pytest.raises(ModelInputError, match=WORDS):
        MODEL.run(b=THREE, a=TWO)


def test_a_script() -> None:
    assert stacked(TWO, TWO).shape == (4,)
    with pytest.raises(ShapeError, match=WORDS):
        stacked(TWO, THREE)


def test_a_jitted_script_the_first_time_and_later() -> None:
    with pytest.raises(ShapeError, match=WORDS):
        stacked.jit(TWO, THREE)
    assert stacked.jit(THREE, THREE).shape == (6,)
    assert stacked.jit(TWO, TWO).shape == (4,)
    with pytest.raises(ShapeError, match=WORDS):
        stacked.jit(TWO, THREE)


def test_one_input_alone() -> None:
    with pytest.raises(ShapeError, match="dimension 'N' is 2 in 'a' and 3 further on"):
        square(np.ones((2, 3), np.float32))


def test_a_tensor_says_its_type_itself() -> None:
    """None of its elements is read: it may lie on a device."""
    from onnxsmith import tensor
    from onnxsmith.types.annotations import type_of_example

    assert type_of_example(tensor(np.zeros((2, 3), np.int8))) == TensorType(DType.INT8, (2, 3))
