"""Evenly spaced numbers: `arange`, `linspace`, `logspace`, `geomspace`. Ends and counts may be numbers of the model."""

from __future__ import annotations

from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.complex_numbers.field import where
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.core.demands import demand, is_noted
from onnxsmith.core.semantics.number import Number, number
from onnxsmith.errors import AttributeValueError, InputTypeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike, Device, DTypeLike, SizeLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import axis_of
from onnxsmith.numpy.choosing import selected
from onnxsmith.numpy.conversions import array_from, array_of, as_type, tensors_of
from onnxsmith.numpy.creation import check_device
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.fitting import require_whole
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import require, require_at_least
from onnxsmith.numpy.reshaping import broadcast_arrays, expand_dims, moveaxis, permuted
from onnxsmith.numpy.sharing import detached
from onnxsmith.numpy.sizes import Size, size_of
from onnxsmith.numpy.ufunc_call import is_weak, kind_of
from onnxsmith.types.dtypes import DType

#: An end or a step.
RangeNumber: TypeAlias = int | float | Number


def counted(count: Size, dtype: DType = DType.INT64) -> Tensor:
    """0, 1, … in the graph that is being recorded."""
    made = op.Range(np.int64(0), values.cast(cast(values.Size, count), DType.INT64), np.int64(1))
    return values.converted(made, dtype)


@public("arange")
def arange(
    start: ArrayLike,
    /,
    stop: ArrayLike | None = None,
    step: ArrayLike = 1,
    dtype: DTypeLike | None = None,
    *,
    device: Device = None,
) -> Array:
    """Evenly spaced numbers from `start` on, before `stop`.

    >>> import onnxsmith.numpy as xp
    >>> xp.arange(3)
    Array([0, 1, 2])
    """
    check_device(device)
    first, end = (0, start) if stop is None else (start, stop)
    begin, last, by = ends = (_number(first), _number(end), _number(step))
    wanted = None if dtype is None else dtypes.read(dtype)
    if not any(isinstance(each, Number) for each in ends):
        return Array(cast(Any, np.arange)(*ends, dtype=wanted))
    if isinstance(by, Number):
        require(lambda: by != 0, ZeroDivisionError("division by zero"))
    kinds = [type(each.sample) if isinstance(each, Number) else type(each) for each in ends]
    natural = dtypes.promoted((), [int if each is bool else each for each in kinds])
    return _ranged(begin, last, by, natural if wanted is None else wanted)


def _number(value: object) -> RangeNumber:
    """A number as `arange` takes it: Python's, numpy's, the model's, or an array of one."""
    if isinstance(value, Number | int | float):
        return value
    if isinstance(value, Array):
        if value.is_symbolic and not value.ndim and value.dtype.kind == "f":
            return number(as_type(value, dtypes.FLOAT64).tensor)
        return size_of(value) if value.is_symbolic else cast(float, value.item())
    if isinstance(value, np.generic | np.ndarray):
        array = np.asarray(cast("np.generic", value))
        if array.size == 1 and array.dtype.kind in "biuf":
            return cast(float, array.item())
    kind = type(cast(object, value))
    raise InputTypeError(f"a range is made of numbers, not of {kind.__name__}")


@recorded("start", "stop", "step")
def _ranged(start: RangeNumber, stop: RangeNumber, step: RangeNumber, dtype: NumpyDType) -> Array:
    """As numpy makes it: a count of steps, and as many from the first, by the difference of the first two."""
    kind = dtypes.onnx_type(dtype)
    ends = (start, stop, step)
    if all(_is_whole(each) for each in ends):
        made = op.Range(*[_tensor(each, DType.INT64) for each in ends])
        _require_two(op.Size(made), dtype)
        if dtype.kind in "iu":
            first = _tensor(start, DType.INT64)
            _require_first(made, first, first + _tensor(step, DType.INT64), dtype)
        return array_from(values.converted(made, kind))
    begin, end, by = (_tensor(each, DType.DOUBLE) for each in ends)
    count = op.Div(end - begin, by)
    # A step without end gives one number here and none there.
    demand(
        lambda: abs(count + by * 0) < (2.0**62),
        ValueError("arange: cannot compute length"),
    )
    steps = op.Max(op.Ceil(count), 0)
    _require_two(steps, dtype)
    works_in = DType.INT64 if dtype.kind in "iu" else DType.DOUBLE
    index = counted(cast(Size, values.converted(steps, DType.INT64).as_number()), works_in)
    first, second = (values.converted(values.converted(each, kind), works_in) for each in (begin, begin + by))
    return array_from(values.converted(first + index * (second - first), kind))


def _require_two(count: Tensor, dtype: NumpyDType) -> None:
    """numpy makes no more than two truth values."""
    if dtype.kind == "b":
        said = "arange() is only supported for booleans when the result has at most length 2."
        demand(lambda: count <= 2, TypeError(said))


def _require_first(made: Tensor, first: Tensor, second: Tensor, dtype: NumpyDType) -> None:
    """The first two numbers of a range are elements of its type; numpy computes the others from them, and casts."""
    if not is_noted():
        return
    count = op.Size(made)
    for position, each in enumerate((first, second)):
        require_whole(op.Where(count > position, each, np.int64(0)), dtype)


def _is_whole(value: RangeNumber) -> bool:
    return value.kind != "float" if isinstance(value, Number) else isinstance(value, int)


def _tensor(value: RangeNumber, dtype: DType) -> Tensor:
    made = values.cast(value, dtype)
    return made if isinstance(made, Tensor) else values.constant(made)


def _count_of(num: SizeLike) -> Size:
    count = size_of(num, "num")
    if isinstance(count, int) and count < 0:
        raise AttributeValueError(f"num is 0 or more, not {count}", culprit=("attribute", "num"))
    require_at_least(count, 0, ValueError("Number of samples must be non-negative."))
    return count


@public("linspace")
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    /,
    num: SizeLike = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike | None = None,
    axis: int = 0,
    *,
    device: Device = None,
) -> Any:
    """As many numbers as are asked for, evenly spaced from `start` to `stop`.

    >>> import onnxsmith.numpy as xp
    >>> xp.linspace(0, 1, 5)
    Array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    check_device(device)
    count = _count_of(num)
    first, last, natural = _ends(start, stop)
    wanted = natural if dtype is None else dtypes.read(dtype)
    if natural.kind == "c" and wanted.kind in "iu":
        raise InputTypeError(f"complex numbers are not rounded down to {wanted.name}")
    if isinstance(count, int) and not first.is_symbolic and not last.is_symbolic:
        made, step = np.linspace(
            np.asarray(first), np.asarray(last), count, endpoint, retstep=True, dtype=wanted, axis=axis
        )
        points = Array(made, made.flags.c_contiguous)
        if not retstep:
            return points
        number: object = step
        return points, number if type(number) is float else Array(np.asarray(step)).as_number()
    made, step = _spaced(as_type(first, natural), as_type(last, natural), count, bool(endpoint))
    result = _floored(made, wanted) if wanted.kind in "iu" else as_type(made, wanted)
    from_front = axis_of(axis, result.ndim)
    if from_front:
        order = [*range(1, from_front + 1), 0, *range(from_front + 1, result.ndim)]
        result = detached(permuted(result, tuple(order)), is_plain=result.ndim < 2)
    if not retstep:
        return result
    parts = cast(Size, count - 1 if endpoint else count)
    if isinstance(parts, int):
        return result, step if parts > 0 else np.nan
    return result, selected(array_of(parts) > 0, step, np.nan)


def _ends(start: ArrayLike, stop: ArrayLike) -> tuple[Array, Array, NumpyDType]:
    """Both ends as arrays, and the element type between them: a Python number takes that of the other end."""
    given = [each if is_weak(each) else array_of(each) for each in (start, stop)]
    kinds = [kind_of(each) for each in given]
    weak = [each for each in kinds if isinstance(each, type)]
    typed = [each for each in kinds if not isinstance(each, type)]
    natural = dtypes.promoted(typed, [*weak, float])
    first, last = map(array_of, given)
    if typed and weak:
        first, last = as_type(first, natural), as_type(last, natural)
    return first, last, natural


@public("logspace")
def logspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SizeLike = 50,
    endpoint: bool = True,
    base: ArrayLike = 10.0,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Array:
    """A base to powers that are evenly spaced.

    >>> import onnxsmith.numpy as xp
    >>> xp.logspace(0, 2, 3)
    Array([  1.,  10., 100.])
    """
    root = array_of(base)
    if root.ndim:
        # As numpy: bases are broadcast with the ends.
        ends = (array_of(start), array_of(stop))
        start, stop, root = broadcast_arrays(*ends, root)
        root = expand_dims(root, axis)
    powers = linspace(start, stop, num, endpoint, axis=axis)
    made = cast(Array, np.power(cast(Any, root if root.ndim else base), powers))
    return made if dtype is None else as_type(made, dtypes.read(dtype))


@public("geomspace")
def geomspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SizeLike = 50,
    endpoint: bool = True,
    dtype: DTypeLike | None = None,
    axis: int = 0,
) -> Array:
    """As many numbers as are asked for from `start` to `stop`, each the same multiple of the one before.

    >>> import onnxsmith.numpy as xp
    >>> xp.geomspace(1, 8, 4)
    Array([1., 2., 4., 8.])
    """
    first, last = array_of(start), array_of(stop)
    for each in (first, last):
        if not each.is_symbolic and not np.asarray(each).all():
            raise AttributeValueError("a sequence of multiples has no 0")
        if each.is_symbolic:
            require(lambda each=each: each != 0, ValueError("Geometric sequence cannot include zero"))
    count = _count_of(num)
    work = dtypes.promoted(
        [first.dtype, last.dtype, dtypes.FLOAT64 if dtype is None else dtypes.read(dtype)], [float]
    )
    wanted = work if dtype is None else dtypes.read(dtype)
    if isinstance(count, int) and not first.is_symbolic and not last.is_symbolic:
        known = np.geomspace(np.asarray(first), np.asarray(last), count, endpoint, dtype=wanted, axis=axis)
        return Array(known, known.flags.c_contiguous)
    begin, end = as_type(first, work), as_type(last, work)
    sign = cast(Array, np.sign(begin))
    low, high = (cast(Array, np.log10(each / sign)) for each in (begin, end))
    made = 10.0 ** linspace(low, high, count, endpoint)
    made = _with_ends(made * sign, begin, end, bool(endpoint))
    result = as_type(made, wanted)
    return result if not axis else moveaxis(result, 0, axis)


@recorded()
def _with_ends(x: Array, start: Array, stop: Array, endpoint: bool) -> Array:
    """Numbers along the first dimension, with the first, and the last if it is one of them, as they were given."""
    field, first, last = tensors_of(x), tensors_of(start), tensors_of(stop)
    count = values.as_tensor(values.size_of(field.re, 0), DType.INT64)
    rank = values.rank_of(field.re)
    place = op.Reshape(
        values.counted(values.size_of(field.re, 0)), np.array([-1, *[1] * (rank - 1)], np.int64)
    )
    if endpoint:
        is_last = op.Equal(place, count - 1) & (count > 1)
        field = where(is_last, last, field)
    return array_from(where(op.Equal(place, np.int64(0)), first, field))


@recorded()
def _floored(x: Array, dtype: NumpyDType) -> Array:
    return array_from(values.converted(op.Floor(tensors_of(x).re), dtypes.onnx_type(dtype)))


@recorded("count")
def _spaced(start: Array, stop: Array, count: Size, endpoint: bool) -> tuple[Array, Array]:
    """numpy's own way: multiples of the step, and the last number exact."""
    first, last = tensors_of(start), tensors_of(stop)
    rank = max(first.rank, last.rank)
    kind = first.dtype
    index = counted(count, kind)
    parts = cast(values.Size, count - 1 if endpoint else count)
    divisor = values.converted(op.Max(values.cast(parts, DType.INT64), np.int64(1)), kind)
    place = op.Reshape(index, np.array([-1, *[1] * rank], np.int64))
    delta = last - first
    step = delta.map(op.Div, divisor)
    points = step.map(lambda part: place * part) + first
    if endpoint:
        is_last = op.Equal(place, divisor) & (divisor > 0)
        many = values.cast(cast(values.Size, count), DType.INT64)
        is_last = is_last & op.Greater(many, np.int64(1))
        points = where(is_last, last, points)
    return array_from(points), array_from(step)
