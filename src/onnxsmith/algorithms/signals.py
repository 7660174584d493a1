"""Convolutions of two vectors, and values between points."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field, where
from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.searching import places_for
from onnxsmith.algorithms.values import converted, counted, dtype_of, like, size_of
from onnxsmith.core.value import TensorValue
from onnxsmith.types.dtypes import DType


def convolved(x: Field, y: Field) -> Field:
    """The sums of all products of elements whose places add up to the same, one for each such sum."""
    n, m = op.Shape(x.re), op.Shape(y.re)
    full = op.Sub(op.Add(n, m), np.array([1]))
    # A row for each sum: where the other one of each pair stands, or outside.
    sums = op.Unsqueeze(op.Range(np.int64(0), op.Squeeze(full, [0]), np.int64(1)), [1])
    place = op.Sub(sums, op.Unsqueeze(counted(size_of(y.re, 0)), [0]))
    is_inside = op.And(op.GreaterOrEqual(place, np.int64(0)), op.Less(place, n))
    safe = op.Where(is_inside, place, np.int64(0))
    rows = x.map(lambda part: op.Where(is_inside, op.Gather(part, safe), like(0, part)))
    column = y.map(lambda part: op.Unsqueeze(part, [1]))
    return (rows @ column).map(lambda part: op.Squeeze(part, [1]))


def between_points(
    x: TensorValue, points: TensorValue, heights: Field, left: Field | None, right: Field | None
) -> Field:
    """What lies at `x` on straight lines between points in order; left and right of them what is said, or the ends."""
    last = op.Sub(op.Shape(points), np.array([1]))
    end = op.Squeeze(last, [0])
    place = op.Sub(places_for(points, x, right=True), np.int64(1))
    lower = op.Min(op.Max(place, np.int64(0)), end)
    upper = op.Min(op.Add(lower, np.int64(1)), end)
    x0, x1 = op.Gather(points, lower), op.Gather(points, upper)

    def line(part: TensorValue) -> TensorValue:
        y0, y1 = op.Gather(part, lower), op.Gather(part, upper)
        slope = op.Div(op.Sub(y1, y0), op.Sub(x1, x0))
        found = op.Add(op.Mul(slope, op.Sub(x, x0)), y0)
        # From the other end, where the first one is infinite.
        found = op.Where(op.IsNaN(found), op.Add(op.Mul(slope, op.Sub(x, x1)), y1), found)
        found = op.Where(op.And(op.IsNaN(found), op.Equal(y0, y1)), y0, found)
        return op.Where(op.Or(op.Equal(x, x0), op.Equal(lower, end)), y0, found)

    found = heights.map(line)
    first = heights.map(lambda part: op.Gather(part, np.int64(0)))
    final = heights.map(lambda part: op.Gather(part, end))
    found = where(op.Less(place, np.int64(0)), first if left is None else left, found)
    beyond = op.Greater(x, op.Gather(points, end))
    found = where(beyond, final if right is None else right, found)
    # Of a single point, nothing is left or right that is no number: it counts as being there.
    holes = op.And(op.IsNaN(x), op.Greater(end, np.int64(0)))
    return where(holes, Field(x), found)


def wide_whole(x: Field) -> Field:
    """Whole numbers in 64 bits, in which products have kernels; they wrap around as in fewer."""
    dtype = dtype_of(x.re)
    return x if dtype.is_float else Field(converted(x.re, DType.INT64))
