"""Support vector machines of libsvm: kernels, votes of one class against another, its probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.numpy import Array, absolute, argmax, asarray, exp, stack, stage, tanh
from onnxsmith.sklearn.calling import call
from onnxsmith.sklearn.families.distances import Metric, Numbers
from onnxsmith.sklearn.iterating import coupled
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.values import Fitted, Part, either, labels

_CLASSIFIERS = ("sklearn.svm.SVC", "sklearn.svm.NuSVC")

#: libsvm's bounds of a probability that one class wins against another.
_LEAST = 1e-7


def _kernel(estimator: Fitted, x: Array) -> Array:
    """The kernel between rows and support vectors, in double precision as libsvm computes it."""
    if estimator._sparse:
        raise NotCovered("it was fitted on a sparse matrix")
    kind, gamma = estimator.kernel, float(estimator._gamma)
    vectors = np.asarray(estimator.support_vectors_, np.float64)
    wide = x.astype(np.float64)
    if kind == "rbf":
        return exp(-gamma * Metric("euclidean").reduced(wide, vectors))
    if kind == "precomputed":
        return wide[:, np.asarray(estimator.support_)]
    if kind not in ("linear", "poly", "sigmoid"):
        raise NotCovered("its kernel is a function")
    products = wide @ asarray(np.ascontiguousarray(vectors.T))
    if kind == "linear":
        return products
    scaled = gamma * products + float(estimator.coef0)
    return scaled ** int(estimator.degree) if kind == "poly" else tanh(scaled)


def _pairs(count: int) -> list[tuple[int, int]]:
    return [(first, second) for first in range(count) for second in range(first + 1, count)]


def _duels(estimator: Fitted, x: Array) -> Array:
    """For each pair of classes how far the first is ahead, of shape (rows, pairs)."""
    counts = np.asarray(estimator._n_support)
    ends = np.cumsum(counts)
    coefficients: Numbers = np.asarray(estimator._dual_coef_)
    pairs = _pairs(len(counts))
    weights = np.zeros((coefficients.shape[1], len(pairs)))
    for place, (first, second) in enumerate(pairs):
        own = slice(ends[first] - counts[first], ends[first])
        others = slice(ends[second] - counts[second], ends[second])
        weights[own, place] = coefficients[second - 1, own]
        weights[others, place] = coefficients[first, others]
    return _kernel(estimator, x) @ asarray(weights) + asarray(np.asarray(estimator._intercept_, np.float64))


def _votes(duels: Array, count: int) -> list[Array]:
    """How many classes each class beats; a draw is won by the second."""
    total: list[Any] = [0.0] * count
    for place, (first, second) in enumerate(_pairs(count)):
        is_first = duels[:, place] > 0
        total[first] = total[first] + is_first.astype(np.float64)
        total[second] = total[second] + (~is_first).astype(np.float64)
    return total


@converts(*_CLASSIFIERS, "decision_function")
def decision(estimator: Fitted, x: Array) -> Array:
    """Of two classes how far the second is ahead; of more the pairs, or votes with a share that breaks ties."""
    duels, count = _duels(estimator, x), len(estimator.classes_)
    if count == 2:
        return -duels[:, 0]
    if estimator.decision_function_shape != "ovr":
        return duels
    sums: list[Any] = [0.0] * count
    wins: list[Any] = [0.0] * count
    for place, (first, second) in enumerate(_pairs(count)):
        lead = duels[:, place]
        is_second = lead < 0
        sums[first], sums[second] = sums[first] + lead, sums[second] - lead
        wins[first] = wins[first] + (~is_second).astype(np.float64)
        wins[second] = wins[second] + is_second.astype(np.float64)
    shares = stack(sums, axis=1)
    return stack(wins, axis=1) + shares / (3.0 * (absolute(shares) + 1.0))


@converts(*_CLASSIFIERS, "predict")
def classes(estimator: Fitted, x: Array) -> Part:
    """The class with the most votes; the first of equal ones, unless ties are broken."""
    count = len(estimator.classes_)
    if estimator.break_ties and count > 2:
        return labels(estimator.classes_, argmax(call(estimator, "decision_function", x), axis=1))
    return labels(estimator.classes_, argmax(stack(_votes(_duels(estimator, x), count), axis=1), axis=1))


@converts(*_CLASSIFIERS, "predict_proba")
def probabilities(estimator: Fitted, x: Array) -> Array:
    """libsvm's coupling of the probabilities of all pairs, which stops when it is near enough."""
    if not len(estimator._probA):
        raise NotCovered("it was fitted without probability=True")
    count = len(estimator.classes_)
    exponents = _duels(estimator, x) * asarray(estimator._probA) + asarray(estimator._probB)
    is_high = exponents >= 0
    small = exp(-absolute(exponents))
    winning = either(is_high, small, 1.0) / (1.0 + small)
    winning = either(winning < _LEAST, _LEAST, either(winning > 1 - _LEAST, 1 - _LEAST, winning))
    return stage(coupled, winning, count)


@converts("sklearn.svm.SVR", "sklearn.svm.NuSVR", "predict")
def regression(estimator: Fitted, x: Array) -> Array:
    """The weighted sum of the kernel, and the intercept."""
    return _sum(estimator, x)


def _sum(estimator: Fitted, x: Array) -> Array:
    weights = np.asarray(estimator._dual_coef_, np.float64)[0]
    return _kernel(estimator, x) @ asarray(weights) + float(estimator._intercept_[0])


@converts("sklearn.svm.OneClassSVM", "decision_function")
def normality(estimator: Fitted, x: Array) -> Array:
    """The weighted sum of the kernel, and the intercept."""
    return _sum(estimator, x)


@converts("sklearn.svm.OneClassSVM", "score_samples", inline=True)
def unshifted_normality(estimator: Fitted, x: Array) -> Array:
    """The weighted sum of the kernel."""
    return call(estimator, "decision_function", x) + float(estimator.offset_[0])


@converts("sklearn.svm.OneClassSVM", "predict", inline=True)
def inliers(estimator: Fitted, x: Array) -> Array:
    """1 above 0, -1 elsewhere."""
    return either(call(estimator, "decision_function", x) > 0, asarray(1), asarray(-1))
