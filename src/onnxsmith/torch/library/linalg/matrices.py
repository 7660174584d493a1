# pyright: basic
"""What the algorithms of linear algebra share: rows and columns of batches of matrices, by number.

They compute in double precision, whatever the result is in: a loop of elementary steps then has no error that shows
beside that of LAPACK's blocked ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onnxsmith.core.value import Value
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.complex_pair import Complex
from onnxsmith.torch.library.dtypes import onnx_dtype
from onnxsmith.torch.library.field import Field, field
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.values import cast, constant, expand, filled, int64s, rank_of
from onnxsmith.torch.sizes import least
from onnxsmith.types.dtypes import DType

ZERO, ONE = np.float64(0), np.float64(1)
#: Up to this size an identity matrix is a constant.
_SMALL = 32


def matrix(value: Any) -> Field:
    """An argument as it is computed with."""
    return field(value).cast(DType.DOUBLE)


def sizes(call: Call, a: Field) -> list[Any]:
    """The shape: ints and numbers of the model."""
    return call.shape_of(a.re)


def is_empty(*tensors: Any) -> bool:
    """Whether a tensor is known to have no elements."""
    parts = [each.re if isinstance(each, Field) else getattr(each, "real", each) for each in tensors]
    return any(0 in each.type.shape for each in parts if isinstance(each, Value))  # type: ignore[attr-defined]


def empty_results(call: Call, fill: float = 0.0) -> Any:
    """Results of one number, where there is nothing to compute from."""
    outputs = call.output if isinstance(call.output, tuple | list) else [call.output]
    made: list[Any] = []
    for k, each in enumerate(outputs):
        shape = call.output_shape(k)
        result = filled(shape, fill, onnx_dtype(each.dtype))
        made.append(
            Complex(result, filled(shape, 0.0, onnx_dtype(each.dtype))) if each.dtype.is_complex else result
        )
    return made if isinstance(call.output, tuple | list) else made[0]


def numbers(count: Any) -> Any:
    """0, 1, … as a vector."""
    if isinstance(count, int):
        return np.arange(count)
    return op.Range(np.int64(0), cast(count, DType.INT64), np.int64(1))


def row_numbers(count: Any) -> Any:
    """0, 1, … as a column: the row of each element."""
    vector = numbers(count)
    return vector[:, None] if isinstance(vector, np.ndarray) else op.Unsqueeze(vector, [1])


def column_numbers(count: Any) -> Any:
    """0, 1, … as a row: the column of each element."""
    vector = numbers(count)
    return vector[None, :] if isinstance(vector, np.ndarray) else op.Unsqueeze(vector, [0])


def identity(rows: Any, columns: Any) -> Field:
    """Ones on the diagonal."""
    if isinstance(rows, int) and isinstance(columns, int) and max(rows, columns) <= _SMALL:
        return Field(constant(np.eye(rows, columns)))
    if isinstance(rows, int) and isinstance(columns, int):
        return Field(op.EyeLike(filled([rows, columns], 0.0, DType.DOUBLE)))
    return Field(cast(op.Equal(row_numbers(rows), column_numbers(columns)), DType.DOUBLE))


def expanded(a: Field, shape: Sequence[Any]) -> Field:
    """Broadcast to a shape."""
    return a.map(lambda part: expand(part, shape))


def batch_identity(batch: Sequence[Any], rows: Any, columns: Any, like: Field) -> Field:
    """An identity matrix for each of a batch, as complex as `like`."""
    made = expanded(identity(rows, columns), [*batch, rows, columns])
    if not like.is_complex:
        return made
    return Field(made.re, filled([*batch, rows, columns], 0.0, DType.DOUBLE))


def zeros(shape: Sequence[Any], like: Field) -> Field:
    """Zeros, as complex as `like`."""
    made = filled(shape, 0.0, DType.DOUBLE)
    return Field(made, made if like.is_complex else None)


def _position(k: Any) -> Any:
    return op.Reshape(k, [1]) if isinstance(k, Value) else np.array([k])


def column(a: Field, k: Any) -> Field:
    """One column, as a matrix of one column."""
    return a.map(lambda part: op.Gather(part, _position(k), axis=rank_of(part) - 1))


def row(a: Field, k: Any) -> Field:
    """One row, as a matrix of one row."""
    return a.map(lambda part: op.Gather(part, _position(k), axis=rank_of(part) - 2))


def masked(condition: Any, a: Field) -> Field:
    """Zero where the condition does not hold."""
    return a.map(lambda part: op.Where(condition, part, ZERO))


def rows_until(a: Field, count: Any, start: Any = 0) -> Field:
    """Rows from `start` to before `count`."""
    return a.map(lambda part: op.Slice(part, int64s([start]), int64s([count]), [rank_of(part) - 2]))


def columns_until(a: Field, count: Any, start: Any = 0) -> Field:
    """Columns from `start` to before `count`."""
    return a.map(lambda part: op.Slice(part, int64s([start]), int64s([count]), [rank_of(part) - 1]))


def triangle(a: Field, upper: bool, k: int = 0) -> Field:
    """The upper or lower triangle; zeros elsewhere."""
    return a.map(lambda part: op.Trilu(part, np.int64(k), upper=int(upper)))


def diagonal(call: Call, a: Field) -> Field:
    """The diagonal of each matrix, as vectors."""
    rows, columns = sizes(call, a)[-2:]
    if not (isinstance(rows, int) and isinstance(columns, int)):
        count = least(rows, columns)
        a = columns_until(rows_until(a, count), count)
        rows = columns = count
    is_diagonal = op.Equal(row_numbers(rows), column_numbers(columns))
    is_tall = isinstance(rows, int) and isinstance(columns, int) and rows >= columns
    axis = a.rank - (2 if is_tall else 1)
    return masked(is_diagonal, a).map(lambda part: op.ReduceSum(part, [axis], keepdims=0))


def collected_columns(scan: Field) -> Field:
    """Columns collected by a loop, each a matrix of one column, as one matrix."""
    rank = scan.rank  # (steps, *batch, rows, 1)
    return scan.map(
        lambda part: op.Transpose(op.Squeeze(part, [rank - 1]), perm=[*range(1, rank - 2), rank - 2, 0])
    )


def collected_scalars(scan: Any) -> Any:
    """Numbers collected by a loop, each a matrix of one element, as a vector for each of the batch."""
    rank = rank_of(scan)  # (steps, *batch, 1, 1)
    vectors = op.Squeeze(scan, [rank - 2, rank - 1])
    return op.Transpose(vectors, perm=[*range(1, rank - 2), 0])


def norm_of_columns(a: Field) -> Any:
    """The length of each column, a matrix of one row."""
    return op.Sqrt(op.ReduceSum(a.squared_size(), [a.rank - 2], keepdims=1))


def chosen_columns(call: Call, a: Field, order: Any) -> Field:
    """Columns in another order: `order` is a vector for each of the batch."""
    shape = sizes(call, a)
    places = op.Expand(op.Unsqueeze(order, [rank_of(order) - 1]), int64s(shape))
    return a.map(lambda part: op.GatherElements(part, places, axis=a.rank - 1))


def chosen_rows(call: Call, a: Field, order: Any) -> Field:
    """Rows in another order: `order` is a column for each of the batch."""
    places = op.Expand(order, int64s(sizes(call, a)))
    return a.map(lambda part: op.GatherElements(part, places, axis=a.rank - 2))
