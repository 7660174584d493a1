"""How variables go together: `cov`, `corrcoef`."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms import reductions, values
from onnxsmith.algorithms.complex_numbers.field import Field, joined
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.errors import AttributeTypeError, AttributeValueError, InputTypeError, ShapeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike, DTypeLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_from, array_of, as_type, tensors_of
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import require
from onnxsmith.numpy.sharing import detached
from onnxsmith.types.dtypes import DType


def _rows(x: Array, dtype: NumpyDType, rowvar: bool) -> Field:
    """Variables as rows."""
    field = tensors_of(as_type(x, dtype))
    if x.ndim < 2:
        return field.map(op.Reshape, [1, -1])
    return field if rowvar else field.transposed()


def _centred(
    rows: Field, ddof: float, frequencies: Field | None, importances: Field | None
) -> tuple[Field, Field, Tensor]:
    """Rows without their means, the same with weights, and what products of the two are divided by."""
    count: Tensor = values.as_tensor(values.size_of(rows.re, 1), rows.dtype)
    less = values.like(ddof, rows.re)
    if frequencies is None and importances is None:
        middle = reductions.total(rows, [1], True).map(op.Div, count)
        away = rows - middle
        return away, away, count - less
    given = [each for each in (frequencies, importances) if each is not None]
    weights = given[0] if len(given) == 1 else given[0] * given[1]
    count = reductions.total(weights, [0], False).re
    middle = reductions.total(rows * weights, [1], True).map(op.Div, count)
    divisor = count - less
    if importances is not None and ddof:
        squares = reductions.total(weights * importances, [0], False).re
        divisor = count - op.Div(op.Mul(less, squares), count)
    away = rows - middle
    return away, away * weights, divisor


@recorded()
def _covariance(
    m: Array,
    y: Array | None,
    rowvar: bool,
    ddof: float,
    dtype: NumpyDType,
    fweights: Array | None,
    aweights: Array | None,
    is_scaled: bool,
    is_single: bool,
) -> Array:
    parts = [_rows(each, dtype, rowvar) for each in (m, y) if each is not None]
    kind = dtypes.onnx_type(dtype)
    rows = (joined(parts, 0) if len(parts) > 1 else parts[0]).cast(reductions.wider(kind))
    frequencies, importances = (
        None if each is None else tensors_of(each).cast(rows.dtype) for each in (fweights, aweights)
    )
    away, weighted, divisor = _centred(rows, ddof, frequencies, importances)
    divisor = op.Max(divisor, values.like(0, rows.re))
    found = (away @ weighted.adjoint()).map(op.Div, divisor)
    if is_scaled:
        found = _correlation(found)
    if len(parts) > 1:
        # Where the first has no variables, numpy does not look at the second.
        first = values.as_tensor(values.size_of(parts[0].re, 0), DType.INT64)
        kept = op.Where(first > 0, op.Shape(found.re), np.zeros(2, np.int64))
        found = found.map(op.Slice, np.zeros(2, np.int64), kept)
    if is_single:
        found = found.map(op.Squeeze, [0, 1])
    return array_from(found.cast(kind))


def _correlation(c: Field) -> Field:
    """Covariances divided by both standard deviations, and kept between -1 and 1."""
    places = op.Unsqueeze(values.counted(values.size_of(c.re, 0)), [1])
    deviation = op.Sqrt(op.GatherND(c.re, op.Concat(places, places, axis=1)))
    one, minus = values.like(1, c.re), values.like(-1, c.re)

    def scaled(part: Tensor) -> Tensor:
        quotient = op.Div(op.Div(part, op.Unsqueeze(deviation, [1])), op.Unsqueeze(deviation, [0]))
        quotient = op.Where(quotient > one, one, quotient)
        return op.Where(quotient < minus, minus, quotient)

    return c.map(scaled)


def _made(
    m: ArrayLike,
    y: ArrayLike | None,
    rowvar: bool,
    ddof: float,
    fweights: ArrayLike | None,
    aweights: ArrayLike | None,
    dtype: DTypeLike | None,
    *,
    is_scaled: bool,
) -> Array:
    first = array_of(m)
    second = None if y is None else array_of(y)
    for each in (first, second):
        if each is not None and each.ndim > 2:
            raise ShapeError(f"variables are the rows of a matrix, and this has {each.ndim} dimensions")
    kinds = [first.dtype, *([] if second is None else [second.dtype])]
    kind = np.promote_types(dtypes.promoted(kinds), np.float64) if dtype is None else dtypes.read(dtype)
    if kind.kind not in "fc":
        raise InputTypeError(f"covariances are not computed in {kind.name}")
    frequencies, importances = _weights(fweights, "fweights"), _weights(aweights, "aweights")
    # Of one variable there is one number; how many rows an open dimension has, the shape cannot hang on.
    count = 1 if first.ndim < 2 else first.shape[0 if rowvar else 1]
    if isinstance(count, int) and not count:
        # As numpy, whatever the second and the element type are.
        return Array(np.zeros((0, 0), dtypes.FLOAT64))
    _check_observations(first, second, rowvar)
    more = 0 if second is None else 1 if second.ndim < 2 else second.shape[0 if rowvar else 1]
    is_single = isinstance(count, int) and isinstance(more, int) and count + more == 1
    less = float(ddof)
    return _covariance(
        first, second, bool(rowvar), less, kind, frequencies, importances, is_scaled, is_single
    )


def _check_observations(first: Array, second: Array | None, rowvar: bool) -> None:
    if second is None:
        return
    counts = [
        1 if not each.ndim else each.shape[0 if each.ndim == 1 or not rowvar else 1]
        for each in (first, second)
    ]
    if all(isinstance(each, int) for each in counts) and counts[0] != counts[1]:
        raise ShapeError(f"there are {counts[0]} observations of one variable, and {counts[1]} of another")


def _weights(given: object, name: str) -> Array | None:
    if given is None:
        return None
    weights = array_of(given)
    if weights.ndim != 1:
        raise ShapeError(f"{name} has one dimension, not {weights.ndim}")
    if name == "fweights" and weights.dtype.kind not in "iu":
        raise AttributeTypeError("fweights is of integers", culprit=("attribute", name))
    if not weights.is_symbolic and (np.asarray(weights) < 0).any():
        raise AttributeValueError(f"{name} is not negative", culprit=("attribute", name))
    if weights.is_symbolic:
        require(lambda: weights >= 0, ValueError(f"{name} cannot be negative"))
    return weights


@public("cov")
def cov(
    m: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: ArrayLike | None = None,
    aweights: ArrayLike | None = None,
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """The covariances of variables, which are rows, or columns without `rowvar`.

    >>> import onnxsmith.numpy as xp
    >>> xp.cov(xp.asarray([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    Array([[ 1., -1.],
           [-1.,  1.]])
    """
    if ddof is not None and ddof != int(ddof):
        raise AttributeValueError("ddof is a whole number", culprit=("attribute", "ddof"))
    less = ddof if ddof is not None else 0 if bias else 1
    return detached(_made(m, y, rowvar, less, fweights, aweights, dtype, is_scaled=False))


@public("corrcoef")
def corrcoef(
    m: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, *, dtype: DTypeLike | None = None
) -> Array:
    """The correlations of variables, which are rows, or columns without `rowvar`.

    >>> import onnxsmith.numpy as xp
    >>> xp.corrcoef(xp.asarray([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    Array([[ 1., -1.],
           [-1.,  1.]])
    """
    return _made(m, y, rowvar, 1, None, None, dtype, is_scaled=True)
