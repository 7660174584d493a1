"""Libraries that users load into ONNX Runtime: plug-in execution providers, and operators of their own.

What is loaded holds for the process, as it does in ONNX Runtime, which cannot unload a library that sessions use.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field

from onnxsmith.core.call_cache import forget_all
from onnxsmith.diagnostics import clipped, described_type
from onnxsmith.errors import AttributeTypeError, LibraryError, ModelWarning, boundary
from onnxsmith.errors.user_warnings import tell
from onnxsmith.graphs.given_paths import path_of
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.failure import plain_reason
from onnxsmith.source import caller_span

#: From this version on, providers can be libraries of their own.
_PROVIDERS_SINCE = (1, 23)
_LONGEST_REASON = 400


@dataclass(slots=True)
class _Loaded:
    """Libraries that this process has loaded."""

    #: The name that a user gave -> the provider's own name, and the path of its library.
    providers: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    #: Libraries of operators, in the order in which they were registered.
    operators: tuple[str, ...] = ()
    #: Providers that a warning was given for.
    warned: set[str] = field(default_factory=set[str])
    lock: threading.Lock = field(default_factory=threading.Lock)


_LOADED = _Loaded()


@boundary
def register_provider(name: str, path: str | os.PathLike[str]) -> None:
    """Load the library of a plug-in execution provider; `using(providers=name)` then chooses it.

    Needs ONNX Runtime 1.23 or newer. Nothing is known here of the provider's mistakes: its results are what it
    computes, and the first session that it runs comes with a warning that says so.

    >>> from onnxsmith.runtime import register_provider
    >>> register_provider("mine", "/no/such/libmine_ep.so")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    onnxsmith.errors.LibraryError: the provider 'mine' does not load
    """
    if not isinstance(name, str) or not name:  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
        raise AttributeTypeError(f"a provider has a name, not {described_type(type(name))}", culprit=0)
    place = os.path.abspath(path_of(path))
    onnxruntime_api.require(_PROVIDERS_SINCE, "a plug-in execution provider")
    with _LOADED.lock:
        if name.lower() in _LOADED.providers:
            raise LibraryError(
                f"a provider is registered as {name!r} already, from {_LOADED.providers[name.lower()][1]!r}",
                help="one name is for one library; a library that is loaded stays",
                culprit=0,
            )
        before = set(onnxruntime_api.device_providers())
        try:
            onnxruntime_api.load_provider_library(name, place)
        except Exception as error:  # ONNX Runtime's own classes
            raise _not_loaded(f"the provider {name!r}", place, error) from error
        found = [each for each in onnxruntime_api.device_providers() if each not in before]
        if not found:
            onnxruntime_api.unload_provider_library(name)
            raise LibraryError(
                f"the provider {name!r} finds no device here",
                help=f"{place!r} loads; what it is for is not in this machine, or its driver is missing",
                culprit=1,
            )
        _LOADED.providers[name.lower()] = found[0], place


@boundary
def register_custom_ops(path: str | os.PathLike[str]) -> None:
    """Load a library of operators, such as onnxruntime-extensions' or a vendor's. Models and calls then run them.

    >>> from onnxsmith.runtime import register_custom_ops
    >>> register_custom_ops("/no/such/libmine.so")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    onnxsmith.errors.LibraryError: the library of operators does not load
    """
    place = os.path.abspath(path_of(path))
    onnxruntime_api.require((1, 0), "a library of operators")
    with _LOADED.lock:
        if place in _LOADED.operators:
            return
        try:
            onnxruntime_api.try_operator_library(place)
        except Exception as error:  # ONNX Runtime's own classes
            raise _not_loaded("the library of operators", place, error) from error
        _LOADED.operators = (*_LOADED.operators, place)
    forget_all()  # what could not run may run now


def _not_loaded(what: str, place: str, error: Exception) -> LibraryError:
    reason = clipped(plain_reason(error), _LONGEST_REASON)
    if not os.path.exists(place):
        reason = f"there is no file {place!r}"
    return LibraryError(f"{what} does not load: {reason}", help="it is a shared library for this platform")


def registered(name: str) -> str | None:
    """The own name of a provider that was registered under a name; None for others."""
    found = _LOADED.providers.get(name.lower())
    if found is None:
        return next((own for own, _ in _LOADED.providers.values() if own == name), None)
    return found[0]


def names() -> list[str]:
    """The names of plug-in providers."""
    return list(_LOADED.providers)


def is_plug_in(provider: str) -> bool:
    """True if a provider, by its own name, comes from a library that was registered."""
    return any(own == provider for own, _ in _LOADED.providers.values())


def operator_libraries() -> tuple[str, ...]:
    """The libraries of operators that sessions get."""
    return _LOADED.operators


def provider_libraries() -> list[tuple[str, str]]:
    """Names and paths of plug-in providers, for another process."""
    return [(name, path) for name, (_, path) in _LOADED.providers.items()]


def load_as_there(providers: Iterable[tuple[str, str]], operators: Iterable[str]) -> None:
    """Load what another process has loaded, as far as it is not here already."""
    for name, path in providers:
        if name not in _LOADED.providers:
            register_provider(name, path)
    for path in operators:
        register_custom_ops(path)


def warn_of_unknown(provider: str) -> None:
    """Warn, once for each, that nothing is known of a provider's mistakes."""
    with _LOADED.lock:
        if provider in _LOADED.warned:
            return
        _LOADED.warned.add(provider)
    tell(
        f"nothing is known here of mistakes of {provider}: its results are what it computes; "
        "onnxsmith.compare(model, model, providers=…) finds where they differ from the CPU's",
        caller_span(),
        ModelWarning,
    )
