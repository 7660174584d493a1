"""How operators run eagerly: which runtime, which execution providers, how many threads, how many runners are kept.

Holds the choice and scopes it to a context; it starts no session and knows no operator.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, cast

from onnxsmith.core.call_cache import CHOICE
from onnxsmith.diagnostics import described_type, did_you_mean
from onnxsmith.errors import AttributeTypeError, AttributeValueError, MissingDependencyError, boundary
from onnxsmith.runtime import onnxruntime_api

Runtime: TypeAlias = Literal["onnxruntime", "reference"]
Provider: TypeAlias = str | tuple[str, Mapping[str, Any]]

#: A session of one operator takes about 20 KB, so the default bound is about 10 MB.
DEFAULT_CACHE_SIZE = 512

_RUNTIMES: tuple[Runtime, ...] = ("onnxruntime", "reference")


@dataclass(frozen=True, slots=True)
class Settings:
    """One choice of runtime; equal settings share their cached runners.

    `providers` is empty for the CPU alone. `intra_op_threads` is None for "as the operator deserves": one thread
    for cheap operators, a few for those that multiply matrices. `runtime` is what to try first.

    >>> from onnxsmith.runtime import Settings
    >>> Settings(runtime="reference").runtime
    'reference'
    """

    runtime: Runtime = "onnxruntime"
    providers: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    intra_op_threads: int | None = None
    cache_size: int = DEFAULT_CACHE_SIZE
    #: Whether ONNX Runtime may optimise whole models.
    optimize: bool = True
    #: The device whose arrays calls take and give, as in `cuda:0`; None for arrays of numpy.
    device: str | None = None


#: ONNX Runtime starts as many as it is told to, and does not come back from a million.
MOST_THREADS = 1024

#: The settings of this context, where somebody chose some.
chosen = cast("ContextVar[Settings | None]", CHOICE)


@functools.cache
def default_settings() -> Settings:
    """The default settings: ONNX Runtime if it is installed, else onnx's reference evaluator."""
    return Settings(runtime="onnxruntime" if onnxruntime_api.is_available() else "reference")


def current() -> Settings:
    """The settings of this context."""
    return chosen.get() or default_settings()


def usable_cores() -> int:
    """How many processors this process may run on; containers and `taskset` are respected."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this platform
        return os.cpu_count() or 1


class Scope:
    """A `with` block in which other settings hold; made by `using`, may be entered again and again."""

    __slots__ = ("_tokens", "settings")

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._tokens: list[Token[Settings | None]] = []

    def __enter__(self) -> Settings:
        self._tokens.append(chosen.set(self.settings))
        return self.settings

    def __exit__(self, *_: object) -> None:
        chosen.reset(self._tokens.pop())


@boundary
def using(
    *,
    providers: Sequence[Provider] | None = None,
    intra_op_threads: int | None = None,
    runtime: Runtime | None = None,
    cache_size: int | None = None,
    optimize: bool | None = None,
) -> Scope:
    """Choose how operators run inside a `with` block, in this thread or task only.

    `providers` are ONNX Runtime's execution providers in order of preference, each a name or a pair of name and
    options; the CPU comes after them by itself. `optimize=False` lets ONNX Runtime run whole models as they
    are, node by node. What is left out stays as it was.

    >>> from onnxsmith.runtime import using
    >>> with using(runtime="reference") as settings:
    ...     settings.runtime
    'reference'
    >>> with using(providers=["CPUExecutionProvider"], intra_op_threads=1) as settings:
    ...     settings.intra_op_threads
    1

    An unknown provider or runtime is an `AttributeValueError` that lists those there are.
    """
    settings = current()
    if runtime is not None:
        settings = replace(settings, runtime=_checked_runtime(runtime))
    if providers is not None:
        settings = replace(settings, providers=_checked_providers(providers))
    if intra_op_threads is not None:
        settings = replace(
            settings, intra_op_threads=_positive("intra_op_threads", intra_op_threads, MOST_THREADS)
        )
    if cache_size is not None:
        settings = replace(settings, cache_size=_positive("cache_size", cache_size))
    if optimize is not None:
        settings = replace(settings, optimize=bool(optimize))
    return Scope(settings)


def _checked_runtime(runtime: str) -> Runtime:
    for known in _RUNTIMES:
        if runtime == known:
            if known == "onnxruntime" and not onnxruntime_api.is_available():
                raise MissingDependencyError(
                    "onnxruntime is not installed", help="pip install onnxruntime, or use runtime='reference'"
                )
            return known
    raise AttributeValueError(
        f"there is no runtime {runtime!r}", help="the runtimes are 'onnxruntime' and 'reference'"
    )


def _checked_providers(providers: Sequence[Provider]) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    if isinstance(providers, str):
        raise AttributeTypeError(
            f"providers is a list of names, not the string {providers!r}", help=f"providers=[{providers!r}]"
        )
    told = cast(object, providers)  # users may give anything
    if not isinstance(told, Sequence):
        raise AttributeTypeError(f"providers is a list of names, not {described_type(type(told))}")
    for each in cast("Sequence[object]", told):
        kind = type(each)
        pair = cast("tuple[object, ...]", each) if isinstance(each, tuple) else ()
        if not isinstance(each, str) and not (len(pair) == 2 and isinstance(pair[1], Mapping)):
            raise AttributeTypeError(
                f"a provider is a name, or a pair of a name and its options, not {described_type(kind)}"
            )
    if not onnxruntime_api.is_available():
        raise MissingDependencyError(
            "providers are ONNX Runtime's, and onnxruntime is not installed", help="pip install onnxruntime"
        )
    available = onnxruntime_api.available_providers()
    checked: list[tuple[str, tuple[tuple[str, str], ...]]] = []
    for provider in providers:
        name, options = (provider, dict[str, Any]()) if isinstance(provider, str) else provider
        if name not in available:
            listed = "available here: " + ", ".join(available)
            suggestion = did_you_mean(name, available)
            raise AttributeValueError(
                f"there is no execution provider {name!r} in this build of ONNX Runtime",
                help=f"{suggestion} {listed}" if suggestion else listed,
            )
        checked.append((name, tuple(sorted((str(key), str(value)) for key, value in options.items()))))
    return tuple(checked)


def _positive(what: str, value: int, most: int | None = None) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise AttributeTypeError(f"{what} is a positive int, not {value!r}")
    if int(value) < 1:
        raise AttributeValueError(f"{what} is a positive int, not {value}")
    if most is not None and int(value) > most:
        raise AttributeValueError(f"{what} is {most} at the most, not {value}")
    return int(value)
