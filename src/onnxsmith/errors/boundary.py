"""`boundary`: what every public entry point does with the errors that leave it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from traceback import walk_tb
from typing import ParamSpec, TypeAlias, TypeVar

from onnxsmith.diagnostics import hide_frames_between, hide_own_frames, is_from_user_code
from onnxsmith.errors.base import OnnxsmithError
from onnxsmith.errors.wrong_calls import wrong_call
from onnxsmith.errors.wrong_kinds import wrong_kind

P = ParamSpec("P")
R = TypeVar("R")


#: Who answers for an exception that is not ours: asked with it and the arguments of the call; None for nobody.
Answer: TypeAlias = Callable[[Exception, Iterable[object]], OnnxsmithError | None]


def boundary(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a public entry point: an error of ours that leaves it says where the user stands, and hides our frames.

    Arguments that do not fit its parameters are such an error, too, and so is one on which our code fails and which is
    not of the kind that its annotation says. What the user's own code raises while we run it (a KeyError in a helper)
    keeps its class and text, and loses our frames. Not for calls that run per operator: those hold the `except` blocks
    inline and save a frame.
    """
    return _guarded(function, None)


def boundary_with(answer: Answer) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """The same for functions of what strangers have made: `answer` says whether that is why our code failed."""
    return lambda function: _guarded(function, answer)


def _guarded(function: Callable[P, R], answer: Answer | None) -> Callable[P, R]:
    def of_ours(
        error: Exception, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> OnnxsmithError | None:
        if isinstance(error, TypeError) and _never_began(function, error):
            found = wrong_call(_called(function), inspect.signature(function), args, kwargs)
            if found is not None:
                return found
        if is_from_user_code(error):
            return None
        found = None if answer is None else answer(error, (*args, *kwargs.values()))
        return found or wrong_kind(_called(function), function, args, kwargs)

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            try:
                return function(*args, **kwargs)
            except OnnxsmithError:
                raise
            except Exception as error:
                found = of_ours(error, args, kwargs)
                if found is None:
                    raise
                raise found from None
        except OnnxsmithError as error:
            error.locate_in_traceback()
            hide_own_frames(error)
            raise
        except Exception as error:
            hide_frames_between(error)
            raise

    return guarded


def _never_began(function: Callable[..., object], error: Exception) -> bool:
    """True if the frame of a function, inside those that wrap it, did not begin: its arguments may not fit."""
    code = inspect.unwrap(function).__code__
    return all(frame.f_code is not code for frame, _ in walk_tb(error.__traceback__))


def _called(function: Callable[..., object]) -> str:
    """The object that a user calls: for an `__init__`, the class."""
    if function.__name__ != "__init__":
        return function.__name__
    return function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
