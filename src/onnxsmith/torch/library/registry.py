"""The registries of functions that translate overloads, and the decorators that fill them."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from onnxsmith.registry import Registry
from onnxsmith.torch.library.kinds import Translated

F = TypeVar("F", bound=Callable[..., Translated])


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


_FAMILIES = "onnxsmith.torch.library"
TRANSLATIONS: Registry[str, Translation] = Registry(_FAMILIES, "TRANSLATIONS")
#: For calls where a tensor is complex.
COMPLEX: Registry[str, Translation] = Registry(_FAMILIES, "COMPLEX")


class Untranslatable(Exception):  # not a mistake: the next way is tried
    """A translation does not cover this call; the text says what of it. The decomposition is tried next."""


def _entry(function: Callable[..., Translated], lifts: bool | tuple[str, ...]) -> Translation:
    parameters = list(inspect.signature(function).parameters.values())[1:]
    kinds = inspect.Parameter
    names = tuple(
        each.name for each in parameters if each.kind not in (kinds.VAR_KEYWORD, kinds.VAR_POSITIONAL)
    )
    return Translation(function, names, any(each.kind is kinds.VAR_KEYWORD for each in parameters), lifts)


def _registers(
    registries: Sequence[Registry[str, Translation]],
    overloads: Sequence[str],
    lifts: bool | tuple[str, ...] = False,
) -> Callable[[F], F]:
    def register(function: F) -> F:
        entry = _entry(function, lifts)
        for registry, overload in itertools.product(registries, overloads):
            registry.register(overload, entry)
        return function

    return register


def translates(*overloads: str, lifts: bool | tuple[str, ...] = False) -> Callable[[F], F]:
    """Register a function for overloads: `@translates("aten.gelu.default")`.

    `lifts` says that the function only moves elements, so that a complex tensor goes through part by part.
    """
    return _registers([TRANSLATIONS], overloads, lifts)


def translates_complex(*overloads: str) -> Callable[[F], F]:
    """Register a function for calls where a tensor is complex; those are `Complex` pairs."""
    return _registers([COMPLEX], overloads)


def translates_both(*overloads: str) -> Callable[[F], F]:
    """Register a function for both: its tensors are real or complex."""
    return _registers([TRANSLATIONS, COMPLEX], overloads)
