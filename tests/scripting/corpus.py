"""How snippets are written down: a function with the arguments it runs on, or with the error that refuses it.

@runs(vector(1, 2, 3))
@runs(vector(-1))
def doubled(x: FLOAT["N"]):
    return x + x

@refused(ConditionError, "shape")
def vague(x: FLOAT["N"]):
    if x > 0:  # here
        x = x + 1
    return x
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F")
_KEY = "__snippet__"


@dataclass
class Snippet:
    """What is known of a function that is a snippet."""

    #: Positional arguments and attributes of each run.
    runs: list[tuple[tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)
    error: type[Exception] | None = None
    text: str = ""
    #: Ways to run it that are left out, with the reason.
    skips: dict[str, str] = field(default_factory=dict)
    #: Options of `script` and of `to_model`.
    options: dict[str, Any] = field(default_factory=dict)
    model_options: dict[str, Any] = field(default_factory=dict)
    is_close: bool = False


def _snippet(function: Any) -> Snippet:
    found = vars(function).get(_KEY)
    if found is None:
        found = Snippet()
        setattr(function, _KEY, found)
    return found


def runs(*arguments: Any, **attributes: Any) -> Callable[[F], F]:
    """Add a run on these arguments."""

    def add(function: F) -> F:
        _snippet(function).runs.insert(0, (arguments, attributes))
        return function

    return add


def refused(error: type[Exception], text: str = "") -> Callable[[F], F]:
    """The function is refused, when it is decorated or exported, with this error and text in it.

    Where a line of the function ends in `# here`, the error points at that line.
    """

    def add(function: F) -> F:
        snippet = _snippet(function)
        snippet.error, snippet.text = error, text
        return function

    return add


def skips(**reasons: str) -> Callable[[F], F]:
    """Ways to run it that are left out (plain, eager, runtime, reference), and why."""

    def add(function: F) -> F:
        _snippet(function).skips.update(reasons)
        return function

    return add


def close(function: F) -> F:
    """Results are compared up to rounding."""
    _snippet(function).is_close = True
    return function


def options(**given: Any) -> Callable[[F], F]:
    """Options of `script`; those of `to_model` start with `model_`."""

    def add(function: F) -> F:
        for name, value in given.items():
            if name.startswith("model_"):
                _snippet(function).model_options[name.removeprefix("model_")] = value
            else:
                _snippet(function).options[name] = value
        return function

    return add


def snippets_of(module: Any) -> dict[str, tuple[Any, Snippet]]:
    """The snippets of a module by name."""
    prefix = module.__name__.rpartition(".")[2]
    found: dict[str, tuple[Any, Snippet]] = {}
    for name, value in vars(module).items():
        snippet = getattr(value, "__dict__", {}).get(_KEY)
        if isinstance(snippet, Snippet):
            found[f"{prefix}.{name}"] = (value, snippet)
    return found


def vector(*values: float) -> np.ndarray[Any, Any]:
    """A float32 vector."""
    return np.array(values, np.float32)


def matrix(*rows: list[float]) -> np.ndarray[Any, Any]:
    """A float32 matrix."""
    return np.array(rows, np.float32)


def scalar(value: float) -> np.ndarray[Any, Any]:
    """A float32 scalar."""
    return np.array(value, np.float32)


def ints(*values: int) -> np.ndarray[Any, Any]:
    """An int64 vector."""
    return np.array(values, np.int64)


def integer(value: int) -> np.ndarray[Any, Any]:
    """An int64 scalar."""
    return np.array(value, np.int64)


def truth(value: bool) -> np.ndarray[Any, Any]:
    """A bool scalar."""
    return np.array(value)
