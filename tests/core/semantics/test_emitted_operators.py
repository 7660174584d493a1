"""Which operators common expressions become: as few as there can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from onnxsmith import BOOL, FLOAT, INT32, INT64, trace
from tests.core.laws import nodes

MATRIX = FLOAT[3, 4]
NAMED = FLOAT["N", "M"]
RANKLESS = FLOAT[...]

INDEXING: list[tuple[str, Callable[..., Any], list[Any], list[str]]] = [
    ("x[...]", lambda x: x[...], [NAMED], ["Identity"]),  # a model's output is not its input
    ("x[:]", lambda x: x[:], [NAMED], ["Identity"]),
    ("x[0:9]", lambda x: x[0:9], [MATRIX], ["Identity"]),
    ("x[1:]", lambda x: x[1:], [NAMED], ["Slice"]),
    ("x[1:, ::2]", lambda x: x[1:, ::2], [NAMED], ["Slice"]),
    ("x[:, ::-1]", lambda x: x[:, ::-1], [NAMED], ["Slice"]),
    ("x[-2::-1]", lambda x: x[-2::-1], [MATRIX], ["Slice"]),
    ("x[-2::-1], open", lambda x: x[-2::-1], [NAMED], ["Slice", "Slice"]),
    ("x[:n]", lambda x, n: x[:n], [NAMED, INT64], ["Unsqueeze", "Slice"]),
    ("x[0]", lambda x: x[0], [NAMED], ["Gather"]),
    ("x[:, -1]", lambda x: x[:, -1], [NAMED], ["Gather"]),
    ("x[i]", lambda x, i: x[i], [NAMED, INT64], ["Gather"]),
    ("x[i], int32", lambda x, i: x[i], [NAMED, INT32], ["Gather"]),
    ("x[0, 1]", lambda x: x[0, 1], [NAMED], ["GatherND"]),
    ("x[0, 1:]", lambda x: x[0, 1:], [NAMED], ["Gather", "Slice"]),
    ("x[0, 1:, 2]", lambda x: x[0, 1:, 2], [FLOAT["A", "B", "C"]], ["Slice", "Squeeze"]),
    ("x[..., None]", lambda x: x[..., None], [NAMED], ["Unsqueeze"]),
    ("x[None, :, None]", lambda x: x[None, :, None], [NAMED], ["Unsqueeze"]),
    ("x[[0, 2]]", lambda x: x[[0, 2]], [NAMED], ["Gather"]),
    ("x[idx]", lambda x, idx: x[idx], [NAMED, INT64["K"]], ["Gather"]),
    ("x[:, idx]", lambda x, idx: x[:, idx], [NAMED, INT64["K", "L"]], ["Gather"]),
    ("x[[0, 1], [2, 3]]", lambda x: x[[0, 1], [2, 3]], [NAMED], ["GatherND"]),
    ("x[0, [2, 3]]", lambda x: x[0, [2, 3]], [NAMED], ["GatherND"]),
    (
        "x[i, j]",
        lambda x, i, j: x[i, j],
        [NAMED, INT64["K"], INT64["K"]],
        ["Unsqueeze", "Unsqueeze", "Concat", "GatherND"],
    ),
    ("x[mask], rows", lambda x, mask: x[mask], [NAMED, BOOL["N"]], ["Compress"]),
    ("x[:, mask]", lambda x, mask: x[:, mask], [NAMED, BOOL["M"]], ["Compress"]),
    ("x[mask], all", lambda x, mask: x[mask], [NAMED, BOOL["N", "M"]], ["Reshape", "Compress"]),
    ("x[x > 0]", lambda x: x[x > 0], [NAMED], ["Greater", "Reshape", "Compress"]),
    ("x[[True, False, True]]", lambda x: x[[True, False, True]], [MATRIX], ["Gather"]),
    ("rankless x[0]", lambda x: x[0], [RANKLESS], ["Gather"]),
    ("rankless x[1:]", lambda x: x[1:], [RANKLESS], ["Slice"]),
    ("rankless x[..., 0]", lambda x: x[..., 0], [RANKLESS], ["Gather"]),
    ("rankless x[..., 1:, None]", lambda x: x[..., 1:, None], [RANKLESS], ["Slice", "Unsqueeze"]),
]

METHODS: list[tuple[str, Callable[..., Any], list[Any], list[str]]] = [
    ("x.T", lambda x: x.T, [NAMED], ["Transpose"]),
    ("x.sum()", lambda x: x.sum(), [NAMED], ["ReduceSum"]),
    ("x.mean(-1)", lambda x: x.mean(axis=-1, keepdims=True), [NAMED], ["ReduceMean"]),
    ("x.max(-1)", lambda x: x.max(axis=-1), [NAMED], ["ReduceMax"]),
    ("x.argmax(-1)", lambda x: x.argmax(axis=-1), [NAMED], ["ArgMax"]),
    ("x.clip(0, 1)", lambda x: x.clip(0, 1), [NAMED], ["Clip"]),
    ("x.reshape(2, -1)", lambda x: x.reshape(2, -1), [NAMED], ["Reshape"]),
    ("x.astype(INT64)", lambda x: x.astype(INT64), [NAMED], ["Cast"]),
    ("x.astype(FLOAT)", lambda x: x.astype(FLOAT), [NAMED], ["Identity"]),
    ("x + 1", lambda x: x + 1, [NAMED], ["Add"]),
    ("n // 2", lambda x: x // 2, [INT64], ["Div", "Mul", "Less", "Cast", "Sub"]),
    ("n % 2", lambda x: x % 2, [INT64], ["Mod"]),
    ("x ** 2", lambda x: x**2, [NAMED], ["Pow"]),
    ("n ** 2", lambda x: x**2, [INT64], ["Mul"]),
    ("x <= 0", lambda x: x <= 0, [NAMED], ["LessOrEqual"]),
]

UPDATES: list[tuple[str, Callable[..., Any], list[Any], list[str]]] = [
    ("set a row", lambda x, v: x.at[0].set(v), [MATRIX, FLOAT[4]], ["ScatterND"]),
    ("set a row, open", lambda x, v: x.at[0].set(v), [NAMED, FLOAT["M"]], ["ScatterND"]),
    (
        "add to rows",
        lambda x, i, v: x.at[i].add(v),
        [NAMED, INT64["K"], FLOAT["K", "M"]],
        ["Unsqueeze", "ScatterND"],
    ),
    ("set where", lambda x: x.at[x < 0].set(0.0), [NAMED], ["Less", "Where"]),
    ("add where", lambda x: x.at[x < 0].add(1.0), [NAMED], ["Less", "Add", "Where"]),
    (
        "set where, truth values",  # ONNX Runtime's Where does not choose truth values
        lambda x, mask: x.at[mask].set(True),
        [BOOL["N"], BOOL["N"]],
        ["And", "Not", "And", "Or"],
    ),
    ("set columns", lambda x, v: x.at[:, 1:3].set(v), [MATRIX, FLOAT[3, 2]], ["ScatterND"]),
]

ALL_CASES = INDEXING + METHODS + UPDATES


@pytest.mark.parametrize(
    ("function", "types", "expected"), [each[1:] for each in ALL_CASES], ids=[n[0] for n in ALL_CASES]
)
def test_operators(function: Callable[..., Any], types: list[Any], expected: list[str]) -> None:
    assert nodes(trace(function, *types)) == expected


def test_dimensions_that_nobody_looks_at_make_no_nodes() -> None:
    def program(x: Any) -> Any:
        assert len(x.shape) == 2
        assert x.shape != (1, 2, 3)
        return x + 1.0

    assert nodes(trace(program, NAMED)) == ["Add"]


def test_a_dimension_is_read_once() -> None:
    def program(x: Any) -> Any:
        return x * x.shape[0] + x.shape[0] + x.shape[1]

    # Two dimensions, one Shape; the casts are those of a number that meets floats.
    assert nodes(trace(program, NAMED)).count("Shape") == 1
    assert nodes(trace(program, NAMED)).count("Gather") == 2


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x.reshape(x.shape[0], x.shape[1], 2, 2), [0, 0, 2, 2]),
        (lambda x: x.reshape(x.shape[0] * x.shape[1], 4), [-1, 4]),
        (lambda x: x.reshape(*x.shape[:-1], 2, 2), [0, 0, 2, 2]),
        (lambda x: x.reshape(x.shape[0], -1), [0, -1]),
    ],
)
def test_a_shape_that_follows_from_the_input_is_a_constant(
    function: Callable[[Any], Any], expected: list[int]
) -> None:
    model = trace(function, FLOAT["B", "T", 4])
    reshape = next(node for node in model.ir.graph if node.op_type == "Reshape")
    assert reshape.inputs[1].const_value.numpy().tolist() == expected


def test_a_mask_made_of_numbers_known_now_is_a_constant() -> None:
    keep = np.array([True, False, True, True])
    assert nodes(trace(lambda x: x[:, keep], NAMED)) == ["Gather"]


OLD_FORMS: list[tuple[str, Callable[..., Any], int, list[str]]] = [
    ("unsqueeze", lambda x: x[None], 11, ["Unsqueeze"]),
    ("squeeze", lambda x: x[:1].squeeze(0), 11, ["Slice", "Squeeze"]),
    ("sum", lambda x: x.sum(axis=0), 11, ["ReduceSum"]),
    ("max", lambda x: x.max(axis=0), 13, ["ReduceMax"]),
    ("slice", lambda x: x[1:], 9, ["Slice"]),
    ("clip", lambda x: x.clip(0, 1), 10, ["Clip"]),
    ("gather", lambda x: x[0], 9, ["Gather"]),
    ("le", lambda x: x <= 0, 11, ["Less", "Equal", "Or"]),
    ("two places", lambda x: x[0, 1], 10, ["Gather", "Gather"]),
]


@pytest.mark.parametrize(
    ("function", "version", "expected"), [each[1:] for each in OLD_FORMS], ids=[n[0] for n in OLD_FORMS]
)
def test_old_opsets(function: Callable[..., Any], version: int, expected: list[str]) -> None:
    """What changed its form between opset versions is called as the graph's version wants it."""
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    model = trace(function, MATRIX, opset_version=version)
    assert nodes(model) == expected
    np.testing.assert_array_equal(model(array), np.asarray(function(array)))
