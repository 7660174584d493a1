"""`training_step`: one step of training as a model. Weights and state go in; the loss, weights and state come out."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import onnx_ir as ir

from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Array
from onnxsmith.diagnostics import described_type, did_you_mean
from onnxsmith.errors import AttributeTypeError, CallError, LossError, UnknownNameError, boundary
from onnxsmith.grad.checks import check_flags, check_loss, check_model, read_names, takes
from onnxsmith.grad.losses import Loss, target_type, zeros_of
from onnxsmith.grad.models import differentiated, in_new_opset
from onnxsmith.grad.operators import op, several
from onnxsmith.grad.optimizers import Optimizer
from onnxsmith.graphs import trained_parameters
from onnxsmith.graphs.ir_types import dimensions_of
from onnxsmith.graphs.model import Model
from onnxsmith.graphs.notes import WEIGHT_KEY
from onnxsmith.graphs.trained_parameters import PARAMETERS_KEY
from onnxsmith.passes import optimize
from onnxsmith.tracing.trace import trace
from onnxsmith.types.annotations import Annotation
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: What the inputs of a step are called that are not the model's.
TARGET, RATE, COUNT = "target", "lr", "step"


@boundary
def training_step(
    model: Model,
    loss: Loss,
    optimizer: Optimizer,
    *,
    weights: str | Sequence[str] | None = None,
    target: Annotation | None = None,
    penalty: Callable[..., Any] | None = None,
    keep_nested_loops: bool = False,
) -> Model:
    """One step of training as a model of standard operators.

    Its inputs are those of `model`, then `target`, `lr` where the optimiser leaves it open, the weights by their names,
    and what the optimiser keeps. Its outputs are the loss, then the weights and what is kept, in the same order:
    `NAME_next`. `initial_state` gives the first of those inputs by name.

    `loss` is a function of the model's output and a target; `onnxsmith.grad.losses` has the usual ones. `weights` are
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
    check_model(model, "training_step")
    check_flags(keep_nested_loops=keep_nested_loops)
    check_loss(loss)
    if not isinstance(optimizer, Optimizer):  # pyright: ignore[reportUnnecessaryIsInstance]  # user input
        raise AttributeTypeError(
            f"the optimizer is one that sgd or adam makes, not {described_type(type(optimizer))}",
            help="training_step(model, losses.squared, sgd(lr=0.1))",
        )
    if penalty is not None and not callable(cast(object, penalty)):
        raise AttributeTypeError(
            f"penalty is a function of the weights, not {described_type(type(penalty))}",
            help="penalty=losses.elastic_penalty(l2=1e-4)",
            culprit=("attribute", "penalty"),
        )
    given = in_new_opset(model)
    if len(given.outputs) != 1:
        raise LossError(
            f"the model has {len(given.outputs)} outputs, and the loss is of one",
            help="cut it: model.extract(outputs=['prediction'])",
        )
    if weights is None:
        names = _parameters(given.ir) or _weights(given.ir.graph, None)
    else:
        names = _weights(given.ir.graph, read_names(weights, "weights", "weights=['head.*']"))
    _refuse_names(given, optimizer)
    if penalty is not None and not takes(penalty, len(names)):
        raise LossError(
            f"the penalty is called with {len(names)} weights, and does not take so many",
            help="def penalty(*weights): …",
        )
    free = _with_inputs(given, names)
    opset = given.opset_imports.get("", 18)
    kind = cast(TensorType, given.outputs[0].type)
    wanted: Any = target_type(loss, kind) if target is None else target
    inputs = [each.name for each in given.inputs]
    of_loss = _loss_model(free, loss, penalty, [*inputs, TARGET, *names], wanted, len(inputs), opset)
    gradient = differentiated(of_loss, [of_loss.outputs[0].name], names, keeps_nested=keep_nested_loops).model
    return _with_update(gradient, optimizer, names, opset)


def _refuse_names(model: Model, optimizer: Optimizer) -> None:
    """Refuse inputs that are called as those of a step are."""
    own = {TARGET, *([RATE] if optimizer.lr is None else []), *([COUNT] if optimizer.counts else [])}
    for port in model.inputs:
        if port.name in own:
            raise CallError(
                f"the model has an input '{port.name}', and so has a step of training",
                help="give it another name: trace(…, input_names=[…])",
            )


@boundary
def initial_state(model: Model, step: Model) -> dict[str, Array]:
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
    check_model(model, "initial_state")
    check_model(step, "initial_state")
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
                or "weights are initializers of the model",
            )
        found.update(dict.fromkeys(matching))
    return list(found)


def _with_inputs(model: Model, names: Sequence[str]) -> Model:
    """The model with weights as its last inputs."""
    changed = model.ir.clone()
    graph = changed.graph
    for name in names:
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
    loss: Loss,
    penalty: Callable[..., Any] | None,
    names: Sequence[str],
    target: Any,
    count: int,
    opset: int,
) -> Model:
    """The loss of the data, a target and the weights."""
    kinds: list[Any] = [each.type for each in model.inputs]

    def compute(*tensors: Tensor) -> Any:
        data, aim, weights = tensors[:count], tensors[count], tensors[count + 1 :]
        total = loss(model(*data, *weights), aim)
        if penalty is None:
            return total
        added: object = penalty(*weights)
        if not isinstance(added, Tensor | int | float):
            raise LossError(f"the penalty is one number, not {described_type(type(added))}")
        return total + added

    compute.__wrapped__ = loss  # pyright: ignore[reportFunctionMemberAccess]  # errors about results point there
    return trace(
        compute,
        *kinds[:count],
        target,
        *kinds[count:],
        input_names=list(names),
        output_names=["loss"],
        opset_version=opset,
        name="training_step",
    )


def _with_update(gradient: Model, optimizer: Optimizer, names: Sequence[str], opset: int) -> Model:
    """The gradient, and what the optimiser makes of the weights."""
    ports = list(gradient.inputs)
    kinds: dict[str, Any] = {each.name: each.type for each in ports}
    first = len(ports) - len(names)
    data, weights = [each.name for each in ports[:first]], list(names)
    rates = [RATE] if optimizer.lr is None else []
    slots = [f"{name}_{slot}" for name in weights for slot in optimizer.slots]
    counted = [COUNT] if optimizer.counts else []
    inputs = [*data, *rates, *weights, *slots, *counted]
    types: list[Any] = [kinds[each] for each in data]
    types += [TensorType(DType.FLOAT, ())] * len(rates)
    types += [kinds[each] for each in weights]
    types += [kinds[name] for name in weights for _ in optimizer.slots]
    types += [TensorType(DType.INT64, ())] * len(counted)
    width = len(optimizer.slots)

    def compute(*tensors: Tensor) -> tuple[Any, ...]:
        by_name = dict(zip(inputs, tensors, strict=True))
        loss, *slopes = several(gradient(*(by_name[each] for each in (*data, *weights))))
        number = by_name[COUNT] + np.int64(1) if optimizer.counts else None
        moved: list[Tensor] = []
        kept: list[Tensor] = []
        for k, name in enumerate(weights):
            state = [by_name[each] for each in slots[k * width : (k + 1) * width]]
            weight = by_name[name]
            rate = op.Cast(by_name[RATE], to=weight.dtype) if optimizer.lr is None else optimizer.lr
            weight, after = optimizer.update(weight, slopes[k], rate, number, state)
            moved.append(weight)
            kept += after
        return (loss, *moved, *kept, *([] if number is None else [number]))

    made = trace(
        compute,
        *types,
        input_names=inputs,
        output_names=["loss", *(f"{each}_next" for each in (*weights, *slots, *counted))],
        opset_version=opset,
        name="training_step",
    )
    return optimize(made, opset="keep")
