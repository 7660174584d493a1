"""Checks of arguments before anything begins: what is no model, no name, no function, no number is refused."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import cast

import numpy as np

from onnxsmith.diagnostics import described_type, did_you_mean
from onnxsmith.errors import AttributeTypeError, AttributeValueError, LossError


def read_names(given: object, name: str, example: str) -> list[str]:
    """One name or several as a list; AttributeTypeError for anything else, and for none at all."""
    found = [given] if isinstance(given, str) else given
    if not isinstance(found, Iterable) or isinstance(found, bytes):
        raise AttributeTypeError(
            f"{name} are names, not {described_type(type(given))}", help=example, culprit=name
        )
    names = list(cast("Iterable[object]", found))
    for each in names:
        if not isinstance(each, str):
            raise AttributeTypeError(
                f"{name} are names of inputs and weights, not {described_type(type(each))}", help=example
            )
    if not names:
        raise AttributeTypeError(f"{name} names nothing", help=example)
    return cast("list[str]", names)


def refuse_twice(names: Sequence[str]) -> None:
    """Refuse an argument that is meant twice."""
    for position, name in enumerate(names):
        if name in names[:position]:
            raise AttributeValueError(f"wrt names '{name}' twice", culprit="wrt")


def check_loss(loss: object, outputs: Sequence[str]) -> None:
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
            help="onnxsmith.grad.losses has the usual ones, squared and cross_entropy among them; or compute it in the "
            "forward of the module, and give the name of that output",
        )
    if takes(loss, len(outputs) + 1):
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
        help=f"losses.{name}() makes one" if name == "huber" else "def loss(prediction, target): …",
    )


def _is_of_torch(loss: object) -> bool:
    """True for a module of PyTorch, and for a function of it."""
    kinds = (*type(loss).__mro__, loss)
    return any(str(getattr(each, "__module__", "")).partition(".")[0] == "torch" for each in kinds)


def takes(function: Callable[..., object], count: int) -> bool:
    """True unless a function says that it cannot be called with so many arguments."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # builtins without a signature
        return True
    return True


def check_flags(**flags: object) -> None:
    """Refuse what is neither True nor False."""
    for name, flag in flags.items():
        if not isinstance(flag, bool | np.bool_):
            raise AttributeTypeError(f"{name} is True or False, not {flag!r}", culprit=name)


def check_share(name: str, share: float) -> None:
    """Refuse what is no part of a mean that is kept from step to step: all of it, or more."""
    if share >= 1.0:
        raise AttributeValueError(
            f"{name} is how much is kept of the last step, less than 1, and not {share!r}", culprit=name
        )


def check_numbers(**numbers: object) -> None:
    """Refuse what is no number from 0 on; None is for what is left open."""
    for name, number in numbers.items():
        if number is None:
            continue
        is_number = isinstance(number, int | float) or (
            hasattr(number, "__float__") and not getattr(number, "shape", ())
        )
        if isinstance(number, bool) or not is_number:
            raise AttributeTypeError(
                f"{name} is a number from 0 on, not {described_type(type(number))}", culprit=name
            )
        if not 0.0 <= float(cast(float, number)):
            raise AttributeValueError(f"{name} is a number from 0 on, not {number!r}", culprit=name)
