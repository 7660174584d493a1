"""Errors that the staged code itself would meet, and the `try` around it that would catch them.

An error that staging raises because a model cannot do something is none of the code's: no handler sees it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from types import CodeType

from onnxsmith.context import setting
from onnxsmith.errors import UnsupportedSyntaxError
from onnxsmith.source import PACKAGE_DIRECTORY, Span, traceback_span

#: The local variable that marks functions of ours which raise in the name of what they call: a statement `raise`, a
#: function of a library. It stands in the code, so that no dialect enters its functions in a table here.
_SPEAKS = "_speaks_for_callee"
#: The attribute of an error that left a branch or loop of the model.
_IS_CONDITIONAL = "_onnxsmith_is_conditional"


@dataclass(frozen=True, slots=True)
class Handler:
    """An `except` clause."""

    kinds: tuple[type[BaseException], ...]
    #: What the clause raises in the place of an error; None where it does something else than to raise.
    becomes: Callable[[BaseException], BaseException] | None = None


@dataclass(frozen=True, slots=True)
class Caught:
    """The errors that a `try` catches."""

    handlers: tuple[Handler, ...]

    def handler_of(self, kind: type[BaseException]) -> Handler | None:
        """The clause that catches errors of a class."""
        return next((each for each in self.handlers if issubclass(kind, each.kinds)), None)


_OPEN: ContextVar[tuple[Caught, ...]] = ContextVar("onnxsmith_caught", default=())


def catching(caught: Caught) -> AbstractContextManager[object]:
    """Marks the code that is staged in the block as part of a `try`."""
    return setting(_OPEN, (*_OPEN.get(), caught))


def is_caught(*kinds: type[BaseException]) -> bool:
    """True if a `try` around what is staged now would catch an error of one of some classes."""
    return any(each.handler_of(kind) is not None for each in _OPEN.get() for kind in kinds)


def is_in_try() -> bool:
    """True if a `try` is around what is staged now."""
    return bool(_OPEN.get())


def as_raised(error: BaseException, span: Span | None) -> BaseException:
    """The error that leaves the `try` statements around, where an error is raised that only the model knows of.

    A clause that raises another error has that one raised in the place of the first; one that does something else is
    refused: what comes after it would be on a path that nobody stages.
    """
    for each in reversed(_OPEN.get()):
        handler = each.handler_of(type(error))
        if handler is None:
            continue
        if handler.becomes is None:
            raise _uncertain("a 'try'").locate(span)
        error = handler.becomes(error)
    return error


def _uncertain(catcher: str) -> UnsupportedSyntaxError:
    return UnsupportedSyntaxError(
        f"only the model knows whether this is raised, and {catcher} around it would catch it",
        help="decide with 'if' what is done instead; an 'except' that raises another error is fine",
    )


def note_conditional(error: BaseException) -> None:
    """Remember of an error that it leaves a path on which only the model knows whether it is taken."""
    setattr(error, _IS_CONDITIONAL, True)


def refuse_conditional(error: BaseException, catcher: str) -> None:
    """Refuse to catch an error that a run may not raise: what follows would be staged for one of the two."""
    if getattr(error, _IS_CONDITIONAL, False):
        raise _uncertain(catcher).locate(traceback_span(error.__traceback__)) from None


def is_of_user(error: BaseException) -> bool:
    """True if an error comes from the code that is staged, or from what that calls, and not from staging."""
    place = error.__traceback__
    code: CodeType | None = None
    while place is not None:
        code = place.tb_frame.f_code
        place = place.tb_next
    return code is not None and (
        _SPEAKS in code.co_varnames or not code.co_filename.startswith(PACKAGE_DIRECTORY)
    )
