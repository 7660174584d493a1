# pyright: basic
"""Translations that the user gives: scripts, operators of other domains, and functions on tensors."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import torch
from torch._library.custom_ops import CustomOpDef

from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.value import Value
from onnxsmith.errors import ExportError, TranslationError


def by_overload(translations: Mapping[Any, Any]) -> dict[Any, Any]:
    """Translations by overload; one given for `torch.ops.my.op` is for all its overloads."""
    result: dict[Any, Any] = {}
    for target, function in translations.items():
        if not callable(function):
            raise ExportError(
                f"the translation of {target} is not a function but {type(function).__name__}",
                help="give a script, an operator of an opset, or a function on tensors",
            )
        if isinstance(target, torch._ops.OpOverloadPacket):
            for overload in target.overloads():
                result[getattr(target, overload)] = function
        elif isinstance(target, CustomOpDef):
            result[target._opoverload] = function
        elif isinstance(target, torch._ops.OpOverload | torch._ops.HigherOrderOperator):
            result[target] = function
        else:
            raise ExportError(
                f"{target!r} is not an operator of torch",
                help="keys of translations are torch.ops.my.op.default, torch.ops.my.op, or what custom_op returns",
            )
    return result


def called_custom(function: Any, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
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
                help=f"torch's operator is {getattr(target, '_schema', target)}",
            ) from None
        return function(*args, **kwargs)
    names = [each.name for each in target._schema.arguments] if hasattr(target, "_schema") else []
    inputs: list[Any] = []
    attributes: dict[str, Any] = {}
    for k, value in enumerate(args):
        if _is_input(value) or k >= len(names):
            inputs.append(value)
        else:
            attributes[names[k]] = value
    attributes |= kwargs
    return function(*inputs, **{name: each for name, each in attributes.items() if each is not None})


def check_count(overload: str, result: Any, output: Any) -> None:
    """A translation gives as many values as torch's operator; `output` is what torch knows of those."""
    mine = len(result) if isinstance(result, tuple | list) else int(result is not None)
    if isinstance(output, torch.Tensor | tuple | list):
        theirs = len(output) if isinstance(output, tuple | list) else 1
        if mine != theirs or isinstance(result, tuple | list) is not isinstance(output, tuple | list):
            raise TranslationError(
                f"the translation of {overload} gives {_count(mine, result)} where torch has "
                f"{_count(theirs, output)}"
            )


def _count(count: int, values: Any) -> str:
    form = " in a tuple" if count == 1 and isinstance(values, tuple | list) else ""
    return f"{count or 'no'} value{'s' * (count != 1)}{form}"


def _has_attributes(function: Any) -> bool:
    """Whether a callable tells tensors from attributes: operators and scripts do, Python's functions do not."""
    return not hasattr(function, "__code__")


def _is_input(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(isinstance(each, Value) for each in value)
    return value is None or isinstance(value, Value | Number | Complex)
