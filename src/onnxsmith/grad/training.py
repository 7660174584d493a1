"""`training_step`: one step of training as a model. Weights and state go in; the loss, weights and state come out."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import onnx_ir as ir

from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Array
from onnxsmith.diagnostics import described_type, did_you_mean
from onnxsmith.errors import (
    AttributeTypeError,
    CallError,
    LossError,
    UnknownNameError,
    UnreachedError,
    boundary,
)
from onnxsmith.errors.telling import tell
from onnxsmith.grad.checks import check_flags, check_loss, read_names, takes
from onnxsmith.grad.losses import Loss, target_type, zeros_of
from onnxsmith.grad.models import Differentiated, differentiated, in_new_opset
from onnxsmith.grad.operators import op, several
from onnxsmith.grad.optimizers import Optimizer
from onnxsmith.graphs import trained_parameters
from onnxsmith.graphs.ir_types import dimensions_of
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.graphs.notes import WEIGHT_KEY
from onnxsmith.graphs.trained_parameters import PARAMETERS_KEY
from onnxsmith.passes import optimize
from onnxsmith.source import caller_span
from onnxsmith.tracing.trace import trace
from onnxsmith.types.annotations import Annotation
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: What the inputs of a step are called that are not the model's.
TARGET, RATE, COUNT = "target", "lr", "step"
_MOST_SHOWN = 8


@boundary
def training_step(
    model: ModelLike,
    loss: Loss | str,
    optimizer: Optimizer,
    *,
    weights: str | Sequence[str] | None = None,
    target: Annotation | None = None,
    penalty: Callable[..., Any] | None = None,
    keep_nested_loops: bool = False,
) -> Model:
    """One step of training as a model of standard operators.

    Its inputs are those of `model`, then `target`, `lr` where the optimiser leaves it open, the weights by their names,
    what the optimiser keeps, and state of the model such as running statistics. Its outputs are the loss, then the
    weights, what is kept and the state, in the same order: `NAME_next`. `initial_state` gives the first of those inputs
    by name.

    `loss` is a function of the model's outputs and a target; `onnxsmith.grad.losses` has the usual ones. Where the
    model computes the loss itself, it is the name of that output, and the step has no `target`. `weights` are
    names or patterns. By default they are those that the metadata of the model names, under `onnxsmith.parameters`, as
    that of a PyTorch module exported in training does: parameters that ask for gradients, and no buffers. For other
    models they are the weights that it was made of where it knows them, and else all floating-point arrays: name them
    where constants are among those.
    `target` is the type of targets where the loss does not say it. `penalty` is a function of all weights that is added
    to the loss. `keep_nested_loops` is as for `gradient`.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> from onnxsmith.grad import initial_state, losses, sgd, training_step
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
    model = model_of(model, "training_step")
    check_flags(keep_nested_loops=keep_nested_loops)
    state = trained_parameters.read_state(model.ir.metadata_props)
    predictions = [each.name for each in model.outputs if each.name not in state.values()]
    check_loss(loss, predictions)
    if not isinstance(optimizer, Optimizer):  # pyright: ignore[reportUnnecessaryIsInstance]  # user input
        raise AttributeTypeError(
            f"the optimizer is one that sgd or adam makes, not {described_type(type(optimizer))}",
            help="training_step(model, losses.squared, sgd(lr=0.1))",
        )
    if penalty is not None and not callable(cast(object, penalty)):
        raise AttributeTypeError(
            f"penalty is a function of the weights, not {described_type(type(penalty))}",
            help="penalty=losses.elastic_penalty(l2=1e-4)",
            culprit="penalty",
        )
    given = in_new_opset(model)
    if weights is None:
        names = _parameters(given.ir) or _weights(given.ir.graph, None)
    else:
        names = _weights(given.ir.graph, read_names(weights, "weights", "weights=['head.*']"))
    _refuse_names(given, optimizer, has_target=not isinstance(loss, str))
    if penalty is not None and not takes(penalty, len(names)):
        raise LossError(
            f"the penalty is called with {len(names)} weights, and does not take so many",
            help="def penalty(*weights): …",
        )
    kept = _kept_state(given, state)
    whole = _Whole(loss, penalty, predictions, kept)
    opset = given.opset_imports.get("", 18)
    data = [(each.name, each.type) for each in given.inputs]

    def slopes_of(names: Sequence[str], skips: frozenset[str]) -> Differentiated:
        buffers = [each for each in kept if each not in names]
        free = _with_inputs(given, [*buffers, *names], kept)
        of_loss = _loss_model(free, whole, data, [*buffers, *names], target, len(names), opset)
        of = [of_loss.outputs[0].name]
        return differentiated(of_loss, of, names, skips=skips, keeps_nested=keep_nested_loops)

    made = slopes_of(names, frozenset(names) if weights is None else frozenset())
    if not made.names:
        raise UnreachedError(
            f"the loss depends on none of the weights: {', '.join(names)}",
            help="what is behind detach() or no_grad() has no gradient; name others: training_step(…, weights=[…])",
        )
    made.tell_of_skipped()
    if len(made.names) < len(names):  # the others stay what they are, as optimisers of torch leave them
        names = list(made.names)
        made = slopes_of(names, frozenset())
    return _with_update(made.model, optimizer, names, list(kept), opset)


@dataclass(frozen=True, slots=True)
class _Whole:
    """A loss with what is added to it, and what the outputs of the model are."""

    loss: Loss | str
    penalty: Callable[..., Any] | None
    predictions: Sequence[str]
    #: Initializers that are state, and the outputs with their new values.
    state: Mapping[str, str]

    def of(self, results: Mapping[str, Tensor], aim: Tensor | None, weights: Sequence[Tensor]) -> Any:
        """The whole loss."""
        loss = self.loss
        total: Any = (
            results[loss]
            if isinstance(loss, str)
            else cast("Callable[..., Any]", loss)(*(results[each] for each in self.predictions), aim)
        )
        if self.penalty is None:
            return total
        added: object = self.penalty(*weights)
        if not isinstance(added, Tensor | int | float):
            raise LossError(f"the penalty is one number, not {described_type(type(added))}")
        return total + added


def _kept_state(model: Model, state: Mapping[str, str | None]) -> dict[str, str]:
    """The state that a step hands on; what the model would write to and does not give is told."""
    lost = [name for name, output in state.items() if output is None]
    if lost:
        tell(
            f"training writes to {', '.join(lost)}, and the model does not give the new values: after training they "
            "are what they were; export the module with keep_mutations=True",
            caller_span(),
        )
    held, given = model.ir.graph.initializers, {each.name for each in model.outputs}
    taken = {each.name for each in model.inputs}
    # What is written to and never read is in no graph.
    return {
        name: output
        for name, output in state.items()
        if output is not None and output in given and (name in held or name not in taken)
    }


def _refuse_names(model: Model, optimizer: Optimizer, *, has_target: bool) -> None:
    """Refuse inputs that are called as those of a step are."""
    own = {*([RATE] if optimizer.lr is None else []), *([COUNT] if optimizer.counts else [])}
    own |= {TARGET} if has_target else set()
    for port in model.inputs:
        if port.name in own:
            raise CallError(
                f"the model has an input '{port.name}', and so has a step of training",
                help="give it another name: trace(…, input_names=[…])",
            )


@boundary
def initial_state(model: ModelLike, step: ModelLike) -> dict[str, Array]:
    """The inputs of the first step of training besides the data: the weights of a model, and zeros for other state.

    By name, in the order in which the step gives what follows.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> from onnxsmith.grad import initial_state, losses, sgd, training_step
    >>> weight = np.ones((2, 1), np.float32)
    >>> model = trace(lambda x: op.MatMul(x, weight), FLOAT["N", 2])
    >>> list(initial_state(model, training_step(model, losses.squared, sgd(lr=0.1, momentum=0.9))))
    ['weight', 'weight_momentum']
    """
    model = model_of(model, "initial_state")
    step = model_of(step, "initial_state", 1)
    held = model.ir.graph.initializers
    after = {each.name.removesuffix("_next") for each in step.outputs if each.name.endswith("_next")}
    state: dict[str, Array] = {}
    for port in step.inputs:
        if port.name in after:
            tensor = held[port.name].const_value if port.name in held else None
            state[port.name] = (
                zeros_of(cast(TensorType, port.type)) if tensor is None else np.array(tensor.numpy())
            )
    if not any(name in held for name in state):
        raise CallError(
            "initial_state takes a model and a step of its training, and this step trains no weight of this model",
            help="step = training_step(model, losses.squared, sgd(lr=0.1)); initial_state(model, step)",
        )
    return state


def _parameters(model: ir.Model) -> list[str]:
    """The initializers that the model says are to be trained, or else those that are weights of what it was made of."""
    graph = model.graph
    named = trained_parameters.read(model.metadata_props)
    if named is not None:
        return _named_parameters(graph, named)
    return [
        name
        for name, value in graph.initializers.items()
        if WEIGHT_KEY in value.meta
        and value.const_value is not None
        and value.const_value.dtype.is_floating_point()
    ]


def _named_parameters(graph: ir.Graph, names: Sequence[str]) -> list[str]:
    """The names that a model's metadata has; it is an error where the model has changed since."""
    for name in names:
        value = graph.initializers.get(name)
        tensor = None if value is None else value.const_value
        if tensor is None or not tensor.dtype.is_floating_point():
            raise UnknownNameError(
                f"{name!r} is to be trained, as the model's metadata says ({PARAMETERS_KEY}), and the model has "
                "no such weight of floating-point numbers",
                help="make the step of the model as it was exported, before optimising folds weights; "
                "or name the weights: training_step(…, weights=[…])",
            )
    if not names:
        raise UnknownNameError(
            f"the model has no weight that is to be trained, as its metadata says ({PARAMETERS_KEY})",
            help="parameters that do not ask for gradients stay as they are; name some: training_step(…, weights=[…])",
        )
    return list(names)


def _weights(graph: ir.Graph, patterns: Sequence[str] | None) -> list[str]:
    """The initializers that are meant: floating-point, and for a pattern no single numbers. None is for all."""
    found: dict[str, None] = {}
    for pattern in ["*"] if patterns is None else patterns:
        if pattern in graph.initializers:
            found[pattern] = None
            continue
        matching = [
            name
            for name, value in graph.initializers.items()
            if fnmatch.fnmatchcase(name, pattern)
            and value.const_value is not None
            and value.const_value.dtype.is_floating_point()
            and len(value.const_value.shape)
        ]
        if not matching:
            which = "weights" if patterns is None else f"weight {pattern!r}"
            raise UnknownNameError(
                f"the model has no {which} of floating-point numbers",
                help=did_you_mean(pattern, list(graph.initializers))
                or f"its weights are {_listed(graph.initializers)}",
            )
        found.update(dict.fromkeys(matching))
    return list(found)


def _listed(names: Collection[str]) -> str:
    shown = ", ".join(list(names)[:_MOST_SHOWN])
    return f"{shown} and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else shown or "none"


def _with_inputs(model: Model, names: Sequence[str], state: Mapping[str, str]) -> Model:
    """The model with weights and state as its last inputs; of state that it only writes to, the type of the output."""
    changed = model.ir.clone()
    graph = changed.graph
    written = {each.name: each for each in graph.outputs}
    for name in names:
        if name not in graph.initializers:
            after = written[state[name]]
            graph.inputs.append(ir.Value(name=name, shape=after.shape, type=after.type))
            continue
        value = graph.initializers.pop(name)
        tensor = value.const_value
        assert tensor is not None  # it was chosen for what it holds
        value.const_value = None
        value.dtype = tensor.dtype
        value.shape = ir.Shape(dimensions_of(tensor))
        if value in graph.inputs:
            graph.inputs.remove(value)
        graph.inputs.append(value)
    return Model(changed)


def _loss_model(
    model: Model,
    whole: _Whole,
    data: Sequence[tuple[str, Any]],
    names: Sequence[str],
    target: Any,
    weights: int,
    opset: int,
) -> Model:
    """The loss, and the new state, of the data, a target if there is one, state and weights: the last of `names`."""
    kinds: list[Any] = [each.type for each in model.inputs][len(data) :]
    count, has_target = len(data), not isinstance(whole.loss, str)
    aims: list[Any] = []
    if not isinstance(whole.loss, str):
        of_outputs = {each.name: cast(TensorType, each.type) for each in model.outputs}
        aims = [target_type(whole.loss, of_outputs[whole.predictions[0]]) if target is None else target]

    def compute(*tensors: Tensor) -> Any:
        aim, others = (tensors[count], tensors[count + 1 :]) if has_target else (None, tensors[count:])
        results = several(model(*tensors[:count], *others))
        by_name = dict(zip([each.name for each in model.outputs], results, strict=True))
        total = whole.of(by_name, aim, others[len(others) - weights :])
        return (total, *(by_name[each] for each in whole.state.values())) if whole.state else total

    if has_target:
        compute.__wrapped__ = whole.loss  # pyright: ignore[reportFunctionMemberAccess]  # errors about results point there
    return trace(
        compute,
        *(kind for _, kind in data),
        *aims,
        *kinds,
        input_names=[*(name for name, _ in data), *([TARGET] if has_target else []), *names],
        output_names=["loss", *(f"{each}_next" for each in whole.state)],
        opset_version=opset,
        name="training_step",
    )


def _with_update(
    gradient: Model, optimizer: Optimizer, names: Sequence[str], state: Sequence[str], opset: int
) -> Model:
    """The gradient, and what the optimiser makes of the weights."""
    ports = list(gradient.inputs)
    kinds: dict[str, Any] = {each.name: each.type for each in ports}
    weights, buffers = list(names), [each for each in state if each not in names]
    data = [each.name for each in ports if each.name not in names and each.name not in buffers]
    rates = [RATE] if optimizer.lr is None else []
    slots = [f"{name}_{slot}" for name in weights for slot in optimizer.slots]
    counted = [COUNT] if optimizer.counts else []
    inputs = [*data, *rates, *weights, *slots, *counted, *buffers]
    types: list[Any] = [kinds[each] for each in data]
    types += [TensorType(DType.FLOAT, ())] * len(rates)
    types += [kinds[each] for each in weights]
    types += [kinds[name] for name in weights for _ in optimizer.slots]
    types += [TensorType(DType.INT64, ())] * len(counted)
    types += [kinds[each] for each in buffers]
    width = len(optimizer.slots)

    def compute(*tensors: Tensor) -> tuple[Any, ...]:
        by_name = dict(zip(inputs, tensors, strict=True))
        loss, *results = several(gradient(*(by_name[each.name] for each in ports)))
        after_run = dict(zip(state, results, strict=False))
        slopes = results[len(state) :]
        number = by_name[COUNT] + np.int64(1) if optimizer.counts else None
        moved: list[Tensor] = []
        kept: list[Tensor] = []
        for k, name in enumerate(weights):
            held = [by_name[each] for each in slots[k * width : (k + 1) * width]]
            weight = after_run.get(name, by_name[name])  # the model may write to a weight, too
            rate = op.Cast(by_name[RATE], to=weight.dtype) if optimizer.lr is None else optimizer.lr
            weight, after = optimizer.update(weight, slopes[k], rate, number, held)
            moved.append(weight)
            kept += after
        counts = [] if number is None else [number]
        return (loss, *moved, *kept, *counts, *(after_run[each] for each in buffers))

    made = trace(
        compute,
        *types,
        input_names=inputs,
        output_names=["loss", *(f"{each}_next" for each in (*weights, *slots, *counted, *buffers))],
        opset_version=opset,
        name="training_step",
    )
    return optimize(made, opset="keep")
