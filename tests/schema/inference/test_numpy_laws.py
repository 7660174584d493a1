"""Shapes are numpy's: random shapes, some of their sizes named or unknown, against what numpy itself gives.

Each law says two things: a known dimension is the actual one, and a call is refused only where numpy refuses it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from onnxsmith.errors import OnnxsmithError
from onnxsmith.schema.inference import Known
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension, TensorType
from tests.schema.inference.calls import C, call

SIZES = st.integers(0, 5)
SHAPES = st.lists(SIZES, max_size=4).map(tuple)


class Hidden:
    """Shows some sizes as names (one per size, as users write them) and some as unknown."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw
        self.sizes: dict[str, int] = {}

    def tensor(self, shape: tuple[int, ...], dtype: DType = DType.FLOAT) -> Known:
        return Known(TensorType(dtype, tuple(self.dimension(size) for size in shape)))

    def dimension(self, size: int) -> Dimension:
        kind = self.draw(st.sampled_from(("size", "size", "name", "unique", "unknown")))
        if kind == "size":
            return size
        if kind == "unknown":
            return None
        name = f"d{size}" if kind == "name" else f"u{len(self.sizes)}"
        self.sizes[name] = size
        return name

    def agrees(self, known: Known, actual: tuple[int, ...]) -> None:
        assert isinstance(known.type, TensorType)
        if known.type.shape is None:
            return
        values = [
            eval(each, {"min": min, "max": max}, self.sizes) if isinstance(each, str) else each
            for each in known.type.shape
        ]
        assert len(values) == len(actual), (known.type, actual)
        assert all(value in (None, size) for value, size in zip(values, actual, strict=True)), (
            known.type,
            actual,
        )


def check(
    hidden: Hidden, name: str, inputs: list[Known | None], reference: Callable[[], Any], **options: Any
) -> None:
    """numpy's result has the inferred shape; where numpy refuses, anything goes."""
    try:
        expected = reference()
    except (ValueError, IndexError):
        assume(False)
        return
    known = call(name, *inputs, **options)[0]
    hidden.agrees(known, expected.shape)


def related(draw: Callable[[st.SearchStrategy[Any]], Any], shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that often broadcasts with another."""
    kept = [size if draw(st.booleans()) else 1 for size in shape]
    return tuple(kept[draw(st.integers(0, len(kept))) :])


@given(st.data())
def test_broadcasting(data: st.DataObject) -> None:
    left = data.draw(SHAPES)
    right = related(data.draw, left) if data.draw(st.booleans()) else data.draw(SHAPES)
    name = data.draw(st.sampled_from(("Add", "Less", "Pow", "Max")))
    hidden = Hidden(data.draw)
    pair: list[Known | None] = [hidden.tensor(left), hidden.tensor(right)]
    check(hidden, name, pair, lambda: np.zeros(left) + np.zeros(right))


@given(st.data())
def test_broadcasting_is_refused_exactly_where_numpy_refuses(data: st.DataObject) -> None:
    left, right = data.draw(SHAPES), data.draw(SHAPES)
    try:
        expected = np.broadcast_shapes(left, right)
    except ValueError:
        expected = None
    try:
        known = call("Mul", Known(TensorType(DType.FLOAT, left)), Known(TensorType(DType.FLOAT, right)))[0]
    except OnnxsmithError:
        assert expected is None
    else:
        assert known.type == TensorType(DType.FLOAT, expected)


@given(st.data())
def test_where(data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    shapes = [related(data.draw, shape) for _ in range(3)]
    hidden = Hidden(data.draw)
    dtypes = (DType.BOOL, DType.FLOAT, DType.FLOAT)
    inputs: list[Known | None] = [
        hidden.tensor(each, dtype) for each, dtype in zip(shapes, dtypes, strict=True)
    ]
    check(hidden, "Where", inputs, lambda: np.where(*(np.zeros(each) for each in shapes)))


@given(st.data())
def test_matmul(data: st.DataObject) -> None:
    batch, rows, inner, columns = data.draw(SHAPES), data.draw(SIZES), data.draw(SIZES), data.draw(SIZES)
    left: tuple[int, ...] = (*batch, rows, inner)
    right: tuple[int, ...] = (*related(data.draw, batch), inner, columns)
    left = left[-1:] if data.draw(st.booleans()) and not batch else left
    right = right[-2:-1] if data.draw(st.booleans()) else right
    hidden = Hidden(data.draw)
    pair: list[Known | None] = [hidden.tensor(left), hidden.tensor(right)]
    check(hidden, "MatMul", pair, lambda: np.zeros(left) @ np.zeros(right))


@given(st.data())
def test_reshape(data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    array = np.zeros(shape)
    target = list(data.draw(st.permutations(shape)))
    if len(target) > 1 and data.draw(st.booleans()):
        target[:2] = [target[0] * target[1]]
    if target and data.draw(st.booleans()):
        target[data.draw(st.integers(0, len(target) - 1))] = -1
    hidden = Hidden(data.draw)
    content: list[Dimension] = [each if each == -1 else hidden.dimension(each) for each in target]
    vector = Known(TensorType(DType.INT64, (len(target),)), tuple(content))
    check(hidden, "Reshape", [hidden.tensor(shape), vector], lambda: array.reshape(target), allowzero=1)


BOUNDS = st.one_of(st.integers(-7, 7), st.sampled_from((2**31 - 1, 2**63 - 1, -(2**31), -(2**63))))


@given(st.data())
def test_slice(data: st.DataObject) -> None:
    shape = data.draw(SHAPES.filter(len))
    count = data.draw(st.integers(1, len(shape)))
    axes = data.draw(st.permutations(range(len(shape))))[:count]
    starts, ends = ([data.draw(BOUNDS) for _ in axes] for _ in range(2))
    steps = [data.draw(st.sampled_from((1, 1, 2, 3, -1, -2))) for _ in axes]
    index = [slice(None)] * len(shape)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        index[axis] = slice(start, end, step)
    hidden = Hidden(data.draw)
    inputs: list[Known | None] = [hidden.tensor(shape), C(starts), C(ends), C(axes), C(steps)]
    check(hidden, "Slice", inputs, lambda: np.zeros(shape)[tuple(index)])


@given(st.data())
def test_concat(data: st.DataObject) -> None:
    shape = data.draw(SHAPES.filter(len))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    shapes: list[tuple[int, ...]] = []
    for _ in range(data.draw(st.integers(1, 4))):
        each = list(shape)
        each[axis] = data.draw(SIZES)
        shapes.append(tuple(each))
    hidden = Hidden(data.draw)
    inputs: list[Known | None] = [hidden.tensor(each) for each in shapes]
    check(
        hidden, "Concat", inputs, lambda: np.concatenate([np.zeros(each) for each in shapes], axis), axis=axis
    )


@given(st.data())
def test_gather(data: st.DataObject) -> None:
    shape, indices = data.draw(SHAPES.filter(len)), data.draw(SHAPES)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    hidden = Hidden(data.draw)
    inputs: list[Known | None] = [hidden.tensor(shape), hidden.tensor(indices, DType.INT64)]
    check(hidden, "Gather", inputs, lambda: np.take(np.zeros(shape), np.zeros(indices, int), axis), axis=axis)


@given(st.data())
def test_reductions(data: st.DataObject) -> None:
    shape = data.draw(SHAPES.filter(len))
    axes = data.draw(st.lists(st.integers(0, len(shape) - 1), unique=True, min_size=1))
    keepdims = data.draw(st.integers(0, 1))
    hidden = Hidden(data.draw)
    vector = C(axes) if data.draw(st.booleans()) else Known(TensorType(DType.INT64, (len(axes),)))
    check(
        hidden,
        "ReduceSum",
        [hidden.tensor(shape), vector],
        lambda: np.zeros(shape).sum(tuple(axes), keepdims=bool(keepdims)),
        keepdims=keepdims,
    )


@given(st.data())
def test_transpose_expand_dims_squeeze_and_tile(data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    hidden = Hidden(data.draw)
    array = np.zeros(shape)
    order = tuple(data.draw(st.permutations(range(len(shape)))))
    check(hidden, "Transpose", [hidden.tensor(shape)], lambda: array.transpose(order), perm=order)
    axis = data.draw(st.integers(-len(shape) - 1, len(shape)))
    check(hidden, "Unsqueeze", [hidden.tensor(shape), C([axis])], lambda: np.expand_dims(array, axis))
    repeats = [data.draw(st.integers(0, 3)) for _ in shape]
    vector = Known(TensorType(DType.INT64, (len(shape),)), tuple(hidden.dimension(each) for each in repeats))
    check(hidden, "Tile", [hidden.tensor(shape), vector], lambda: np.tile(array, repeats))
    ones = [position for position, size in enumerate(shape) if size == 1]
    check(
        hidden, "Squeeze", [hidden.tensor(shape), C(ones or [0])], lambda: array.squeeze(tuple(ones or [0]))
    )


@given(st.data())
def test_pad_and_expand(data: st.DataObject) -> None:
    shape = data.draw(SHAPES.filter(len))
    hidden = Hidden(data.draw)
    pads = [(data.draw(st.integers(0, 3)), data.draw(st.integers(0, 3))) for _ in shape]
    vector = C([before for before, _ in pads] + [after for _, after in pads], np.int64)
    check(hidden, "Pad", [hidden.tensor(shape), vector], lambda: np.pad(np.zeros(shape), pads))
    target = (*data.draw(SHAPES), *(size if size > 1 else data.draw(SIZES) for size in shape))
    wanted = Known(TensorType(DType.INT64, (len(target),)), tuple(hidden.dimension(each) for each in target))
    check(hidden, "Expand", [hidden.tensor(shape), wanted], lambda: np.broadcast_to(np.zeros(shape), target))
