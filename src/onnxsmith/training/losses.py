"""Losses: functions of a prediction and a target that give one number, the mean over all examples.

Any script or function on tensors is one, too. Those here take weights of the examples as a third argument, and then
give the weighted mean. `functools.partial` sets their options. Which targets a loss takes stands in `targets`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from onnxsmith.algorithms.operators import op as recorded_op
from onnxsmith.core.target import ACTIVE, default_target
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Array
from onnxsmith.diagnostics import described_type, did_you_mean
from onnxsmith.errors import AttributeTypeError, AttributeValueError, LossError, boundary
from onnxsmith.errors.arguments import check_flags, check_numbers
from onnxsmith.errors.wrong_kinds import Given
from onnxsmith.schema.promote import Place, given_array
from onnxsmith.training.targets import check_reduction, of_scores, takes_classes, takes_weights

#: How the losses of examples become one number.
Reduction: TypeAlias = Literal["mean", "sum"]


class _Operators:
    """The operators of the graph that is being recorded; where there is none, those that run on arrays."""

    def __getattr__(self, name: str) -> Callable[..., Tensor]:
        is_recorded = (active := ACTIVE.get()) is not None and active.recording is not None
        return getattr(recorded_op if is_recorded else default_target().operators, name)


op: Any = _Operators()  # its results are tensors where a graph is recorded, and arrays elsewhere


@takes_weights
@boundary
def squared(
    prediction: Tensor, target: Tensor, sample_weight: Tensor | None = None, *, reduction: Reduction = "mean"
) -> Tensor:
    """The mean of the squares of differences.

    >>> import numpy as np
    >>> from onnxsmith.grad import value_and_grad
    >>> from onnxsmith.training import losses
    >>> value_and_grad(losses.squared)(np.float32([1, 3]), np.float32([1, 1]))
    (array(2., dtype=float32), array([0., 2.], dtype=float32))
    """
    difference = prediction - target
    return _reduced(difference * difference, sample_weight, reduction)


@takes_weights
@boundary
def absolute(
    prediction: Tensor, target: Tensor, sample_weight: Tensor | None = None, *, reduction: Reduction = "mean"
) -> Tensor:
    """The mean of the magnitudes of differences.

    >>> import numpy as np
    >>> from onnxsmith.training import losses
    >>> float(losses.absolute(np.float32([1, 3]), np.float32([1, 1])))
    1.0
    """
    return _reduced(op.Abs(prediction - target), sample_weight, reduction)


@boundary
def huber(delta: float = 1.0, *, reduction: Reduction = "mean") -> Callable[..., Tensor]:
    """Squares up to a difference of `delta`, and in line with them beyond it.

    >>> import numpy as np
    >>> from onnxsmith.training import losses
    >>> float(losses.huber(1.0)(np.float32([0, 3]), np.float32([0, 1])))
    0.75
    """
    check_numbers(delta=delta)
    check_reduction(reduction)

    @takes_weights
    def loss(prediction: Tensor, target: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        size = op.Abs(prediction - target)
        inside = op.Min(size, delta)
        return _reduced(inside * (size - inside * 0.5), sample_weight, reduction)

    return loss


@boundary
def quantile(share: float, *, reduction: Reduction = "mean") -> Callable[..., Tensor]:
    """The pinball loss, whose least value has a `share` of all targets below the prediction.

    >>> import numpy as np
    >>> from onnxsmith.training import losses
    >>> float(losses.quantile(0.75)(np.float32([1, 1]), np.float32([3, 0])))
    0.875
    """
    check_numbers(share=share)
    check_reduction(reduction)
    if not 0.0 < float(share) < 1.0:
        raise AttributeValueError(
            f"share is a share of the targets, between 0 and 1, not {share!r}", culprit=0
        )
    part = float(share)

    @takes_weights
    def loss(prediction: Tensor, target: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        missing = target - prediction
        return _reduced(op.Max(missing * part, missing * (part - 1.0)), sample_weight, reduction)

    return loss


@takes_weights
@boundary
def poisson(
    prediction: Tensor,
    target: Tensor,
    sample_weight: Tensor | None = None,
    *,
    is_log: bool = True,
    reduction: Reduction = "mean",
) -> Tensor:
    """Minus the logarithm of the probability of counts, but for a constant, given the logarithm of what is expected.

    Without `is_log` the prediction is what is expected itself.

    >>> import numpy as np
    >>> from onnxsmith.training import losses
    >>> float(losses.poisson(np.float32([0]), np.float32([2])))
    1.0
    """
    check_flags(is_log=is_log)
    if is_log:
        return _reduced(op.Exp(prediction) - target * prediction, sample_weight, reduction)
    return _reduced(prediction - target * op.Log(prediction + 1e-8), sample_weight, reduction)


@takes_classes
@takes_weights
@boundary
def probability_cross_entropy(
    prediction: Tensor,
    target: Tensor,
    sample_weight: Tensor | None = None,
    *,
    weight: ArrayLike | None = None,
    ignore_index: int | None = None,
    reduction: Reduction = "mean",
) -> Tensor:
    """Cross-entropy of probabilities, as models of classifiers give them; none counts as less than 1e-7.

    >>> import numpy as np
    >>> from onnxsmith.training import losses
    >>> round(float(losses.probability_cross_entropy(np.float32([[0.5, 0.5]]), np.int64([1]))), 3)
    0.693
    """
    logarithms = op.Log(op.Max(prediction, 1e-7))
    return _of_classes(logarithms, target, sample_weight, 0.0, weight, ignore_index, reduction)


@of_scores(probability_cross_entropy)
@takes_classes
@takes_weights
@boundary
def cross_entropy(
    prediction: Tensor,
    target: Tensor,
    sample_weight: Tensor | None = None,
    *,
    label_smoothing: float = 0.0,
    weight: ArrayLike | None = None,
    ignore_index: int | None = None,
    reduction: Reduction = "mean",
) -> Tensor:
    """The mean of -log p of the right classes, for scores that are no probabilities yet; classes are dimension 1.

    `label_smoothing` is the part of each target that all classes share. `weight` has a number for each class, and
    `ignore_index` is a label whose examples do not count. All is as torch.nn.functional.cross_entropy has it.

    >>> import numpy as np
    >>> from onnxsmith.training import losses
    >>> round(float(losses.cross_entropy(np.float32([[0, 0]]), np.int64([1]))), 3)
    0.693
    """
    check_numbers(label_smoothing=label_smoothing)
    if sample_weight is None and not label_smoothing and weight is None and reduction == "mean":
        return op.SoftmaxCrossEntropyLoss(prediction, target, **_ignoring(ignore_index))
    logarithms = op.LogSoftmax(prediction, axis=1)
    return _of_classes(logarithms, target, sample_weight, label_smoothing, weight, ignore_index, reduction)


@takes_classes
@takes_weights
@boundary
def negative_log_likelihood(
    prediction: Tensor,
    target: Tensor,
    sample_weight: Tensor | None = None,
    *,
    weight: ArrayLike | None = None,
    ignore_index: int | None = None,
    reduction: Reduction = "mean",
) -> Tensor:
    """Cross-entropy of logarithms of probabilities.

    >>> import numpy as np
    >>> from onnxsmith.training import losses
    >>> scores = np.log(np.float32([[0.25, 0.75]]))
    >>> round(float(losses.negative_log_likelihood(scores, np.int64([0]))), 3)
    1.386
    """
    if sample_weight is None and weight is None and reduction == "mean":
        return op.NegativeLogLikelihoodLoss(prediction, target, **_ignoring(ignore_index))
    return _of_classes(prediction, target, sample_weight, 0.0, weight, ignore_index, reduction)


@of_scores(probability_cross_entropy)
@takes_weights
@boundary
def binary_cross_entropy(
    prediction: Tensor,
    target: Tensor,
    sample_weight: Tensor | None = None,
    *,
    positive_weight: float = 1.0,
    reduction: Reduction = "mean",
) -> Tensor:
    """The mean of -log p of targets that are 0 or 1, for scores that are no probabilities yet.

    Targets of 1 count `positive_weight` times.

    >>> import numpy as np
    >>> from onnxsmith.training import losses
    >>> round(float(losses.binary_cross_entropy(np.float32([0, 0]), np.float32([0, 1]))), 3)
    0.693
    """
    check_numbers(positive_weight=positive_weight)
    if positive_weight == 1.0:
        values = op.Softplus(prediction) - prediction * target
    else:
        factor = target * (float(positive_weight) - 1.0) + 1.0
        values = op.Softplus(-prediction) * factor + (1.0 - target) * prediction
    return _reduced(values, sample_weight, reduction)


@takes_weights
@boundary
def hinge(
    prediction: Tensor, target: Tensor, sample_weight: Tensor | None = None, *, reduction: Reduction = "mean"
) -> Tensor:
    """The mean of what is missing to a margin of 1, for targets that are -1 or 1.

    >>> import numpy as np
    >>> from onnxsmith.training import losses
    >>> float(losses.hinge(np.float32([2, 0]), np.float32([1, 1])))
    0.5
    """
    return _reduced(op.Relu(1.0 - prediction * target), sample_weight, reduction)


@boundary
def elastic_penalty(
    *, l1: float = 0.0, l2: float = 0.0, biases: bool = True
) -> Callable[..., Tensor | float]:
    """A function of weights: `l1` times the sum of their magnitudes, and `l2` times half the sum of their squares.

    Without `biases`, weights of fewer than two dimensions do not count.

    >>> import numpy as np
    >>> from onnxsmith.training import losses
    >>> penalty = losses.elastic_penalty(l2=2.0, biases=False)
    >>> float(penalty(np.float32([[1, 2]]), np.float32([3])))
    5.0
    """
    check_numbers(l1=l1, l2=l2)
    # Numbers of Python's take the element types of weights.
    first, second = float(l1), float(l2) * 0.5

    def penalty(*weights: Tensor) -> Tensor | float:
        total: Tensor | float = 0.0
        for each in weights:
            if not biases and len(each.shape or ()) < 2:
                continue
            if first:
                total = op.ReduceSum(op.Abs(each), keepdims=0) * first + total
            if second:
                total = op.ReduceSum(each * each, keepdims=0) * second + total
        return total

    return penalty


# -- what they share ---------------------------------------------------------------------------------------------


def _reduced(values: Tensor, sample_weight: Tensor | None, reduction: Reduction) -> Tensor:
    """The mean of the losses of elements, or their sum, weighted by example where there are weights."""
    reduce = op.ReduceSum if reduction == "sum" else op.ReduceMean
    if sample_weight is None:
        return reduce(values, keepdims=0)
    rank = len(values.shape)
    axes = list(range(1, rank))
    each = reduce(values, _numbers(axes), keepdims=0) if axes else values
    total = op.ReduceSum(each * sample_weight, keepdims=0)
    return total if reduction == "sum" else total / op.ReduceSum(sample_weight, keepdims=0)


def _numbers(numbers: Sequence[int]) -> Array:
    return np.array(numbers, np.int64)


def _ignoring(index: int | None) -> dict[str, int]:
    if index is None:
        return {}
    if isinstance(index, bool) or not hasattr(type(index), "__index__"):
        raise AttributeTypeError(
            f"ignore_index is the number of a class, not {described_type(type(index))}",
            culprit="ignore_index",
        )
    return {"ignore_index": int(index)}


def _weights_of_classes(weight: ArrayLike) -> Array:
    """The weights of classes as numbers of double precision."""
    found = given_array(weight, None, Place("the loss", "weight", culprit=("attribute", "weight")))
    if found.ndim != 1 or found.dtype.kind not in "fiu":
        raise AttributeTypeError(
            f"weight is a number for each class, not an array of {found.dtype} of shape {found.shape}",
            culprit="weight",
        )
    return found.astype(np.float64)


def _of_classes(
    logarithms: Tensor,
    target: Tensor,
    sample_weight: Tensor | None,
    label_smoothing: float,
    weight: ArrayLike | None,
    ignore_index: int | None,
    reduction: Reduction,
) -> Tensor:
    """Minus the logarithms of the right classes, each weighted by its class and example."""
    classes = None if weight is None else op.CastLike(_weights_of_classes(weight), logarithms)
    ignored = _ignoring(ignore_index).get("ignore_index")
    counted = None if ignored is None else op.Not(op.Equal(target, np.int64(ignored)))
    labels = target if counted is None else op.Where(counted, target, np.int64(0))
    picked = op.Squeeze(
        op.GatherElements(logarithms, op.Unsqueeze(labels, _numbers([1])), axis=1), _numbers([1])
    )
    one = op.CastLike(np.float64(1.0), logarithms)
    zero = op.CastLike(np.float64(0.0), logarithms)
    share = one if classes is None else op.Gather(classes, labels)
    extra = list(range(1, len(target.shape)))
    of_example = sample_weight
    if sample_weight is not None and extra:
        of_example = op.Unsqueeze(sample_weight, _numbers(extra))
    if of_example is not None:
        share = share * of_example
    losses = op.Neg(picked) * share
    if counted is not None:
        # Chosen, not multiplied: what does not count may be infinite.
        losses = op.Where(counted, losses, zero)
    total = op.ReduceSum(losses, keepdims=0)
    counts = share if counted is None else op.Where(counted, share, zero)
    if sample_weight is None and classes is None and counted is None:
        number = op.CastLike(op.Size(target), logarithms)
    else:
        number = op.ReduceSum(op.Expand(counts, op.Shape(target)), keepdims=0)
    if label_smoothing:
        shape = [-1, *[1] * (len(logarithms.shape) - 2)]
        spread = logarithms if classes is None else logarithms * op.Reshape(classes, _numbers(shape))
        of_all = op.Neg(op.ReduceSum(spread, _numbers([1]), keepdims=0))
        if of_example is not None:
            of_all = of_all * of_example
        if counted is not None:
            of_all = op.Where(counted, of_all, zero)
        count = op.CastLike(op.Shape(logarithms, start=1, end=2), logarithms)
        smooth = op.ReduceSum(of_all, keepdims=0) / op.Squeeze(count)
        total = total * (1.0 - float(label_smoothing)) + smooth * float(label_smoothing)
    return cast(Tensor, total if reduction == "sum" else total / number)


def loss_of(loss: Given, outputs: Sequence[str]) -> Any:
    """The loss that a name is of; a name of an output, and what is no name, as they are."""
    if not isinstance(loss, str) or loss in outputs:
        return loss
    names = [each for each in __all__ if each not in ("elastic_penalty", "quantile")]
    if loss in names:
        return huber() if loss == "huber" else globals()[loss]
    raise LossError(
        f"there is no loss '{loss}', and the model has no output of that name",
        help="losses.quantile(0.9) makes one"
        if loss == "quantile"
        else did_you_mean(loss, [*names, *outputs]) or f"there are {', '.join(names)}",
    )


__all__ = [
    "absolute",
    "binary_cross_entropy",
    "cross_entropy",
    "elastic_penalty",
    "hinge",
    "huber",
    "negative_log_likelihood",
    "poisson",
    "probability_cross_entropy",
    "quantile",
    "squared",
]


def __dir__() -> list[str]:
    return list(__all__)
