"""Losses that ONNX has operators for."""

from __future__ import annotations

import numpy as np

from onnxsmith.core.tensor import Tensor
from onnxsmith.grad.broadcasting import filled_like
from onnxsmith.grad.operators import op
from onnxsmith.grad.rules.indexing import as_int64
from onnxsmith.grad.steps import Cotangents, Step
from onnxsmith.grad.table import rule


def _of_chosen(step: Step, g: Tensor, x: Tensor) -> Tensor:
    """The cotangent of logarithms of probabilities, of which a loss takes those of the classes that are right."""
    labels = as_int64(step.input(1))
    ignored = step.attribute("ignore_index")
    is_kept = None if ignored is None else op.Not(op.Equal(labels, np.int64(step.integer("ignore_index"))))
    safe = labels if is_kept is None else op.Where(is_kept, labels, np.int64(0))
    weights = step.optional(2)
    weight = (
        op.Expand(np.ones(1, _numpy(x)), op.Shape(labels)) if weights is None else op.Gather(weights, safe)
    )
    if is_kept is not None:
        weight = op.Where(is_kept, weight, 0.0)
    how = step.text("reduction", "mean")
    if how == "mean":
        # A batch without labels that count is not a number, as the loss is.
        g = g / op.ReduceSum(weight, keepdims=0)
    share = op.Neg(weight * g)
    zeros = filled_like(x, 0.0)
    return op.ScatterElements(zeros, op.Unsqueeze(safe, [1]), op.Unsqueeze(share, [1]), axis=1)


def _numpy(x: Tensor) -> np.dtype[np.float32]:
    dtype = x.dtype
    assert dtype is not None  # what has a derivative has an element type
    return dtype.numpy


@rule("NegativeLogLikelihoodLoss")
def negative_log_likelihood(step: Step, g: Tensor) -> Cotangents:
    return (lambda: _of_chosen(step, g, step.input(0)),)


@rule("SoftmaxCrossEntropyLoss", outputs=2)
def cross_entropy(step: Step, g: Tensor | None, of_logarithms: Tensor | None = None) -> Cotangents:
    logarithms = step.output(1)
    parts = [] if g is None else [_of_chosen(step, g, logarithms)]
    parts += [] if of_logarithms is None else [of_logarithms]
    total = parts[0] if len(parts) == 1 else op.Add(*parts)
    return (total - op.Exp(logarithms) * op.ReduceSum(total, np.array([1]), keepdims=1),)
