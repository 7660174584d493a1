"""Nodes as Python's operators and indexing: the text is evaluated on numpy's arrays, as the operator computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

from onnxsmith.core.semantics.index_slices import LAST
from onnxsmith.decompiling.operators import index_form, operator_form
from onnxsmith.schema import registry
from onnxsmith.types.dtypes import DType

F, H, N, U, B, S = DType.FLOAT, DType.FLOAT16, DType.INT64, DType.UINT8, DType.BOOL, DType.STRING
INT8 = DType.INT8
#: What each operator computes, with numpy's functions.
MEANT: dict[str, Callable[..., Any]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "MatMul": np.matmul,
    "Pow": np.power,
    "Equal": np.equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "And": np.logical_and,
    "Or": np.logical_or,
    "Xor": np.logical_xor,
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor,
    "Neg": np.negative,
    "Not": np.logical_not,
}
VALUES: dict[DType, list[np.ndarray[Any, Any]]] = {
    F: [np.array([1.5, -2, 3], np.float32), np.array([0.5, -2, 4], np.float32)],
    N: [np.array([1, -2, 3]), np.array([2, -2, 2])],
    B: [np.array([True, True, False]), np.array([True, False, False])],
}


def node(name: str, inputs: int, *, domain: str = "", outputs: int = 1, **attributes: Any) -> ir.Node:
    values = [ir.Value(name=f"x{k}") for k in range(inputs)]
    made = [ir.Value(name=f"y{k}") for k in range(outputs)]
    found = [ir.convenience.convert_attribute(key, value) for key, value in attributes.items()]
    return ir.Node(domain, name, values, found, outputs=made)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *((name, F) for name in ("Add", "Sub", "Mul", "Div", "MatMul", "Pow", "Neg")),
        *(
            (name, N)
            for name in ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "MatMul", "Neg")
        ),
        *((name, B) for name in ("And", "Or", "Xor", "Not", "Equal")),
        *((name, N) for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")),
    ],
)
def test_an_operator_means_what_the_node_computes(name: str, dtype: DType) -> None:
    given = VALUES[dtype][: 1 if name in ("Neg", "Not") else 2]
    names = ["a", "b"][: len(given)]
    text = operator_form(node(name, len(given)), names, [True] * len(given), [dtype] * len(given))
    assert text is not None
    found = eval(str(text), dict(zip(names, given, strict=True)))
    np.testing.assert_array_equal(found, MEANT[name](*given))


@pytest.mark.parametrize(
    ("name", "is_symbolic", "dtypes", "text"),
    [
        ("Add", [True, False], [F, F], "a + b"),
        ("Add", [False, True], [F, F], "a + b"),
        ("Add", [False, False], [F, F], None),
        ("Add", [True, True], [S, S], None),
        ("Add", [True, True], [None, S], None),
        ("Add", [True, True], [None, None], "a + b"),
        ("MatMul", [True, True], [INT8, INT8], None),
        ("MatMul", [True, True], [F, U], None),
        ("MatMul", [True, True], [DType.INT32, DType.INT32], "a @ b"),
        ("MatMul", [True, True], [H, H], "a @ b"),
        ("MatMul", [True, True], [None, F], "a @ b"),
        ("Less", [True, False], [F, F], "a < b"),
        ("Less", [False, True], [F, F], None),
        ("And", [True, False], [B, B], None),
        ("And", [True, True], [B, None], None),
        ("And", [True, True], [None, B], None),
        ("BitwiseAnd", [True, True], [N, U], "a & b"),
        ("BitwiseAnd", [True, True], [N, None], None),
        ("BitwiseAnd", [True, True], [B, N], None),
        ("BitwiseAnd", [False, True], [N, N], None),
        ("Pow", [True, False], [F, F], "a**b"),
        ("Pow", [False, True], [F, F], None),
        ("Pow", [True, True], [F, N], None),
        ("Pow", [True, True], [N, N], None),
        ("Pow", [True, True], [None, None], None),
        ("Relu", [True, True], [F, F], None),
    ],
)
def test_which_calls_are_operators(
    name: str, is_symbolic: list[bool], dtypes: list[DType | None], text: str | None
) -> None:
    found = operator_form(node(name, 2), ["a", "b"], is_symbolic, dtypes)
    assert (None if found is None else str(found)) == text


@pytest.mark.parametrize(
    ("name", "is_symbolic", "dtype", "text"),
    [
        ("Neg", True, F, "-a"),
        ("Neg", True, U, None),
        ("Neg", True, None, None),
        ("Neg", False, F, None),
        ("Not", True, B, "~a"),
        ("Not", True, None, None),
        ("Not", False, B, None),
        ("Abs", True, F, None),
    ],
)
def test_signs(name: str, is_symbolic: bool, dtype: DType | None, text: str | None) -> None:
    assert operator_form(node(name, 1), ["a"], [is_symbolic], [dtype]) == text


def test_what_an_operator_cannot_say_is_a_call() -> None:
    both: Sequence[bool] = [True, True]
    assert operator_form(node("Add", 2, domain="own"), ["a", "b"], both, [F, F]) is None
    assert str(operator_form(node("Add", 2, domain="ai.onnx"), ["a", "b"], both, [F, F])) == "a + b"
    assert operator_form(node("Add", 2, axis=1), ["a", "b"], both, [F, F]) is None
    assert operator_form(node("Add", 2, outputs=2), ["a", "b"], both, [F, F]) is None
    assert operator_form(node("Sum", 3), ["a", "b", "c"], [True] * 3, [F, F, F]) is None


X = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)


def indexed(name: str, literals: list[Any], version: int = 21, **attributes: Any) -> str | None:
    definition = registry.lookup("", name, version)
    assert definition is not None
    return index_form(node(name, 1 + len(literals), **attributes), definition, "x", literals)


def sliced(starts: list[int], ends: list[int], axes: list[int], steps: list[int] | None = None) -> Any:
    found = [slice(None)] * X.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps or [1] * len(starts), strict=True):
        found[axis] = slice(start, end, step)
    return X[tuple(found)]


@pytest.mark.parametrize(
    ("literals", "text"),
    [
        ([[1], [3], [0]], "x[1:3]"),
        ([[1], [LAST], [1]], "x[:, 1:]"),
        ([[0], [2], [2]], "x[:, :, :2]"),
        ([[0, 1], [-1, 3], [0, 3]], "x[:-1, :, :, 1:3]"),
        ([[0], [LAST], [1], [2]], "x[:, ::2]"),
        ([[1, 0], [4, 2], [2, 3], [2, 1]], "x[:, :, 1:4:2, :2]"),
        ([[-2], [LAST], [0]], "x[-2:]"),
    ],
)
def test_slices(literals: list[Any], text: str) -> None:
    assert indexed("Slice", literals) == text
    np.testing.assert_array_equal(eval(text, {"x": X}), sliced(*literals))


@pytest.mark.parametrize(
    "literals",
    [
        [[0], [LAST], [0]],
        [[0], [2]],
        [[0], [2], [-1]],
        [[0, 0], [2, 2], [1, 0]],
        [[0, 0], [2, 2], [1, 1]],
        [[0], [2], [0], [1]],
        [[2], [0], [0], [-1]],
        [[0, 1], [2], [0]],
        [[0], [2], [0, 1]],
        [[0], [2], [0], [2, 2]],
        [[0], [2], [5]],
        [[0.5], [2], [0]],
        [[True], [2], [0]],
        [0, [2], [0]],
        [[], [], []],
    ],
)
def test_slices_that_stay_calls(literals: list[Any]) -> None:
    assert indexed("Slice", literals) is None


def test_slices_before_they_had_inputs_stay_calls() -> None:
    assert indexed("Slice", [[0], [2], [0]], 9, starts=[0], ends=[2]) is None
    assert indexed("Slice", [[0], [2], [0]], 10) == "x[:2]"
    assert indexed("Slice", [[0], [2], [4]]) == "x[:, :, :, :, :2]"


@pytest.mark.parametrize(
    ("literals", "attributes", "text"),
    [
        ([1], {}, "x[1]"),
        ([-1], {"axis": 1}, "x[:, -1]"),
        ([0], {"axis": 4}, "x[:, :, :, :, 0]"),
        ([0], {"axis": 5}, None),
        ([0], {"axis": 0}, None),
        ([0], {"axis": -1}, None),
        ([0], {"axis": 1, "other": 1}, None),
        ([[0]], {}, None),
        ([True], {}, None),
        ([1.0], {}, None),
    ],
)
def test_places(literals: list[Any], attributes: Mapping[str, Any], text: str | None) -> None:
    assert indexed("Gather", literals, **attributes) == text
    if text is not None and attributes.get("axis", 0) < X.ndim:
        np.testing.assert_array_equal(
            eval(text, {"x": X}), np.take(X, literals[0], axis=attributes.get("axis", 0))
        )


@pytest.mark.parametrize(
    ("axes", "version", "text"),
    [
        ([0], 21, "x[None]"),
        ([2], 13, "x[:, :, None]"),
        ([2], 11, None),
        ([-1], 21, None),
        ([0, 1], 21, None),
        (0, 21, None),
        ([5], 21, None),
    ],
)
def test_new_axes(axes: Any, version: int, text: str | None) -> None:
    assert indexed("Unsqueeze", [axes], version) == text
    if text is not None:
        np.testing.assert_array_equal(eval(text, {"x": X}), np.expand_dims(X, axes[0]))


def test_other_operators_and_outputs_are_no_index() -> None:
    assert indexed("GatherElements", [0]) is None
    definition = registry.lookup("", "Gather", 21)
    assert definition is not None
    assert index_form(node("Gather", 2, outputs=2), definition, "x", [0]) is None
