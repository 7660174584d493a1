"""Metrics: numbers that say how good predictions are, by a name or as a user's function on arrays of numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.core.value import Array
from onnxsmith.diagnostics import described_type, did_you_mean
from onnxsmith.errors import AttributeTypeError, MetricError, OnnxsmithError
from onnxsmith.errors.wrong_kinds import Given

#: A function of all predictions and all targets that gives one number.
Metric: TypeAlias = Callable[..., Any]


def _accuracy(prediction: Array, target: Array) -> float:
    """The share of right classes: the greatest score, and of a single score its sign."""
    if prediction.ndim == target.ndim + 1:
        return float((prediction.argmax(1) == target).mean())
    return float(((prediction > 0) == (target > 0.5)).mean())


def _mean_absolute_error(prediction: Array, target: Array) -> float:
    return float(np.abs(prediction.astype(np.float64) - target).mean())


def _mean_squared_error(prediction: Array, target: Array) -> float:
    return float(np.square(prediction.astype(np.float64) - target).mean())


def _r2(prediction: Array, target: Array) -> float:
    """The share of the variance that is explained, as scikit-learn has it: the mean over all outputs."""
    wanted = target.astype(np.float64).reshape(len(target), -1)
    missing: Array = np.square(prediction.reshape(wanted.shape) - wanted).sum(0)
    spread: Array = np.square(wanted - wanted.mean(0)).sum(0)
    # Where targets do not vary: 1 if they are met, and else 0.
    shares: list[float] = [
        1.0 - float(off) / float(whole) if whole else float(not off)
        for off, whole in zip(missing, spread, strict=True)
    ]
    return sum(shares) / len(shares)


#: Metrics by name.
NAMED: dict[str, Metric] = {
    "accuracy": _accuracy,
    "mean_absolute_error": _mean_absolute_error,
    "mean_squared_error": _mean_squared_error,
    "r2": _r2,
}


def read_metrics(metrics: Given) -> dict[str, Metric]:
    """Metrics as a user gives them, by name."""
    given = [metrics] if isinstance(metrics, str) or callable(metrics) else metrics
    if isinstance(given, dict):
        named = cast("dict[str, object]", given)
    elif isinstance(given, Sequence):
        named = {_name(each): each for each in cast("Sequence[object]", given)}
    else:
        named = {"": given}
    found: dict[str, Metric] = {}
    for name, each in named.items():
        if isinstance(each, str):
            if each not in NAMED:
                raise AttributeTypeError(
                    f"there is no metric '{each}'",
                    help=did_you_mean(each, list(NAMED)) or f"there are {', '.join(NAMED)}",
                    culprit="metrics",
                )
            found[name] = NAMED[each]
        elif callable(each):
            found[name] = each
        else:
            raise AttributeTypeError(
                f"a metric is a name or a function of predictions and targets, not {described_type(type(each))}",
                help='metrics=["accuracy", my_metric]',
                culprit="metrics",
            )
    return found


def _name(metric: Given) -> str:
    return metric if isinstance(metric, str) else str(getattr(metric, "__name__", type(metric).__name__))


def measured(name: str, metric: Metric, predictions: Sequence[Array], target: Array | None) -> float:
    """The value of a metric; MetricError where it fails or gives no number."""
    args = predictions if target is None else [*predictions, target]
    try:
        value: Any = metric(*args)
    except OnnxsmithError:
        raise
    except Exception as error:
        shapes = ", ".join(f"{each.dtype}{list(each.shape)}" for each in args)
        raise MetricError(
            f"the metric '{name}' fails with {type(error).__name__}: {error}",
            help=f"it was called with arrays of {shapes}",
        ) from error
    try:
        return float(value)
    except (TypeError, ValueError):
        raise MetricError(
            f"the metric '{name}' gives {described_type(cast(object, value).__class__)}, and a metric is one number",
            help="return a float: float(np.mean(…))",
        ) from None
