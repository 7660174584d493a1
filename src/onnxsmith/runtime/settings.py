"""How operators run eagerly: which runtime, which execution providers, how many threads, how many runners are kept.

Holds the choice and scopes it to a context; it starts no session and knows no operator.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, cast

from onnxsmith.core.call_cache import CHOICE
from onnxsmith.errors import AttributeTypeError, AttributeValueError, MissingDependencyError, boundary
from onnxsmith.runtime import onnxruntime_api
from onnxsmith.runtime.providers import (
    ChosenProvider,
    Provider,
    check_capture,
    checked_providers,
    device_of,
    provider_of_device,
)
from onnxsmith.runtime.session_options import ChosenOption, OptionValue, checked_session_options

Runtime: TypeAlias = Literal["onnxruntime", "reference"]

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
    providers: tuple[ChosenProvider, ...] = ()
    intra_op_threads: int | None = None
    cache_size: int = DEFAULT_CACHE_SIZE
    #: Whether ONNX Runtime may optimise whole models.
    optimize: bool = True
    #: The device that the results of calls stay on, as in `cuda:0`; None where they are arrays of numpy.
    stays_on: str | None = None
    #: Whether matrices of float32 may be multiplied with factors of 10 bits, where a device can.
    allow_tf32: bool = False
    #: Whether sessions whose buffers stay may capture their kernels once and replay them.
    graph_capture: bool = False
    #: Whether operators of custom domains run the Python functions that are their kernels.
    kernels: bool = True
    #: What ONNX Runtime's sessions are told besides.
    session_options: tuple[ChosenOption, ...] = ()

    @property
    def device(self) -> str:
        """The device that sessions run on, as far as values can lie there: `"cpu"`, `"cuda:0"`.

        >>> from onnxsmith.runtime import Settings
        >>> Settings().device
        'cpu'
        """
        return device_of(self.providers)


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
    device: str | None = None,
    providers: Provider | Sequence[Provider] | None = None,
    allow_tf32: bool | None = None,
    graph_capture: bool | None = None,
    session_options: Mapping[str, OptionValue] | None = None,
    intra_op_threads: int | None = None,
    runtime: Runtime | None = None,
    cache_size: int | None = None,
    optimize: bool | None = None,
    kernels: bool | None = None,
) -> Scope:
    """Choose how operators run inside a `with` block, in this thread or task only.

    What is left out stays as it was.

    - `device`: `"cpu"`, `"cuda"`, `"cuda:1"` and others that values can lie on.
    - `providers`: ONNX Runtime's execution providers, in order of preference: `"tensorrt"`, `["tensorrt", "cuda"]`,
      `("openvino", {"device_type": "GPU"})`. A name is short or the provider's own. The CPU comes last by itself.
    - `allow_tf32`: whether a GPU may multiply float32 matrices with factors of 10 bits; by default it does not.
    - `graph_capture`: whether sessions whose buffers stay replay their kernels as one graph, on providers that can.
    - `session_options`: attributes and configuration entries of ONNX Runtime's `SessionOptions`, by name.
    - `kernels`: False runs the bodies of functions that have a kernel in Python.
    - `optimize`: False lets ONNX Runtime run whole models as they are, node by node.

    >>> from onnxsmith.runtime import using
    >>> with using(runtime="reference") as settings:
    ...     settings.runtime
    'reference'
    >>> with using(providers="cpu", session_options={"execution_mode": "parallel"}) as settings:
    ...     settings.device
    'cpu'

    A provider that the installed build lacks is a `MissingProviderError` that says what to install. A name that nobody
    has is an `AttributeValueError`, a misspelt option a `RuntimeOptionError`.
    """
    settings = current()
    if runtime is not None:
        settings = replace(settings, runtime=_checked_runtime(runtime))
    if device is not None and providers is not None:
        raise AttributeValueError(
            "device= and providers= choose the same thing",
            help="providers=[('cuda', {'device_id': 1})] chooses both provider and device",
        )
    if device is not None:
        settings = replace(settings, providers=provider_of_device(device))
    if providers is not None:
        settings = replace(settings, providers=checked_providers(providers))
    if allow_tf32 is not None:
        settings = replace(settings, allow_tf32=bool(allow_tf32))
    if graph_capture is not None:
        settings = replace(settings, graph_capture=bool(graph_capture))
    if graph_capture:
        check_capture(settings.providers)
    if session_options is not None:
        settings = replace(settings, session_options=checked_session_options(session_options))
    if intra_op_threads is not None:
        settings = replace(
            settings, intra_op_threads=_positive("intra_op_threads", intra_op_threads, MOST_THREADS)
        )
    if cache_size is not None:
        settings = replace(settings, cache_size=_positive("cache_size", cache_size))
    if optimize is not None:
        settings = replace(settings, optimize=bool(optimize))
    if kernels is not None:
        settings = replace(settings, kernels=bool(kernels))
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


def _positive(what: str, value: int, most: int | None = None) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise AttributeTypeError(f"{what} is a positive int, not {value!r}")
    if int(value) < 1:
        raise AttributeValueError(f"{what} is a positive int, not {value}")
    if most is not None and int(value) > most:
        raise AttributeValueError(f"{what} is {most} at the most, not {value}")
    return int(value)
