"""`training_step`: one step of training as a model. Weights and state go in; the loss, weights and state come out."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Array
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import (
    AttributeTypeError,
    CallError,
    LossError,
    ModelWarning,
    UnreachedError,
    boundary,
)
from onnxsmith.errors.arguments import check_flags, takes
from onnxsmith.errors.user_warnings import tell
from onnxsmith.errors.wrong_kinds import Given
from onnxsmith.graphs import trained_parameters
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.graphs.notes import GRADIENT_KEY, notes_of
from onnxsmith.passes import convert_version
from onnxsmith.source import caller_span
from onnxsmith.tracing.trace import trace
from onnxsmith.training.draws import with_draws
from onnxsmith.training.optimizers import Optimizer
from onnxsmith.training.targets import Loss, check_loss, is_weighted, target_type
from onnxsmith.training.updates import (
    Updates,
    own_names,
    read_starts,
    read_updates,
    refuse_names,
    with_updates,
)
from onnxsmith.training.weights import kept_state, trained_weights, weight_array, with_inputs
from onnxsmith.types.annotations import Annotation
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: What the inputs of a step are called that are not the model's.
TARGET, SAMPLE_WEIGHT = "target", "sample_weight"
#: The oldest opset that gradients are written in.
_OLDEST_OPSET = 18


@boundary
def training_step(
    model: ModelLike,
    loss: Loss | str,
    optimizer: Optimizer | Mapping[str, Optimizer],
    *,
    weights: str | Sequence[str] | None = None,
    freeze: str | Sequence[str] | None = None,
    target: Annotation | None = None,
    penalty: Callable[..., Any] | None = None,
    sample_weight: bool = False,
    clip_norm: float | None = None,
    clip_value: float | None = None,
    accumulate: int = 1,
    average: float | None = None,
    keep_nested_loops: bool = False,
) -> Model:
    """One step of training as a model of standard operators.

    Its inputs are those of `model`, then `target`, `lr` where the optimiser leaves it open, the weights by their names,
    what the optimiser keeps, and state of the model such as running statistics. Its outputs are the loss, then the
    weights, what is kept and the state, in the same order: `NAME_next`. `initial_state` gives the first of those inputs
    by name.

    `loss` is a function of the model's outputs and a target; `onnxsmith.training.losses` has the usual ones. Where the
    model computes the loss itself, it is the name of that output, and the step has no `target`. `weights` are
    names or patterns. By default they are those that the metadata of the model names, under `onnxsmith.parameters`, as
    that of a PyTorch module exported in training does: parameters that ask for gradients, and no buffers. For other
    models they are the weights that it was made of where it knows them, and else all floating-point arrays. Name them
    where constants are among those, or name those that stay as they are: `freeze`.
    `target` is the type of targets where the loss does not say it. `penalty` is a function of all weights that is added
    to the loss. `keep_nested_loops` is as for `gradient`. With `sample_weight` the step takes a weight for each
    example.

    `optimizer` may be a dict of optimisers by patterns of names: each weight has the first that fits. Their rates are
    `lr_1`, `lr_2`, … where several are open. `clip_norm` is the most that the norm of all gradients together may be,
    `clip_value` the most that an element may be. With `accumulate` so many gradients are added up, as their mean,
    before weights move. `average` keeps a mean of each weight, `NAME_average`: that share of it stays in each step.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> from onnxsmith.training import initial_state, losses, sgd, training_step
    >>> weight = np.zeros((2, 1), np.float32)
    >>> model = trace(lambda x: op.MatMul(x, weight), FLOAT["N", 2])
    >>> step = training_step(model, losses.squared, sgd(lr=0.1))
    >>> step
    Model(x: FLOAT['N', 2], target: FLOAT['N', 1], weight: FLOAT[2, 1]) -> loss: FLOAT, weight_next: FLOAT[2, 1], ...
    >>> state = initial_state(model, step)
    >>> x = np.float32([[1, 0], [0, 1], [1, 1]])
    >>> for _ in range(100):
    ...     loss, *new = step(x=x, target=x @ np.float32([[2], [3]]), **state)
    ...     state = dict(zip(state, new))
    >>> state["weight"].round(2)
    array([[2.],
           [3.]], dtype=float32)
    """
    check_flags(keep_nested_loops=keep_nested_loops, sample_weight=sample_weight)
    objective = Objective.of(
        model_of(model, "training_step"),
        loss,
        weights=weights,
        freeze=freeze,
        target=target,
        penalty=penalty,
        is_weighted=sample_weight,
    )
    updates = read_updates(
        optimizer, clip_norm=clip_norm, clip_value=clip_value, accumulate=accumulate, average=average
    )
    return step_of(objective, updates, skips=weights is None, keep_nested_loops=keep_nested_loops)


def step_of(objective: Objective, updates: Updates, *, skips: bool, keep_nested_loops: bool = False) -> Model:
    """The step of training; with `skips`, weights that the loss does not depend on are left out with a warning."""
    refuse_names([each.name for each in objective.model.inputs], [*objective.own_names, *own_names(updates)])
    slopes, names = _gradient(objective, skips=skips, keep_nested_loops=keep_nested_loops)
    if len(names) < len(objective.names):  # the others stay what they are, as optimisers of torch leave them
        objective = objective.with_weights(names)
        slopes, names = _gradient(objective, skips=False, keep_nested_loops=keep_nested_loops)
    return with_updates(slopes, updates, names, list(objective.state), objective.opset)


def _gradient(objective: Objective, *, skips: bool, keep_nested_loops: bool) -> tuple[Model, list[str]]:
    """The model of the gradient of a loss, and the weights whose gradients its last outputs are."""
    names = objective.names
    wrt = [_pattern(each) for each in names] if skips else names
    advice = "what is behind detach() or no_grad() has no gradient; "
    advice += "name others: training_step(…, weights=[…])" if skips else "leave it out of weights"
    # A capability that `Model` is given, which checkers see in the stubs.
    model = cast(Any, objective.loss_model())
    with warnings.catch_warnings(record=True) as told:  # one error is enough where no weight is reached
        warnings.simplefilter("always")
        try:
            made: Model = model.gradient(wrt=wrt, of="loss", keep_nested_loops=keep_nested_loops)
        except UnreachedError as error:
            raise UnreachedError(error.message, help=advice) from None
    noted = [notes_of(each).get(GRADIENT_KEY) for each in made.ir.graph.outputs]
    reached = [each for each in noted if isinstance(each, str)]
    if not reached:
        raise UnreachedError(f"the loss depends on none of the weights: {', '.join(names)}", help=advice)
    for each in told:
        if isinstance(each.message, ModelWarning):
            tell(str(each.message), caller_span())
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    return made, reached


def _pattern(name: str) -> str:
    """A pattern for one name: `gradient` leaves out what a pattern names and the loss does not depend on."""
    escaped = re.sub(r"([*?[])", r"[\1]", name)
    return escaped if escaped != name else f"[{name[0]}]{name[1:]}"


# -- what is minimised ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Objective:
    """A model, the weights of it that are trained, and the loss that is minimised."""

    model: Model
    names: list[str]
    loss: Loss | str
    penalty: Callable[..., Any] | None
    #: The outputs that are predictions.
    predictions: list[str]
    #: Initializers that are state, and the outputs with their new values.
    state: dict[str, str]
    target: Any
    is_weighted: bool

    @classmethod
    def of(
        cls,
        model: Model,
        loss: Loss | str,
        *,
        weights: Given = None,
        freeze: Given = None,
        target: Annotation | None = None,
        penalty: Callable[..., Any] | None = None,
        is_weighted: bool = False,
        seed: int | None = None,
    ) -> Objective:
        """Reads what a user wants to be minimised; refused where it cannot be. With a seed, dropouts draw by it."""
        if seed is not None:
            model = with_draws(_in_new_opset(model), seed)
        state = trained_parameters.read_state(model.ir.metadata_props)
        predictions = [each.name for each in model.outputs if each.name not in state.values()]
        check_loss(loss, predictions)
        if penalty is not None and not callable(cast(object, penalty)):
            raise AttributeTypeError(
                f"penalty is a function of the weights, not {described_type(type(penalty))}",
                help="penalty=losses.elastic_penalty(l2=1e-4)",
                culprit="penalty",
            )
        given = _in_new_opset(model)
        names = trained_weights(given.ir, weights, freeze)
        if penalty is not None and not takes(penalty, len(names)):
            raise LossError(
                f"the penalty is called with {len(names)} weights, and does not take so many",
                help="def penalty(*weights): …",
            )
        if is_weighted and (isinstance(loss, str) or not _is_weighted(loss, len(predictions))):
            raise LossError(
                "the loss takes no weights of examples",
                help="a loss that does takes them behind the target: def loss(prediction, target, sample_weight): …",
            )
        return cls(given, names, loss, penalty, predictions, kept_state(given, state), target, is_weighted)

    def with_weights(self, names: list[str]) -> Objective:
        """The same for other weights."""
        return Objective(
            self.model,
            names,
            self.loss,
            self.penalty,
            self.predictions,
            self.state,
            self.target,
            self.is_weighted,
        )

    @property
    def opset(self) -> int:
        """The opset that the step is written in."""
        return self.model.opset_imports.get("", _OLDEST_OPSET)

    @property
    def own_names(self) -> list[str]:
        """The inputs behind those of the model."""
        return [
            *([] if isinstance(self.loss, str) else [TARGET]),
            *([SAMPLE_WEIGHT] if self.is_weighted else []),
        ]

    @property
    def data(self) -> dict[str, Any]:
        """The inputs of a batch, by name, with their types."""
        kinds: dict[str, Any] = {each.name: each.type for each in self.model.inputs}
        if isinstance(self.loss, str):
            return kinds
        first = next(each.type for each in self.model.outputs if each.name == self.predictions[0])
        prediction = cast(TensorType, first)
        kinds[TARGET] = target_type(self.loss, prediction) if self.target is None else self.target
        if self.is_weighted:
            rows = None if prediction.shape is None else prediction.shape[:1]
            kinds[SAMPLE_WEIGHT] = TensorType(prediction.dtype, rows)
        return kinds

    def loss_model(self, *, gives_predictions: bool = False) -> Model:
        """The model of the loss: it takes a batch, state and weights, and gives the loss and new state.

        With `gives_predictions` it gives these instead, and is without the penalty.
        """
        buffers = [each for each in self.state if each not in self.names]
        free = with_inputs(self.model, [*buffers, *self.names], self.state)
        data = self.data
        kinds = [*data.values(), *(each.type for each in free.inputs[len(self.model_inputs) :])]
        names = [*data, *buffers, *self.names]
        given = self.predictions if gives_predictions else list(self.state.values())

        def compute(*tensors: Tensor) -> Any:
            held = dict(zip(names, tensors, strict=True))
            results: Any = free(*(held[each.name] for each in free.inputs))
            outputs = cast("tuple[Tensor, ...]", results if isinstance(results, tuple) else (results,))
            found = dict(zip([each.name for each in free.outputs], outputs, strict=True))
            trained = [] if gives_predictions else [held[each] for each in self.names]
            total = self._value(found, held, trained)
            return (total, *(found[each] for each in given)) if given else total

        if not isinstance(self.loss, str):
            # Errors about results point there.
            compute.__wrapped__ = self.loss  # pyright: ignore[reportFunctionMemberAccess]
        after = [f"{each}_next" for each in self.state]
        return trace(
            compute,
            *kinds,
            input_names=names,
            output_names=["loss", *(self.predictions if gives_predictions else after)],
            opset_version=self.opset,
            name="training_step",
        )

    @property
    def model_inputs(self) -> list[str]:
        """The inputs of the model itself."""
        return [each.name for each in self.model.inputs]

    def _value(
        self, results: Mapping[str, Tensor], held: Mapping[str, Tensor], weights: Sequence[Tensor]
    ) -> Any:
        """The whole loss."""
        if isinstance(self.loss, str):
            total: Any = results[self.loss]
        else:
            extra = [held[each] for each in self.own_names]
            total = cast("Callable[..., Any]", self.loss)(
                *(results[each] for each in self.predictions), *extra
            )
        if self.penalty is None or not weights:
            return total
        added: object = self.penalty(*weights)
        if not isinstance(added, Tensor | int | float):
            raise LossError(f"the penalty is one number, not {described_type(type(added))}")
        return total + added


def _is_weighted(loss: Loss, outputs: int) -> bool:
    return is_weighted(cast("Callable[..., Any]", loss), outputs)


def _in_new_opset(model: Model) -> Model:
    """The model in an opset that gradients are written in."""
    imports = model.opset_imports
    version = imports.get("", imports.get("ai.onnx", _OLDEST_OPSET))
    return model if version >= _OLDEST_OPSET else convert_version(model, _OLDEST_OPSET)


# -- state ---------------------------------------------------------------------------------------------------------


@boundary
def initial_state(model: ModelLike, step: ModelLike) -> dict[str, Array]:
    """The inputs of the first step of training besides the data: weights of a model, and what optimisers begin with.

    By name, in the order in which the step gives what follows.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> from onnxsmith.training import initial_state, losses, sgd, training_step
    >>> weight = np.ones((2, 1), np.float32)
    >>> model = trace(lambda x: op.MatMul(x, weight), FLOAT["N", 2])
    >>> list(initial_state(model, training_step(model, losses.squared, sgd(lr=0.1, momentum=0.9))))
    ['weight', 'weight_momentum']
    """
    model = model_of(model, "initial_state")
    step = model_of(step, "initial_state", 1)
    held = model.ir.graph.initializers
    after = {each.name.removesuffix("_next") for each in step.outputs if each.name.endswith("_next")}
    starts = read_starts(step.ir.metadata_props)
    state: dict[str, Array] = {}
    for port in step.inputs:
        if port.name in after:
            state[port.name] = _first(model, port.name, starts.get(port.name), cast(TensorType, port.type))
    if not any(name in held for name in state):
        raise CallError(
            "initial_state takes a model and a step of its training, and this step trains no weight of this model",
            help="step = training_step(model, losses.squared, sgd(lr=0.1)); initial_state(model, step)",
        )
    return state


def _first(model: Model, name: str, start: float | str | None, kind: TensorType) -> Array:
    """The first value of a weight or of state."""
    weight = weight_array(model, start if isinstance(start, str) else name)
    if weight is not None:
        return weight
    sizes = [each for each in kind.shape or () if isinstance(each, int)]
    dtype = DType.FLOAT if kind.dtype is None else kind.dtype
    return np.full(sizes, 0.0 if start is None or isinstance(start, str) else start, dtype.numpy)
