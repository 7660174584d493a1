"""Types of values: what stands in brackets, how types are shown, and what is refused."""

from __future__ import annotations

import copy
import pickle
from typing import Any, get_args

import numpy as np
import pytest

from onnxsmith import FLOAT, INT64, STRING, Dim
from onnxsmith.errors import AnnotationError
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import (
    MapType,
    OptionalType,
    RangedName,
    SequenceType,
    TensorType,
    ValueType,
    describe_shape,
    parse_onnx_type,
    shapes_differ,
    sizes_differ,
)

OPEN = TensorType(None, None)


@pytest.mark.parametrize(
    ("kind", "shape", "shown", "described", "onnx_name"),
    [
        (FLOAT, (), "FLOAT", "float32 of shape ()", "tensor(float)"),
        (FLOAT[...], None, "FLOAT[...]", "float32 of unknown shape", "tensor(float)"),
        (FLOAT["N", 4], ("N", 4), "FLOAT['N', 4]", "float32 of shape (N, 4)", "tensor(float)"),
        (INT64[None], (None,), "INT64[None]", "int64 of shape (?,)", "tensor(int64)"),
        (INT64[np.int8(3), 0], (3, 0), "INT64[3, 0]", "int64 of shape (3, 0)", "tensor(int64)"),
        (STRING[Dim("N") + 1], ("N+1",), "STRING['N+1']", "string of shape (N+1,)", "tensor(string)"),
        (OPEN, None, "TENSOR[...]", "tensor of unknown shape", ""),
        (TensorType(None, (2,)), (2,), "TENSOR[2]", "tensor of shape (2,)", ""),
    ],
)
def test_tensors(kind: TensorType, shape: Any, shown: str, described: str, onnx_name: str) -> None:
    assert (kind.shape, repr(kind), kind.described, kind.onnx_name) == (shape, shown, described, onnx_name)
    assert kind.rank == (None if shape is None else len(shape))
    assert pickle.loads(pickle.dumps(kind)) == copy.deepcopy(kind) == kind


@pytest.mark.parametrize(
    ("kind", "shown", "described", "onnx_name"),
    [
        (
            SequenceType(FLOAT["N"]),
            "Sequence[FLOAT['N']]",
            "sequence of float32 of shape (N,)",
            "seq(tensor(float))",
        ),
        (
            OptionalType(FLOAT[2]),
            "Optional[FLOAT[2]]",
            "optional float32 of shape (2,)",
            "optional(tensor(float))",
        ),
        (
            OptionalType(SequenceType(FLOAT)),
            "Optional[Sequence[FLOAT]]",
            "optional sequence of float32 of shape ()",
            "optional(seq(tensor(float)))",
        ),
        (SequenceType(OPEN), "Sequence[TENSOR[...]]", "sequence of tensor of unknown shape", ""),
        (OptionalType(OPEN), "Optional[TENSOR[...]]", "optional tensor of unknown shape", ""),
        (MapType(DType.INT64, FLOAT), "Map[INT64, FLOAT]", None, "map(int64,tensor(float))"),
    ],
    ids=str,
)
def test_other_values(kind: Any, shown: str, described: str | None, onnx_name: str) -> None:
    assert (repr(kind), kind.onnx_name) == (shown, onnx_name)
    assert described is None or kind.described == described
    assert kind._repr_mimebundle_()["text/plain"] == shown
    assert kind._repr_mimebundle_()["text/html"].startswith("<code>")


def test_html_is_escaped() -> None:
    assert FLOAT["<b>"]._repr_mimebundle_()["text/html"] == "<code>FLOAT[&#x27;&lt;b&gt;&#x27;]</code>"


def test_names_that_are_left_open() -> None:
    assert FLOAT["N", 4].without_names == FLOAT[None, 4]
    for kind in (FLOAT[...], FLOAT[2, 3], FLOAT):
        assert kind.without_names is kind
    assert SequenceType(FLOAT["N"]).with_open_elements == SequenceType(FLOAT[None])
    nested = SequenceType(SequenceType(FLOAT["N"]))
    assert nested.with_open_elements is nested


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (-1, "a dimension cannot be negative"),
        (2**63, "a dimension has 64 bits"),
        ((2, ...), "'...' leaves the whole shape open and stands alone"),
        ("", "a dimension's name cannot be empty"),
        (" ", "a dimension's name cannot be empty"),
        ("\ud800", "UTF-8 has no such characters"),
        (1.5, "a dimension is an int, a name, a Dim, or None"),
        (True, "a dimension is an int, a name, a Dim, or None"),
        (int, "a dimension is an int, a name, a Dim, or None"),
        (np.zeros(2), "a dimension is an int, a name, a Dim, or None"),
    ],
)
def test_dimensions_that_are_none(given: Any, why: str) -> None:
    with pytest.raises(AnnotationError) as caught:
        FLOAT[given]
    assert why in caught.value.message
    assert caught.value.message.startswith(f"dimension {1 if isinstance(given, tuple) else 0} of FLOAT[")
    assert caught.value.help == 'FLOAT[2, 10], FLOAT["N", 4], FLOAT[None, 4] or FLOAT[...]'


def test_the_largest_dimension_and_bytes_that_are_no_text() -> None:
    assert FLOAT[2**63 - 1].shape == (2**63 - 1,)
    assert FLOAT["\udc80"].shape == ("\udc80",)


def test_what_types_are_not() -> None:
    with pytest.raises(AnnotationError, match="already has a shape"):
        FLOAT[2][3]
    with pytest.raises(AnnotationError, match="already has a shape"):
        FLOAT[...][3]
    with pytest.raises(AnnotationError) as caught:
        FLOAT["N"](np.ones(2))
    assert caught.value.message == "FLOAT['N'] is a type, not a function"
    assert caught.value.help == "convert with x.astype(np.float32)"
    with pytest.raises(TypeError):
        iter(FLOAT)
    with pytest.raises(NotImplementedError):
        ValueType().onnx_name  # noqa: B018  # it is asked for


def test_optionals_by_an_operator() -> None:
    for made in (FLOAT["N"] | None, None | FLOAT["N"]):
        assert get_args(made) in ((FLOAT["N"], type(None)), (type(None), FLOAT["N"]))


@pytest.mark.parametrize(
    "kind",
    [
        FLOAT[...],
        SequenceType(INT64[...]),
        OptionalType(FLOAT[...]),
        OptionalType(SequenceType(STRING[...])),
        SequenceType(MapType(DType.INT64, FLOAT[...])),
        MapType(DType.STRING, FLOAT[...]),
    ],
    ids=str,
)
def test_names_of_onnx_there_and_back(kind: Any) -> None:
    assert parse_onnx_type(kind.onnx_name) == kind
    assert parse_onnx_type(f" {kind.onnx_name.replace('(', '( ')}") == kind


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tensor",
        "tensor(nosuch)",
        "seq(nosuch)",
        "sparse_tensor(float)",
        "map(float)",
        "optional(map(int64,float))",
    ],
)
def test_names_that_have_no_type(text: str) -> None:
    assert parse_onnx_type(text) is None


def test_a_map_to_an_element_type() -> None:
    assert parse_onnx_type("map(int64, float)") == MapType(DType.INT64, FLOAT[...])


def test_declared_sizes() -> None:
    batch = Dim("batch", min=2, max=4)
    assert [batch.allows(size) for size in (1, 2, 4, 5)] == [False, True, True, False]
    assert Dim("n").allows(0)
    assert (repr(batch), str(batch)) == ("Dim('batch', min=2, max=4)", "batch")
    assert (repr(Dim("n", max=3)), repr(Dim("n", min=1)), repr(Dim("n"))) == (
        "Dim('n', max=3)", "Dim('n', min=1)", "Dim('n')"
    )  # fmt: skip
    (name,) = FLOAT[batch].shape or ()
    assert isinstance(name, RangedName)
    assert (name, name.declared) == ("batch", batch)
    assert pickle.loads(pickle.dumps(name)).declared == batch
    for dim in (Dim("n", min=1), Dim("n", max=0)):
        assert isinstance((FLOAT[dim].shape or ())[0], RangedName)
    assert not isinstance((FLOAT[Dim("n")].shape or ())[0], RangedName)


def test_arithmetic_of_dimensions() -> None:
    n, m = Dim("N"), Dim("M")
    assert [each.name for each in (n + 1, n - m, n * 2, n // m, (n + 1) * m, n // (m - 1))] == [
        "N+1", "N-M", "N*2", "N//M", "(N+1)*M", "N//(M-1)"
    ]  # fmt: skip
    with pytest.raises(TypeError):
        n + "1"  # type: ignore[operator]


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("",), "a dimension's name is a non-empty string, not ''"),
        ((" ",), "a dimension's name is a non-empty string"),
        ((3,), "a dimension's name is a non-empty string, not 3"),
        (("n", -1), "are ints from 0 on, not -1"),
        (("n", 0, -1), "are ints from 0 on, not -1"),
        (("n", True), "are ints from 0 on, not True"),
        (("n", 0, 1.5), "are ints from 0 on, not 1.5"),
        (("n", 3, 2), "no size is at least 3 and at most 2"),
    ],
)
def test_dimensions_that_are_refused(args: Any, told: str) -> None:
    with pytest.raises(AnnotationError) as caught:
        Dim(*args)
    assert told in caught.value.message


def test_shapes_in_words() -> None:
    assert describe_shape(()) == "()"
    assert describe_shape((2,)) == "(2,)"
    assert describe_shape(("N", None, 3)) == "(N, ?, 3)"


def test_sizes_and_shapes_that_differ_for_sure() -> None:
    assert sizes_differ(2, 3)
    assert not any(sizes_differ(*each) for each in ((2, 2), (2, "N"), ("N", "M"), (None, 3)))
    assert shapes_differ((2, "N"), (3, "N"))
    assert shapes_differ((), (None,))
    assert not any(shapes_differ(*each) for each in (((2, "N"), ("M", 3)), (None, (2,)), ((2,), None)))
