"""Matrices as they are computed with, and the mistakes that all functions of linear algebra share."""

from __future__ import annotations

from typing import cast

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.errors import InputTypeError, LinearAlgebraError, ShapeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_of, as_type, tensor_of, tensors_of
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.requirements import require, require_same
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import sizes_differ

FLOAT32: NumpyDType = np.dtype(np.float32)


def result_dtype(*arrays: Array) -> NumpyDType:
    """The element type that linear algebra gives: floats as they are, integers in double precision."""
    found = dtypes.promoted([each.dtype for each in arrays])
    if found.name == "float16":
        raise InputTypeError("numpy's linear algebra is not defined for float16", help="x.astype(xp.float32)")
    return found if found.kind in "fc" else dtypes.FLOAT64


def part_dtype(dtype: NumpyDType) -> NumpyDType:
    """The element type of what is real among results: norms, singular values."""
    return dtypes.part(dtype)


def matrices(x: ArrayLike, *, square: bool = False) -> Array:
    """One or more matrices, in an element type of linear algebra."""
    array = array_of(x)
    if array.ndim < 2:
        raise ShapeError(f"a matrix has two dimensions, and this array has {array.ndim}")
    rows, columns = array.shape[-2], array.shape[-1]
    if square and sizes_differ(rows, columns):
        raise ShapeError(f"the matrices have {rows} rows and {columns} columns, and have to be square")
    if square and not (isinstance(rows, int) and isinstance(columns, int)):
        require_same(rows, columns, np.linalg.LinAlgError("Last 2 dimensions of the array must be square"))
    return as_type(array, result_dtype(array))


def working(x: Array) -> Field:
    """The tensors of matrices in the precision that factors are computed in."""
    return tensors_of(x).cast(DType.DOUBLE)


def scaled(z: Field) -> tuple[Field, Tensor]:
    """Matrices whose squares neither overflow nor vanish, and what each was divided by: 1 unless it is far out."""
    sizes = z.size()
    rank = values.rank_of(sizes)
    # From the front: ONNX Runtime reduces no elements along a negative axis wrongly.
    largest = op.ReduceMax(sizes, [rank - 2, rank - 1], keepdims=1)
    is_far = (largest < 1e-100) & (largest > 0) | (largest > 1e100) & (largest < np.inf)
    scale = op.Where(is_far, largest, np.float64(1))
    return z.map(op.Div, scale), scale


#: The LAPACK of numpy 2.5 raises for infinities as for NaN, where that of older ones gave NaN, rank 0 or zeros.
SVD_REFUSES_INFINITIES = np.lib.NumpyVersion(np.__version__) >= "2.5.0.dev0"


def refuse_nan(a: Array, what: str, *, infinite: bool = SVD_REFUSES_INFINITIES) -> None:
    """Raise where elements are NaN, or infinite if that is no better: now, or in the model of numpy code."""
    if not a.is_symbolic:
        elements = np.asarray(a)
        if not np.isfinite(elements).all() if infinite else np.isnan(elements).any():
            raise LinearAlgebraError(what)
        return
    require(lambda: cast(Array, np.isfinite(a) if infinite else ~np.isnan(a)), np.linalg.LinAlgError(what))


def refuse_faults(faults: Array, what: str) -> None:
    """Raise where a fault was found: now, or in the model of numpy code; a traced one gives inf or NaN there."""
    if not faults.is_symbolic and bool(np.any(np.asarray(faults))):
        raise LinearAlgebraError(what)
    if faults.is_symbolic:
        require(lambda: ~values.converted(tensor_of(faults), DType.BOOL), np.linalg.LinAlgError(what))
