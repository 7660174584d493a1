"""Elements in order: `sort`, `argsort`, `lexsort`, `partition`, `argpartition`, `searchsorted`, `digitize`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from onnxsmith.algorithms import reductions, searching, sorting, values
from onnxsmith.algorithms.operators import op
from onnxsmith.core.semantics.number import Number
from onnxsmith.errors import AttributeValueError, InputTypeError, ShapeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike, check_choice
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import axis_of
from onnxsmith.numpy.cached_calls import cached_call
from onnxsmith.numpy.conversions import array_from, array_of, as_type, tensor_of, tensors_of
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import Condition, is_within, require, require_same
from onnxsmith.numpy.sizes import Size, sized
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import shapes_differ

_KINDS = (None, "quicksort", "mergesort", "heapsort", "stable")


def flattened(x: Array, axis: object, name: str = "axis") -> tuple[Array, int]:
    """An array and one of its axes; all elements in a row, and that one, for None."""
    if axis is not None:
        return x, axis_of(axis, x.ndim, name)
    return (x if x.ndim == 1 else flat(x)), 0


@recorded()
def flat(x: Array) -> Array:
    """All elements in a row, as an array of its own."""
    return array_from(tensors_of(x).map(values.flat))


def _check_kind(kind: object, order: object, stable: object = None) -> None:
    if kind is not None and stable is not None:
        raise AttributeValueError(
            "kind and stable say the same, and both are given", culprit=("attribute", "stable")
        )
    if kind not in _KINDS:
        raise AttributeValueError(
            f"there is no way of sorting {kind!r}", help="all are stable here", culprit=("attribute", "kind")
        )
    if order is not None:
        raise AttributeValueError("arrays have no fields to be in order of", culprit=("attribute", "order"))


@recorded()
def _sorted(x: Array, axis: int, descending: bool) -> Array:
    return array_from(sorting.ordered(tensors_of(x), axis, descending=descending))


@recorded()
def order_of(x: Array, axis: int, descending: bool = False) -> Array:
    """Where the elements stand that come first, second, …, along an axis."""
    return array_from(sorting.order(tensors_of(x), axis, descending=descending))


@public("sort")
@cached_call()
def sort(
    a: ArrayLike,
    axis: int | None = -1,
    kind: str | None = None,
    order: ArrayLike | None = None,
    *,
    stable: bool | None = None,
    descending: bool = False,
) -> Array:
    """The elements in order along an axis, or all of them for None; NaN comes last. It is always stable.

    >>> import onnxsmith.numpy as xp
    >>> xp.sort(xp.asarray([3, 1, 2]))
    Array([1, 2, 3])
    """
    _check_kind(kind, order, stable)
    x, along = flattened(array_of(a), axis)
    return _sorted(x, along, bool(descending))


@public("argsort")
@cached_call()
def argsort(
    a: ArrayLike,
    axis: int | None = -1,
    kind: str | None = None,
    order: ArrayLike | None = None,
    *,
    stable: bool | None = None,
    descending: bool = False,
) -> Array:
    """Where the elements stand that are in order along an axis; equal ones keep theirs.

    >>> import onnxsmith.numpy as xp
    >>> xp.argsort(xp.asarray([3, 1, 2]))
    Array([1, 2, 0])
    """
    _check_kind(kind, order, stable)
    given = array_of(a)
    if given.ndim == 0 and axis in (-1, 0):
        axis = None  # as numpy, which counts one dimension here
    x, along = flattened(given, axis)
    return order_of(x, along, bool(descending))


@recorded()
def _ordered_by(keys: list[Array], axis: int) -> Array:
    parts = [part for each in keys for part in sorting.sort_keys(tensors_of(each))]
    return array_from(sorting.order_by(parts, axis))


@public("lexsort")
def lexsort(keys: ArrayLike, axis: int = -1) -> Array:
    """The order by several keys, the last of which decides first.

    >>> import onnxsmith.numpy as xp
    >>> xp.lexsort((xp.asarray([2, 1, 3]), xp.asarray([0, 1, 0])))
    Array([0, 2, 1])
    """
    if isinstance(keys, list | tuple):
        given = [array_of(each) for each in cast("Sequence[object]", keys)]
    else:
        given = list(array_of(keys))
    if not given:
        raise InputTypeError("an order needs at least one key")
    if any(each.ndim != given[0].ndim for each in given):
        raise ShapeError("all keys have one shape")
    for each in given:
        if shapes_differ(each.shape, given[0].shape):
            raise ShapeError(f"all keys have one shape, and there are {given[0].shape} and {each.shape}")
    if given[0].ndim == 0:
        axis_of(axis, 1)  # as numpy, which counts one dimension here
        return _ordered_by([flat(each) for each in given], 0)[0]
    return _ordered_by(given, axis_of(axis, given[0].ndim))


@public("sort_complex")
def sort_complex(a: ArrayLike) -> Array:
    """The elements in order along the last axis, as complex numbers.

    >>> import onnxsmith.numpy as xp
    >>> xp.sort_complex(xp.asarray([2, 1]))
    Array([1.+0.j, 2.+0.j])
    """
    x = sort(a)
    narrow = x.dtype.kind in "iu" and x.dtype.itemsize <= 2  # as numpy has it
    return x if x.dtype.kind == "c" else as_type(x, dtypes.COMPLEX64 if narrow else dtypes.COMPLEX128)


def _check_places(x: Array, kth: object, axis: int) -> None:
    if array_of(kth).dtype.kind not in "iu":
        raise InputTypeError("kth is of integers")
    size = x.shape[axis]
    if isinstance(size, Number) or (isinstance(kth, Array) and kth.is_symbolic):
        # All elements are in order, wherever the places are; but there have to be such places.
        end = cast(Size, size)
        require(
            lambda: is_within(array_of(kth), -end, end) | op.Equal(sized(end), np.int64(0)),
            ValueError("kth out of bounds"),
        )
        return
    for each in np.asarray(kth).reshape(-1):
        if isinstance(size, int) and not -size <= each < size:
            raise AttributeValueError(
                f"kth is {each}, and the axis has {size} elements", culprit=("attribute", "kth")
            )


@public("partition")
def partition(
    a: ArrayLike,
    kth: ArrayLike,
    axis: int | None = -1,
    kind: str = "introselect",
    order: ArrayLike | None = None,
) -> Array:
    """The elements with those at `kth` in their places, and no greater one before them: all in order, here.

    >>> import onnxsmith.numpy as xp
    >>> xp.partition(xp.asarray([3, 1, 2]), 0)[0]
    Array(1)
    """
    _check_kind(None, order)
    x, along = flattened(array_of(a), axis)
    _check_places(x, kth, along)
    return _sorted(x, along, False)


@public("argpartition")
def argpartition(
    a: ArrayLike,
    kth: ArrayLike,
    axis: int | None = -1,
    kind: str = "introselect",
    order: ArrayLike | None = None,
) -> Array:
    """Where the elements stand that `partition` puts in place.

    >>> import onnxsmith.numpy as xp
    >>> xp.argpartition(xp.asarray([3, 1, 2]), 0)[0]
    Array(1)
    """
    _check_kind(None, order)
    x, along = flattened(array_of(a), axis)
    _check_places(x, kth, along)
    return order_of(x, along)


# -- searching in what is in order -----------------------------------------------------------------------


@recorded()
def places_in(rows: Array, given: Array, dtype: NumpyDType, right: bool, order: Array | None = None) -> Array:
    """Where elements would go into a vector that is in order, or brought into it by `order`."""
    kind = dtypes.onnx_type(dtype)
    row = values.converted(tensor_of(rows), kind)
    if order is not None:
        row = op.Gather(row, values.converted(tensor_of(order), DType.INT64))
    return array_from(searching.places_for(row, values.converted(tensor_of(given), kind), right=right))


@public("searchsorted")
@cached_call(2)
def searchsorted(a: ArrayLike, v: ArrayLike, side: str = "left", sorter: ArrayLike | None = None) -> Array:
    """Where elements would go into a vector in order: before equal ones, or behind them with `side="right"`.

    >>> import onnxsmith.numpy as xp
    >>> xp.searchsorted(xp.asarray([1, 3, 5]), xp.asarray([3, 4]))
    Array([1, 2])
    """
    check_choice("side", side, "left", "right")
    rows, given = array_of(a), array_of(v)
    if rows.ndim != 1:
        raise ShapeError(f"what is searched in has one dimension, not {rows.ndim}")
    if "c" in (rows.dtype.kind, given.dtype.kind):
        raise InputTypeError("complex numbers are not searched for")
    order = None if sorter is None else array_of(sorter)
    if order is not None and order.dtype.kind not in "iu":
        raise InputTypeError(f"sorter is of integers, not of {order.dtype.name}")
    if order is not None and order.ndim == 1:
        require_same(order.shape[0], rows.shape[0], ValueError("sorter.size must equal a.size"))
    dtype = np.promote_types(rows.dtype, given.dtype)
    return places_in(rows, given, dtype, side == "right", order)


@public("digitize")
def digitize(x: ArrayLike, bins: ArrayLike, right: bool = False) -> Array:
    """The bin that each element falls into, between edges that rise or fall.

    >>> import onnxsmith.numpy as xp
    >>> xp.digitize(xp.asarray([0.2, 6.4]), xp.asarray([0.0, 1.0, 2.5]))
    Array([1, 3])
    """
    given, edges = array_of(x), array_of(bins)
    if "c" in (given.dtype.kind, edges.dtype.kind):
        raise InputTypeError("complex numbers fall into no bins")
    if edges.ndim != 1:
        raise ShapeError(f"edges have one dimension, not {edges.ndim}")
    if not edges.is_symbolic:
        steps = np.diff(np.asarray(edges).astype(np.float64))
        if not ((steps >= 0).all() or (steps <= 0).all()):
            raise AttributeValueError("edges rise or fall, and these do both", culprit=("attribute", "bins"))
    else:
        require(
            lambda: _is_monotonic(edges), ValueError("bins must be monotonically increasing or decreasing")
        )
    return _binned(given, edges, np.promote_types(given.dtype, edges.dtype), bool(right))


def _is_monotonic(edges: Array) -> Condition:
    row = values.converted(tensor_of(edges), DType.DOUBLE)
    before, behind = op.Slice(row, [0], [-1]), op.Slice(row, [1], [np.iinfo(np.int64).max])
    # As numpy: what is compared with NaN neither rises nor falls.
    rises, falls = (reductions.any_true(each(before, behind), [0], False) for each in (op.Less, op.Greater))
    return ~(rises & falls)


@recorded()
def _binned(x: Array, bins: Array, dtype: NumpyDType, right: bool) -> Array:
    kind = dtypes.onnx_type(dtype)
    edges, given = values.converted(tensor_of(bins), kind), values.converted(tensor_of(x), kind)
    length = op.Shape(edges)
    last = length - np.array([1])
    # Edges that fall are searched from the end; whether they do is known when the model runs.
    first = op.Slice(edges, [0], [1])
    less = values.converted(op.Slice(edges, last, length) < first, DType.UINT8)
    falls = values.converted(op.ReduceMax(less, [0], keepdims=0), DType.BOOL)
    ends = op.Where(falls, last, np.array([0]))
    step = op.Where(falls, np.array([-1]), np.array([1]))
    place = ends + values.counted(values.size_of(edges, 0)) * step
    rising = op.Gather(edges, place)
    # numpy's `right` says which end of a bin belongs to it.
    up = searching.places_for(rising, given, right=not right)
    return array_from(op.Where(falls, op.Squeeze(length, [0]) - up, up))
