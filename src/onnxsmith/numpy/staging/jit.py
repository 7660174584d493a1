"""`onnxsmith.numpy.jit`: plain numpy code as one session, made once per element types, ranks and options."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from onnxsmith.diagnostics import hide_frames_between, hide_own_frames, shown_as
from onnxsmith.errors import OnnxsmithError
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.staging.arguments import Call, bound_arguments
from onnxsmith.numpy.staging.recording import PlainFunction, Recording, plain_function, written_back

P = ParamSpec("P")
R = TypeVar("R")

_LIMIT = 256


@shown_as("jitted function")
class Jitted:
    """What `jit` makes of a function."""

    __wrapped__: Callable[..., Any]

    def __init__(self, function: Callable[..., Any]) -> None:
        self._plain: PlainFunction = plain_function(function)
        self._runs: dict[tuple[Hashable, ...], Recording] = {}
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if not kwargs:
                key: list[Hashable] = []
                for value in args:
                    if value.__class__ is not np.ndarray:
                        break
                    key.append(value.dtype)
                    key.append(value.ndim)
                else:
                    found = self._runs.get(tuple(key))
                    if found is not None:
                        return found(args)[0]
            return self._general(args, kwargs)
        except OnnxsmithError as error:
            error.locate_at_caller()
            hide_own_frames(error)
            raise
        except Exception as error:  # inline, not a `boundary`: this call is made to cost little
            hide_frames_between(error)
            raise

    def _general(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = Call()
        given = bound_arguments(self._plain.signature, args, kwargs)
        template = {name: call.take_apart(each, name) for name, each in given.items()}
        key = ("call", tuple(given), *call.key)
        found = self._runs.get(key)
        if found is None:
            found = Recording(self._plain, call.leaves, template, is_model=False)
            if len(self._runs) >= _LIMIT:
                self._runs.clear()
            self._runs[key] = found
            self._keep_for_arrays(args, kwargs, found)
        result, new = found(call.feeds)
        if new:
            written_back(call.given, dict(zip(found.written, new, strict=True)))
        return result

    def _keep_for_arrays(self, args: Sequence[Any], kwargs: dict[str, Any], found: Recording) -> None:
        """Let calls that are given arrays alone find their session at once."""
        is_plain = not kwargs and not found.written
        if is_plain and all(each.__class__ is np.ndarray and each.dtype.kind != "c" for each in args):
            self._runs[tuple(part for each in args for part in (each.dtype, each.ndim))] = found

    @property
    def sessions(self) -> list[str]:
        """What a session was made for, one text each: element types and ranks of inputs, and values."""
        return [each.form for key, each in self._runs.items() if key[:1] == ("call",)]

    def __repr__(self) -> str:
        return f"<jit {self._plain.name}{self._plain.signature}>"


@public("jit")
def jit(function: Callable[P, R]) -> Callable[P, R]:
    """A plain function of numpy code as one session, for arrays of any size.

    >>> import numpy as np
    >>> import onnxsmith.numpy as xp
    >>> @xp.jit
    ... def spread(x):
    ...     return np.sqrt(((x - x.mean(axis=0)) ** 2).mean(axis=0))
    >>> spread(np.array([[1.0, 2.0], [3.0, 6.0]]))
    array([1., 2.])
    """
    return cast("Callable[P, R]", Jitted(function))
