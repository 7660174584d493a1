"""Functions that translate overloads: the decorators, and a lookup that imports only the family it needs."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from onnxsmith.torch.library.kinds import Translated

F = TypeVar("F", bound=Callable[..., Translated])

#: The package of the families; an index names them without it.
_LIBRARY = "onnxsmith.torch.library."


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


_TRANSLATIONS: dict[str, Translation] = {}
_COMPLEX: dict[str, Translation] = {}


class Untranslatable(Exception):  # not a mistake: the next way is tried
    """A translation does not cover this call; the text says what of it. The decomposition is tried next."""


def _entry(function: Callable[..., Translated], lifts: bool | tuple[str, ...]) -> Translation:
    parameters = list(inspect.signature(function).parameters.values())[1:]
    kinds = inspect.Parameter
    names = tuple(
        each.name for each in parameters if each.kind not in (kinds.VAR_KEYWORD, kinds.VAR_POSITIONAL)
    )
    return Translation(function, names, any(each.kind is kinds.VAR_KEYWORD for each in parameters), lifts)


def _register(table: dict[str, Translation], overloads: tuple[str, ...], entry: Translation) -> None:
    for overload in overloads:
        held = table.get(overload)
        if held is not None and _place(held) != _place(entry):
            raise ValueError(f"{overload} is translated twice: in {_place(held)} and {_place(entry)}")
        table[overload] = entry


def _place(entry: Translation) -> str:
    return f"{entry.function.__module__}.{entry.function.__qualname__}"


def translates(*overloads: str, lifts: bool | tuple[str, ...] = False) -> Callable[[F], F]:
    """Register a function for overloads: `@translates("aten.gelu.default")`.

    `lifts` says that the function only moves elements, so that a complex tensor goes through part by part.
    """

    def register(function: F) -> F:
        _register(_TRANSLATIONS, overloads, _entry(function, lifts))
        return function

    return register


def translates_complex(*overloads: str) -> Callable[[F], F]:
    """Register a function for calls where a tensor is complex; those are `Complex` pairs."""

    def register(function: F) -> F:
        _register(_COMPLEX, overloads, _entry(function, False))
        return function

    return register


def find(overload: str) -> Translation | None:
    """The translation of an overload, or None."""
    found = _TRANSLATIONS.get(overload)
    return found if found is not None else _load(overload, "TRANSLATIONS", _TRANSLATIONS)


def find_complex(overload: str) -> Translation | None:
    """The translation of an overload for complex tensors, or None."""
    found = _COMPLEX.get(overload)
    return found if found is not None else _load(overload, "COMPLEX", _COMPLEX)


def _load(overload: str, table: str, entries: dict[str, Translation]) -> Translation | None:
    index = importlib.import_module("onnxsmith.torch.library.index")
    family = getattr(index, table).get(overload)
    if family is None:
        return None
    importlib.import_module(_LIBRARY + family)
    return entries.get(overload)


def known_overloads() -> list[str]:
    """Every overload with a translation."""
    index = importlib.import_module("onnxsmith.torch.library.index")
    return sorted({*index.TRANSLATIONS, *_TRANSLATIONS})


def registered() -> tuple[dict[str, str], dict[str, str]]:
    """Overload -> family module of all that was imported so far; what the generator of the index reads."""
    tables = (_TRANSLATIONS, _COMPLEX)
    plain, complex_ = (
        {name: each.function.__module__.removeprefix(_LIBRARY) for name, each in t.items()} for t in tables
    )
    return plain, complex_
