"""Translations that the user gives: scripts, operators of other domains, and functions on tensors."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import torch
from torch._library.custom_ops import CustomOpDef
from torch._ops import HigherOrderOperator, OpOverload, OpOverloadPacket

from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.value import Value
from onnxsmith.errors import ExportError, TranslationError
from onnxsmith.torch.library.kinds import Argument, Arguments, Fake, Keywords, Target, Translated, schema_of

#: An operator of torch, as users name one.
OperatorKey: TypeAlias = (
    "OpOverload[..., Any] | OpOverloadPacket[..., Any] | HigherOrderOperator | CustomOpDef"
)
#: A script, an operator of an opset, or a function on tensors.
CustomTranslation: TypeAlias = Callable[..., Translated]
#: What users give in the place of translations.
Translations: TypeAlias = "Mapping[OperatorKey, CustomTranslation]"


def by_overload(translations: Translations) -> dict[Target, CustomTranslation]:
    """Translations by overload; one given for `torch.ops.my.op` is for all its overloads."""
    result: dict[Target, CustomTranslation] = {}
    for target, function in translations.items():
        if not callable(function):  # users may give anything
            raise ExportError(
                f"the translation of {target} is not a function but {type(function).__name__}",
                help="give a script, an operator of an opset, or a function on tensors",
            )
        if isinstance(target, OpOverloadPacket):
            for overload in target.overloads():
                result[getattr(target, overload)] = function
        elif isinstance(target, CustomOpDef):
            result[target._opoverload] = function  # pyright: ignore[reportPrivateUsage]  # it has no other name
        elif isinstance(target, OpOverload | HigherOrderOperator):  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
            result[target] = function
        else:
            raise ExportError(
                f"{target!r} is not an operator of torch",
                help="keys of translations are torch.ops.my.op.default, torch.ops.my.op, or what custom_op returns",
            )
    return result


def called_custom(
    function: CustomTranslation, target: Target, args: Arguments, kwargs: Keywords
) -> Translated:
    """Call a translation with torch's arguments.

    ONNX has inputs that are tensors and attributes that are not. A script or an operator gets what is no tensor by
    the name that torch's schema has for it; a plain function gets everything as torch does.
    """
    if not _has_attributes(function):
        try:
            inspect.signature(function).bind(*args, **kwargs)
        except TypeError as error:
            raise TranslationError(
                f"the translation of {target} does not take what torch gives it: {error}",
                help=f"torch's operator is {schema_of(target) or target}",
            ) from None
        return function(*args, **kwargs)
    schema = schema_of(target)
    names = [] if schema is None else [each.name for each in schema.arguments]
    inputs: list[Argument] = []
    attributes: Keywords = {}
    for k, value in enumerate(args):
        if _is_input(value) or k >= len(names):
            inputs.append(value)
        else:
            attributes[names[k]] = value
    attributes |= kwargs
    return function(*inputs, **{name: each for name, each in attributes.items() if each is not None})


def check_count(overload: str, result: Translated, output: Fake) -> None:
    """A translation gives as many values as torch's operator; `output` is what torch knows of those."""
    mine = len(result) if isinstance(result, tuple | list) else int(result is not None)
    if isinstance(output, torch.Tensor | tuple | list):
        theirs = len(output) if isinstance(output, tuple | list) else 1
        if mine != theirs or isinstance(result, tuple | list) is not isinstance(output, tuple | list):
            raise TranslationError(
                f"the translation of {overload} gives {_count(mine, result)} where torch has "
                f"{_count(theirs, output)}"
            )


def _count(count: int, values: Translated | Fake) -> str:
    form = " in a tuple" if count == 1 and isinstance(values, tuple | list) else ""
    return f"{count or 'no'} value{'s' * (count != 1)}{form}"


def _has_attributes(function: CustomTranslation) -> bool:
    """True if a callable tells tensors from attributes: operators and scripts do, Python's functions do not."""
    return not hasattr(function, "__code__")


def _is_input(value: Argument) -> bool:
    if isinstance(value, list | tuple):
        return any(isinstance(each, Value) for each in value)
    return value is None or isinstance(value, Value | Number | Complex)
