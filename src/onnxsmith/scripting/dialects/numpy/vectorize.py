"""`onnxsmith.numpy.vectorize`: the decorator."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, overload

import numpy as np

from onnxsmith.core.user_values import UserValue
from onnxsmith.diagnostics import shown_as
from onnxsmith.errors import InputTypeError, boundary
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.registry import entry_point
from onnxsmith.scripting.dialects.numpy.dialect import STAGING
from onnxsmith.scripting.dialects.numpy.jit import Jitted
from onnxsmith.scripting.dialects.numpy.vectorizing import Vectorizing


@shown_as("vectorized function")
class Vectorized(np.vectorize):  # pyright: ignore[reportIncompatibleVariableOverride]  # of its `__module__`
    """A function that `vectorize` has wrapped: a `np.vectorize` whose calls run as a model."""

    @boundary
    def __call__(self, *args: UserValue, **kwargs: UserValue) -> Any:
        if any(isinstance(each, Array) and each.is_symbolic for each in (*args, *kwargs.values())):
            return Vectorizing.of_numpys(self).call(STAGING.staged, args, kwargs)
        return _session()(self, args, kwargs)


def _called(vectorized: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> UserValue:
    return vectorized(*args, **kwargs)


@functools.cache
def _session() -> Jitted:
    """Runs all of them: what is called is part of what a model is made for."""
    return Jitted(_called)


@overload
def vectorize(
    pyfunc: Callable[..., Any],
    otypes: str | Sequence[Any] | None = None,
    doc: str | None = None,
    excluded: Iterable[int | str] | None = None,
    cache: bool = False,
    signature: str | None = None,
) -> Vectorized: ...
@overload
def vectorize(
    pyfunc: None = None,
    otypes: str | Sequence[Any] | None = None,
    doc: str | None = None,
    excluded: Iterable[int | str] | None = None,
    cache: bool = False,
    signature: str | None = None,
) -> Callable[[Callable[..., Any]], Vectorized]: ...
@entry_point
def vectorize(
    pyfunc: Callable[..., Any] | None = None,
    otypes: str | Sequence[Any] | None = None,
    doc: str | None = None,
    excluded: Iterable[int | str] | None = None,
    cache: bool = False,
    signature: str | None = None,
) -> Vectorized | Callable[[Callable[..., Any]], Vectorized]:
    """A function of single numbers, control flow and all, as one of arrays that runs as a model.

    As `np.vectorize`; `otypes`, `excluded` and `signature` mean what they mean there.

    >>> import numpy as np
    >>> import onnxsmith.numpy as xp
    >>> @xp.vectorize
    ... def steps_to_one(n):
    ...     steps = 0
    ...     while n > 1:
    ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
    ...         steps += 1
    ...     return steps
    >>> steps_to_one(np.arange(1, 8))
    array([ 0,  1,  7,  2,  5,  8, 16])
    """
    options: dict[str, Any] = {"otypes": otypes, "doc": doc, "cache": cache, "signature": signature}
    if excluded is not None:
        options["excluded"] = set(excluded)
    if pyfunc is None:

        def decorate(function: Callable[..., Any]) -> Vectorized:
            return Vectorized(function, **options)

        return decorate
    if not callable(pyfunc):
        raise InputTypeError(
            "vectorize needs a function", help="@xp.vectorize, or xp.vectorize(f, otypes=[float])"
        )
    return Vectorized(pyfunc, **options)
