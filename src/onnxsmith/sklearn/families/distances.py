"""Distances between rows and the rows that an estimator was fitted on, as scikit-learn computes them.

Its trees (`kd_tree`, `ball_tree`) add up the differences of one column after the other. Its `brute` takes the Euclidean
distance from a product of matrices, which rounds differently where rows are near each other. Both are followed. A
distance is found in a *reduced* form (a square, a power) by which neighbours are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from onnxsmith.numpy import Array, absolute, asarray, maximum, power, sqrt
from onnxsmith.sklearn.table import NotCovered

Numbers: TypeAlias = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Metric:
    """A metric by scikit-learn's name, and its parameters."""

    name: str
    p: float = 2.0
    #: Whether Euclidean distances come from a product of matrices.
    by_product: bool = False

    def reduced(self, x: Array, known: Numbers) -> Array:
        """The reduced distances of shape (rows, known rows), in double precision."""
        x, known = x.astype(np.float64), np.asarray(known, np.float64)
        if self.name == "cosine":
            return _cosine(x, known)
        if self.by_product and self.name == "euclidean":
            squares = (x * x).sum(axis=1, keepdims=True)
            found = squares - 2.0 * (x @ asarray(np.ascontiguousarray(known.T)))
            return maximum(found + asarray((known * known).sum(axis=1)), 0.0)
        total: Array | None = None
        for column in range(known.shape[1]):
            difference = x[:, column : column + 1] - asarray(known[:, column])
            total = self._with(total, self._term(difference))
        if total is None:
            raise NotCovered("it was fitted on no columns")
        return total

    def _term(self, difference: Array) -> Array:
        if self.name == "euclidean":
            return difference * difference
        size = absolute(difference)
        return power(size, self.p) if self.name == "minkowski" else size

    def _with(self, total: Array | None, term: Array) -> Array:
        if total is None:
            return term
        return maximum(total, term) if self.name == "chebyshev" else total + term

    def distances(self, reduced: Array) -> Array:
        """The distances that reduced ones stand for."""
        if self.name == "euclidean":
            return sqrt(reduced)
        return power(reduced, 1.0 / self.p) if self.name == "minkowski" else reduced

    def reduce(self, distance: float) -> float:
        """The reduced form of a distance."""
        if self.name == "euclidean":
            return distance * distance
        return distance**self.p if self.name == "minkowski" else distance


_PLAIN = {
    "l1": "manhattan",
    "cityblock": "manhattan",
    "l2": "euclidean",
    "infinity": "chebyshev",
    **{name: name for name in ("euclidean", "manhattan", "chebyshev", "cosine")},
}


def metric_of(
    name: str | Callable[..., Any], parameters: Mapping[str, Any] | None = None, *, by_product: bool = False
) -> Metric:
    """The metric of a name; raises where it is not known."""
    given = dict(parameters or {})
    p = float(given.pop("p", 2.0))
    weights = given.pop("w", None)
    if weights is not None or given or not isinstance(name, str):
        raise NotCovered(f"the metric {name!r} with the parameters {sorted(given) or 'w'} is not known")
    if name in ("minkowski", "p"):
        plain = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}.get(p)
        return Metric(plain or "minkowski", p, by_product)
    if name not in _PLAIN:
        raise NotCovered(f"the metric {name!r} is not known")
    return Metric(_PLAIN[name], 2.0, by_product)


def _cosine(x: Array, known: Numbers) -> Array:
    lengths = np.sqrt((known * known).sum(axis=1, keepdims=True))
    unit = known / np.where(lengths == 0, 1.0, lengths)
    own = sqrt((x * x).sum(axis=1, keepdims=True))
    own = own + (own <= 0.0).astype(np.float64)
    similarity = (x / own) @ asarray(np.ascontiguousarray(unit.T))
    return maximum(1.0 - similarity, 0.0)
