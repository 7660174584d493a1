"""Differences, slopes and areas: `diff`, `ediff1d`, `gradient`, `trapezoid`, `unwrap`."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.complex_numbers.field import Field, joined, where
from onnxsmith.algorithms.operators import op
from onnxsmith.errors import AttributeTypeError, AttributeValueError, InputTypeError, ShapeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import Axes, axes_of, axis_of
from onnxsmith.numpy.conversions import array_from, array_of, as_type, constant_of, tensor_of, tensors_of
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.reductions import MISSING, Missing, summed
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import require_at_least, require_same
from onnxsmith.numpy.sorting import flat
from onnxsmith.numpy.statistics import mean_type
from onnxsmith.numpy.ufuncs.comparisons import equal
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import sizes_differ

#: How often differences are taken.
_MOST_STEPS = 10_000
#: The end of a slice that has none.
_END = np.iinfo(np.int64).max


def _later(x: Field, axis: int) -> Field:
    return x.map(op.Slice, [1], [_END], [axis])


def _earlier(x: Field, axis: int) -> Field:
    return x.map(op.Slice, [0], [-1], [axis])


def _steps(x: Field, axis: int) -> Field:
    """Each element less the one before it."""
    if x.dtype is DType.BOOL:
        return Field(_later(x, axis).re ^ _earlier(x, axis).re)
    return _later(x, axis) - _earlier(x, axis)


@recorded()
def _differences(x: Array, axis: int, times: int, before: Array | None, after: Array | None) -> Array:
    field = tensors_of(x)
    ends = [None if each is None else _as_end(tensors_of(each), field, axis) for each in (before, after)]
    parts = [each for each in (ends[0], field, ends[1]) if each is not None]
    field = joined(parts, axis) if len(parts) > 1 else field
    for _ in range(times):
        field = _steps(field, axis)
    return array_from(field)


def _as_end(end: Field, x: Field, axis: int) -> Field:
    """The elements that are put before or behind: a scalar once for each place across the axis."""
    if values.rank_of(end.re):
        return end
    sizes = [1 if k == axis else size for k, size in enumerate(values.sizes_of(x.re))]
    return end.map(lambda part: op.Expand(part, values.int64s(sizes)))


@public("diff")
def diff(
    a: ArrayLike,
    n: int = 1,
    axis: int = -1,
    prepend: ArrayLike | Missing = MISSING,
    append: ArrayLike | Missing = MISSING,
) -> Array:
    """Each element less the one before it along an axis, `n` times.

    >>> import onnxsmith.numpy as xp
    >>> xp.diff(xp.asarray([1, 4, 9]))
    Array([3, 5])
    """
    x = array_of(a)
    if not isinstance(n, int):  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
        raise AttributeTypeError(f"n is an int, not {type(n).__name__}", culprit=("attribute", "n"))
    if n < 0:
        raise AttributeValueError(f"n is not negative, as {n} is", culprit=("attribute", "n"))
    if n == 0:
        return x
    if x.ndim == 0:
        raise ShapeError("a scalar has no differences")
    along = axis_of(axis, x.ndim)
    ends = [None if each is MISSING else array_of(each) for each in (prepend, append)]
    if any(each is not None and each.ndim not in (0, x.ndim) for each in ends):
        raise ShapeError("what is put before or behind is a scalar, or has as many dimensions")
    for each in ends:
        pairs = zip(x.shape, each.shape, strict=True) if each is not None and each.ndim else ()
        if any(sizes_differ(a, b) for k, (a, b) in enumerate(pairs) if k != along):
            raise ShapeError("what is put before or behind has the sizes of the array across the axis")
    size = x.shape[along]
    if isinstance(size, int):
        more = [1 if not each.ndim else each.shape[along] for each in ends if each is not None]
        # After as many steps nothing is left.
        n = min(n, sum(more, size)) if all(isinstance(each, int) for each in more) else n
    if n > _MOST_STEPS:
        raise AttributeValueError(
            f"n is {n}, and a model has a node for each step: {_MOST_STEPS} at the most",
            culprit=("attribute", "n"),
        )
    dtype = dtypes.promoted([x.dtype, *(each.dtype for each in ends if each is not None)])
    before, after = [None if each is None else as_type(each, dtype) for each in ends]
    return _differences(as_type(x, dtype), along, n, before, after)


@public("ediff1d")
def ediff1d(ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None) -> Array:
    """The differences of all elements in a row, with something before and behind them.

    >>> import onnxsmith.numpy as xp
    >>> xp.ediff1d(xp.asarray([1, 4, 9]), to_begin=0)
    Array([0, 3, 5])
    """
    x = flat(array_of(ary))
    if x.dtype.kind == "b":
        raise InputTypeError("truth values have no difference", help="xp.ediff1d(x.astype(xp.int8))")
    ends: list[Array | None] = []
    for name, each in (("to_begin", to_begin), ("to_end", to_end)):
        end = None if each is None else array_of(each)
        if end is not None and not np.can_cast(end.dtype, x.dtype, "same_kind"):
            raise InputTypeError(f"{name} of {end.dtype.name} does not go with an array of {x.dtype.name}")
        ends.append(None if end is None else flat(as_type(end, x.dtype)))
    return _between(x, *ends)


@recorded()
def _between(x: Array, before: Array | None, after: Array | None) -> Array:
    found = _steps(tensors_of(x), 0)
    parts = [
        None if before is None else tensors_of(before),
        found,
        None if after is None else tensors_of(after),
    ]
    some = [each for each in parts if each is not None]
    return array_from(joined(some, 0) if len(some) > 1 else found)


# -- areas -----------------------------------------------------------------------------------------------


@recorded()
def _area(y: Array, step: Array, axis: int, beside: int | None, last: int) -> Array:
    """The sum along the axis `last` of heights, along `axis`, times steps, along `beside` if they are to be taken."""
    field, width = tensors_of(y), step
    if beside is not None:
        steps = _steps(tensors_of(step), beside)
        if step.ndim == 1:
            steps = steps.map(values.as_column, axis, y.ndim)
        width = array_from(steps)
    # numpy's own types and order: small integers wrap around.
    both = array_from(_later(field, axis)) + array_from(_earlier(field, axis))
    parts = width * both / 2.0
    return summed(parts, (last,), parts.dtype, False)


@public("trapezoid")
def trapezoid(y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1) -> Array:
    """The area below points along an axis, by straight lines between them.

    >>> import onnxsmith.numpy as xp
    >>> xp.trapezoid(xp.asarray([1.0, 2.0, 3.0]), dx=2)
    Array(8.)
    """
    array = array_of(y)
    along = axis_of(axis, array.ndim)
    if x is not None:
        places = array_of(x)
        if not places.ndim:
            raise ShapeError("a scalar has no differences")
        rank = max(array.ndim, places.ndim)
        beside, last = (0, along) if places.ndim == 1 else (axis_of(axis, places.ndim), axis_of(axis, rank))
        return _area(array, places, along, beside, last)
    if dtypes.is_scalar(dx):
        return _area(array, constant_of(dx, dtypes.with_scalar(array.dtype, type(dx))), along, None, along)
    return _area(array, array_of(dx), along, None, along)


# -- slopes ----------------------------------------------------------------------------------------------


@recorded()
def _slope(f: Array, step: Array, axis: int, dtype: NumpyDType, edge_order: int) -> Array:
    """The slope along an axis: in the middle from both neighbours, at the ends from those that there are."""
    field, width = tensors_of(as_type(f, dtype)), tensors_of(step).cast(dtypes.onnx_type(dtype))
    rank = values.rank_of(field.re)

    def at(x: Field, start: int, end: int) -> Field:
        return x.map(op.Slice, [start], [end], [axis])

    def number(value: float) -> Field:
        return Field(values.constant(values.like(value, field.re)))

    last = _END
    if values.rank_of(width.re) == 0:
        middle = (at(field, 2, last) - at(field, 0, -2)) / (number(2) * width)
        first = (at(field, 1, 2) - at(field, 0, 1)) / width
        end = (at(field, -1, last) - at(field, -2, -1)) / width
        if edge_order == 2:
            a, b, c = number(-1.5) / width, number(2) / width, number(-0.5) / width
            first = a * at(field, 0, 1) + b * at(field, 1, 2) + c * at(field, 2, 3)
            a, b, c = number(0.5) / width, number(-2) / width, number(1.5) / width
            end = a * at(field, -3, -2) + b * at(field, -2, -1) + c * at(field, -1, last)
        return array_from(joined([first, middle, end], axis))
    steps = _steps(width, 0).map(values.as_column, axis, rank)
    before, behind = at(steps, 0, -1), at(steps, 1, last)
    whole = before + behind
    a = -behind / (before * whole)
    b = (behind - before) / (before * behind)
    c = before / (behind * whole)
    middle = a * at(field, 0, -2) + b * at(field, 1, -1) + c * at(field, 2, last)
    if edge_order == 1:
        first = (at(field, 1, 2) - at(field, 0, 1)) / at(steps, 0, 1)
        end = (at(field, -1, last) - at(field, -2, -1)) / at(steps, -1, last)
        return array_from(joined([first, middle, end], axis))
    d1, d2 = at(steps, 0, 1), at(steps, 1, 2)
    a = -(number(2) * d1 + d2) / (d1 * (d1 + d2))
    b = (d1 + d2) / (d1 * d2)
    c = -d1 / (d2 * (d1 + d2))
    first = a * at(field, 0, 1) + b * at(field, 1, 2) + c * at(field, 2, 3)
    d1, d2 = at(steps, -2, -1), at(steps, -1, last)
    a = d2 / (d1 * (d1 + d2))
    b = -(d2 + d1) / (d1 * d2)
    c = (number(2) * d2 + d1) / (d2 * (d1 + d2))
    end = a * at(field, -3, -2) + b * at(field, -2, -1) + c * at(field, -1, last)
    return array_from(joined([first, middle, end], axis))


@public("gradient")
def gradient(
    f: ArrayLike, *varargs: ArrayLike, axis: Axes = None, edge_order: int = 1
) -> Array | tuple[Array, ...]:
    """The slopes along axes: one distance for all, one for each axis, or the coordinates along each.

    >>> import onnxsmith.numpy as xp
    >>> xp.gradient(xp.asarray([1.0, 4.0, 9.0]))
    Array([3., 4., 5.])
    """
    x = array_of(f)
    axes = axes_of(axis, x.ndim)
    if edge_order not in (1, 2):
        raise AttributeValueError(
            f"edge_order is 1 or 2, not {edge_order}", culprit=("attribute", "edge_order")
        )
    if len(varargs) not in (0, 1, len(axes)):
        raise AttributeTypeError(f"there are {len(axes)} axes, and {len(varargs)} distances")
    given = [array_of(each) for each in varargs] or [array_of(1.0)]
    if len(given) == 1:
        if given[0].ndim and len(axes) != 1:
            raise AttributeTypeError(f"there are {len(axes)} axes, and the coordinates of one")
        given = given * len(axes)
    dtype = mean_type(x.dtype)
    if x.dtype.kind == "b":
        raise InputTypeError("truth values have no difference", help="xp.gradient(x.astype(xp.int8))")
    if any(each.dtype.kind == "b" for each in given):
        raise InputTypeError("distances are numbers, not truth values")
    found: list[Array] = []
    for along, step in zip(axes, given, strict=True):
        size = x.shape[along]
        if isinstance(size, int) and size < edge_order + 1:
            raise ShapeError(f"axis {along} has {size} elements, and a slope needs {edge_order + 1}")
        require_at_least(
            size,
            edge_order + 1,
            ValueError(
                "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1)"
            ),
        )
        if step.ndim == 1:
            require_same(step.shape[0], size, ValueError("coordinates do not fit the axis they are along"))
        if step.ndim > 1 or (step.ndim and sizes_differ(step.shape[0], size)):
            raise ShapeError(f"coordinates of shape {step.shape} do not fit axis {along} of {x.shape}")
        found.append(_slope(x, as_type(step, mean_type(step.dtype)), along, dtype, edge_order))
    return found[0] if len(found) == 1 else tuple(found)


# -- angles ----------------------------------------------------------------------------------------------


@public("unwrap")
def unwrap(p: ArrayLike, discont: float | None = None, axis: int = -1, *, period: float = 2 * np.pi) -> Array:
    """Angles without jumps: where a step is more than half a period, whole periods are added.

    >>> import onnxsmith.numpy as xp
    >>> xp.unwrap(xp.asarray([0.0, 2 * xp.pi]))
    Array([0., 0.])
    """
    x = array_of(p)
    along = axis_of(axis, x.ndim)
    if x.dtype.kind == "c":
        raise InputTypeError("complex numbers are no angles")
    dtype = dtypes.with_scalar(x.dtype, type(period))
    return _unwrapped(x, along, dtype, period, period / 2 if discont is None else discont)


@recorded()
def _unwrapped(x: Array, axis: int, dtype: NumpyDType, period: float, jump: float) -> Array:
    field = tensors_of(as_type(x, dtype))
    steps = array_from(_steps(tensors_of(x), axis))  # unsigned integers wrap around
    is_whole = dtype.kind in "iu"
    high = period // 2 if is_whole else period / 2
    low = -high
    # A step of exactly half a period may go either way; it keeps its sign.
    ambiguous = not is_whole or period % 2 == 0
    wrapped = (steps - low) % period + low
    if ambiguous:
        is_edge = tensor_of(equal(wrapped, low)) & tensor_of(steps > 0)
        # A fraction gets there by a period, with its slope.
        edge = constant_of(high, wrapped.dtype) if is_whole else wrapped + constant_of(period, wrapped.dtype)
        wrapped = array_from(where(is_edge, tensors_of(edge), tensors_of(wrapped)))
    change = wrapped - steps
    small = tensor_of(abs(steps) < jump)
    zero = tensors_of(constant_of(0, change.dtype))
    fixed = where(small, zero, tensors_of(change)).map(op.CumSum, np.int64(axis))
    first = field.map(op.Slice, [0], [1], [axis])
    return array_from(joined([first, _later(field, axis) + fixed], axis))
