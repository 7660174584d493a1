"""Shape arithmetic: what is known of integers that shapes are computed from, and the shapes that come of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith.errors import OnnxsmithError
from onnxsmith.schema.inference import Known, content
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension, TensorType
from tests.schema.inference.calls import BOOL, INT64, C, S, T, V, call, data, shape

FAR = 2**63 - 1
X = T("N", "S", 64)


@pytest.mark.parametrize(
    ("name", "inputs", "options", "expected"),
    [
        ("Shape", (X,), {}, ("N", "S", 64)),
        ("Shape", (X,), {"start": -2}, ("S", 64)),
        ("Shape", (X,), {"start": 1, "end": -1}, ("S",)),
        ("Shape", (X,), {"start": -9, "end": 9}, ("N", "S", 64)),
        ("Shape", (T(2, None),), {}, (2, None)),
        ("Size", (X,), {}, "64*N*S"),
        ("Gather", (V("N", "S", 64), C(0)), {}, "N"),
        ("Gather", (V("N", "S", 64), C([-1, 0])), {}, (64, "N")),
        ("Slice", (V("N", "S", 64), C([1]), C([FAR])), {}, ("S", 64)),
        ("Slice", (V("N", "S", 64), C([0]), C([-1]), C([0]), C([2])), {}, ("N",)),
        ("Slice", (V("N", "S", 64), C([-1]), C([-FAR]), C([0]), C([-1])), {}, (64, "S", "N")),
        ("Concat", (V("N"), C([-1])), {"axis": 0}, ("N", -1)),
        ("Concat", (V("N"), T(2, dtype=INT64), V(3)), {"axis": 0}, ("N", None, None, 3)),
        ("Concat", (C([1.0]), C([2.5])), {"axis": 0}, [1.0, 2.5]),
        ("Squeeze", (V("N"), C([0])), {}, "N"),
        ("Squeeze", (V("N"),), {"version": 11}, "N"),
        ("Unsqueeze", (S("N"), C([0])), {}, ("N",)),
        ("Reshape", (V("N", "S"), C([-1])), {}, ("N", "S")),
        ("Reshape", (V("N"), C([], np.int64)), {}, "N"),
        ("Identity", (V("N"),), {}, ("N",)),
        ("Cast", (S("N"),), {"to": int(INT64)}, "N"),
        ("Cast", (V("N", 2),), {"to": int(DType.INT32)}, ("N", 2)),
        ("Cast", (V(3, 2),), {"to": int(DType.FLOAT)}, [3.0, 2.0]),
        ("Cast", (C([2.7, -1.2]),), {"to": int(INT64)}, (2, -1)),
        ("CastLike", (S(5), T(dtype=INT64)), {}, 5),
        ("Add", (S("N"), C(1)), {}, "N+1"),
        ("Add", (V("N", "S"), C([1])), {}, ("N+1", "S+1")),
        ("Add", (V("N", None), S(1)), {}, ("N+1", None)),
        ("Sub", (S("N+1"), S(1)), {}, "N"),
        ("Mul", (S("N"), S("S")), {}, "N*S"),
        ("Div", (S("4*N"), S(4)), {}, "N"),
        ("Div", (C(-7), C(2)), {}, -3),
        ("Div", (S("N-9"), S(2)), {}, None),
        ("Div", (C(7), C(0)), {}, None),
        ("Mod", (S("4*N+1"), S(4)), {}, 1),
        ("Mod", (C(-7), C(3)), {}, 2),
        ("Mod", (C(-7), C(3)), {"fmod": 1}, None),
        ("Neg", (S("N"),), {}, "-N"),
        ("Abs", (C(-3),), {}, 3),
        ("Min", (S("N"), S(1)), {}, "min(1,N)"),
        ("Max", (S("N-1"), S(0)), {}, "max(0,N-1)"),
        ("Max", (S("N"), S(0)), {}, "N"),
        ("Max", (V("N", 2), V(0, 5)), {}, ("N", 5)),
        ("Sum", (S("N"), S(1), S(1)), {}, "N+2"),
        ("Equal", (V("N", -1), C([-1])), {}, [False, True]),
        ("Equal", (S("N"), S(1)), {}, None),
        ("Less", (S("N"), S("N+1")), {}, True),
        ("Not", (C(True),), {}, False),
        ("And", (C(True), C(False)), {}, False),
        ("Where", (C([True, False]), V("N", 2), V(1, 1)), {}, ("N", 1)),
        ("ConstantOfShape", (V(2),), {"value": np.array([7])}, (7, 7)),
        ("ConstantOfShape", (V(2, 1),), {"value": np.array([7])}, [[7], [7]]),
        ("Range", (S(0), S(3), S(1)), {}, (0, 1, 2)),
        ("Expand", (S("N"), C([2])), {}, ("N", "N")),
        ("ReduceProd", (V("N", 4),), {"keepdims": 0}, "4*N"),
        ("ReduceSum", (V("N", 4), C([0])), {"keepdims": 0}, "N+4"),
        ("ReduceMax", (V(2, 4),), {"keepdims": 0}, 4),
        ("Constant", (), {"value": np.array([1, 2])}, [1, 2]),
        ("Constant", (), {"value_ints": (1, 2)}, [1, 2]),
        ("Floor", (C(np.float32(2.5)),), {}, 2.0),
        ("Mul", (C(np.float32(2.5)), C(np.float32(2))), {}, 5.0),
        ("Add", (C(FAR), C(1)), {}, None),
    ],
)
def test_content_is_propagated(
    name: str, inputs: tuple[Known, ...], options: dict[str, Any], expected: Any
) -> None:
    found = data(name, *inputs, **options)
    if isinstance(found, np.ndarray):
        assert found.tolist() == expected
    else:
        assert found == expected


def test_split_divides_content() -> None:
    first, second = call("Split", V("N", "S", 64), C([1, 2]), outputs=2)
    assert (first.data, second.data) == (("N",), ("S", 64))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (shape("Reshape", X, V(0, 0, 8, 8)), ("N", "S", 8, 8)),
        (shape("Reshape", X, V("N", "S", 8, -1)), ("N", "S", 8, 8)),
        (shape("Reshape", X, V(-1, 64)), ("N*S", 64)),
        (shape("Reshape", X, V(-1)), ("64*N*S",)),
        (shape("Reshape", X, V("N", -1)), ("N", "64*S")),
        (shape("Reshape", T("N*S", 64), V("N", "S", 64)), ("N", "S", 64)),
        (shape("Reshape", T("N*S", 64), V("N", -1, 64)), ("N", "S", 64)),
        (shape("Reshape", X, V("N", None, 64)), ("N", None, 64)),
        (shape("Reshape", X, V(None, 64)), ("N*S", 64)),
        (shape("Reshape", X, V(None, None, 64)), (None, None, 64)),
        (shape("Reshape", T(None, 64), V(-1, 8)), (None, 8)),
        (shape("Reshape", T(0, 3), V(0, -1)), (0, 3)),
        (shape("Reshape", T(None, 64), V(0, 8, -1)), (None, 8, 8)),
        (shape("Reshape", T(0, 3), V(3, 0), allowzero=1), (3, 0)),
        (shape("Reshape", T(None, None), V(0, -1)), (None, None)),
        (shape("Reshape", X, T(3, dtype=INT64)), (None, None, None)),
        (shape("Reshape", X, T(None, dtype=INT64)), None),
        (shape("Expand", T("N", 1), V("N", "S")), ("N", "S")),
        (shape("Expand", T(1), V("N", 4)), ("N", 4)),
        (shape("Expand", T("N"), V(1)), ("N",)),
        (shape("Tile", T("N", 3), V(2, "S")), ("2*N", "3*S")),
        (shape("ConstantOfShape", V("N", "S+1")), ("N", "S+1")),
        (shape("Slice", X, C([1]), C([FAR]), C([1])), ("N", "max(0,S-1)", 64)),
        (shape("Slice", X, V(0), V("S//2"), C([1])), ("N", "S//2", 64)),
        (shape("Slice", X, V("S//2"), C([FAR]), C([1])), ("N", "S-S//2", 64)),
        (shape("Slice", X, C([-1]), C([FAR]), C([1])), ("N", "min(1,S)", 64)),
        (shape("Slice", X, C([0]), C([5]), C([1])), ("N", "min(5,S)", 64)),
        (shape("Slice", X, C([1]), C([3]), C([1])), ("N", "max(0,min(2,S-1))", 64)),
        (shape("Slice", X, C([0]), C([FAR]), C([1]), C([2])), ("N", "(S+1)//2", 64)),
        (shape("Pad", T("N", 3), C([1, 0, 1, 0])), ("N+2", 3)),
        (shape("Pad", T("N", 3), V("P", 0, 0, 0)), ("N+P", 3)),
        (shape("Resize", T(1, 3, "H", "W"), None, C([1, 1, 2, 0.5], np.float32)), (1, 3, "2*H", "W//2")),
        (shape("Resize", T(1, 3, "H", "W"), None, None, V(1, 3, "2*H", 7)), (1, 3, "2*H", 7)),
        (shape("Upsample", T(1, 3, "H"), C([1, 1, 2], np.float32), version=9), (1, 3, "2*H")),
        (shape("Range", S(0), S("N"), S(1)), ("N",)),
        (shape("Range", S(1), S("N+1"), S(2)), ("(N+1)//2",)),
        (shape("Range", S("N"), S(0), S(-1)), ("N",)),
        (shape("Range", S(0), S("N-5"), S(1)), ("max(0,N-5)",)),
        (shape("Range", C(np.float32(0)), C(np.float32(1)), C(np.float32(0.1))), (10,)),
        (shape("OneHot", T("N", dtype=INT64), S("D"), T(2)), ("N", "D")),
        (shape("Conv", T("N", 3, "H", "W"), T(8, 3, 3, 3), pads=(1, 1, 1, 1)), ("N", 8, "H", "W")),
        (shape("Conv", T("N", 3, "H"), T(8, 3, 3), strides=(2,), pads=(1, 1)), ("N", 8, "(H+1)//2")),
        (shape("MaxPool", T("N", 3, "H"), kernel_shape=(2,), strides=(2,)), ("N", 3, "H//2")),
        (shape("Flatten", T("N", 3, 4)), ("N", 12)),
        (shape("Concat", T("N", "P"), T("N", 1), axis=1), ("N", "P+1")),
        (shape("DepthToSpace", T("N", "C", "H", 2), blocksize=2), ("N", "C//4", "2*H", 4)),
    ],
)
def test_shapes_follow_content(
    found: tuple[Dimension, ...] | None, expected: tuple[Dimension, ...] | None
) -> None:
    assert found == expected


def test_a_reshape_written_the_way_exporters_write_it() -> None:
    """x.view(x.size(0), -1, heads, 64): Shape, Gather, Unsqueeze, Concat, Reshape."""
    (size,) = call("Shape", X)
    (batch,) = call("Gather", size, C(0))
    (first,) = call("Unsqueeze", batch, C([0]))
    (target,) = call("Concat", first, C([-1]), C([4]), C([16]), axis=0)
    assert shape("Reshape", X, target) == ("N", "S", 4, 16)


def test_an_expand_written_the_way_exporters_write_it() -> None:
    """x.expand(-1, 5, ...): entries of -1 replaced by ones, by Equal and Where."""
    wanted = V("N", 5, -1)
    (ones,) = call("ConstantOfShape", C([3]), value=np.array([1]))
    (minus,) = call("Mul", ones, C(-1))
    (is_open,) = call("Equal", wanted, minus)
    (target,) = call("Where", is_open, ones, wanted)
    assert target.data == ("N", 5, 1)
    assert shape("Expand", T(1, 1, 7), target) == ("N", 5, 7)


def test_large_constants_are_not_computed_with() -> None:
    large = C(np.zeros(100_000, np.int64))
    assert data("Add", large, C(1)) is None
    assert data("Concat", large, C([1]), axis=0) is None
    assert shape("Reshape", T("N"), T(2, dtype=INT64)) == (None, None)


def test_content_of_unknown_element_type_is_not_computed_with() -> None:
    unknown = Known(TensorType(None, (1,)), (3,))
    assert data("Add", unknown, unknown) is None
    assert data("Cast", T(2, dtype=BOOL), to=int(INT64)) is None


#: numpy's function for each operator that is computed of constants, and the element types that are tried.
COMPUTED: dict[str, tuple[Any, str]] = {
    "Add": (np.add, "ifd"),
    "Sub": (np.subtract, "ifd"),
    "Mul": (np.multiply, "ifd"),
    "Mod": (np.mod, "i"),
    "Min": (np.minimum, "ifd"),
    "Max": (np.maximum, "ifd"),
    "Pow": (np.power, "f"),
    "Neg": (np.negative, "ifd"),
    "Abs": (np.abs, "ifd"),
    "Floor": (np.floor, "fd"),
    "Ceil": (np.ceil, "fd"),
    "Round": (np.rint, "fd"),
    "Sqrt": (lambda x: np.sqrt(x), "fd"),
    "Reciprocal": (lambda x: 1 / x, "fd"),
    "Equal": (np.equal, "ifdb"),
    "Less": (np.less, "ifd"),
    "Greater": (np.greater, "ifd"),
    "LessOrEqual": (np.less_equal, "ifd"),
    "GreaterOrEqual": (np.greater_equal, "ifd"),
    "Not": (np.logical_not, "b"),
    "And": (np.logical_and, "b"),
    "Or": (np.logical_or, "b"),
    "Xor": (np.logical_xor, "b"),
}
OPERANDS: dict[str, list[Any]] = {
    "i": [np.array([[7, -7, 4], [1, -3, 9]]), np.array([2, 3, 4])],
    "f": [np.array([[2.5, -1.5, 4], [0.5, 3, 9]], np.float32), np.array([2, 3, 4], np.float32)],
    "d": [np.array([[2.5, -1.5, 4], [0.5, 3, 9]]), np.array([2.0, 3, 4])],
    "b": [np.array([[True, False, True], [False, True, False]]), np.array([True, True, False])],
}
UNARY = {"Neg", "Abs", "Floor", "Ceil", "Round", "Sqrt", "Reciprocal", "Not"}


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name, (_, kinds) in COMPUTED.items() for kind in kinds]
)
def test_constants_are_computed_as_numpy_does(name: str, kind: str) -> None:
    given = OPERANDS[kind][: 1 if name in UNARY else 2]
    with np.errstate(invalid="ignore"):
        expected = COMPUTED[name][0](*given)
    found = data(name, *map(C, given))
    assert isinstance(found, np.ndarray)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_division_truncates_and_remainders_floor() -> None:
    for left, right in ((7, 2), (-7, 2), (7, -2), (-7, -2), (0, 3)):
        assert data("Div", C(left), C(right)) == int(left / right)
        np.testing.assert_array_equal(
            np.asarray(data("Div", C([[left]]), C([[right]]))), [[int(left / right)]]
        )
        assert data("Mod", C(left), C(right)) == left % right
    np.testing.assert_array_equal(np.asarray(data("Div", C([[3.0]]), C([[2.0]]))), [[1.5]])
    assert data("Div", C([[1]]), C([[0]])) is None
    assert data("Mod", C([[1]]), C([[0]])) is None


@pytest.mark.parametrize(
    ("name", "inputs", "expected"),
    [
        ("Neg", (V("N", 3),), ("-N", -3)),
        ("Abs", (V("N", -3, None),), ("N", 3, None)),
        ("Abs", (S("N-5"),), None),
        ("Greater", (S("N+1"), S("N")), True),
        ("Greater", (S("N"), S("N+1")), False),
        ("LessOrEqual", (S("N"), S("N")), True),
        ("LessOrEqual", (S("N+1"), S("N")), False),
        ("GreaterOrEqual", (S("N"), S("N")), True),
        ("GreaterOrEqual", (S("N"), S("N+1")), False),
        ("Less", (S("N"), S("M")), None),
        ("Less", (V("N", "N+1"), V("N+1", "N")), [True, False]),
        ("Less", (V("N", "M"), V("N+1", "N")), None),
        ("Equal", (V("N", None), C([1])), None),
        ("Add", (V("N", 2), V(1, 2, 3)), None),
        ("Add", (V(None, None), C([1])), None),
        ("Add", (V(), C([1])), ()),
        ("Sub", (C(-FAR), C(2)), None),
        ("Sub", (C(-FAR), C(1)), -FAR - 1),
    ],
)
def test_entries_that_are_names(name: str, inputs: tuple[Known, ...], expected: Any) -> None:
    try:
        found = data(name, *inputs)
    except OnnxsmithError:  # the sizes do not fit, or the element types
        found = None
    assert (found.tolist() if isinstance(found, np.ndarray) else found) == expected


def test_the_type_of_a_number_out_of_range_is_not_guessed() -> None:
    assert data("Cast", C([2.5e9, 1.0]), to=int(DType.INT32)) is None
    assert data("Cast", C([2.0e9, -1.0]), to=int(DType.INT32)) == (2_000_000_000, -1)
    for number, dtype, expected in (
        (200.9, DType.UINT8, 200),
        (256.0, DType.UINT8, None),
        (-1.0, DType.UINT8, None),
        (127.5, DType.INT8, 127),
        (128.0, DType.INT8, None),
        (-127.5, DType.INT8, -127),
    ):
        found = data("Cast", C([number]), to=int(dtype))
        assert (None if found is None else np.asarray(found).tolist()) == (expected and [expected])
    assert data("Cast", V("N", 2**31, -(2**31)), to=int(DType.INT32)) == ("N", None, -(2**31))
    assert data("Cast", S(2**40), to=int(DType.INT32)) is None
    assert data("Cast", S(2**40), to=int(INT64)) == 2**40


@pytest.mark.parametrize(
    ("known", "shape", "expected"),
    [
        (V("N"), (), "N"),
        (V("N", 2), (2,), ("N", 2)),
        (V("N", 2), (), None),
        (V("N", 2), (1,), None),
        (S("N"), (1,), ("N",)),
        (S("N"), (), "N"),
        (S("N"), (2,), None),
        (S(3), (1, 1), [[3]]),
        (V(1, 2), (2, 1), [[1], [2]]),
        (V(1, 2), (2, 2), None),
        (V("N", 2), (2, 1), None),
        (C([[1.5, 2]]), (2,), [1.5, 2]),
        (C([[1.5, 2]]), (None,), None),
        (V(1, 2), ("N", 1), None),
        (T(2), (2,), None),
        (None, (2,), None),
    ],
)
def test_content_under_another_shape(known: Known | None, shape: Any, expected: Any) -> None:
    found = content.moved(known, shape)
    assert (found.tolist() if isinstance(found, np.ndarray) else found) == expected


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.array([1, 2]), (1, 2)),
        (np.array(5, np.int32), 5),
        (np.array(["N", 2], object), ("N", 2)),
        (np.array("N", object), "N"),
        (np.array([None, None], object), None),
        (np.array([2**63, 1], object), (None, 1)),
        (np.array([[1, 2]], object), [[1, 2]]),
        (np.array([["N", 2]], object), None),
        (np.array([[1, 2]]), [[1, 2]]),
        (np.array([1.5]), [1.5]),
        (np.array([1, 2], np.int8), [1, 2]),
        (np.array([], np.int64), ()),
    ],
)
def test_arrays_and_content_are_each_others_reverse(array: Any, expected: Any) -> None:
    found = content.from_array(array)
    assert (found.tolist() if isinstance(found, np.ndarray) else found) == expected
    if expected is not None and array.dtype != object:
        again = content.as_array(Known(TensorType(DType.from_numpy(array.dtype), array.shape), found))
        assert again is not None
        np.testing.assert_array_equal(again, array)


def test_where_chooses_by_constants_alone() -> None:
    found = content.choose(C([[True], [False]]), C([1, 2]), V(3, 4))
    assert np.asarray(found).tolist() == [[1, 2], [3, 4]]
    assert content.choose(C([1, 0]), C([1, 2]), V(3, 4)) is None
    assert content.choose(T(2, dtype=BOOL), C([1, 2]), V(3, 4)) is None
    assert content.choose(C([True, False]), C([1, 2, 3]), V(3, 4)) is None
    assert content.choose(C([True, False]), V("N", 2), V(3, "M")) == ("N", "M")
