"""Refusals that code has caught as if they were its own errors: they are raised again where a recording ends.

A refusal says that a model cannot do what an eager run does. An `except TypeError` in a helper or a library takes it
for an error of the eager run, and would go on with a result that this never has. Which errors are refusals, the
classes say: `OnnxsmithError.is_refusal`.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from onnxsmith.diagnostics import Label
from onnxsmith.errors.base import REFUSALS, OnnxsmithError, SeenRefusal
from onnxsmith.source import is_library, is_ours


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
