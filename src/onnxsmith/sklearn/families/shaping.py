"""Functions of single columns that are pieced together (splines, powers), and products that are no linear models."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from onnxsmith.numpy import (
    Array,
    asarray,
    clip,
    concatenate,
    expm1,
    float64,
    isnan,
    log,
    log1p,
    maximum,
    searchsorted,
    special,
    take,
)
from onnxsmith.sklearn.calling import call
from onnxsmith.sklearn.families.checking import floats, wide_floats
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.values import Fitted, either

# -- splines -----------------------------------------------------------------------------------------------


class Spline(Protocol):
    """The attributes of scipy's `BSpline` that are used here."""

    #: The degree, the knots and the coefficients.
    k: int
    t: np.ndarray[Any, Any]
    c: np.ndarray[Any, Any]

    def __call__(self, x: np.ndarray[Any, Any] | float, nu: int = 0) -> np.ndarray[Any, Any]:
        """A derivative of it at numbers."""
        ...


class _Pieces:
    """A spline as polynomials between its knots: for each basis function one in each interval."""

    def __init__(self, spline: Spline) -> None:
        degree, count = int(spline.k), spline.t.size - spline.k - 1
        self.degree = degree
        self.low, self.high = float(spline.t[degree]), float(spline.t[count])
        starts = np.unique(spline.t[degree:count])
        self.starts = starts
        #: By power and interval, all basis functions.
        self.coefficients = [
            np.asarray(spline(starts, nu=power)) / math.factorial(power) for power in range(degree + 1)
        ]

    def at(self, x: Array) -> Array:
        """All basis functions at numbers: one column each."""
        place = clip(searchsorted(asarray(self.starts), x, side="right") - 1, 0, len(self.starts) - 1)
        away = (x - take(asarray(self.starts), place))[:, None]
        made: Any = take(asarray(self.coefficients[-1]), place, axis=0)
        for each in self.coefficients[-2::-1]:
            made = made * away + take(asarray(each), place, axis=0)
        return made


@converts("sklearn.preprocessing.SplineTransformer", "transform")
def splines(estimator: Fitted, x: Array) -> Array:
    """The basis functions of each column, and what there is outside the knots."""
    how = estimator.extrapolation
    if how == "error":
        raise NotCovered("a model cannot raise for values outside the knots, as extrapolation='error' does")
    rows = floats(x)
    parts: list[Array] = []
    degree = int(estimator.degree)
    for k, spline in enumerate(estimator.bsplines_):
        made = _outside(_Pieces(spline), rows[:, k].astype(float64), spline, how, degree)
        # scikit-learn takes one degree more for lines beside constants and lines, and then for all columns that follow.
        degree += how == "linear" and degree <= 1
        if getattr(estimator, "handle_missing", "error") == "zeros":
            made = either(isnan(rows[:, k])[:, None], 0.0, made)
        parts.append(made if estimator.include_bias else made[:, :-1])
    return concatenate(parts, axis=1).astype(rows.dtype)


def _outside(pieces: _Pieces, x: Array, spline: Spline, how: str, degree: int) -> Array:
    """The basis functions of one column; `degree` is that of the transformer's code when it comes to the column."""
    low, high = pieces.low, pieces.high
    if how == "continue":
        return pieces.at(x)
    if how == "periodic":
        return pieces.at(low + (x - low) % (high - low))
    low, high = float(spline.t[degree]), float(spline.t[-degree - 1])
    made = pieces.at(clip(x, low, high))
    is_below, is_above = (x < low)[:, None], (x > high)[:, None]
    count = int(spline.c.shape[1])
    below, above = asarray(spline(low)), asarray(spline(high))
    reach = degree
    if how == "linear":
        reach += degree <= 1
        below = below + (x - low)[:, None] * asarray(spline(low, nu=1))
        above = above + (x - high)[:, None] * asarray(spline(high, nu=1))
    first = np.array([k < reach for k in range(count)])
    last = np.array([not reach or k >= count - reach for k in range(count)])  # as `-0:` takes all of them
    return either(
        is_below,
        either(asarray(first), below, 0.0),
        either(is_above, either(asarray(last), above, 0.0), made),
    )


# -- powers ------------------------------------------------------------------------------------------------

_SMALL = float(np.spacing(1.0))


@converts("sklearn.preprocessing.PowerTransformer", "transform")
def powers(estimator: Fitted, x: Array) -> Array:
    """Yeo and Johnson's or Box and Cox's power of each column, scaled afterwards."""
    rows = floats(x)
    make = _yeo_johnson if estimator.method == "yeo-johnson" else _box_cox
    made = concatenate(
        [
            make(rows[:, k].astype(float64), float(power))[:, None]
            for k, power in enumerate(estimator.lambdas_)
        ],
        axis=1,
    ).astype(rows.dtype)
    return call(estimator._scaler, "transform", made) if estimator.standardize else made


def _yeo_johnson(x: Array, power: float) -> Array:
    if np.isnan(power):
        return x
    above, below = log1p(maximum(x, 0.0)), log1p(maximum(-x, 0.0))
    if math.fabs(power) >= _SMALL:
        above = expm1(power * above) / power
    if math.fabs(power - 2) > _SMALL:
        below = expm1((2 - power) * below) / (2 - power)
    return either(isnan(x), x, either(x >= 0, above, -below))


def _box_cox(x: Array, power: float) -> Array:
    logarithm = log(x)
    return logarithm if math.fabs(power) < 1e-19 else expm1(power * logarithm) / power


@converts("sklearn.random_projection.SparseRandomProjection", "transform")
def projected(estimator: Fitted, x: Array) -> Array:
    """The product with a matrix that is mostly zeros."""
    held: Any = estimator.components_
    matrix = held.toarray() if hasattr(held, "toarray") else held
    return wide_floats(x) @ asarray(np.asarray(matrix)).T


@converts("sklearn.neural_network.BernoulliRBM", "transform")
def hidden(estimator: Fitted, x: Array) -> Array:
    """How likely each hidden unit is."""
    total = wide_floats(x) @ asarray(estimator.components_).T + asarray(estimator.intercept_hidden_)
    return special.expit(total)


@converts("sklearn.covariance.EllipticEnvelope", "score_samples")
def mahalanobis(estimator: Fitted, x: Array) -> Array:
    """The squared distance from the middle, in units of the covariance, negated."""
    away = x.astype(float64) - asarray(estimator.location_)
    return -((away @ asarray(estimator.get_precision())) * away).sum(axis=1)


@converts("sklearn.feature_extraction.text.TfidfTransformer", "transform")
def weighted_counts(estimator: Fitted, x: Array) -> Array:
    """Counts weighted by how rare each feature is, in rows of length one; what is 0 stays 0."""
    made = floats(x)
    if estimator.sublinear_tf:
        is_there = made != 0
        made = either(is_there, log(either(is_there, made, 1.0)) + 1.0, 0.0).astype(made.dtype)
    if estimator.use_idf:
        made = made * asarray(estimator.idf_).astype(made.dtype)
    if estimator.norm is None:
        return made
    length = (made * made).sum(axis=1, keepdims=True) ** 0.5
    if estimator.norm == "l1":
        length = maximum(made, -made).sum(axis=1, keepdims=True)
    return made / either(length == 0, 1.0, length).astype(made.dtype)
