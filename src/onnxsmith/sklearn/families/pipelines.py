"""Pipelines: one step after the other."""

from __future__ import annotations

from onnxsmith.sklearn.calling import named_step
from onnxsmith.sklearn.table import converts
from onnxsmith.sklearn.values import Fitted, Given, Result


@converts(
    "sklearn.pipeline.Pipeline",
    *("predict", "predict_proba", "predict_log_proba", "decision_function", "transform", "score_samples"),
    inline=True,
)
def pipeline(estimator: Fitted, x: Given, *, method: str) -> Result:
    """All steps but the last transform, and the last does what is asked for."""
    made: Given = x
    *before, (last_name, last) = estimator.steps
    for name, step in before:
        made = named_step(name, step, "transform", made)
    return named_step(last_name, last, method, made)
