"""Numbers that an inner loop has as carriers: the loops around it are asked to begin with one, too.

A variable that begins as a Python number and becomes a carrier in a loop is one from the start, where that is the same.
In a loop inside of another the start is not known any more: it is a number that the outer loop carries. So the inner
loop asks the outer one, which tries once more with another start.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

from onnxsmith.core.carried import Carrier

#: What inner loops ask for: variables, and a carrier like those that they become.
Asked: TypeAlias = dict[str, Carrier]
_LOOPS: ContextVar[tuple[Asked, ...]] = ContextVar("onnxsmith_loops_asked", default=())


@contextmanager
def inner_loops_ask(asked: Asked) -> Generator[None]:
    """The body of a loop is staged in the block; what loops inside of it ask for is noted."""
    token = _LOOPS.set((*_LOOPS.get(), asked))
    try:
        yield
    finally:
        _LOOPS.reset(token)


def ask_around(name: str, like: Carrier) -> None:
    """Ask the loop whose body is staged now to carry a variable as a carrier."""
    loops = _LOOPS.get()
    if loops:
        loops[-1][name] = like
