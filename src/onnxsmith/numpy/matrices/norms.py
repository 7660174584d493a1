"""Lengths of vectors and matrices: `norm`, `vector_norm`, `matrix_norm`, `cond`."""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.linalg.norms import MatrixOrder, condition, matrix_length, vector_length
from onnxsmith.algorithms.operators import op
from onnxsmith.errors import AttributeValueError, ShapeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import Axes, axes_of
from onnxsmith.numpy.conversions import array_from, array_of, as_type, tensors_of
from onnxsmith.numpy.matrices.operands import (
    SVD_REFUSES_INFINITIES,
    matrices,
    part_dtype,
    refuse_nan,
    working,
)
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import require_at_least, require_some
from onnxsmith.numpy.reshaping import reshape
from onnxsmith.types.dtypes import DType

_EMPTY = "zero-size array to reduction operation minimum which has no identity"


def _floats(x: ArrayLike) -> Array:
    array = array_of(x)
    return array if array.dtype.kind in "fc" else as_type(array, dtypes.FLOAT64)


@recorded()
def _vector_norm(x: Array, order: float, axes: tuple[int, ...], keepdims: bool) -> Array:
    z = tensors_of(x)
    small = z.dtype is DType.FLOAT16
    z = z.cast(DType.FLOAT) if small else z
    if not axes:  # each element by itself
        made = values.converted(z.is_nonzero(), z.dtype) if order == 0 else z.size()
    else:
        made = vector_length(z, order, list(axes), keepdims)
    return array_from(values.converted(made, DType.FLOAT16) if small else made)


@public("linalg.vector_norm")
def vector_norm(x: ArrayLike, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2) -> Array:
    """The length of vectors along axes; of all elements unless they are named.

    >>> import onnxsmith.numpy as xp
    >>> xp.linalg.vector_norm(xp.asarray([3.0, 4.0]))
    Array(5.)
    """
    array = _floats(x)
    axes = axes_of(axis, array.ndim)
    if ord == -math.inf:
        require_some(array, axes, ValueError(_EMPTY))
    return _vector_norm(array, float(ord), axes, bool(keepdims))


@recorded()
def _matrix_norm(x: Array, order: MatrixOrder, axes: tuple[int, int], keepdims: bool) -> Array:
    z = tensors_of(x)
    return array_from(values.converted(matrix_length(z, order, axes, keepdims), z.dtype))


def _order(order: object) -> MatrixOrder:
    if order in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
        return cast(MatrixOrder, order)
    raise AttributeValueError(
        f"a norm of matrices is 'fro', 'nuc', 1, 2, inf or one of those below 0, not {order!r}",
        culprit=("attribute", "ord"),
    )


@public("linalg.matrix_norm")
def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: float | str | None = "fro") -> Array:
    """A norm of matrices.

    >>> import onnxsmith.numpy as xp
    >>> xp.linalg.matrix_norm(xp.asarray([[3.0, 4.0]]))
    Array(5.)
    """
    a = matrices(x)
    rank = a.ndim
    return _checked_norm(a, _order("fro" if ord is None else ord), (rank - 2, rank - 1), keepdims)


def _checked_norm(a: Array, order: MatrixOrder, axes: tuple[int, int], keepdims: bool) -> Array:
    if order in ("nuc", 2, -2):
        refuse_nan(a, "SVD did not converge")
    if order == -2:
        require_some(a, axes, ValueError(_EMPTY))
    if order in (-1, -math.inf):  # the least of sums along the other axis
        require_some(a, [axes[1 if order == -1 else 0]], ValueError(_EMPTY))
    return _matrix_norm(a, order, axes, bool(keepdims))


@public("linalg.norm")
def norm(x: ArrayLike, ord: float | str | None = None, axis: Axes = None, keepdims: bool = False) -> Array:
    """A norm of vectors or matrices, as numpy chooses between the two.

    >>> import onnxsmith.numpy as xp
    >>> xp.linalg.norm(xp.asarray([3.0, 4.0]))
    Array(5.)
    """
    array = _floats(x)
    if axis is None:
        if ord is None or (ord == "fro" and array.ndim == 2) or (ord == 2 and array.ndim == 1):
            flat = vector_norm(reshape(array, -1))
            return reshape(flat, (1,) * array.ndim) if keepdims else flat
        axes = tuple(range(array.ndim))
    else:
        axes = axes_of(axis, array.ndim)
    if len(axes) == 1:
        if isinstance(ord, str):
            raise AttributeValueError(f"{ord!r} is a norm of matrices", culprit=("attribute", "ord"))
        return vector_norm(array, axis=axes, keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) != 2:
        raise ShapeError(f"a norm is of one or two axes, not of {len(axes)}")
    order = _order("fro" if ord is None else ord)
    return _checked_norm(array, order, (axes[0], axes[1]), keepdims)


@recorded()
def _condition(x: Array, order: MatrixOrder | None) -> Array:
    z = working(x)
    made = condition(z, order)
    # Elements that are NaN give NaN, as numpy's; a NaN of computing is that of a singular matrix.
    are_nan = op.IsNaN(z.re) if z.im is None else op.IsNaN(z.re) | op.IsNaN(z.im)
    has_nan = op.Cast(op.ReduceMax(op.Cast(are_nan, to=DType.INT32), [-2, -1], keepdims=0), to=DType.BOOL)
    is_singular = op.IsNaN(made) & ~has_nan
    found = op.Where(is_singular, values.like(math.inf, made), made)
    return array_from(op.Where(has_nan, values.like(math.nan, made), found))


@public("linalg.cond")
def cond(x: ArrayLike, p: float | str | None = None) -> Array:
    """How much a system of equations makes of an error.

    >>> import onnxsmith.numpy as xp
    >>> xp.linalg.cond(xp.asarray([[2.0, 0.0], [0.0, 1.0]]))
    Array(2.)
    """
    a = matrices(x, square=p not in (None, 2, -2))
    for each in a.shape[-2:]:
        require_at_least(each, 1, np.linalg.LinAlgError("cond is not defined on empty arrays"))
    if (
        p in (None, 2, -2) and not SVD_REFUSES_INFINITIES
    ):  # since numpy 2.5 `cond` gives NaN, and raises nothing
        refuse_nan(a, "SVD did not converge")
    return as_type(_condition(a, None if p is None else _order(p)), part_dtype(a.dtype))
