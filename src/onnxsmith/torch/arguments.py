# pyright: basic
"""Arguments of an ATen call as the parameters of a translation, without what ONNX has no use for."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.torch.library.complex_pair import parts_of
from onnxsmith.torch.library.registry import Translation

#: Where and how torch keeps a tensor, which a model does not say.
_IGNORED = frozenset(
    {
        *("device", "layout", "pin_memory", "memory_format", "non_blocking", "generator", "requires_grad"),
        *("names", "implicit"),
    }
)


def bound(
    translation: Translation, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments as a translation takes them."""
    parameters = translation.parameters
    if not kwargs and len(args) <= len(parameters):
        return args, kwargs
    schema = getattr(target, "_schema", None)
    if schema is None:
        return args, kwargs
    formals = schema.arguments
    if len(args) > len(parameters):
        extra = formals[len(parameters) : len(args)]
        if all(each.name in _IGNORED for each in extra):
            args = args[: len(parameters)]
    if not kwargs:
        return args, kwargs
    positions = {each.name: k for k, each in enumerate(formals) if not each.kwarg_only}
    kept: dict[str, Any] = {}
    for name, value in kwargs.items():
        if name in parameters or translation.takes_any_keyword:
            kept[name] = value
        elif name in _IGNORED:
            continue
        elif name in positions and positions[name] < len(parameters):
            kept[parameters[positions[name]]] = value  # `self` and the like, called otherwise here
        elif value is not None or _default(formals, name) is not None:
            kept[name] = value
    return args, kept


def _default(formals: Any, name: str) -> Any:
    return next((each.default_value for each in formals if each.name == name), None)


def has_complex(value: Any) -> bool:
    """Whether a pair is among the arguments."""
    if isinstance(value, list | tuple):
        return any(has_complex(each) for each in value)
    return isinstance(value, Complex | complex)


def lifted(translation: Translation, call: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A translation that only moves elements, on the real and on the imaginary parts."""
    names = translation.parameters
    data = translation.lifts if isinstance(translation.lifts, tuple) else ()

    def part(value: Any, which: str, is_data: bool) -> Any:
        if isinstance(value, list | tuple):
            return [part(each, which, is_data) for each in value]
        if isinstance(value, Complex | complex) or (is_data and value is not None):
            return getattr(parts_of(value), which)
        return value

    # What is complex may be there for its shape only, as in `expand_as`.
    is_complex = any(
        each.dtype.is_complex for each in tree_leaves(call.output) if isinstance(each, torch.Tensor)
    )
    halves = []
    for which in ("real", "imag") if is_complex else ("real",):
        mine = [part(each, which, k < len(names) and names[k] in data) for k, each in enumerate(args)]
        named = {name: part(each, which, name in data) for name, each in kwargs.items()}
        halves.append(translation.function(call, *mine, **named))
    return _joined(*halves) if is_complex else halves[0]


def _joined(real: Any, imag: Any) -> Any:
    if isinstance(real, list | tuple):
        return [_joined(a, b) for a, b in zip(real, imag, strict=True)]
    return Complex(real, imag)


def overload_name(target: Any) -> str:
    """`"aten.add.Tensor"`; of a higher-order operator, `"higher_order.cond"`."""
    if isinstance(target, torch._ops.OpOverload):
        return str(target)
    if isinstance(target, torch._ops.HigherOrderOperator):
        return f"higher_order.{target.name()}"
    return f"{getattr(target, '__module__', '')}.{getattr(target, '__name__', target)}"
