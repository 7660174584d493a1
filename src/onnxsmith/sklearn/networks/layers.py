"""Networks of dense layers, as scikit-learn's MLPClassifier has them: the model, its loss and its first weights.

Knows no estimator. Programs are made once for each architecture, and serve all fits of it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from onnxsmith.algorithms.operators import op
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Array
from onnxsmith.graphs.model import Model
from onnxsmith.tracing.trace import trace
from onnxsmith.training import losses
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: What scores of a network are: of one class each, of labels by themselves, or numbers.
Output: TypeAlias = Literal["softmax", "logistic", "identity"]

#: Activations of hidden layers, by scikit-learn's names; operators are those of the graph that is being recorded.
ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "identity": lambda x: x,
    "logistic": lambda x: op.Sigmoid(x),
    "tanh": lambda x: op.Tanh(x),
    "relu": lambda x: op.Relu(x),
}
#: How many architectures are kept: searches over sizes of layers come back to them.
_MOST = 32


@dataclass(frozen=True, slots=True)
class Layers:
    """An architecture: numbers of features, of units and of outputs."""

    sizes: tuple[int, ...]
    activation: str
    output: Output
    dtype: str

    @property
    def coefs(self) -> list[str]:
        """The names of the matrices of weights."""
        return [f"coefs_{each}" for each in range(len(self.sizes) - 1)]

    @property
    def intercepts(self) -> list[str]:
        """The names of the intercepts."""
        return [f"intercepts_{each}" for each in range(len(self.sizes) - 1)]

    def first_weights(self, random: np.random.RandomState) -> dict[str, Array]:
        """Weights to begin with: uniform, by Glorot's rule, in the order in which scikit-learn draws them."""
        factor = 2.0 if self.activation == "logistic" else 6.0
        found: dict[str, Array] = {}
        for number, (taken, given) in enumerate(pairwise(self.sizes)):
            bound = float(np.sqrt(factor / (taken + given)))
            found[f"coefs_{number}"] = random.uniform(-bound, bound, (taken, given)).astype(self.dtype)
            found[f"intercepts_{number}"] = random.uniform(-bound, bound, given).astype(self.dtype)
        return found

    def scores(self, x: Tensor, weights: Mapping[str, Tensor]) -> Tensor:
        """The scores of rows, to which no function of the output is applied yet."""
        last = len(self.sizes) - 2
        for number in range(last + 1):
            x = op.MatMul(x, weights[f"coefs_{number}"]) + weights[f"intercepts_{number}"]
            if number < last:
                x = ACTIVATIONS[self.activation](x)
        return x


@functools.lru_cache(_MOST)
def scoring_model(layers: Layers) -> Model:
    """The model of the scores, whose weights are inputs behind the rows."""
    return _with_weights_as_inputs(layers, lambda x, weights: layers.scores(x, weights), ["scores"])


@functools.lru_cache(_MOST)
def training_model(layers: Layers) -> Model:
    """The model that is trained: it gives the scores, and half the squares of its weights for each row.

    The penalty is by example, as scikit-learn's is, so that it stays what it is when batches are larger.
    """

    def compute(x: Tensor, weights: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        total = functools.reduce(
            lambda left, right: left + right,
            [op.ReduceSum(weights[each] * weights[each], keepdims=0) for each in layers.coefs],
        )
        return layers.scores(x, weights), total * 0.5

    model = _with_weights_as_inputs(layers, compute, ["scores", "squares"])
    zeros = {
        each.name: np.zeros(cast("tuple[int, ...]", cast(TensorType, each.type).shape), layers.dtype)
        for each in model.inputs[1:]
    }
    return with_weights(model, zeros)


def with_weights(model: Model, weights: Mapping[str, Array]) -> Model:
    """A model whose weights are inputs, with arrays in their places."""
    return cast(Any, model).bind_inputs(**weights)  # a capability, which checkers see in the stubs


def _with_weights_as_inputs(
    layers: Layers,
    compute: Callable[[Tensor, Mapping[str, Tensor]], Tensor | tuple[Tensor, ...]],
    outputs: Sequence[str],
) -> Model:
    kind = DType.from_numpy(np.dtype(layers.dtype))
    names = [each for pair in zip(layers.coefs, layers.intercepts, strict=True) for each in pair]
    shapes = [each for taken, given in pairwise(layers.sizes) for each in ((taken, given), (given,))]

    def network(x: Tensor, *weights: Tensor) -> Tensor | tuple[Tensor, ...]:
        return compute(x, dict(zip(names, weights, strict=True)))

    return trace(
        network,
        TensorType(kind, ("N", layers.sizes[0])),
        *(TensorType(kind, shape) for shape in shapes),
        input_names=["x", *names],
        output_names=list(outputs),
        name="network",
    )


# -- losses --------------------------------------------------------------------------------------------------------


@functools.lru_cache(_MOST)
def loss_with_penalty(output: Output, alpha: float) -> Callable[..., Tensor]:
    """The usual loss of scores, with `alpha` times the squares by example, as scikit-learn has it."""
    return with_penalty(LOSSES[output], alpha)


def with_penalty(of_scores: Callable[..., Any], alpha: float) -> Callable[..., Tensor]:
    """A loss of scores with `alpha` times the squares by example."""

    def loss(scores: Tensor, squares: Tensor, target: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        extra = () if sample_weight is None else (sample_weight,)
        found = of_scores(scores, target, *extra)
        if not alpha:
            return found
        if sample_weight is not None:
            return found + squares * alpha / op.ReduceSum(sample_weight, keepdims=0)
        return found + squares * alpha / op.CastLike(op.Squeeze(op.Shape(scores, start=0, end=1)), squares)

    return loss


def _of_labels(scores: Tensor, target: Tensor, sample_weight: Tensor | None = None) -> Tensor:
    """Binary cross-entropy, added up over the labels of an example."""
    count = float(cast(int, scores.shape[1]))
    found = losses.binary_cross_entropy(scores, target, sample_weight)
    return found * count if count != 1.0 else found


def _of_numbers(scores: Tensor, target: Tensor, sample_weight: Tensor | None = None) -> Tensor:
    """Half the squares of differences, added up over the outputs of an example."""
    return losses.squared(scores, target, sample_weight) * (0.5 * cast(int, scores.shape[1]))


#: The loss of each kind of scores.
LOSSES: Mapping[Output, Callable[..., Tensor]] = {
    "softmax": losses.cross_entropy,
    "logistic": _of_labels,
    "identity": _of_numbers,
}
