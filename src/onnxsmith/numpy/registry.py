"""The functions of the namespace by name, so that an array's methods and numpy's own functions find them.

Arrays stand below the functions that compute with them; what a method calls is looked up here when it is called, and
loaded when it is first looked up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

from onnxsmith.errors import MemoryLimitError, OnnxsmithError, OutOfBoundsError, ShapeError
from onnxsmith.errors.boundary import boundary_with
from onnxsmith.registry import Registry

F = TypeVar("F", bound=Callable[..., object])


class AnyUfunc(Protocol):
    """A universal function, as those see it who only call it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


#: numpy's universal functions.
UFUNCS: Registry[str, AnyUfunc] = Registry("onnxsmith.numpy", "UFUNCS")
#: All others, under their names in numpy, with dots: `linalg.solve`.
FUNCTIONS: Registry[str, Callable[..., object]] = Registry("onnxsmith.numpy", "FUNCTIONS")

#: Tuples of ours whose items have names, and a result of numpy's of the same names, whose class has no public name.
#: The module of a class enters it: where that is not imported, no result has the class.
NUMPYS_TUPLES: dict[type, Callable[[], Any]] = {}


_TOO_BIG = re.compile("maximum allowed (dimension|size) exceeded|array is too big", re.IGNORECASE)


def _answer(error: Exception, values: Iterable[object]) -> OnnxsmithError | None:
    """Our error for one that numpy raises where elements are known: sizes beyond memory, numbers beyond 64 bits."""
    if isinstance(error, MemoryError):
        return MemoryLimitError("there is not enough memory for the result", help="make it in parts")
    if isinstance(error, ValueError) and _TOO_BIG.search(str(error)):
        return ShapeError("no array is as large as the result would be")
    if isinstance(error, OverflowError):
        return OutOfBoundsError("a number is out of bounds for what it is used as")
    return None


#: For functions of the namespace: errors that leave one point at the user's call.
entry_point = boundary_with(_answer)


def public(name: str) -> Callable[[F], F]:
    """Enter a function of the namespace under its name; errors that leave it there point at the user's call.

    What it decorates stays as it is, for the functions beside it.
    """

    def enter(function: F) -> F:
        FUNCTIONS.register(name, entry_point(function))
        return function

    return enter
