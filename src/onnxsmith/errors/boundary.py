"""`boundary`: what every public entry point does with the errors that leave it, and with refusals that code caught.

A refusal says that a model cannot do what an eager run does. An `except TypeError` in a helper or a library takes it
for an error of the eager run, and would go on with a result that this never has. It is raised again where a recording
ends.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from traceback import walk_tb
from typing import ParamSpec, TypeAlias, TypeVar

from onnxsmith.diagnostics import Label, hide_frames_between, hide_own_frames, is_from_user_code
from onnxsmith.errors.base import REFUSALS, OnnxsmithError, SeenRefusal
from onnxsmith.errors.wrong_calls import wrong_call
from onnxsmith.errors.wrong_kinds import wrong_kind
from onnxsmith.source import is_library, is_ours

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


@contextmanager
def refusals_raised() -> Generator[None]:
    """Raises the first refusal that the code in the block has caught.

    Code that names the class of the error means this error, and may catch it.
    """
    seen: list[SeenRefusal] = []
    token = REFUSALS.set(seen)
    try:
        yield
    except Exception as error:
        # An `except` may have raised it in the place of a refusal.
        context = None if any(each.error is error for each in seen) else error.__context__
        while context is not None:
            for each in seen:
                if each.error is context and _is_caught(each.error):
                    raise _at_users_place(each) from None
            context = context.__context__
        raise
    finally:
        REFUSALS.reset(token)
    for each in seen:
        if _is_caught(each.error):
            raise _at_users_place(each)


def _is_caught(error: OnnxsmithError) -> bool:
    """True if code that is not ours caught an error: the last frame that it came to is none of ours."""
    traceback = error.__traceback__
    if traceback is None or is_ours(traceback.tb_frame):
        return False
    meant = {each.__name__ for each in type(error).__mro__ if each.__module__.startswith("onnxsmith.")}
    return meant.isdisjoint(traceback.tb_frame.f_code.co_names)


def _at_users_place(seen: SeenRefusal) -> OnnxsmithError:
    """The error, at the user's own expression: its traceback ends in the code that caught it, perhaps a library's."""
    error = seen.error
    if seen.place is not None and (error.span is None or is_library(error.span.file)):
        error.labels = (Label(seen.place, ""), *error.labels[1:])
    return error
