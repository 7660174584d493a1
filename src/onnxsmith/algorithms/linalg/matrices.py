"""The common parts of the algorithms of linear algebra: rows and columns of batches of matrices, by number.

They compute in double precision, whatever the result is in: a loop of elementary steps then has no error that shows
beside that of LAPACK's blocked ones. Matrices have elements: what there is to say of empty ones says who calls.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import Tensor, TensorOrArray, op
from onnxsmith.algorithms.values import (
    Size,
    constant,
    converted,
    expand,
    filled,
    int64s,
    least,
    numbers_until,
    rank_of,
    sizes_of,
)
from onnxsmith.types.dtypes import DType

ZERO, ONE = np.float64(0), np.float64(1)
#: Up to this size an identity matrix is a constant.
_SMALL = 32


def sizes(a: Field) -> list[Size]:
    """The shape: ints and numbers of the model."""
    return sizes_of(a.re)


def numbers(count: Size) -> TensorOrArray:
    """0, 1, … as a vector."""
    if isinstance(count, int):
        return np.arange(count)
    return numbers_until(count)


def row_numbers(count: Size) -> TensorOrArray:
    """0, 1, … as a column: the row of each element."""
    vector = numbers(count)
    return vector[:, None] if isinstance(vector, np.ndarray) else op.Unsqueeze(vector, [1])


def column_numbers(count: Size) -> TensorOrArray:
    """0, 1, … as a row: the column of each element."""
    vector = numbers(count)
    return vector[None, :] if isinstance(vector, np.ndarray) else op.Unsqueeze(vector, [0])


def identity(rows: Size, columns: Size) -> Field:
    """Ones on the diagonal."""
    if isinstance(rows, int) and isinstance(columns, int) and max(rows, columns) <= _SMALL:
        return Field(constant(np.eye(rows, columns)))
    if isinstance(rows, int) and isinstance(columns, int):
        return Field(op.EyeLike(filled([rows, columns], 0.0, DType.DOUBLE)))
    return Field(converted(op.Equal(row_numbers(rows), column_numbers(columns)), DType.DOUBLE))


def expanded(a: Field, shape: Sequence[Size]) -> Field:
    """Broadcast to a shape."""
    return a.map(expand, shape)


def batch_identity(batch: Sequence[Size], rows: Size, columns: Size, like: Field) -> Field:
    """An identity matrix for each of a batch, as complex as `like`."""
    made = expanded(identity(rows, columns), [*batch, rows, columns])
    if not like.is_complex:
        return made
    return Field(made.re, filled([*batch, rows, columns], 0.0, DType.DOUBLE))


def zeros(shape: Sequence[Size], like: Field) -> Field:
    """Zeros, as complex as `like`."""
    made = filled(shape, 0.0, DType.DOUBLE)
    return Field(made, made if like.is_complex else None)


def _position(k: Tensor | int) -> TensorOrArray:
    return op.Reshape(k, [1]) if isinstance(k, Tensor) else np.array([k])


def column(a: Field, k: Tensor | int) -> Field:
    """One column, as a matrix of one column."""
    return a.map(lambda part: op.Gather(part, _position(k), axis=rank_of(part) - 1))


def row(a: Field, k: Tensor | int) -> Field:
    """One row, as a matrix of one row."""
    return a.map(lambda part: op.Gather(part, _position(k), axis=rank_of(part) - 2))


def masked(condition: TensorOrArray, a: Field) -> Field:
    """Zero where the condition does not hold."""
    return a.map(lambda part: op.Where(condition, part, ZERO))


def rows_until(a: Field, count: Size) -> Field:
    """The first `count` rows."""
    return a.map(lambda part: op.Slice(part, int64s([0]), int64s([count]), [rank_of(part) - 2]))


def columns_until(a: Field, count: Size, start: Size = 0) -> Field:
    """Columns from `start` to before `count`."""
    return a.map(lambda part: op.Slice(part, int64s([start]), int64s([count]), [rank_of(part) - 1]))


def triangle(a: Field, upper: bool, k: int = 0) -> Field:
    """The upper or lower triangle; zeros elsewhere."""
    return a.map(lambda part: op.Trilu(part, np.int64(k), upper=int(upper)))


def diagonal(a: Field) -> Field:
    """The diagonal of each matrix, as vectors."""
    rows, columns = sizes(a)[-2:]
    if not (isinstance(rows, int) and isinstance(columns, int)):
        count = least(rows, columns)
        a = columns_until(rows_until(a, count), count)
        rows = columns = count
    is_diagonal = op.Equal(row_numbers(rows), column_numbers(columns))
    is_tall = isinstance(rows, int) and isinstance(columns, int) and rows >= columns
    axis = a.rank - (2 if is_tall else 1)
    return masked(is_diagonal, a).map(op.ReduceSum, [axis], keepdims=0)


def collected_columns(scan: Field) -> Field:
    """Columns collected by a loop, each a matrix of one column, as one matrix."""
    rank = scan.rank  # (steps, *batch, rows, 1)
    return scan.map(
        lambda part: op.Transpose(op.Squeeze(part, [rank - 1]), perm=[*range(1, rank - 2), rank - 2, 0])
    )


def collected_scalars(scan: Tensor) -> Tensor:
    """Numbers collected by a loop, each a matrix of one element, as a vector for each of the batch."""
    rank = rank_of(scan)  # (steps, *batch, 1, 1)
    vectors = op.Squeeze(scan, [rank - 2, rank - 1])
    return op.Transpose(vectors, perm=[*range(1, rank - 2), 0])


def norm_of_columns(a: Field) -> Tensor:
    """The length of each column, a matrix of one row."""
    return op.Sqrt(op.ReduceSum(a.squared_size(), [a.rank - 2], keepdims=1))


def chosen_columns(a: Field, order: Tensor) -> Field:
    """Columns in another order: `order` is a vector for each of the batch."""
    shape = sizes(a)
    places = op.Expand(op.Unsqueeze(order, [rank_of(order) - 1]), int64s(shape))
    return a.map(op.GatherElements, places, axis=a.rank - 1)


def chosen_rows(a: Field, order: Tensor) -> Field:
    """Rows in another order: `order` is a column for each of the batch."""
    places = op.Expand(order, int64s(sizes(a)))
    return a.map(op.GatherElements, places, axis=a.rank - 2)


def product_of(x: Tensor, y: Tensor) -> Tensor:
    """The product of two tensors as `MatMul` has it."""
    if rank_of(y) == 1 and rank_of(x) > 1:
        # ONNX Runtime (1.31) takes a transposition before the product into it, and errs if the right side is a
        # vector. So it gets a matrix of one column.
        return op.Squeeze(op.MatMul(x, op.Unsqueeze(y, [1])), [-1])
    return op.MatMul(x, y)
