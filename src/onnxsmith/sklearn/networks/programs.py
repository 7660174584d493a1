"""Networks that estimators train: layers or a given model, each as a trainer and as a function of rows."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np

from onnxsmith.core.value import Array
from onnxsmith.errors import PipelineError
from onnxsmith.graphs.model import Model
from onnxsmith.sklearn.networks.layers import (
    LOSSES,
    Layers,
    Output,
    loss_with_penalty,
    scoring_model,
    training_model,
    with_penalty,
    with_weights,
)
from onnxsmith.training import Optimizer, Trainer, losses, optimizers, schedules
from onnxsmith.types.annotations import Annotation
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: How many compiled steps are kept for fits that come: those of a search differ in data and seed alone.
_MOST = 16


@dataclass(frozen=True, slots=True)
class Wanted:
    """Loss and optimiser: the parts of an estimator's parameters that a step is compiled for."""

    #: The name of an optimiser with its settings; None where `optimizer` is given as one.
    solver: tuple[str, tuple[tuple[str, Any], ...]]
    alpha: float
    is_weighted: bool
    #: A loss and a penalty of the user's own, and an optimiser.
    loss: Any = None
    penalty: Callable[..., Any] | None = None
    optimizer: Optimizer | None = None

    @property
    def is_plain(self) -> bool:
        """True if names and numbers say all of it, so that a compiled step serves other fits, too."""
        return self.loss is None and self.penalty is None and self.optimizer is None

    def made(self) -> Optimizer:
        """The optimiser, whose rate is an input of each step unless it was given as one."""
        if self.optimizer is not None:
            return self.optimizer
        name, settings = self.solver
        return getattr(optimizers, name)(schedules.constant(0.0), **dict(settings))


class Program(Protocol):
    """A network that is trained."""

    output: Output
    #: The names of the weights.
    weights: list[str]

    def trainer(self, wanted: Wanted, batch_size: int) -> Trainer: ...

    def first_weights(self, random: np.random.RandomState) -> dict[str, Array]: ...

    def scores(self, x: Array, weights: Mapping[str, Array]) -> Array: ...

    def model(self, weights: Mapping[str, Array]) -> Model: ...


def target_type(output: Output, dtype: str, columns: int) -> Annotation:
    """The type of targets: numbers of classes, or a number for each output."""
    if output == "softmax":
        return cast(Annotation, TensorType(DType.INT64, ("N",)))
    return cast(Annotation, TensorType(DType.from_numpy(np.dtype(dtype)), ("N", columns)))


# -- layers --------------------------------------------------------------------------------------------------------


class LayeredProgram:
    """Dense layers, whose compiled steps serve all fits of one architecture."""

    def __init__(self, layers: Layers) -> None:
        self.layers = layers
        self.output: Output = layers.output
        self.weights = [each for pair in zip(layers.coefs, layers.intercepts, strict=True) for each in pair]

    def trainer(self, wanted: Wanted, batch_size: int) -> Trainer:
        """A trainer at its start."""
        if wanted.is_plain:
            return _compiled(self.layers, wanted).restarted()
        return _trainer_of_layers(self.layers, wanted)

    def first_weights(self, random: np.random.RandomState) -> dict[str, Array]:
        """Weights to begin with."""
        return self.layers.first_weights(random)

    def scores(self, x: Array, weights: Mapping[str, Array]) -> Array:
        """The scores of rows."""
        return scoring_model(self.layers)(x, *(weights[each] for each in self.weights))

    def model(self, weights: Mapping[str, Array]) -> Model:
        """The model of the scores, with weights."""
        return with_weights(scoring_model(self.layers), {each: weights[each] for each in self.weights})


@functools.lru_cache(_MOST)
def _compiled(layers: Layers, wanted: Wanted) -> Trainer:
    return _trainer_of_layers(layers, wanted)


def _trainer_of_layers(layers: Layers, wanted: Wanted) -> Trainer:
    usual = wanted.loss is None
    loss = (
        loss_with_penalty(layers.output, wanted.alpha) if usual else with_penalty(wanted.loss, wanted.alpha)
    )
    return Trainer(
        cast(Any, training_model(layers)),
        loss,
        wanted.made(),
        weights=[*layers.coefs, *layers.intercepts],
        target=target_type(layers.output, layers.dtype, layers.sizes[-1]),
        penalty=wanted.penalty,
        sample_weight=wanted.is_weighted,
    )


# -- given models --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Network:
    """A given model, with how many columns it takes and scores it gives, where it says it."""

    model: Model
    features: int | None
    scores: int | None
    dtype: str


class ModelProgram:
    """A model that a user gave: its first output are the scores."""

    def __init__(self, network: Network, output: Output, columns: int) -> None:
        self.given, self._dtype = network.model, network.dtype
        self.output: Output = output
        self._columns = columns
        self.weights: list[str] = []
        self._made: Model | None = None
        self._made_of: Mapping[str, Array] | None = None

    def trainer(self, wanted: Wanted, batch_size: int) -> Trainer:
        """A trainer at its start."""
        penalty = wanted.penalty
        if penalty is None and wanted.alpha:
            penalty = losses.elastic_penalty(l2=wanted.alpha / batch_size, biases=False)
        made = Trainer(
            cast(Any, self.given),
            LOSSES[self.output] if wanted.loss is None else wanted.loss,
            wanted.made(),
            target=target_type(self.output, self._dtype, self._columns),
            penalty=penalty,
            sample_weight=wanted.is_weighted,
        )
        self.weights = made.trained
        return made

    def first_weights(self, random: np.random.RandomState) -> dict[str, Array]:
        """Nothing: the model's own weights are the first."""
        return {}

    def scores(self, x: Array, weights: Mapping[str, Array]) -> Array:
        """The scores of rows."""
        if self._made is None or self._made_of is not weights:
            self._made, self._made_of = self.model(weights), weights
        found = cast("Array | tuple[Array, ...]", self._made(x))
        return found[0] if isinstance(found, tuple) else found

    def model(self, weights: Mapping[str, Array]) -> Model:
        """The given model with other weights."""
        held = self.given.ir.graph.initializers
        given = cast(Any, self.given)  # a capability, which checkers see in the stubs
        return given.replace_weights({name: each for name, each in weights.items() if name in held})


def read_network(model: Model, called: str) -> Network:
    """A given model as a network; refused where it takes or gives something else than rows."""
    taken, given = model.inputs, model.outputs
    kinds = [each.type for each in (*taken, *given[:1])]
    if len(taken) != 1 or not all(isinstance(each, TensorType) for each in kinds):
        raise PipelineError(
            f"the model of a {called} takes rows of numbers, one input, and this one takes "
            f"{', '.join(each.name for each in taken)}",
            help="Trainer(model, loss, optimizer) trains models with several inputs",
        )
    rows, scores = (cast(TensorType, each) for each in kinds)
    if rows.shape is None or len(rows.shape) != 2 or scores.shape is None or len(scores.shape) != 2:
        raise PipelineError(
            f"the model of a {called} takes rows and gives a row of scores for each: "
            f"it takes {rows!r}, and gives {scores!r}",
            help="Trainer(model, loss, optimizer) trains models of other shapes",
        )
    columns, count = ((each if isinstance(each, int) else None) for each in (rows.shape[1], scores.shape[1]))
    dtype = DType.FLOAT if rows.dtype is None else rows.dtype
    return Network(model, columns, count, str(np.dtype(dtype.numpy)))
