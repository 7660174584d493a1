"""Checks of what a loss takes, and of what is none. Knows no loss itself: losses enter themselves here."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Array
from onnxsmith.diagnostics import described_type, did_you_mean
from onnxsmith.errors import AttributeValueError, InputTypeError, LossError, boundary
from onnxsmith.errors.arguments import takes
from onnxsmith.errors.wrong_kinds import Given
from onnxsmith.schema.foreign_arrays import is_foreign
from onnxsmith.schema.promote import Place, given_array
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: Attributes of functions that are losses: the target is the number of a class; it takes weights of examples.
_CLASSES, _WEIGHTS = "_onnxsmith_takes_classes", "_onnxsmith_takes_weights"
#: The attribute of a loss of scores that says which loss is the same of probabilities; None where there is none.
_OF_PROBABILITIES = "_onnxsmith_of_probabilities"


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
    """Say that a loss takes weights of examples behind the target, and check what it is given."""
    called = function.__name__

    @boundary
    @functools.wraps(function)
    def loss(prediction: Given, target: Given, sample_weight: Given = None, **options: Given) -> Tensor:
        check_reduction(options.get("reduction", "mean"))
        given = _tensor(prediction, called, "prediction", is_number=False)
        _refuse_whole(given, called)
        weight = sample_weight if sample_weight is None else _tensor(sample_weight, called, "sample_weight")
        return function(given, _tensor(target, called, "target"), weight, **options)

    setattr(loss, _WEIGHTS, True)
    return cast(L, loss)


def check_reduction(reduction: Given) -> None:
    """Refuse what losses of examples do not become one number by, such as the "none" of PyTorch."""
    if not isinstance(reduction, str) or reduction not in ("mean", "sum"):
        raise AttributeValueError(
            f"reduction is 'mean' or 'sum', and not {reduction!r}",
            help="a loss is one number; a function of your own gives those of single examples",
            culprit="reduction",
        )


def _tensor(value: Given, called: str, name: str, *, is_number: bool = True) -> Tensor | Array | float:
    """A tensor, or an array of what is one; a number beside a tensor may stay one, which takes its element type."""
    if isinstance(value, Tensor) or is_foreign(value):
        return cast(Tensor, value)
    if is_number and isinstance(value, int | float):
        return value
    return given_array(value, None, Place(called, name, culprit=("attribute", name)))


def _refuse_whole(prediction: Tensor | Array | float, called: str) -> None:
    """Whole numbers wrap around in differences, and their means lose the fraction."""
    dtype = (
        DType.from_numpy(prediction.dtype)
        if isinstance(prediction, np.ndarray)
        else getattr(prediction, "dtype", None)
    )
    if isinstance(dtype, DType) and not dtype.is_float:
        raise InputTypeError(
            f"{called} takes a prediction of floating-point numbers, and is given {dtype}",
            help="prediction.astype(np.float32)",
            culprit="prediction",
        )


def of_scores(of_probabilities: Callable[..., Any]) -> Callable[[L], L]:
    """Say that a loss takes scores, and which loss means the same for probabilities."""

    def enter(function: L) -> L:
        setattr(function, _OF_PROBABILITIES, of_probabilities)
        return function

    return enter


def read_loss(
    loss: Any, outputs: Mapping[str, object], probabilities: Sequence[str]
) -> tuple[Any, list[str]]:
    """The loss and the outputs that are its predictions, by what a model says of its outputs.

    Labels, which are whole numbers or texts, are left out where a loss does not take all outputs: no gradient goes
    through them. A loss of scores becomes that of probabilities where the model gives these.
    """
    names = list(outputs)
    if isinstance(loss, str) or not callable(loss) or _is_of_torch(loss):
        check_loss(loss, names)
        return loss, names
    if not _fits(loss, len(names)):
        real = [name for name, kind in outputs.items() if _is_real(kind)]
        names = real or names
    check_loss(loss, names)
    same = getattr(_function(loss), _OF_PROBABILITIES, None)
    if same is not None and len(names) == 1 and names[0] in probabilities:
        return _for_probabilities(loss, same, names[0]), names
    return loss, names


def _is_real(kind: object) -> bool:
    return isinstance(kind, TensorType) and kind.dtype is not None and kind.dtype.kind == "float"


def _for_probabilities(loss: Any, same: Callable[..., Any], output: str) -> Callable[..., Any]:
    """The loss of probabilities, with the options that were set."""
    keywords: dict[str, Any] = {}
    while isinstance(loss, functools.partial):
        held = cast("functools.partial[Any]", loss)
        keywords = {**held.keywords, **keywords}
        loss = held.func
    taken = inspect.signature(same).parameters
    unknown = [each for each in keywords if each not in taken]
    if unknown or not is_of_classes(loss):
        raise LossError(
            f"{loss.__name__} takes scores, and the output '{output}' is probabilities"
            + (f", whose loss has no {unknown[0]}" if unknown else ""),
            help=f"the same for probabilities is losses.{same.__name__}; "
            "or give a function: def loss(probabilities, target): …",
        )
    return functools.partial(same, **keywords) if keywords else same


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
