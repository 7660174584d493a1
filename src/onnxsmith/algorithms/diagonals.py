"""Diagonals of planes: taken out, written into, and planes that are zero beside one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import (
    Size,
    axis_of,
    cast,
    constant,
    counted,
    dimensions_of,
    expand,
    greatest,
    has_zero,
    least,
    like,
    rank_of,
    reshape,
    size_of,
    sizes_of,
)
from onnxsmith.algorithms.windows import padded
from onnxsmith.types.dtypes import DType


def planes_of(x: Tensor, dim1: int, dim2: int) -> tuple[Tensor, list[int]]:
    """A tensor with two dimensions moved to the end, and the order that did it."""
    rank = rank_of(x)
    first, second = axis_of(dim1, rank), axis_of(dim2, rank)
    order = [*(k for k in range(rank) if k not in (first, second)), first, second]
    return (x if order == sorted(order) else op.Transpose(x, perm=order)), order


def moved_back(x: Tensor, order: Sequence[int]) -> Tensor:
    """The dimensions where they were before `order` moved them."""
    if list(order) == sorted(order):
        return x
    return op.Transpose(x, perm=[order.index(k) for k in range(len(order))])


def _on_diagonal(length: Size, columns: Size, offset: int) -> Tensor:
    """The places of a diagonal in a plane of so many columns, counted row by row."""
    row, column = max(-offset, 0), max(offset, 0)
    if isinstance(length, int) and isinstance(columns, int):
        return constant(row * columns + column + np.arange(length, dtype=np.int64) * (columns + 1))
    start, step = cast(row * columns + column, DType.INT64), cast(columns + 1, DType.INT64)
    return counted(length) * step + start


def length_of(rows: Size, columns: Size, offset: int) -> Size:
    """How many elements a diagonal of a plane has."""
    return greatest(least(rows + min(offset, 0), columns - max(offset, 0)), 0)


@algorithm(by_size=True)
def diagonal(x: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1, length: Size | None = None) -> Tensor:
    """The diagonals of planes in the last dimension. Their length, which is computed, may be given."""
    planes, _ = planes_of(x, dim1, dim2)
    *batch, rows, columns = sizes_of(planes)
    if length is None:
        length = length_of(rows, columns, offset)
    flat = reshape(planes, [*batch, rows * columns])
    return op.Gather(flat, _on_diagonal(length, columns, offset), axis=len(batch))


@algorithm(by_size=True)
def diagonal_scatter(x: Tensor, source: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A tensor with other elements on the diagonals of its planes."""
    planes, order = planes_of(x, dim1, dim2)
    *batch, rows, columns = sizes = sizes_of(planes)
    if has_zero(sizes) or 0 in dimensions_of(source):
        return x
    places = _on_diagonal(size_of(source, rank_of(source) - 1), columns, offset)
    index = expand(places, sizes_of(source))
    flat = op.ScatterElements(reshape(planes, [*batch, rows * columns]), index, source, axis=len(batch))
    return moved_back(reshape(flat, sizes), order)


@algorithm(by_size=True)
def embedded(x: Tensor, offset: int = 0) -> Tensor:
    """Vectors as diagonals of planes that are zero elsewhere, in the last two dimensions."""
    last = rank_of(x) - 1
    size = size_of(x, last) + abs(offset)
    if offset:
        x = padded(x, [0], [abs(offset)])
    lines = op.Unsqueeze(x, [-1 if offset >= 0 else -2])
    return op.Where(_is_on_diagonal(size, offset), lines, like(0, x))


def _is_on_diagonal(size: Size, offset: int) -> Tensor:
    if isinstance(size, int):
        return constant(np.eye(size, k=offset, dtype=np.bool_))
    places = counted(size)
    return op.Equal(op.Unsqueeze(places, [1]) + np.array(offset), op.Unsqueeze(places, [0]))
