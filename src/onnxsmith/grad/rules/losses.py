"""Losses that ONNX has operators for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from onnxsmith.core.tensor import Tensor
from onnxsmith.grad.broadcasting import filled_like
from onnxsmith.grad.operators import op
from onnxsmith.grad.rules.indexing import as_int64
from onnxsmith.grad.steps import Cotangents, Step, numpy_of
from onnxsmith.grad.table import rule


@dataclass(frozen=True, slots=True)
class _Labels:
    """The classes that are right, and how much each of them counts."""

    #: Labels, 0 for those that are ignored; whether each counts, None where all do; and its weight.
    safe: Tensor
    is_kept: Tensor | None
    weight: Tensor

    def counted(self, x: Tensor) -> Tensor:
        """Numbers beside the labels, zero for what is ignored."""
        return x if self.is_kept is None else op.Where(self.is_kept, x, 0.0)


def _labels(step: Step, x: Tensor) -> _Labels:
    labels = as_int64(step.input(1))
    ignored = step.attribute("ignore_index")
    is_kept = None if ignored is None else op.Not(op.Equal(labels, np.int64(step.integer("ignore_index"))))
    safe = labels if is_kept is None else op.Where(is_kept, labels, np.int64(0))
    weights = step.optional(2)
    weight = (
        op.Expand(np.ones(1, numpy_of(x)), op.Shape(labels)) if weights is None else op.Gather(weights, safe)
    )
    return _Labels(safe, is_kept, weight if is_kept is None else op.Where(is_kept, weight, 0.0))


def _of_chosen(step: Step, g: Tensor, x: Tensor) -> Tensor:
    """The cotangent of logarithms of probabilities, of which a loss takes those of the classes that are right."""
    labels = _labels(step, x)
    if step.text("reduction", "mean") == "mean":
        g = g / op.ReduceSum(labels.weight, keepdims=0)
    # What is ignored has the gradient 0, also in a batch whose loss is not a number because nothing counts.
    share = labels.counted(op.Neg(labels.weight * g))
    zeros = filled_like(x, 0.0)
    return op.ScatterElements(zeros, op.Unsqueeze(labels.safe, [1]), op.Unsqueeze(share, [1]), axis=1)


def _of_weights(step: Step, g: Tensor, logarithms: Tensor) -> Tensor:
    """The cotangent of the weights of classes: by what each label adds to the sum, and to the sum of weights."""
    labels = _labels(step, logarithms)
    picked = op.GatherElements(logarithms, op.Unsqueeze(labels.safe, [1]), axis=1)
    share = op.Neg(op.Squeeze(picked, [1]))
    if step.text("reduction", "mean") == "mean":
        share = (share - step.output()) * (g / op.ReduceSum(labels.weight, keepdims=0))
    else:
        share = share * g
    weights = step.input(2)
    rows = op.Reshape(labels.counted(share), [-1])
    places = op.Reshape(labels.safe, [-1, 1])
    return op.ScatterND(filled_like(weights, 0.0), places, rows, reduction="add")


@rule("NegativeLogLikelihoodLoss")
def negative_log_likelihood(step: Step, g: Tensor) -> Cotangents:
    x = step.input(0)
    return lambda: _of_chosen(step, g, x), None, lambda: _of_weights(step, g, x)


@rule("SoftmaxCrossEntropyLoss", outputs=2)
def cross_entropy(step: Step, g: Tensor | None, of_logarithms: Tensor | None = None) -> Cotangents:
    logarithms = step.output(1)

    def of_scores() -> Tensor:
        parts = [] if g is None else [_of_chosen(step, g, logarithms)]
        parts += [] if of_logarithms is None else [of_logarithms]
        total = parts[0] if len(parts) == 1 else op.Add(*parts)
        return total - op.Exp(logarithms) * op.ReduceSum(total, np.array([1]), keepdims=1)

    return of_scores, None, None if g is None else lambda: _of_weights(step, g, logarithms)
