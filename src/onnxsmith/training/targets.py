"""Targets and weights that a loss takes, and what is no loss. Knows no loss itself: losses enter themselves here."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar, cast

from onnxsmith.diagnostics import described_type, did_you_mean
from onnxsmith.errors import LossError
from onnxsmith.errors.arguments import takes
from onnxsmith.errors.wrong_kinds import Given
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: Attributes of functions that are losses: the target is the number of a class; it takes weights of examples.
_CLASSES, _WEIGHTS = "_onnxsmith_takes_classes", "_onnxsmith_takes_weights"


class Loss(Protocol):
    """A loss: any function of a prediction and a target."""

    def __call__(self, prediction: Any, target: Any, /) -> Any:
        """The loss, one number."""
        ...


L = TypeVar("L", bound=Callable[..., Any])


def takes_classes(function: L) -> L:
    """Say that the targets of a loss are numbers of classes, which are the second dimension of predictions."""
    setattr(function, _CLASSES, True)
    return function


def takes_weights(function: L) -> L:
    """Say that a loss takes weights of examples behind the target."""
    setattr(function, _WEIGHTS, True)
    return function


def is_of_classes(loss: Callable[..., Any]) -> bool:
    """True if the targets of a loss are numbers of classes."""
    return hasattr(_function(loss), _CLASSES)


def is_weighted(loss: Callable[..., Any], outputs: int) -> bool:
    """True if a loss takes weights of examples behind the predictions and the target."""
    return hasattr(_function(loss), _WEIGHTS) or takes(loss, outputs + 2)


def _fits(loss: Callable[..., Any], outputs: int) -> bool:
    """True if a loss takes so many predictions and a target; of ours the third argument is no target."""
    return outputs == 1 if hasattr(_function(loss), _WEIGHTS) else takes(loss, outputs + 1)


def target_type(loss: Callable[..., Any], prediction: TensorType) -> TensorType:
    """The type of targets that a loss takes; that of the predictions where it does not say."""
    if not is_of_classes(loss):
        return prediction
    shape = prediction.shape
    return TensorType(DType.INT64, None if shape is None else (*shape[:1], *shape[2:]))


def classes_of(loss: Callable[..., Any], prediction: TensorType) -> tuple[int | None, int | None]:
    """How many classes targets of a loss may be numbers of, and the label that does not count; None if unknown."""
    shape = prediction.shape
    if not is_of_classes(loss) or shape is None or len(shape) < 2 or not isinstance(shape[1], int):
        return None, None
    given: Any = loss
    ignored: int | None = None
    while isinstance(given, functools.partial):
        option: object = given.keywords.get("ignore_index")
        ignored = option if ignored is None and isinstance(option, int) else ignored
        given = cast("functools.partial[Any]", given).func
    return shape[1], ignored


def _function(loss: Callable[..., Any]) -> Callable[..., Any]:
    """The function behind options that are set."""
    while isinstance(loss, functools.partial):
        loss = cast("functools.partial[Any]", loss).func
    return loss


def check_loss(loss: Given, outputs: Sequence[str]) -> None:
    """Refuse what is neither the name of an output nor can be called with all of them and a target."""
    if isinstance(loss, str):
        if loss not in outputs:
            raise LossError(
                f"the model has no output '{loss}' that could be the loss",
                help=did_you_mean(loss, list(outputs)) or f"its outputs are {', '.join(outputs)}",
            )
        return
    if not callable(loss):
        raise LossError(
            f"a loss is a function of a prediction and a target, not {described_type(type(loss))}",
            help="training_step(model, losses.squared, sgd(lr=0.1)); a loss that the model computes itself is the name "
            "of that output",
        )
    if _is_of_torch(loss):
        raise LossError(
            "a loss is a function of tensors of ONNX, and this one is PyTorch's",
            help="onnxsmith.training.losses has the usual ones, squared and cross_entropy among them; or compute it in "
            "the forward of the module, and give the name of that output",
        )
    if _fits(loss, len(outputs)):
        return
    name = getattr(loss, "__name__", "it")
    if len(outputs) != 1:
        raise LossError(
            f"the model has {len(outputs)} outputs, and {name} does not take these and a target",
            help=f"def loss({', '.join(outputs)}, target): …, or cut the model: "
            f"model.extract(outputs=[{outputs[0]!r}]); the name of an output is for one that is the loss already"
            if outputs
            else None,
        )
    raise LossError(
        f"a loss is a function of a prediction and a target, and {name} does not take two arguments",
        help=f"losses.{name}() makes one"
        if name in ("huber", "quantile")
        else "def loss(prediction, target): …",
    )


def _is_of_torch(loss: Given) -> bool:
    """True for a module of PyTorch, and for a function of it."""
    kinds = (*type(loss).__mro__, loss)
    return any(str(getattr(each, "__module__", "")).partition(".")[0] == "torch" for each in kinds)
