"""Arguments of an ATen call as the parameters of a translation, without what ONNX has no use for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, cast

import torch
from torch._ops import HigherOrderOperator, OpOverload
from torch.utils._pytree import tree_leaves

from onnxsmith.algorithms.complex_numbers.pair import Complex, zeros_like
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.tensor import Tensor
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import (
    Argument,
    Arguments,
    Default,
    Formal,
    Keywords,
    Target,
    Translated,
    schema_of,
)
from onnxsmith.torch.library.registry import Translation

Part: TypeAlias = Literal["real", "imag"]
_PARTS: tuple[Part, Part] = ("real", "imag")

#: Where and how torch keeps a tensor, which a model does not say.
_IGNORED = frozenset(
    {
        *("device", "layout", "pin_memory", "memory_format", "non_blocking", "generator", "requires_grad"),
        *("names", "implicit"),
    }
)


def bound(
    translation: Translation, target: Target, args: Arguments, kwargs: Keywords
) -> tuple[Arguments, Keywords]:
    """Arguments as a translation takes them."""
    parameters = translation.parameters
    if not kwargs and len(args) <= len(parameters) and not translation.by_name:
        return args, kwargs
    schema = schema_of(target)
    if schema is None:
        return args, kwargs
    formals = schema.arguments
    if translation.by_name:
        kwargs = {each.name: value for each, value in zip(formals, args, strict=False)} | kwargs
        args = ()
    extra = formals[len(parameters) : len(args)]
    if extra and all(each.name in _IGNORED for each in extra):
        args = args[: len(parameters)]
    return args, _kept(translation, formals, kwargs)


def _kept(translation: Translation, formals: Sequence[Formal], kwargs: Keywords) -> Keywords:
    """The arguments by name that a translation has a use for, under its own names."""
    parameters = translation.parameters
    positions = {each.name: k for k, each in enumerate(formals) if not each.kwarg_only}
    kept: Keywords = {}
    for name, value in kwargs.items():
        if name in parameters or translation.takes_any_keyword:
            kept[name] = value
        elif name in _IGNORED:
            continue
        elif name in positions and positions[name] < len(parameters):
            kept[parameters[positions[name]]] = value  # `self` and the like, called otherwise here
        elif value is not None or _default(formals, name) is not None:
            kept[name] = value
    return kept


def _default(formals: Sequence[Formal], name: str) -> Default:
    return next((each.default_value for each in formals if each.name == name), None)


def has_complex(value: Argument) -> bool:
    """True if a pair is among the arguments."""
    if isinstance(value, list | tuple):
        return any(has_complex(each) for each in value)
    return isinstance(value, Complex | complex)


def lifted(translation: Translation, call: Call, args: Arguments, kwargs: Keywords) -> Translated:
    """A translation that only moves elements, on the real and on the imaginary parts."""
    names = translation.parameters
    data = translation.lifts if isinstance(translation.lifts, tuple) else ()

    def part(value: Argument, which: Part, is_data: bool) -> Argument:
        if isinstance(value, list | tuple):
            return [part(each, which, is_data) for each in value]
        if isinstance(value, Complex | complex) or (is_data and value is not None):
            return _part(value, which)
        return value

    # What is complex may be there for its shape only, as in `expand_as`.
    is_complex = any(
        each.dtype.is_complex for each in tree_leaves(call.output) if isinstance(each, torch.Tensor)
    )
    halves: list[Translated] = []
    for which in _PARTS if is_complex else _PARTS[:1]:
        mine = [part(each, which, k < len(names) and names[k] in data) for k, each in enumerate(args)]
        named = {name: part(each, which, name in data) for name, each in kwargs.items()}
        halves.append(translation.function(call, *mine, **named))
    return _joined(*halves) if is_complex else halves[0]


def _part(value: Argument, which: Part) -> Argument:
    """The real or the imaginary part of what is data; those of a number are numbers."""
    if isinstance(value, Complex):
        return getattr(value, which)
    if isinstance(value, Tensor) and not isinstance(value, Number):
        return value if which == "real" else zeros_like(value)
    if isinstance(value, complex):
        return getattr(value, which)
    return value if which == "real" else 0.0


def _joined(real: Translated, imag: Translated) -> Translated:
    if isinstance(real, list | tuple) and isinstance(imag, list | tuple):
        return [_joined(a, b) for a, b in zip(real, imag, strict=True)]
    # Of a complex result: what is no tensor yet becomes one where results are settled.
    return Complex(cast("Tensor", real), cast("Tensor", imag))


def overload_name(target: Target) -> str:
    """`"aten.add.Tensor"`; of a higher-order operator, `"higher_order.cond"`."""
    if isinstance(target, OpOverload):
        return f"{target}"
    if isinstance(target, HigherOrderOperator):
        return f"higher_order.{target.name()}"
    return f"{getattr(target, '__module__', '')}.{getattr(target, '__name__', target)}"
