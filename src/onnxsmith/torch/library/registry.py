"""The registries of functions that translate overloads, and the decorators that fill them."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from onnxsmith.registry import Registry
from onnxsmith.torch.library.kinds import Translated

F = TypeVar("F", bound=Callable[..., Translated])
AnyFunction = TypeVar("AnyFunction", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class Translation:
    """One entry: the function and what it takes."""

    function: Callable[..., Translated]
    #: Names of the parameters after `call`, in order.
    parameters: tuple[str, ...]
    #: Whether it takes any keyword.
    takes_any_keyword: bool
    #: How complex tensors go through: part by part. True, or the parameters that are data (a real one has no
    #: imaginary part).
    lifts: bool | tuple[str, ...] = False
    #: Whether arguments are bound by torch's names, so that overloads with other parameters have one function.
    by_name: bool = False


_FAMILIES = "onnxsmith.torch.library"
TRANSLATIONS: Registry[str, Translation] = Registry(_FAMILIES, "TRANSLATIONS")
#: For calls where a tensor is complex.
COMPLEX: Registry[str, Translation] = Registry(_FAMILIES, "COMPLEX")


class Untranslatable(Exception):  # not a mistake: the next way is tried
    """A translation does not cover this call; the text says what of it. The decomposition is tried next."""


def by_overload(names: Mapping[AnyFunction, str]) -> dict[str, AnyFunction]:
    """The functions of a table by the overloads that each of them translates; `.default` need not be written."""
    return {
        name if name.count(".") > 1 else f"{name}.default": function
        for function, listed in names.items()
        for name in listed.split()
    }


def _entry(function: Callable[..., Translated], lifts: bool | tuple[str, ...], by_name: bool) -> Translation:
    parameters = list(inspect.signature(function).parameters.values())[1:]
    kinds = inspect.Parameter
    names = tuple(
        each.name for each in parameters if each.kind not in (kinds.VAR_KEYWORD, kinds.VAR_POSITIONAL)
    )
    takes_any = any(each.kind is kinds.VAR_KEYWORD for each in parameters)
    return Translation(function, names, takes_any, lifts, by_name)


def _registers(
    registries: Sequence[Registry[str, Translation]],
    overloads: Sequence[str],
    lifts: bool | tuple[str, ...] = False,
    by_name: bool = False,
) -> Callable[[F], F]:
    def register(function: F) -> F:
        entry = _entry(function, lifts, by_name)
        for registry, overload in itertools.product(registries, overloads):
            registry.register(overload, entry)
        return function

    return register


def translates(
    *overloads: str, lifts: bool | tuple[str, ...] = False, by_name: bool = False
) -> Callable[[F], F]:
    """Register a function for overloads: `@translates("aten.gelu.default")`.

    `lifts` says that the function only moves elements, so that a complex tensor goes through part by part.
    `by_name` says that its parameters have torch's names, and are bound by them.
    """
    return _registers([TRANSLATIONS], overloads, lifts, by_name)


def translates_complex(*overloads: str) -> Callable[[F], F]:
    """Register a function for calls where a tensor is complex; those are `Complex` pairs."""
    return _registers([COMPLEX], overloads)


def translates_both(*overloads: str, by_name: bool = False) -> Callable[[F], F]:
    """Register a function for both: its tensors are real or complex."""
    return _registers([TRANSLATIONS, COMPLEX], overloads, by_name=by_name)
