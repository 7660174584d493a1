"""How many elements fall into each bin: `histogram`, in several dimensions, its edges; and `bincount`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from onnxsmith.algorithms import extremes, reductions, searching, values
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.core.semantics.number import Number
from onnxsmith.errors import AttributeTypeError, AttributeValueError, InputTypeError, ShapeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_from, array_of, as_type, tensor_of, tensors_of
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.ranges import linspace
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.reductions import is_empty
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import require, require_at_least, require_same, require_same_shape
from onnxsmith.numpy.sharing import detached
from onnxsmith.numpy.sizes import Size, size_of
from onnxsmith.numpy.sorting import flat
from onnxsmith.numpy.statistics import mean_type
from onnxsmith.types.dtypes import DType

#: The two ends of all bins.
Ends = tuple[float, float]


# -- edges -----------------------------------------------------------------------------------------------


@recorded("bins")
def _edges_of(x: Array, bins: Size, dtype: NumpyDType) -> Array:
    """The edges of equal bins between the extremes of the data; around a single value, and of nothing from 0 to 1."""
    row = tensor_of(x)
    kind = dtypes.onnx_type(mean_type(x.dtype))
    some = values.flat(values.converted(row, kind))
    is_empty = op.Equal(op.Size(some), 0)
    low, high = (extremes.extreme(Field(some), [0], False, is_max=each).re for each in (False, True))
    zero, one, half = (values.like(each, some) for each in (0, 1, 0.5))
    low, high = op.Where(is_empty, zero, low), op.Where(is_empty, one, high)
    step = op.Where(op.Equal(low, high), half, zero)
    low, high = low - step, high + step
    return cast(Array, linspace(array_from(low), array_from(high), cast(Size, bins + 1), dtype=dtype))


@recorded("bins")
def _edges_between(low: Array, high: Array, bins: Size, dtype: NumpyDType) -> Array:
    return cast(Array, linspace(low, high, cast(Size, bins + 1), dtype=dtype))


def _ends(given: ArrayLike | None) -> Ends | None:
    if given is None:
        return None
    try:
        low, high = (float(each) for each in cast("Sequence[float]", given))
    except (TypeError, ValueError):
        raise AttributeTypeError(
            "range is two numbers, the lower end and the upper one", culprit=("attribute", "range")
        ) from None
    if low > high:
        raise AttributeValueError("range begins with the lower end", culprit=("attribute", "range"))
    if not np.isfinite([low, high]).all():
        raise AttributeValueError("the ends of a range are finite", culprit=("attribute", "range"))
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _edges(x: Array, bins: object, ends: Ends | None) -> Array:
    """The edges as a vector: those given, or those of equal bins."""
    if isinstance(bins, str):
        raise AttributeValueError(
            f"the rule {bins!r} for bins is not there",
            help="give the number of bins, or their edges",
            culprit=("attribute", "bins"),
        )
    given = bins if isinstance(bins, int | Number) else array_of(bins)
    if isinstance(given, Array) and given.ndim == 1:
        _check_rising(given)
        return given
    if isinstance(given, Array) and given.ndim > 1:
        raise AttributeValueError("edges have one dimension", culprit=("attribute", "bins"))
    count = size_of(given, "bins")
    if isinstance(count, int) and count < 1:
        raise AttributeValueError("there is at least one bin", culprit=("attribute", "bins"))
    require_at_least(count, 1, ValueError("`bins` must be positive, when an integer"))
    dtype = mean_type(x.dtype)
    if ends is not None:
        low, high = (Array(np.asarray(each)) for each in ends)
        return _strict(_edges_between(low, high, count, dtype))
    if not x.is_symbolic and x.dtype.kind == "f" and not np.isfinite(np.asarray(x)).all():
        raise AttributeValueError(
            "the data are not finite, and bins between their extremes do not exist",
            help="give the ends: range=(low, high)",
        )
    if x.is_symbolic and x.dtype.kind == "f":
        require(
            lambda: cast(Array, np.isfinite(x)),
            ValueError("the range of the data that is found is not finite"),
        )
    return _strict(_edges_of(x, count, dtype))


def _strict(edges: Array) -> Array:
    """Edges of equal bins, which rise unless there are more than the element type tells apart."""
    if not edges.is_symbolic:
        known = np.asarray(edges)
        if (known[:-1] >= known[1:]).any():
            raise AttributeValueError(
                "there are more bins than numbers between the ends", culprit=("attribute", "bins")
            )
        return edges
    require(
        lambda: ~(edges[:-1] >= edges[1:]),
        ValueError("Too many bins for data range. Cannot create as many finite-sized bins."),
    )
    return edges


def _check_rising(edges: Array) -> None:
    if not edges.is_symbolic and (np.asarray(edges)[:-1] > np.asarray(edges)[1:]).any():
        raise AttributeValueError("edges rise", culprit=("attribute", "bins"))
    if edges.is_symbolic:
        require(
            lambda: ~(edges[:-1] > edges[1:]),
            ValueError("`bins` must increase monotonically, when an array"),
        )


# -- counts ----------------------------------------------------------------------------------------------


def _bin_of(x: Tensor, edges: Tensor) -> tuple[Tensor, Tensor]:
    """The bin of each element, and whether there is one; the last edge belongs to the last bin."""
    last = op.Size(edges) - 1
    place = searching.places_for(edges, x, right=True) - 1
    # Behind a zero: of no edges there is no last one, and nothing lies before it.
    behind = op.Concat(op.Expand(values.literal(0, values.dtype_of(edges)), [1]), edges, axis=0)
    end = op.Gather(behind, last + 1)
    is_inside = (place >= 0) & (x <= end)
    return op.Min(place, last - 1), is_inside


def _added(place: Tensor, count: Tensor, weights: Field | None, dtype: DType) -> Field:
    """The sum of the elements for each of `count` places; places beyond are left out."""
    shape = op.Reshape(count + 1, [1])
    if weights is None:
        weights = Field(op.Expand(values.literal(1, dtype), op.Shape(place)))

    def add(part: Tensor) -> Tensor:
        zeros = op.Expand(values.literal(0, dtype), shape)
        total = op.ScatterElements(zeros, place, values.converted(part, dtype), axis=0, reduction="add")
        return op.Slice(total, [0], [-1], [0])

    return weights.map(add)


@recorded()
def _counted(
    points: list[Array], edges: list[Array], weights: Array | None, dtypes_: list[NumpyDType], density: bool
) -> Array:
    """Points, given by their coordinates, counted between edges along each."""
    place: Tensor | None = None
    is_inside: Tensor | None = None
    sizes: list[Tensor] = []
    for x, edge, dtype in zip(points, edges, dtypes_, strict=True):
        kind = dtypes.onnx_type(dtype)
        found, fits = _bin_of(values.converted(tensor_of(x), kind), values.converted(tensor_of(edge), kind))
        count = op.Max(op.Size(tensor_of(edge)) - 1, 0)
        place = found if place is None else place * count + found
        is_inside = fits if is_inside is None else is_inside & fits
        sizes.append(op.Reshape(count, [1]))
    assert place is not None  # there is at least one coordinate
    assert is_inside is not None
    shape = op.Concat(*sizes, axis=0) if len(sizes) > 1 else sizes[0]
    count = op.ReduceProd(shape, keepdims=0)
    place = op.Where(is_inside, place, count)
    if weights is None:
        made = _added(place, count, None, DType.INT64)
    else:
        made = _added(place, count, tensors_of(weights), DType.DOUBLE)
        if not density:
            made = made.cast(dtypes.onnx_type(weights.dtype))
    made = made.map(op.Reshape, shape, allowzero=1) if len(sizes) > 1 else made
    if not density:
        return array_from(made)
    made = made.cast(DType.DOUBLE)
    every = reductions.total(made, list(range(len(sizes))), False)
    for axis, edge in enumerate(edges):
        at = tensor_of(edge)
        width = op.Slice(at, [1], [np.iinfo(np.int64).max]) - op.Slice(at, [0], [-1])
        column = values.as_column(values.converted(width, DType.DOUBLE), axis, len(sizes))
        made = made.map(op.Div, column)
    return array_from(made / every)


def _real(x: Array) -> Array:
    if x.dtype.kind == "c":
        raise InputTypeError("complex numbers fall into no bins")
    return as_type(x, np.dtype(np.uint8)) if x.dtype.kind == "b" else x


@public("histogram")
def histogram(
    a: ArrayLike,
    bins: ArrayLike = 10,
    range: ArrayLike | None = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[Array, Array]:
    """How many elements fall into each bin, or the sums of their weights there; and the edges of the bins.

    `bins` is the number of equal bins, between the extremes of the data or the ends of a `range`, or their edges.

    >>> import onnxsmith.numpy as xp
    >>> xp.histogram(xp.asarray([1, 2, 1]), bins=xp.asarray([0, 1, 2, 3]))
    (Array([0, 2, 1]), Array([0, 1, 2, 3]))
    """
    array = _real(array_of(a))
    given = None if weights is None else array_of(weights)
    if given is not None:
        is_known = not (given.is_symbolic or array.is_symbolic)
        if given.ndim != array.ndim or (is_known and given.shape != array.shape):
            raise ShapeError("there is one weight for each element")
        require_same_shape(given, array, ValueError("weights should have the same shape as a."))
    x = flat(array)
    edges = _edges(x, bins, _ends(range))
    dtype = np.promote_types(x.dtype, edges.dtype)
    found = _counted([x], [edges], None if given is None else flat(given), [dtype], bool(density))
    return found, edges


@public("histogram_bin_edges")
def histogram_bin_edges(
    a: ArrayLike, bins: ArrayLike = 10, range: ArrayLike | None = None, weights: ArrayLike | None = None
) -> Array:
    """The edges of the bins that `histogram` counts in.

    >>> import onnxsmith.numpy as xp
    >>> xp.histogram_bin_edges(xp.asarray([0.0, 4.0]), bins=4)
    Array([0., 1., 2., 3., 4.])
    """
    return _edges(flat(_real(array_of(a))), bins, _ends(range))


@public("histogramdd")
def histogramdd(
    sample: ArrayLike,
    bins: ArrayLike = 10,
    range: Sequence[object] | None = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[Array, list[Array]]:
    """How many points, the rows of `sample`, fall into each box; and the edges of the boxes along each coordinate.

    >>> import onnxsmith.numpy as xp
    >>> counts, edges = xp.histogramdd(xp.asarray([[0.1, 0.2], [0.9, 0.8]]), bins=2)
    >>> counts
    Array([[1., 0.],
           [0., 1.]])
    """
    points = _coordinates(sample)
    each_bins = _for_each(bins, len(points), "bins")
    each_range = [None] * len(points) if range is None else list(range)
    if len(each_range) != len(points):
        raise AttributeValueError(f"there are {len(points)} coordinates", culprit=("attribute", "range"))
    edges = [
        edge
        for x, bin_, ends in zip(points, each_bins, each_range, strict=True)
        # Ends that are found in the data have their type, and Python's numbers that of Python's floats.
        for edge in (
            _edges(
                x if ends is None and x.dtype.kind == "f" else as_type(x, dtypes.FLOAT64),
                bin_,
                _ends(cast("ArrayLike | None", ends)),
            ),
        )
    ]
    given = None if weights is None else as_type(array_of(weights), dtypes.FLOAT64)
    kinds = [np.promote_types(x.dtype, edge.dtype) for x, edge in zip(points, edges, strict=True)]
    found = _counted(points, edges, given, kinds, bool(density))
    # numpy's are the inner part of an array that counts what lies outside, too.
    return detached(as_type(found, dtypes.FLOAT64), is_plain=found.ndim < 2), edges


def _coordinates(sample: object) -> list[Array]:
    if isinstance(sample, list | tuple) and sample:  # without any there is one coordinate of no points
        return [_real(flat(array_of(each))) for each in cast("Sequence[object]", sample)]
    points = _real(array_of(cast(object, sample)))
    if points.ndim == 1:
        return [points]
    if points.ndim != 2 or not isinstance(points.shape[1], int) or not points.shape[1]:
        raise ShapeError("points are the rows of a matrix, with as many columns as coordinates")
    return [points[:, k] for k in np.arange(points.shape[1])]


def _for_each(bins: object, count: int, name: str) -> list[object]:
    if isinstance(bins, list | tuple):
        items = list(cast("Sequence[object]", bins))
        if len(items) != count:
            raise AttributeValueError(f"there are {count} coordinates", culprit=("attribute", name))
        return items
    return [bins] * count


@public("histogram2d")
def histogram2d(
    x: ArrayLike,
    y: ArrayLike,
    bins: ArrayLike = 10,
    range: Sequence[object] | None = None,
    density: bool | None = None,
    weights: ArrayLike | None = None,
) -> tuple[Array, Array, Array]:
    """How many points fall into each rectangle; and the edges along both coordinates.

    >>> import onnxsmith.numpy as xp
    >>> counts, _, _ = xp.histogram2d(xp.asarray([0.1, 0.9]), xp.asarray([0.2, 0.8]), bins=2)
    >>> counts
    Array([[1., 0.],
           [0., 1.]])
    """
    points = [array_of(each) for each in (x, y)]
    for each in points:
        if each.ndim != 1:
            raise (ShapeError if each.ndim else InputTypeError)(
                f"coordinates are two vectors, and this has {each.ndim} dimensions"
            )
    counts = [each.shape[0] for each in points]
    if all(isinstance(each, int) for each in counts) and counts[0] != counts[1]:
        raise ShapeError(f"there are {counts[0]} coordinates along one axis, and {counts[1]} along the other")
    require_same(counts[0], counts[1], ValueError("x and y must have the same length."))
    pair: ArrayLike = [bins, bins]
    if isinstance(bins, list | tuple):
        pair = bins if len(bins) == 2 else [array_of(bins)] * 2
    found, (first, second) = histogramdd(points, pair, range, density, weights)
    return found, first, second


# -- whole numbers ---------------------------------------------------------------------------------------


@recorded("least")
def _occurrences(x: Array, weights: Array | None, least: Size) -> Array:
    place = values.converted(tensor_of(x), DType.INT64)
    most = op.ReduceMax(op.Concat(place, np.array([-1]), axis=0), [0], keepdims=0)
    count = op.Max(most + 1, values.cast(cast(values.Size, least), DType.INT64))
    if weights is None:
        return array_from(_added(place, count, None, DType.INT64))
    return array_from(_added(place, count, tensors_of(weights), DType.DOUBLE))


@public("bincount")
def bincount(x: ArrayLike, /, weights: ArrayLike | None = None, minlength: ArrayLike = 0) -> Array:
    """How often each whole number from 0 on stands in a vector, or the sums of the weights there.

    >>> import onnxsmith.numpy as xp
    >>> xp.bincount(xp.asarray([0, 2, 2]), minlength=4)
    Array([1, 0, 2, 0])
    """
    numbers = array_of(x)
    if numbers.ndim != 1:
        raise AttributeValueError(f"numbers to count stand in one dimension, not {numbers.ndim}")
    if not isinstance(x, Array) and numbers.dtype.kind == "f" and 0 in numbers.shape:
        numbers = as_type(numbers, dtypes.INT64)  # an empty list has no element type of its own
    if numbers.dtype.kind not in "biu":
        raise AttributeTypeError(f"whole numbers are counted, not {numbers.dtype.name}")
    if not numbers.is_symbolic and (np.asarray(numbers) < 0).any():
        raise AttributeValueError("negative numbers are not counted", culprit=("attribute", "x"))
    if numbers.is_symbolic and numbers.dtype.kind == "i":
        require(lambda: numbers >= 0, ValueError("'list' argument must have no negative elements"))
    # Of no elements numpy counts whole numbers, whatever the weights are.
    given = None if weights is None or is_empty(numbers) else array_of(weights)
    if given is not None:
        if given.dtype.kind == "c":
            raise AttributeTypeError("weights are real numbers")
        is_known = not (given.is_symbolic or numbers.is_symbolic)
        if given.ndim != 1 or (is_known and given.shape != numbers.shape):
            raise ShapeError("there is one weight for each number")
        require_same_shape(given, numbers, ValueError("The weights and list don't have the same length."))
    least = size_of(minlength, "minlength")
    if isinstance(least, int) and least < 0:
        raise AttributeValueError("minlength is not negative", culprit=("attribute", "minlength"))
    return _occurrences(numbers, given, least)
