"""`NeuralNet`: the base of estimators that train a network, with scikit-learn's parameters and rules.

Knows no labels: what targets are, and what a score is, subclasses say.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal, Self, cast

import numpy as np
from sklearn.exceptions import ConvergenceWarning  # pyright: ignore[reportMissingTypeStubs]

from onnxsmith.core.value import Array
from onnxsmith.errors import AttributeValueError, PipelineError, boundary
from onnxsmith.graphs.model import Model, ModelLike
from onnxsmith.sklearn.networks import parameters
from onnxsmith.sklearn.networks.data import (
    Examples,
    check_fitted,
    checked_examples,
    checked_rows,
    dense_rows,
    random_of,
    split,
    with_weights,
)
from onnxsmith.sklearn.networks.epochs import Epochs, Progressing, Rate, RateRule
from onnxsmith.sklearn.networks.layers import Layers, Output
from onnxsmith.sklearn.networks.programs import LayeredProgram, ModelProgram, Network, Program, read_network
from onnxsmith.sklearn.of_model import OfModel
from onnxsmith.sklearn.rows import Elements, Rows
from onnxsmith.tracing.trace import trace
from onnxsmith.training import Callback, Optimizer, Schedule, Trainer
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: Rows of a batch where nothing is said, as in scikit-learn.
_MOST_ROWS = 200


class NeuralNet(OfModel):
    """Base of estimators that train a network."""

    def __init__(
        self,
        hidden_layer_sizes: int | Sequence[int] = (100,),
        activation: Literal["identity", "logistic", "tanh", "relu"] = "relu",
        *,
        model: ModelLike | Callable[..., Any] | None = None,
        loss: Callable[..., Any] | None = None,
        penalty: Callable[..., Any] | None = None,
        solver: str | Optimizer = "adam",
        alpha: float = 0.0001,
        batch_size: int | Literal["auto"] = "auto",
        learning_rate: RateRule | Schedule = "constant",
        learning_rate_init: float = 0.001,
        power_t: float = 0.5,
        max_iter: int = 200,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
        tol: float = 1e-4,
        verbose: bool = False,
        warm_start: bool = False,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        n_iter_no_change: float = 10,
        dtype: Literal["float32", "float64"] = "float32",
        device: str | None = None,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.hidden_layer_sizes: int | Sequence[int] = hidden_layer_sizes
        self.activation: Literal["identity", "logistic", "tanh", "relu"] = activation
        self.model: ModelLike | Callable[..., Any] | None = model
        self.loss: Callable[..., Any] | None = loss
        self.penalty: Callable[..., Any] | None = penalty
        self.solver: str | Optimizer = solver
        self.alpha: float = alpha
        self.batch_size: int | Literal["auto"] = batch_size
        self.learning_rate: RateRule | Schedule = learning_rate
        self.learning_rate_init: float = learning_rate_init
        self.power_t: float = power_t
        self.max_iter: int = max_iter
        self.shuffle: bool = shuffle
        self.random_state: int | np.random.RandomState | None = random_state
        self.tol: float = tol
        self.verbose: bool = verbose
        self.warm_start: bool = warm_start
        self.momentum: float = momentum
        self.nesterovs_momentum: bool = nesterovs_momentum
        self.early_stopping: bool = early_stopping
        self.validation_fraction: float = validation_fraction
        self.beta_1: float = beta_1
        self.beta_2: float = beta_2
        self.epsilon: float = epsilon
        self.n_iter_no_change: float = n_iter_no_change
        self.dtype: Literal["float32", "float64"] = dtype
        self.device: str | None = device
        self.callbacks: Sequence[Callback] = callbacks

    # -- what subclasses say ---------------------------------------------------------------------------------------

    #: True if targets are labels of one kind, which a split keeps in their shares.
    _is_of_labels = False

    def _targets(
        self, y: Elements, *, is_first: bool, classes: Rows | None, scores: int | None
    ) -> tuple[Array, Output, int]:
        """Targets as the network takes them, the kind of its scores, and how many there are.

        `scores` is how many a given model gives.
        """
        raise NotImplementedError

    def _score_of(self, scores: Array, target: Array, sample_weight: Array | None) -> float:
        """The score of rows that are held out."""
        raise NotImplementedError

    # -- fitting ---------------------------------------------------------------------------------------------------

    @boundary
    def fit(self, X: Rows, y: Rows, sample_weight: Rows | None = None) -> Self:
        """Train the network on rows, from its first weights; with `warm_start`, from those that it has."""
        return self._fit(X, y, sample_weight, is_partial=False)

    def _fit(
        self, X: Rows, y: Rows, sample_weight: Rows | None, *, is_partial: bool, classes: Rows | None = None
    ) -> Self:
        given = cast("dict[str, Any]", cast(Any, self).get_params(deep=False))
        parameters.check(given)
        if self.early_stopping and is_partial:
            raise AttributeValueError(
                "partial_fit does not support early_stopping=True: there is nothing to hold out of one batch",
                help="fit(X, y) does",
            )
        is_first = not hasattr(self, "n_iter_") or not (self.warm_start or is_partial)
        rows, labels = checked_examples(self, X, y, is_first=is_first)
        if is_first:
            self._network: Network | None = None if self.model is None else self._read_model(rows.shape[1])
        scores = None if self._network is None else self._network.scores
        target, output, columns = self._targets(labels, is_first=is_first, classes=classes, scores=scores)
        examples = with_weights(dense_rows(rows, self._dtype), target, sample_weight)
        random = random_of(self.random_state)
        if is_first:
            self._begin(rows.shape[1], output, columns, random)
        self._train(examples, given, random, is_partial=is_partial)
        return self

    @property
    def _dtype(self) -> str:
        return self.dtype if self._network is None else self._network.dtype

    def _begin(self, features: int, output: Output, columns: int, random: np.random.RandomState) -> None:
        """Make the network, with its first weights."""
        self._program: Program = self._made(features, output, columns)
        self._trainer: Trainer | None = None
        self._state: dict[str, Array] = {}
        self.weights_: dict[str, Array] = self._program.first_weights(random)
        self._seen: Progressing = Progressing([], [])
        self.n_outputs_: int = columns
        self.out_activation_: Output = output
        self.t_: int = 0

    def _made(self, features: int, output: Output, columns: int) -> Program:
        given = self._network
        if given is None:
            layers = (features, *parameters.sizes_of(self.hidden_layer_sizes), columns)
            return LayeredProgram(Layers(layers, self.activation, output, self.dtype))
        if given.scores not in (None, columns):
            classes = len(getattr(self, "classes_", ()))
            wanted = f"{columns}" if classes in (0, columns) else f"{columns} or {classes}"
            raise PipelineError(
                f"the model gives {given.scores} scores for each row, and y has "
                f"{f'{classes} classes' if classes else f'{columns} columns'}",
                help=f"the last layer of the model has to give {wanted}",
            )
        return ModelProgram(given, output, columns)

    def _read_model(self, features: int) -> Network:
        given = cast(Any, self.model)
        if hasattr(cast(object, type(given)), "to_model"):  # a script
            model = given.to_model()
        elif callable(given) and not isinstance(given, Model):
            model = trace(given, TensorType(DType.from_numpy(np.dtype(self.dtype)), ("N", features)))
        else:
            model = self._given_model()
        network = read_network(model, type(self).__name__)
        if network.features not in (None, features):
            raise PipelineError(f"the model takes {network.features} columns, and X has {features}")
        return network

    def _train(
        self, examples: Examples, given: dict[str, Any], random: np.random.RandomState, *, is_partial: bool
    ) -> None:
        held_out: Examples | None = None
        if self.early_stopping:
            examples, held_out = split(
                examples, self.validation_fraction, random, is_of_labels=self._is_of_labels
            )
        data, target, weight = examples
        asked = _MOST_ROWS if self.batch_size == "auto" else int(self.batch_size)
        size = min(asked, len(data))
        if self.batch_size != "auto" and asked > size:
            warnings.warn(f"batch_size is {asked}, and there are {size} rows", stacklevel=4)
        rate = Rate(float(self.learning_rate_init))
        trainer = self._trainer if is_partial else None
        if trainer is None:
            trainer = self._new_trainer(
                given, size, rate, is_weighted=weight is not None, is_partial=is_partial
            )
        trainer.position.seed = int(random.randint(np.iinfo(np.int32).max))
        seen = self._seen
        epochs = Epochs(
            seen,
            rate,
            rows=len(data),
            tol=self.tol,
            patience=self.n_iter_no_change,
            rule="constant" if isinstance(self.learning_rate, Schedule) else self.learning_rate,
            first_rate=self.learning_rate_init,
            power=self.power_t,
            score=None if held_out is None else self._scorer(held_out),
        )
        history = trainer.fit(
            data,
            target,
            epochs=1 if is_partial else self.max_iter,
            batch_size=size,
            shuffle=self.shuffle,
            sample_weight=weight,
            callbacks=[*self.callbacks, epochs],
            progress=bool(self.verbose),
        )
        self._state = trainer.state
        self._trainer = trainer if is_partial else None
        best = seen.best_weights
        names = dict.fromkeys([*trainer.trained, *trainer.objective.state])
        self.weights_ = {each: (best or self._state)[each] for each in names}
        self.n_iter_: int = len(history)
        self.t_ = seen.rows_seen
        self.loss_curve_: list[float] = seen.losses
        self.loss_: float = seen.losses[-1]
        self.best_loss_: float | None = None if self.early_stopping else seen.best_loss
        self.validation_scores_: list[float] | None = seen.scores if self.early_stopping else None
        self.best_validation_score_: float | None = seen.best_score if self.early_stopping else None
        if not is_partial and not epochs.has_converged and len(history) == self.max_iter:
            warnings.warn(
                f"the fit ended after max_iter={self.max_iter} epochs, and the loss was still falling",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _new_trainer(
        self, given: dict[str, Any], size: int, rate: Rate, *, is_weighted: bool, is_partial: bool
    ) -> Trainer:
        wanted = parameters.wanted(given, is_weighted=is_weighted)
        chosen = self.learning_rate
        schedule = chosen if isinstance(chosen, Schedule) else rate.schedule()
        trainer = self._program.trainer(wanted, size).restarted(
            schedule=schedule if wanted.optimizer is None else None, device=self.device
        )
        state = trainer.state
        kept = self._state if is_partial and self._state.keys() == state.keys() else {}
        own = {each: array for each, array in self.weights_.items() if each in state}
        trainer.state = {**state, **kept, **own}
        return trainer

    def _scorer(self, held_out: Examples) -> Callable[[dict[str, Array]], float]:
        data, target, weight = held_out
        return lambda state: self._score_of(self._program.scores(data, state), target, weight)

    # -- what was fitted -------------------------------------------------------------------------------------------

    @property
    def coefs_(self) -> list[Array]:
        """The matrices of weights of all layers, as scikit-learn has them; of a given model see `weights_`."""
        return self._of_layers("coefs_")

    @property
    def intercepts_(self) -> list[Array]:
        """The intercepts of all layers."""
        return self._of_layers("intercepts_")

    def _of_layers(self, name: str) -> list[Array]:
        if not isinstance(vars(self).get("_program"), LayeredProgram):
            raise AttributeError(f"{name}: there are no layers; weights_ has all weights by their names")
        return [each for key, each in self.weights_.items() if key.startswith(name)]

    @property
    def model_(self) -> Model:
        """The trained network as a model: it takes rows, and gives scores."""
        if not hasattr(self, "weights_"):
            raise AttributeError("model_: the estimator is not fitted")
        return self._program.model(self.weights_)

    def _scores(self, X: Rows) -> Array:
        check_fitted(self)
        found = self._program.scores(checked_rows(self, X, self._dtype), self.weights_)
        return found if found.ndim == 2 else found[:, None]

    def __getstate__(self) -> dict[str, Any]:
        state = cast(Any, super()).__getstate__()
        # A session holds memory of its device; `_state` has what it needs to go on.
        return {name: each for name, each in state.items() if name != "_trainer"} | (
            {"_trainer": None} if "_trainer" in state else {}
        )

    def __sklearn_tags__(self) -> Any:
        tags = cast(Any, super()).__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
