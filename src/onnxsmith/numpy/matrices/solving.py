"""Systems of equations: `solve`, `inv`, `det`, `slogdet`, `pinv`, `lstsq`, `matrix_power`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from onnxsmith.algorithms import reductions, values
from onnxsmith.algorithms.linalg import determinants, lu, powers
from onnxsmith.algorithms.linalg.matrices import batch_identity, sizes
from onnxsmith.algorithms.linalg.pseudoinverse import eigen_parts, pseudoinverse, singular_parts
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.errors import AttributeTypeError, AttributeValueError, ShapeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import axis_of
from onnxsmith.numpy.conversions import array_from, array_of, as_type, tensor_of, tensors_of
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.matrices.operands import (
    matrices,
    part_dtype,
    refuse_faults,
    refuse_nan,
    result_dtype,
    working,
)
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import NUMPYS_TUPLES, public
from onnxsmith.numpy.requirements import require_same
from onnxsmith.numpy.reshaping import broadcast_sizes, reshape, transpose
from onnxsmith.numpy.sizes import Size, product
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import sizes_differ


class SlogdetResult(NamedTuple):
    """The result of `slogdet`."""

    sign: Array
    logabsdet: Array


NUMPYS_TUPLES[SlogdetResult] = lambda: np.linalg.slogdet(np.eye(1))


class LstsqResult(NamedTuple):
    """The result of `lstsq`."""

    x: Array
    residuals: Array
    rank: Array
    s: Array


@recorded()
def _solved(a: Array, b: Array) -> tuple[Array, Array]:
    left, right = working(a), working(b)
    batch = broadcast_sizes([cast("tuple[Size, ...]", tuple(sizes(each)[:-2])) for each in (left, right)])
    shape = [*cast("tuple[values.Size, ...]", batch), *sizes(right)[-2:]]
    x, faults = lu.solved(left, right, shape)
    return array_from(x), array_from(faults)


@public("linalg.solve")
def solve(x1: ArrayLike, x2: ArrayLike, /) -> Array:
    """X of A X = B.

    >>> import onnxsmith.numpy as xp
    >>> xp.linalg.solve(xp.asarray([[2.0, 0.0], [0.0, 4.0]]), xp.asarray([2.0, 2.0]))
    Array([1. , 0.5])
    """
    a, b = matrices(x1, square=True), array_of(x2)
    dtype = result_dtype(a, b)
    is_vector = b.ndim == 1
    if b.ndim == 0:
        raise ShapeError("the right side of a system of equations has a dimension at least")
    rows, given = a.shape[-1], b.shape[-1 if is_vector else -2]
    if sizes_differ(rows, given):
        raise ShapeError(f"{rows} equations have no right side of {given} rows")
    require_same(
        rows, given, ValueError("the right side has another number of rows than there are equations")
    )
    x, faults = _solved(a, as_type(b[..., None] if is_vector else b, dtype))
    refuse_faults(faults, "the matrix is singular")
    made = as_type(x, dtype)
    return made[..., 0].copy() if is_vector else made


@recorded()
def _inverted(a: Array) -> tuple[Array, Array]:
    inverse, faults = lu.inverted(working(a))
    return array_from(inverse), array_from(faults)


@public("linalg.inv")
def inv(x: ArrayLike, /) -> Array:
    """The inverse of matrices.

    >>> import onnxsmith.numpy as xp
    >>> xp.linalg.inv(xp.asarray([[2.0, 0.0], [0.0, 4.0]]))
    Array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    a = matrices(x, square=True)
    inverse, faults = _inverted(a)
    refuse_faults(faults, "the matrix is singular")
    return as_type(inverse, a.dtype)


def _where_numbers(a: Array, part: Tensor) -> Tensor:
    """A part of a result, NaN for matrices with a NaN: pivots are chosen as if it were not there."""
    z = tensors_of(a)
    is_nan = reductions.any_true(z.is_nan(), [z.rank - 2, z.rank - 1], False)
    return op.Where(is_nan, np.float64(np.nan), part)


@recorded()
def _determinant(a: Array) -> Array:
    return array_from(determinants.determinant(working(a)).map(lambda part: _where_numbers(a, part)))


@recorded()
def _sign_and_log(a: Array) -> tuple[Array, Array]:
    factors = lu.factored(working(a))
    sign, size = determinants.sign_and_log(factors.both, factors.pivots)
    return array_from(sign), array_from(_where_numbers(a, size))


@public("linalg.det")
def det(x: ArrayLike, /) -> Array:
    """The determinants of matrices.

    >>> import onnxsmith.numpy as xp
    >>> xp.linalg.det(xp.asarray([[2.0, 1.0], [1.0, 3.0]]))
    Array(5.)
    """
    a = matrices(x, square=True)
    return as_type(_determinant(a), a.dtype)


@public("linalg.slogdet")
def slogdet(x: ArrayLike, /) -> SlogdetResult:
    """The signs and the logarithms of the sizes of determinants.

    >>> import onnxsmith.numpy as xp
    >>> sign, logarithm = xp.linalg.slogdet(xp.asarray([[2.0, 0.0], [0.0, -1.0]]))
    >>> sign
    Array(-1.)
    """
    a = matrices(x, square=True)
    sign, size = _sign_and_log(a)
    return SlogdetResult(as_type(sign, a.dtype), as_type(size, part_dtype(a.dtype)))


# -- arrays as matrices ----------------------------------------------------------------------------------


@public("linalg.tensorinv")
def tensorinv(a: ArrayLike, ind: int = 2) -> Array:
    """The inverse of an array whose first `ind` dimensions are the rows of a matrix, and the others its columns.

    >>> import onnxsmith.numpy as xp
    >>> xp.linalg.tensorinv(xp.eye(4).reshape(2, 2, 4), ind=2).shape
    (4, 2, 2)
    """
    array = array_of(a)
    if not isinstance(cast(object, ind), int) or ind <= 0:
        raise AttributeValueError(f"ind is 1 or more, not {ind}", culprit=("attribute", "ind"))
    shape = cast("tuple[Size, ...]", tuple(array.shape))
    inverse = inv(reshape(array, (product(shape[:ind]), product(shape[ind:])), copy=True))
    return reshape(inverse, (*shape[ind:], *shape[:ind]), copy=True)


@public("linalg.tensorsolve")
def tensorsolve(a: ArrayLike, b: ArrayLike, axes: Sequence[int] | None = None) -> Array:
    """X of the equation that the product of an array and X, over all dimensions of X, is another array.

    >>> import onnxsmith.numpy as xp
    >>> xp.linalg.tensorsolve(xp.eye(4).reshape(2, 2, 2, 2), xp.asarray([[1.0, 2.0], [3.0, 4.0]]))
    Array([[1., 2.],
           [3., 4.]])
    """
    array, right = array_of(a), array_of(b)
    if axes is not None:
        order = list(range(array.ndim))
        for each in axes:
            axis = axis_of(each, array.ndim, "axes")
            order.remove(axis)
            order.append(axis)
        array = transpose(array, order)
    shape = cast("tuple[Size, ...]", tuple(array.shape))
    inside = shape[right.ndim :] if right.ndim else shape
    rows, columns = product(shape[: right.ndim]), product(inside)
    if sizes_differ(rows, columns):
        raise ShapeError(f"there are {rows} equations for {columns} numbers")
    found = solve(reshape(array, (rows, columns), copy=True), reshape(right, -1, copy=True))
    return reshape(found, inside, copy=True)


# -- inverses of what has none ---------------------------------------------------------------------------


def _last_axis(x: Tensor) -> int:
    """The last axis, counted from the front: ONNX Runtime reduces no elements along a negative axis wrongly."""
    return values.rank_of(x) - 1


@recorded()
def _pseudoinverted(a: Array, relative: Array, hermitian: bool) -> Array:
    z = working(a)
    parts = eigen_parts(z) if hermitian else singular_parts(z)
    largest = op.ReduceMax(abs(parts.values), [_last_axis(parts.values)], keepdims=1)
    limit = largest * op.Unsqueeze(values.converted(tensor_of(relative), DType.DOUBLE), [-1])
    return array_from(pseudoinverse(z, parts, limit))


def default_tolerance(a: Array) -> Array:
    """The precision of the element type times the larger size."""
    return _tolerance(a, float(np.finfo(part_dtype(a.dtype)).eps))


@recorded()
def _tolerance(a: Array, precision: float) -> Array:
    shape = sizes(tensors_of(a))
    most = values.greatest(shape[-2], shape[-1])
    return array_from(op.Mul(values.cast(most, DType.DOUBLE), np.float64(precision)))


@public("linalg.pinv")
def pinv(
    x: ArrayLike, rcond: ArrayLike | None = None, hermitian: bool = False, *, rtol: ArrayLike | None = None
) -> Array:
    """The Moore-Penrose inverse; singular values below `rtol` times the largest count as zero.

    >>> import onnxsmith.numpy as xp
    >>> xp.round(xp.linalg.pinv(xp.asarray([[2.0], [0.0]])), 6)
    Array([[0.5, 0. ]])
    """
    a = matrices(x)
    given = rcond if rtol is None else rtol
    relative = default_tolerance(a) if given is None else array_of(given)
    if not hermitian:
        refuse_nan(a, "SVD did not converge")
    return as_type(_pseudoinverted(a, relative, bool(hermitian)), a.dtype)


@recorded()
def _rank(a: Array, relative: Array | None, absolute: Array | None, hermitian: bool) -> Array:
    z = working(a)
    found = abs((eigen_parts(z) if hermitian else singular_parts(z)).values)
    if absolute is not None:
        limit = op.Unsqueeze(values.converted(tensor_of(absolute), DType.DOUBLE), [-1])
    else:
        assert relative is not None  # one of the two is given
        largest = op.ReduceMax(found, [_last_axis(found)], keepdims=1)
        limit = largest * op.Unsqueeze(values.converted(tensor_of(relative), DType.DOUBLE), [-1])
    above = values.converted(found > limit, DType.INT64)
    return array_from(op.ReduceSum(above, [_last_axis(above)], keepdims=0))


@public("linalg.matrix_rank")
def matrix_rank(
    x: ArrayLike, /, tol: ArrayLike | None = None, hermitian: bool = False, *, rtol: ArrayLike | None = None
) -> Array:
    """How many singular values are not zero.

    >>> import onnxsmith.numpy as xp
    >>> xp.linalg.matrix_rank(xp.asarray([[1.0, 2.0], [2.0, 4.0]]))
    Array(1)
    """
    a = matrices(x)
    if not hermitian:
        refuse_nan(a, "SVD did not converge")
    if tol is not None:
        return _rank(a, None, array_of(tol), bool(hermitian))
    return _rank(a, default_tolerance(a) if rtol is None else array_of(rtol), None, bool(hermitian))


@public("linalg.lstsq")
def lstsq(a: ArrayLike, b: ArrayLike, rcond: ArrayLike | None = None) -> LstsqResult:
    """X that makes B - A X as small as it can be.

    >>> import onnxsmith.numpy as xp
    >>> solution, *_ = xp.linalg.lstsq(xp.asarray([[1.0], [1.0]]), xp.asarray([1.0, 3.0]))
    >>> xp.round(solution, 6)
    Array([2.])
    """
    matrix, right = matrices(a), array_of(b)
    for each in (matrix, right):
        if each.ndim > 2:
            raise ShapeError(f"a system is a matrix and a vector or a matrix, not of {each.ndim} dimensions")
    dtype = result_dtype(matrix, right)
    is_vector = right.ndim == 1
    columns = as_type(right[..., None] if is_vector else right, dtype)
    refuse_nan(matrix, "SVD did not converge in Linear Least Squares", infinite=True)
    relative = default_tolerance(matrix) if rcond is None else array_of(rcond)
    x, residuals, rank, singular = _least_squares(matrix, columns, relative)
    solution = as_type(x, dtype)
    return LstsqResult(
        solution[..., 0].copy() if is_vector else solution,
        as_type(residuals, part_dtype(dtype)),
        as_type(rank, np.dtype(np.int32)),
        as_type(singular, part_dtype(dtype)),
    )


@recorded()
def _least_squares(a: Array, b: Array, relative: Array) -> tuple[Array, Array, Array, Array]:
    z, right = working(a), working(b)
    parts = singular_parts(z)
    largest = op.ReduceMax(abs(parts.values), [0], keepdims=1)
    limit = largest * values.converted(tensor_of(relative), DType.DOUBLE)
    x = pseudoinverse(z, parts, limit) @ right
    rank = op.ReduceSum(values.converted(parts.values > limit, DType.INT64), [0], keepdims=0)
    rest = op.ReduceSum((right - z @ x).squared_size(), [0], keepdims=0)
    # numpy gives residuals only where all columns count and there are more rows.
    rows, columns = (values.cast(each, DType.INT64) for each in sizes(z)[-2:])
    is_given = op.Equal(rank, columns) & op.Greater(rows, columns)
    kept = op.Slice(rest, [0], op.Unsqueeze(op.Where(is_given, np.int64(2**62), np.int64(0)), [0]))
    return array_from(x), array_from(kept), array_from(rank), array_from(parts.values)


# -- powers ----------------------------------------------------------------------------------------------


@public("linalg.matrix_power")
def matrix_power(x: ArrayLike, n: int, /) -> Array:
    """A square matrix multiplied by itself; the inverse for powers below 0.

    >>> import onnxsmith.numpy as xp
    >>> xp.linalg.matrix_power(xp.asarray([[1, 1], [0, 1]]), 5)
    Array([[1, 5],
           [0, 1]])
    """
    if not isinstance(cast(object, n), int):
        raise AttributeTypeError(f"a power of a matrix is an int, not {type(n).__name__}")
    array = array_of(x)
    if n < 0:
        return _power(inv(array), -n, as_type(inv(array), inv(array).dtype).dtype)
    matrices(array, square=True)
    if n == 1:
        return array  # as numpy, which gives it as it is
    if array.dtype.kind == "b":
        return _power_of_truths(array, n)
    a = array if array.dtype.kind in "iu" else matrices(array, square=True)
    return _power(a, n, a.dtype)


def _power_of_truths(a: Array, n: int) -> Array:
    """A power of truth values, whose products say whether there is a pair of two that are true."""
    made = as_type(_power(as_type(a, dtypes.INT64), 0, dtypes.INT64), dtypes.BOOL)
    for bit in f"{n:b}":
        made = made @ made
        made = made if bit == "0" else made @ a
    return made


@recorded()
def _power(a: Array, n: int, dtype: NumpyDType) -> Array:
    z = tensors_of(a)
    if n == 0:
        shape = sizes(z)
        one = batch_identity(shape[:-2], shape[-2], shape[-1], z)
        return array_from(one.cast(z.dtype))
    return array_from(powers.matrix_power(z, n))
