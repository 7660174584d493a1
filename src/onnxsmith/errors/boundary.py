"""`boundary`: what every public entry point does with the errors that leave it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from onnxsmith.diagnostics import hide_frames_between, hide_own_frames
from onnxsmith.errors.base import OnnxsmithError
from onnxsmith.errors.wrong_calls import wrong_call

P = ParamSpec("P")
R = TypeVar("R")


def boundary(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a public entry point: an error of ours that leaves it says where the user stands, and hides our frames.

    Arguments that do not fit its parameters are such an error, too. What the user's own code raises while we run it (a
    KeyError in a helper) keeps its class and text, and loses our frames. Not for calls that run per operator: those
    hold the `except` blocks inline and save a frame.
    """

    @functools.wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            try:
                return function(*args, **kwargs)
            except TypeError as error:
                # Where the arguments do not fit, the function's own frame never begins.
                if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                    raise
                wrong = wrong_call(_called(function), inspect.signature(function), args, kwargs)
                if wrong is None:
                    raise
                raise wrong from None
        except OnnxsmithError as error:
            error.locate_in_traceback()
            hide_own_frames(error)
            raise
        except Exception as error:
            hide_frames_between(error)
            raise

    return guarded


def _called(function: Callable[..., object]) -> str:
    """What a user calls: the class, where it is its `__init__`."""
    if function.__name__ != "__init__":
        return function.__name__
    return function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
