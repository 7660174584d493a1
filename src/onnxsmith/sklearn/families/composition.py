"""Estimators made of others: transformers side by side, pipelines, and one estimator for each target."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.numpy import Array, asarray, stack, take, zeros
from onnxsmith.sklearn.bags import Bag, SideBySide, beside
from onnxsmith.sklearn.calling import call, named_step, step
from onnxsmith.sklearn.table import NotCovered, converts
from onnxsmith.sklearn.values import Choice, Columns, Fitted, Given, Part, Result


def _matrix(part: Result) -> Array | Bag | SideBySide:
    """The result of a transformer, as rows of numbers."""
    if isinstance(part, Bag | SideBySide):
        return part
    if isinstance(part, Columns):
        part = part.matrix()
    if not isinstance(part, Array):
        raise NotCovered("a transformer gives text, and results are put side by side as numbers")
    return part if part.ndim == 2 else part.reshape((-1, 1))


def side_by_side(parts: Sequence[Result], x: Given) -> Array | Bag | SideBySide:
    """Matrices next to each other; without any, no columns."""
    matrices = [_matrix(each) for each in parts]
    if not matrices:
        if not isinstance(x, Array):
            raise NotCovered("all transformers are dropped")
        return zeros((x.shape[0], 0))
    return matrices[0] if len(matrices) == 1 else beside(matrices)


def columns_of(x: Given, columns: Choice) -> Columns | Part:
    """The columns that a transformer of a `ColumnTransformer` is given."""
    if isinstance(x, Columns):
        return x.chosen(columns)
    if not isinstance(x, Array | Tensor) or len(x.shape) != 2:
        raise NotCovered("columns are taken of what has none")
    chosen = cast(Any, columns) if not callable(columns) else slice(None)
    places = np.arange(_count(x))[chosen]
    if isinstance(x, Tensor):
        return op.Gather(x, np.asarray(places, np.int64), axis=1)
    return take(x, asarray(np.atleast_1d(places)), axis=1) if np.ndim(places) else x[:, int(places)]


def _count(x: Part) -> int:
    count = x.shape[1]
    if not isinstance(count, int):
        raise NotCovered("how many columns there are is known only when the model runs")
    return count


@converts("sklearn.compose.ColumnTransformer", "transform", inline=True)
def column_transformer(estimator: Fitted, x: Given) -> Array | Bag | SideBySide:
    """Each transformer on its columns, in order; the rest last."""
    parts: list[Result] = []
    for name, transformer, columns in estimator.transformers_:
        if (isinstance(transformer, str) and transformer == "drop") or _is_none(columns):
            continue
        parts.append(named_step(name, transformer, "transform", columns_of(x, _named(estimator, x, columns))))
    return side_by_side(parts, x)


def _named(estimator: Fitted, x: Given, columns: Choice) -> Choice:
    """The chosen columns by name: a model has no input for those that nobody uses, so that places are others."""
    found: np.ndarray[Any, Any] | None = getattr(estimator, "feature_names_in_", None)
    names: list[str] = [] if found is None else found.tolist()
    if not isinstance(x, Columns) or isinstance(columns, str) or list(x) == names or not set(x) <= set(names):
        return columns  # all are there; or a step before has made them, under other names
    if isinstance(columns, slice):
        return names[_by_places(columns, names)]
    given = np.asarray(columns)
    if given.dtype.kind in "OUT":
        return columns
    chosen = np.array(names, object)[given]
    return chosen.tolist() if given.ndim else str(chosen)


def _by_places(part: slice[Any, Any, Any], names: Sequence[str]) -> slice[Any, Any, Any]:
    """A slice by places, of one from a name to another, which it includes."""
    start, stop = part.start, part.stop
    if isinstance(start, str):
        start = names.index(start)
    if isinstance(stop, str):
        stop = names.index(stop) + 1
    return slice(start, stop, part.step)


def _is_none(columns: Choice | None) -> bool:
    """True if the given columns are an empty selection."""
    if isinstance(columns, str | int | slice) or columns is None:
        return False
    array = np.asarray(columns)
    return not array.size or (array.dtype == bool and not array.any())


@converts("sklearn.pipeline.FeatureUnion", "transform", inline=True)
def feature_union(estimator: Fitted, x: Given) -> Array | Bag | SideBySide:
    """All transformers on all columns."""
    weights: dict[str, float] = estimator.transformer_weights or {}
    parts: list[Array | Bag | SideBySide] = []
    for name, transformer in estimator.transformer_list:
        if transformer == "drop":
            continue
        made = _matrix(named_step(name, transformer, "transform", x))
        parts.append(made * float(weights[name]) if name in weights else made)
    return side_by_side(parts, x)


# -- pipelines -----------------------------------------------------------------------------------------


@converts(
    "sklearn.pipeline.Pipeline",
    *("predict", "predict_proba", "predict_log_proba", "decision_function", "transform", "score_samples"),
    inline=True,
)
def pipeline(estimator: Fitted, x: Given, *, method: str) -> Result:
    """All steps but the last transform, and the last does what is asked for."""
    made: Given = x
    *before, (last_name, last) = estimator.steps
    for name, each in before:
        made = named_step(name, each, "transform", made)
    return named_step(last_name, last, method, made)


# -- several targets -----------------------------------------------------------------------------------


def _of_each(estimator: Fitted, method: str, x: Given) -> Iterator[Array]:
    for k, each in enumerate(estimator.estimators_):
        with step(f"estimators_[{k}]"):
            found = call(each, method, x)
        if not isinstance(found, Array):
            raise NotCovered("targets that are text are no columns of one array")
        yield found


@converts("sklearn.multioutput.MultiOutputRegressor", "sklearn.multioutput.MultiOutputClassifier", "predict")
def columns_of_targets(estimator: Fitted, x: Given) -> Array:
    """A column for each target."""
    return stack(list(_of_each(estimator, "predict", x)), axis=1)


@converts("sklearn.multioutput.MultiOutputClassifier", "predict_proba")
def probabilities_of_targets(estimator: Fitted, x: Given) -> Array:
    """The matrices of all targets as one array; scikit-learn gives them as a list."""
    if len({len(each.classes_) for each in estimator.estimators_}) > 1:
        raise NotCovered("targets with different numbers of classes, whose probabilities are no single array")
    return stack(list(_of_each(estimator, "predict_proba", x)), axis=0)
