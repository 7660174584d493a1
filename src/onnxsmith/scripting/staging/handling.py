"""Errors that code raises while its model is made: whether a `try` around it can catch them.

One that Python raises on every path is caught as Python does. One on a path that only the model takes cannot be: the
handler would run on all paths. Nor can one of ours, which says that something cannot be in a model, or one that Python
raises because a value is not what the code takes it for.
"""

from __future__ import annotations

import contextlib
from contextvars import ContextVar

from onnxsmith.core.value import Value
from onnxsmith.errors import OnnxsmithError

#: How deep in subgraphs the innermost `try` stands that is being staged; None where there is none.
GUARDED: ContextVar[int | None] = ContextVar("onnxsmith_guarded", default=None)
#: The error that is being handled: what a `raise` without an error raises again.
HANDLED: ContextVar[BaseException | None] = ContextVar("onnxsmith_handled", default=None)

_PERHAPS = "_onnxsmith_perhaps"
#: What Python's own errors call values of ours.
_OURS = ("'Array'", "not Array", "(Array", "'Number'", "SymbolicTensor", "onnxsmith", "'Differing'")


def note_perhaps(error: BaseException) -> None:
    """Remember that an error was raised on a path that only the model takes."""
    with contextlib.suppress(AttributeError):  # an error of a class with slots is not caught by name, either
        setattr(error, _PERHAPS, True)


def can_be_caught(error: Exception) -> bool:
    """Whether an error is what the code itself would raise, whatever the model is given."""
    if isinstance(error, OnnxsmithError) or getattr(error, _PERHAPS, False):
        return False
    if isinstance(error, AttributeError) and _is_ours(error.obj):
        return False
    return not any(each in str(error) for each in _OURS)


def _is_ours(value: object) -> bool:
    return isinstance(value, Value) or type(value).__module__.startswith("onnxsmith.")
