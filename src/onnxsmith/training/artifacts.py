"""`generate_artifacts` with the arguments of onnxruntime-training's function of that name; it writes a package of ours.

A program that imports `artifacts` from `onnxruntime.training` runs with the import changed. Arguments that a package
has nothing for are refused by name.
"""

from __future__ import annotations

import dataclasses
import enum
import os
from collections.abc import Callable, Sequence
from typing import Any, cast

from onnxsmith.core.tensor import Tensor
from onnxsmith.diagnostics import described_type, did_you_mean
from onnxsmith.errors import AttributeTypeError, AttributeValueError, LossError, boundary
from onnxsmith.errors.wrong_kinds import Given
from onnxsmith.graphs.model import Model, ModelLike, model_of
from onnxsmith.training import losses
from onnxsmith.training.optimizers import Optimizer, adamw, sgd
from onnxsmith.training.packaging import Kind, package_of, planned_rates
from onnxsmith.training.schedules import constant
from onnxsmith.training.step import Objective, initial_state, step_of
from onnxsmith.training.targets import Loss, target_type
from onnxsmith.training.updates import read_updates
from onnxsmith.types.value_types import TensorType

#: The learning rate that onnxruntime-training begins with, until a program sets another one.
_FIRST_RATE = 1e-3


class LossType(enum.Enum):
    """The losses of onnxruntime-training by their names there.

    >>> from onnxsmith.training.artifacts import LossType
    >>> LossType.MSELoss.name
    'MSELoss'
    """

    MSELoss = 1
    CrossEntropyLoss = 2
    BCEWithLogitsLoss = 3
    L1Loss = 4


class OptimType(enum.Enum):
    """The optimisers of onnxruntime-training by their names there.

    >>> from onnxsmith.training.artifacts import OptimType
    >>> OptimType.AdamW.name
    'AdamW'
    """

    AdamW = 1
    SGD = 2


_LOSSES: dict[str, Loss] = {
    "MSELoss": losses.squared,
    "CrossEntropyLoss": losses.cross_entropy,
    "BCEWithLogitsLoss": losses.binary_cross_entropy,
    "L1Loss": losses.absolute,
}
_OPTIMIZERS: dict[str, Callable[[], Optimizer]] = {
    "AdamW": lambda: adamw(None, eps=1e-6, weight_decay=0.0),
    "SGD": lambda: sgd(None),
}


@boundary
def generate_artifacts(
    model: ModelLike,
    requires_grad: Sequence[str] | None = None,
    frozen_params: Sequence[str] | None = None,
    loss: LossType | Loss | str | None = None,
    optimizer: OptimType | Optimizer | str | None = None,
    artifact_directory: str | os.PathLike[str] | None = None,
    prefix: str = "",
    ort_format: bool = False,
    custom_op_library: str | os.PathLike[str] | None = None,
    additional_output_names: Sequence[str] | None = None,
    nominal_checkpoint: bool = False,
    loss_input_names: Sequence[str] | None = None,
    *,
    kind: Kind = "python",
    steps: int | None = None,
) -> None:
    """Write a training package, given the arguments of onnxruntime-training's function of this name.

    `loss` is one of `LossType` or its name, a function of a prediction and a target, or the name of an output. None is
    for a model whose output is the loss. `optimizer` is one of `OptimType` or its name, or one of ours. Rates that it
    leaves open begin at 0.001, as they do there. `requires_grad` names the weights that are trained: by default those
    that `training_step` trains. `loss_input_names` are the outputs that the loss takes. Evaluation gives
    all outputs of the model, and so those of `additional_output_names`. `kind` is "python" or "web". `steps` is the
    number of steps whose rates are written, where the optimiser follows a schedule.

    The files are those of `Trainer.package`, in the working directory by default. There are no `.ort` files, and no
    checkpoint without the weights. Operators of a library are registered by the program that runs the models.

    >>> import numpy as np, os, tempfile
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> from onnxsmith.training import artifacts
    >>> weight = np.zeros((2, 3), np.float32)
    >>> model = trace(lambda x: op.MatMul(x, weight), FLOAT["N", 2])
    >>> folder = tempfile.mkdtemp()
    >>> artifacts.generate_artifacts(
    ...     model,
    ...     requires_grad=["weight"],
    ...     loss=artifacts.LossType.CrossEntropyLoss,
    ...     optimizer=artifacts.OptimType.AdamW,
    ...     artifact_directory=folder,
    ... )
    >>> sorted(os.listdir(folder))
    ['evaluation.onnx', 'inference.onnx', 'state.bin', 'train.py', 'training.json', 'training_step.onnx']
    """
    model = model_of(model, "generate_artifacts")
    _refuse(ort_format=ort_format, custom_op_library=custom_op_library, nominal_checkpoint=nominal_checkpoint)
    trained, frozen = list(requires_grad or ()), list(frozen_params or ())
    both = next((each for each in trained if each in frozen), None)
    if both is not None:
        raise AttributeValueError(
            f"the weight '{both}' stands in requires_grad and in frozen_params", culprit="frozen_params"
        )
    _check_outputs(model, additional_output_names, "additional_output_names")
    chosen, target = _read_loss(model, loss, loss_input_names)
    objective = Objective.of(model, chosen, weights=trained or None, freeze=frozen or None, target=target)
    given = read_updates(_read_optimizer(optimizer))
    is_scheduled = any(each.schedule is not None for each in given.optimizers.values())
    updates = dataclasses.replace(
        given, optimizers={name: _rated(each) for name, each in given.optimizers.items()}
    )
    step = step_of(objective, updates, skips=not trained)
    package = package_of(
        objective,
        updates,
        step=step,
        state=initial_state(objective.model, step),
        rates=planned_rates(updates, steps if is_scheduled else 1),
    )
    package.write(
        "." if artifact_directory is None else artifact_directory, kind, prefix=prefix, is_shared=True
    )


def _rated(optimizer: Optimizer) -> Optimizer:
    """An optimiser whose open rate has the first value of onnxruntime-training's."""
    is_open = optimizer.lr is None and optimizer.schedule is None
    return dataclasses.replace(optimizer, schedule=constant(_FIRST_RATE)) if is_open else optimizer


_REFUSED = {
    "ort_format": "a package has models in ONNX's format, and no .ort files",
    "custom_op_library": "a package carries no library of operators",
    "nominal_checkpoint": "a package has its whole state, and no checkpoint without weights",
}
_HELPS = {
    "ort_format": "python -m onnxruntime.tools.convert_onnx_models_to_ort makes them of the folder",
    "custom_op_library": "onnxsmith.runtime.register_custom_ops(path) here, and session options with it in the loop",
    "nominal_checkpoint": "leave it out: the weights are in one file, state.bin, which nothing but the loop reads",
}


def _refuse(**given: Given) -> None:
    """Refuse arguments that a package has nothing for."""
    for name, value in given.items():
        if value is not None and value is not False:
            raise AttributeValueError(f"{name}={value!r}: {_REFUSED[name]}", help=_HELPS[name], culprit=name)


def _check_outputs(model: Model, names: Sequence[str] | None, called: str) -> None:
    outputs = [each.name for each in model.outputs]
    for name in names or ():
        if name not in outputs:
            raise AttributeValueError(
                f"{called} has '{name}', which is no output of the model",
                help=did_you_mean(str(name), outputs) or f"model.with_outputs([{name!r}]) makes it one",
                culprit=called,
            )


def _read_loss(model: Model, loss: Given, names: Sequence[str] | None) -> tuple[Loss | str, Any]:
    """A loss of ours, and the type of its target where it is computed of some of the outputs."""
    outputs = [each.name for each in model.outputs]
    _check_outputs(model, names, "loss_input_names")
    if loss is None:
        own = list(names or outputs)
        if len(own) != 1:
            raise LossError(
                f"without a loss the output of the model is the loss, and it has {len(own)}: {', '.join(own)}",
                help=f"loss={own[-1]!r}" if own else None,
            )
        return own[0], None
    _refuse_block(loss, "loss", "a loss of your own is a function: def loss(prediction, target): …")
    found = loss.name if isinstance(loss, LossType) else loss
    if isinstance(found, str):
        meant = None if found in (*_LOSSES, *outputs) else did_you_mean(found, list(_LOSSES))
        if meant is not None:
            raise LossError(f"there is no loss '{found}'", help=meant)
        found = _LOSSES[found] if found in _LOSSES else losses.loss_of(found, outputs)
    if names is None or isinstance(found, str):
        return cast("Loss | str", found), None
    return _of_outputs(model, cast("Callable[..., Any]", found), outputs, list(names))


def _of_outputs(
    model: Model, loss: Callable[..., Any], outputs: list[str], names: list[str]
) -> tuple[Loss, Any]:
    """A loss of all outputs of which it takes some."""
    if not callable(cast(object, loss)):
        raise LossError(
            f"a loss is a function of a prediction and a target, not {described_type(type(loss))}"
        )
    places = [outputs.index(each) for each in names]

    def of_some(*given: Tensor) -> Any:
        return loss(*(given[each] for each in places), *given[len(outputs) :])

    return of_some, target_type(loss, cast(TensorType, model.outputs[places[0]].type))


def _read_optimizer(optimizer: Given) -> Given:
    if optimizer is None:
        raise AttributeValueError(
            "optimizer is None, and the step of a package moves the weights",
            help='optimizer="AdamW"; for the gradient alone: model.gradient(wrt=[…])',
            culprit="optimizer",
        )
    _refuse_block(optimizer, "optimizer", "an optimizer is one of onnxsmith.training.optimizers: adamw(1e-3)")
    found = optimizer.name if isinstance(optimizer, OptimType) else optimizer
    if not isinstance(found, str):
        return found
    if found not in _OPTIMIZERS:
        raise AttributeValueError(
            f"there is no optimizer {found!r}",
            help=did_you_mean(found, list(_OPTIMIZERS))
            or "the names are AdamW and SGD; onnxsmith.training.optimizers has more",
            culprit="optimizer",
        )
    return _OPTIMIZERS[found]()


def _refuse_block(given: Given, name: str, instead: str) -> None:
    """Refuse what onnxruntime-training's own classes build."""
    if any(each.__module__.startswith("onnxruntime.training") for each in type(given).__mro__):
        if isinstance(given, enum.Enum):
            instead = "import artifacts from onnxsmith.training; names do, too: " + f"{name}={given.name!r}"
        raise AttributeTypeError(
            f"{name} is an object of onnxruntime-training, {described_type(type(given))}",
            help=instead,
            culprit=name,
        )


__all__ = ["LossType", "OptimType", "generate_artifacts"]


def __dir__() -> list[str]:
    return list(__all__)
