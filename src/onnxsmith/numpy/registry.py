"""The functions of the namespace by name, so that an array's methods and numpy's own functions find them.

Arrays stand below the functions that compute with them; what a method calls is looked up here when it is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from onnxsmith.errors import boundary

F = TypeVar("F", bound=Callable[..., object])


class AnyUfunc(Protocol):
    """A universal function, as those see it who only call it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


#: numpy's universal functions.
UFUNCS: dict[str, AnyUfunc] = {}
#: All others, under their names in numpy, with dots: `linalg.solve`.
FUNCTIONS: dict[str, Callable[..., object]] = {}


def public(name: str) -> Callable[[F], F]:
    """Enter a function of the namespace under its name; errors that leave it there point at the user's call.

    What it decorates stays as it is, for the functions beside it.
    """

    def enter(function: F) -> F:
        FUNCTIONS[name] = boundary(function)
        return function

    return enter
