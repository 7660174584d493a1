"""Losses: functions of a prediction and a target that give one number, the mean over all examples.

Any script or function on tensors is one, too. Each says which targets it takes for a prediction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, TypeVar, cast

import numpy as np

from onnxsmith.core.target import ACTIVE, default_target
from onnxsmith.core.tensor import Tensor
from onnxsmith.errors import boundary
from onnxsmith.grad.checks import check_numbers
from onnxsmith.grad.operators import TensorOperator, TensorOperators
from onnxsmith.grad.operators import op as recorded_op
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: The type of targets for predictions of a type.
TargetType: TypeAlias = Callable[[TensorType], TensorType]


class Loss(Protocol):
    """A loss: any function of a prediction and a target."""

    def __call__(self, prediction: Any, target: Any, /) -> Any:
        """The loss, one number."""
        ...


class _Operators:
    """The operators of the graph that is being recorded; where there is none, those that run on arrays."""

    def __getattr__(self, name: str) -> TensorOperator:
        is_recorded = (active := ACTIVE.get()) is not None and active.recording is not None
        found = recorded_op if is_recorded else cast("TensorOperators", default_target().operators)
        return getattr(found, name)


op = _Operators()
L = TypeVar("L", bound=Callable[..., Any])
_TARGETS: dict[Callable[..., Any], TargetType] = {}


def _takes(kind: TargetType) -> Callable[[L], L]:
    """Say which targets a loss takes."""

    def enter(function: L) -> L:
        _TARGETS[function] = kind
        return function

    return enter


def target_type(loss: Callable[..., Any], prediction: TensorType) -> TensorType:
    """The type of targets that a loss takes; that of the predictions where it does not say."""
    return _TARGETS.get(loss, _alike)(prediction)


def _alike(prediction: TensorType) -> TensorType:
    return prediction


def _classes(prediction: TensorType) -> TensorType:
    """Numbers of classes, which are the second dimension of predictions."""
    shape = prediction.shape
    return TensorType(DType.INT64, None if shape is None else (*shape[:1], *shape[2:]))


def _mean(x: Tensor) -> Tensor:
    return op.ReduceMean(x, keepdims=0)


def squared(prediction: Tensor, target: Tensor) -> Tensor:
    """The mean of the squares of differences.

    >>> import numpy as np
    >>> from onnxsmith.grad import losses, value_and_grad
    >>> value_and_grad(losses.squared)(np.float32([1, 3]), np.float32([1, 1]))
    (array(2., dtype=float32), array([0., 2.], dtype=float32))
    """
    difference = prediction - target
    return _mean(difference * difference)


def absolute(prediction: Tensor, target: Tensor) -> Tensor:
    """The mean of the magnitudes of differences."""
    return _mean(op.Abs(prediction - target))


@boundary
def huber(delta: float = 1.0) -> Callable[[Tensor, Tensor], Tensor]:
    """Squares up to a difference of `delta`, and in line with them beyond it."""
    check_numbers(delta=delta)

    def loss(prediction: Tensor, target: Tensor) -> Tensor:
        size = op.Abs(prediction - target)
        inside = op.Min(size, delta)
        return _mean(inside * (size - inside * 0.5))

    return loss


@_takes(_classes)
def cross_entropy(prediction: Tensor, target: Tensor) -> Tensor:
    """The mean of -log p of the right classes, for scores that are no probabilities yet; classes are dimension 1."""
    return op.SoftmaxCrossEntropyLoss(prediction, target)


@_takes(_classes)
def negative_log_likelihood(prediction: Tensor, target: Tensor) -> Tensor:
    """The same for logarithms of probabilities."""
    return op.NegativeLogLikelihoodLoss(prediction, target)


def binary_cross_entropy(prediction: Tensor, target: Tensor) -> Tensor:
    """The mean of -log p of targets that are 0 or 1, for scores that are no probabilities yet."""
    return _mean(op.Softplus(prediction) - prediction * target)


def hinge(prediction: Tensor, target: Tensor) -> Tensor:
    """The mean of what is missing to a margin of 1, for targets that are -1 or 1."""
    return _mean(op.Relu(1.0 - prediction * target))


@boundary
def elastic_penalty(*, l1: float = 0.0, l2: float = 0.0) -> Callable[..., Tensor | float]:
    """A function of weights: `l1` times the sum of their magnitudes, and `l2` times half the sum of their squares."""
    check_numbers(l1=l1, l2=l2)

    def penalty(*weights: Tensor) -> Tensor | float:
        total: Tensor | float = 0.0
        for each in weights:
            if l1:
                total = op.ReduceSum(op.Abs(each), keepdims=0) * l1 + total
            if l2:
                total = op.ReduceSum(each * each, keepdims=0) * (l2 * 0.5) + total
        return total

    return penalty


def zeros_of(kind: TensorType) -> np.ndarray[Any, np.dtype[Any]]:
    """Zeros of a type whose sizes are known."""
    sizes = [each for each in kind.shape or () if isinstance(each, int)]
    dtype = DType.FLOAT if kind.dtype is None else kind.dtype
    return np.zeros(sizes, dtype.numpy)


__all__ = [
    "absolute",
    "binary_cross_entropy",
    "cross_entropy",
    "elastic_penalty",
    "hinge",
    "huber",
    "negative_log_likelihood",
    "squared",
]


def __dir__() -> list[str]:
    return list(__all__)
