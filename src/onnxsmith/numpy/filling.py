"""New arrays: zeros and ones, grids, diagonals. Where all sizes are known they are constants.

A size may be a number of the model: then the array is made by nodes.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.operators import op
from onnxsmith.core.semantics.number import Number
from onnxsmith.errors import InputTypeError, ShapeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike, Device, DTypeLike, SizeLike, check_choice
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_from, array_of, as_type, elements_of, is_plain, tensors_of
from onnxsmith.numpy.creation import check_device
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.fitting import require_fitting
from onnxsmith.numpy.ranges import counted
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import require_same, require_to_fit
from onnxsmith.numpy.reshaping import broadcast_arrays, broadcast_to, expanded, reshape
from onnxsmith.numpy.sharing import detached, lies_in_order
from onnxsmith.numpy.sizes import ShapeLike, Size, check_not_negative, is_known, known, shape_of, size_of
from onnxsmith.types.dtypes import DType


def _full(shape: ShapeLike, value: object, dtype: NumpyDType | None) -> Array:
    sizes = shape_of(shape)
    check_not_negative(sizes)
    if dtype is None:
        element = array_of(value)
    elif is_plain(value):  # numpy casts here what it would not assign
        element = Array(elements_of(value, dtype, lambda given, kind: np.full(np.shape(given), given, kind)))
    else:
        if isinstance(value, Number) and value.kind == "int":  # floats are cast here, whatever they are
            require_fitting(value, dtype)
        element = as_type(array_of(value), dtype)
    element = _fitted(element, sizes)
    if is_known(sizes) and not element.is_symbolic:
        try:
            return Array(np.full(known(sizes), np.asarray(element)))
        except ValueError as error:
            raise ShapeError(str(error)) from None
    return detached(expanded(element, sizes))


def _fitted(value: Array, sizes: tuple[Size, ...]) -> Array:
    """A value that fits a shape, without dimensions that this has not."""
    more = max(value.ndim - len(sizes), 0)
    error = ValueError("could not broadcast input array into the shape")
    for each in tuple(value.shape)[:more]:
        require_same(each, 1, error)
    value = value.reshape(tuple(value.shape)[more:]) if more else value
    for mine, wanted in zip(tuple(value.shape)[::-1], sizes[::-1], strict=False):
        require_to_fit(mine, wanted)
    return value


def _dtype(dtype: DTypeLike | None, default: NumpyDType) -> NumpyDType:
    return default if dtype is None else dtypes.read(dtype)


@public("zeros")
def zeros(shape: ShapeLike, dtype: DTypeLike | None = None, *, device: Device = None) -> Array:
    """Zeros.

    >>> import onnxsmith.numpy as xp
    >>> xp.zeros((2, 2))
    Array([[0., 0.],
           [0., 0.]])
    """
    check_device(device)
    return _full(shape, 0, _dtype(dtype, dtypes.FLOAT64))


@public("ones")
def ones(shape: ShapeLike, dtype: DTypeLike | None = None, *, device: Device = None) -> Array:
    """Ones.

    >>> import onnxsmith.numpy as xp
    >>> xp.ones((2,))
    Array([1., 1.])
    """
    check_device(device)
    return _full(shape, 1, _dtype(dtype, dtypes.FLOAT64))


@public("empty")
def empty(shape: ShapeLike, dtype: DTypeLike | None = None, *, device: Device = None) -> Array:
    """An array whose elements are yet to be written; zeros until then.

    >>> import onnxsmith.numpy as xp
    >>> xp.empty((2, 3)).shape
    (2, 3)
    """
    return zeros(shape, dtype, device=device)


@public("full")
def full(
    shape: ShapeLike, fill_value: ArrayLike, dtype: DTypeLike | None = None, *, device: Device = None
) -> Array:
    """An array of one value, or of values that broadcast.

    >>> import onnxsmith.numpy as xp
    >>> xp.full((2,), 7)
    Array([7, 7])
    """
    check_device(device)
    return _full(shape, fill_value, None if dtype is None else dtypes.read(dtype))


def _like(x: ArrayLike, value: object, dtype: DTypeLike | None, shape: ShapeLike | None) -> Array:
    array = array_of(x)
    made = _full(array.shape if shape is None else shape, value, _dtype(dtype, array.dtype))
    # numpy's elements lie as those of the given array do, where it has as many dimensions.
    is_in_order = lies_in_order(array) or made.ndim < 2 or made.ndim != array.ndim
    return made if is_in_order else detached(made, is_plain=False)


@public("zeros_like")
def zeros_like(
    x: ArrayLike, /, dtype: DTypeLike | None = None, *, shape: ShapeLike | None = None, device: Device = None
) -> Array:
    """Zeros in an array's shape and element type.

    >>> import onnxsmith.numpy as xp
    >>> xp.zeros_like(xp.asarray([3, 4]))
    Array([0, 0])
    """
    check_device(device)
    return _like(x, 0, dtype, shape)


@public("ones_like")
def ones_like(
    x: ArrayLike, /, dtype: DTypeLike | None = None, *, shape: ShapeLike | None = None, device: Device = None
) -> Array:
    """Ones in an array's shape and element type.

    >>> import onnxsmith.numpy as xp
    >>> xp.ones_like(xp.asarray([3, 4]))
    Array([1, 1])
    """
    check_device(device)
    return _like(x, 1, dtype, shape)


@public("empty_like")
def empty_like(
    x: ArrayLike, /, dtype: DTypeLike | None = None, *, shape: ShapeLike | None = None, device: Device = None
) -> Array:
    """An array in another's shape and element type, whose elements are yet to be written.

    >>> import onnxsmith.numpy as xp
    >>> xp.empty_like(xp.zeros((2, 3))).shape
    (2, 3)
    """
    check_device(device)
    return _like(x, 0, dtype, shape)


@public("full_like")
def full_like(
    x: ArrayLike,
    /,
    fill_value: ArrayLike,
    dtype: DTypeLike | None = None,
    *,
    shape: ShapeLike | None = None,
    device: Device = None,
) -> Array:
    """An array of one value in another's shape and element type.

    >>> import onnxsmith.numpy as xp
    >>> xp.full_like(xp.asarray([1, 2]), 7)
    Array([7, 7])
    """
    check_device(device)
    return _like(x, fill_value, dtype, shape)


# -- matrices --------------------------------------------------------------------------------------------


@public("eye")
def eye(
    n_rows: SizeLike,
    n_cols: SizeLike | None = None,
    /,
    k: int = 0,
    dtype: DTypeLike | None = None,
    *,
    device: Device = None,
) -> Array:
    """Ones on a diagonal, zeros elsewhere.

    >>> import onnxsmith.numpy as xp
    >>> xp.eye(2)
    Array([[1., 0.],
           [0., 1.]])
    """
    check_device(device)
    rows = size_of(n_rows, "n_rows")
    columns = rows if n_cols is None else size_of(n_cols, "n_cols")
    check_not_negative((rows, columns))
    wanted, k = _dtype(dtype, dtypes.FLOAT64), cast(int, size_of(k, "k"))
    if isinstance(rows, int) and isinstance(columns, int) and isinstance(cast(Size, k), int):
        return Array(np.eye(rows, columns, k=k, dtype=wanted))
    return as_type(_diagonal_ones(rows, columns, k), wanted)


@public("identity")
def identity(n: SizeLike, dtype: DTypeLike | None = None) -> Array:
    """The identity matrix.

    >>> import onnxsmith.numpy as xp
    >>> xp.identity(2)
    Array([[1., 0.],
           [0., 1.]])
    """
    return eye(n, dtype=dtype)


@recorded("rows", "columns", "k")
def _diagonal_ones(rows: Size, columns: Size, k: Size) -> Array:
    shifted = op.Unsqueeze(counted(rows), [1]) + values.cast(cast(values.Size, k), DType.INT64)
    return array_from(op.Equal(shifted, op.Unsqueeze(counted(columns), [0])))


@public("tri")
def tri(n: SizeLike, m: ArrayLike | None = None, k: int = 0, dtype: DTypeLike | None = float) -> Array:
    """Ones at and below a diagonal.

    >>> import onnxsmith.numpy as xp
    >>> xp.tri(2)
    Array([[1., 0.],
           [1., 1.]])
    """
    rows = size_of(n, "N")
    return tril(ones((rows, rows if m is None else size_of(m, "M")), dtype), k=k)


@recorded("k")
def _triangle(x: Array, k: Size, upper: bool) -> Array:
    place = values.cast(cast(values.Size, k), DType.INT64)
    return array_from(tensors_of(x).map(lambda part: op.Trilu(part, place, upper=int(upper))))


@public("tril")
def tril(x: ArrayLike, /, k: int = 0) -> Array:
    """The elements at and below a diagonal, zeros elsewhere.

    >>> import onnxsmith.numpy as xp
    >>> xp.tril(xp.asarray([[1, 2], [3, 4]]))
    Array([[1, 0],
           [3, 4]])
    """
    return _triangle(_matrix(x), k, False)


@public("triu")
def triu(x: ArrayLike, /, k: int = 0) -> Array:
    """The elements at and above a diagonal, zeros elsewhere.

    >>> import onnxsmith.numpy as xp
    >>> xp.triu(xp.asarray([[1, 2], [3, 4]]))
    Array([[1, 2],
           [0, 4]])
    """
    return _triangle(_matrix(x), k, True)


def _matrix(x: ArrayLike) -> Array:
    array = array_of(x)
    if array.ndim == 1:
        size = array.shape[0]
        return broadcast_to(array, (size, size))
    if array.ndim == 0:
        raise InputTypeError("a matrix has two dimensions, and a number none")
    return array


@public("meshgrid")
def meshgrid(
    *arrays: ArrayLike, indexing: str = "xy", sparse: bool = False, copy: bool = True
) -> tuple[Array, ...]:
    """Coordinates of a grid, one array for each vector.

    >>> import onnxsmith.numpy as xp
    >>> xp.meshgrid(xp.asarray([1, 2]), xp.asarray([3, 4]))
    (Array([[1, 2],
           [1, 2]]), Array([[3, 3],
           [4, 4]]))
    """
    check_choice("indexing", indexing, "xy", "ij")
    vectors = [reshape(each, -1) for each in arrays]
    rank = len(vectors)
    places = list(range(rank))
    if indexing == "xy" and rank > 1:
        places[:2] = [1, 0]
    shape: list[Size] = [1] * rank
    for place, each in zip(places, vectors, strict=True):
        shape[place] = each.shape[0]
    made: list[Array] = []
    for place, each in zip(places, vectors, strict=True):
        open_shape = [1] * rank
        open_shape[place] = -1
        made.append(reshape(each, tuple(open_shape), copy=copy or None))
    if sparse:
        return tuple(made)
    if not copy:
        return broadcast_arrays(*made)
    return tuple(expanded(each, tuple(shape)) for each in made)
