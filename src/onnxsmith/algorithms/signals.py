"""Convolutions of two vectors, and values between points."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field, where
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.searching import places_for
from onnxsmith.algorithms.values import converted, counted, dtype_of, like, size_of
from onnxsmith.types.dtypes import DType

#: Sums that are found together, at the least: with fewer the matrices are too narrow to multiply fast.
_BLOCK = 16


def convolved(x: Field, y: Field) -> Field:
    """The sums of all products of elements whose places add up to the same, one for each such sum."""
    if not x.dtype.is_float:
        return _by_blocks(x, y)
    # Blocks multiply by zeros what has no part in a sum, which is nothing only where all is finite.
    nothing = [op.ReduceSum(part * 0) for each in (x, y) for part in each.parts()]
    is_finite = op.Equal(op.Sum(*nothing), 0)
    choose = cast("Callable[..., Tensor | tuple[Tensor, Tensor]]", op.If)
    made = choose(
        is_finite,
        then_branch=lambda: tuple(_by_blocks(x, y).parts()),
        else_branch=lambda: tuple(_by_pairs(x, y).parts()),
    )
    return Field(*made) if isinstance(made, tuple) else Field(made)


def _by_blocks(x: Field, y: Field) -> Field:
    """Products of matrices: each row has all elements that a block of sums needs, each column the weights of one."""
    n, m = op.Shape(x.re), op.Shape(y.re)
    one = np.array([1])
    root = converted(op.Floor(op.Sqrt(converted(m, DType.DOUBLE))), DType.INT64)
    block = op.Max(root, np.array([_BLOCK]))
    before = m + (_first(n) + _first(m)) - one
    sums = n + before
    rows = op.Div(sums + (block - one), block)
    width = op.Div(before + (block - one), block) + one  # of a row, in blocks
    size = width * block
    blocks = rows + width - one
    after = blocks * block - sums
    places = _range(rows, 1) + _range(width, 0)

    def lined_up(part: Tensor) -> Tensor:
        padded = op.Pad(part, op.Concat(before, after, axis=0))
        taken = op.Gather(op.Reshape(padded, op.Concat(blocks, block, axis=0)), places)
        return op.Reshape(taken, op.Concat(rows, size, axis=0))

    def weights(part: Tensor) -> Tensor:
        backwards = op.Slice(part, [-1], [np.iinfo(np.int64).min], [0], [-1])
        # Copies that are one longer than a row: each row begins one later in them.
        end = size + one - m
        copies = op.Tile(op.Pad(backwards, op.Concat(np.array([0]), end, axis=0)), block)
        whole = op.Slice(copies, [0], block * size, [0])
        return op.Transpose(op.Reshape(whole, op.Concat(block, size, axis=0)), perm=[1, 0])

    found = x.map(lined_up) @ y.map(weights)
    return found.map(lambda part: op.Slice(op.Reshape(part, [-1]), [0], sums, [0]))


def _first(size: Tensor) -> Tensor:
    """0, the place of the first element; where there is none the model fails, as numpy refuses it."""
    return op.Gather(op.Range(np.int64(0), op.Squeeze(op.Min(size, np.array([1])), [0]), np.int64(1)), [0])


def _range(count: Tensor, axis: int) -> Tensor:
    return op.Unsqueeze(op.Range(np.int64(0), op.Squeeze(count, [0]), np.int64(1)), [axis])


def _by_pairs(x: Field, y: Field) -> Field:
    """Each pair by itself: a row for each sum, with where the other one of each pair stands, or outside."""
    n, m = op.Shape(x.re), op.Shape(y.re)
    full = n + m - np.array([1])
    place = _range(full, 1) - op.Unsqueeze(counted(size_of(y.re, 0)), [0])
    is_inside = (place >= 0) & (place < n)
    safe = op.Where(is_inside, place, np.int64(0))
    pairs = x.map(op.Gather, safe) * y
    inside = pairs.map(lambda part: op.Where(is_inside, part, like(0, part)))
    return inside.map(op.ReduceSum, [1], keepdims=0)


def between_points(
    x: Tensor, points: Tensor, heights: Field, left: Field | None, right: Field | None
) -> Field:
    """Linear interpolation at `x` between points in order; left and right of them the given values, or the ends."""
    last = op.Shape(points) - np.array([1])
    end = op.Squeeze(last, [0])
    place = places_for(points, x, right=True) - 1
    lower = op.Min(op.Max(place, np.int64(0)), end)
    upper = op.Min(lower + 1, end)
    # At the last point, and only there, the line is the one before it.
    before = op.Max(upper - 1, 0)
    x0, x1, start = (op.Gather(points, each) for each in (lower, upper, before))
    is_known = op.Equal(x, x0) | op.Equal(lower, end)

    def line(part: Tensor) -> Tensor:
        y0, y1, first = (op.Gather(part, each) for each in (lower, upper, before))
        slope = op.Div(y1 - first, x1 - start)
        found = slope * (x - x0) + y0
        # From the other end, where the first one is infinite.
        found = op.Where(op.IsNaN(found), slope * (x - x1) + y1, found)
        found = op.Where(op.IsNaN(found) & op.Equal(y0, y1), y0, found)
        # A height that the line has already is left to it, with its slope.
        return op.Where(is_known & ~op.Equal(found, y0), y0, found)

    found = heights.map(line)
    first = heights.map(op.Gather, np.int64(0))
    final = heights.map(op.Gather, end)
    found = where(place < 0, first if left is None else left, found)
    beyond = x > op.Gather(points, end)
    found = where(beyond, final if right is None else right, found)
    # Of a single point, nothing is left or right that is no number: it counts as being there.
    holes = op.IsNaN(x) & (end > 0)
    return where(holes, Field(x), found)


def wide_whole(x: Field) -> Field:
    """Whole numbers in 64 bits, in which products have kernels; they wrap around as in fewer."""
    dtype = dtype_of(x.re)
    return x if dtype.is_float else Field(converted(x.re, DType.INT64))
