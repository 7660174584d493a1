"""Refuses the text of a dynamic size that flows back into a module while torch.export traces it.

An eager run has digits where torch has the name of a symbol. A key, a length or a comparison made of that text would be
frozen in the model. Code of torch itself writes such texts all the time, and people may see them.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Generator
from types import FrameType
from typing import Any, TypeAlias

import torch

from onnxsmith.core.shown_text import TEXT_METHODS, is_for_people
from onnxsmith.errors import OnnxsmithError, TracedValueError
from onnxsmith.source import is_library, is_ours
from onnxsmith.torch.library.kinds import SymbolicNumber
from onnxsmith.torch.origins import is_torch_file

_Representation: TypeAlias = Callable[[SymbolicNumber], str]
#: The classes of symbolic numbers, each with what gives the number where torch knows it.
_KINDS: dict[Any, str] = {
    torch.SymInt: "maybe_as_int",
    torch.SymFloat: "maybe_as_float",
    torch.SymBool: "maybe_as_bool",
}
_SITE = f"{os.sep}site-packages{os.sep}"


@contextlib.contextmanager
def refused_size_text() -> Generator[None]:
    """Raise TracedValueError where a module asks for the text of a number that only a run of the model has."""
    with contextlib.ExitStack() as stack:
        for kind, known in _KINDS.items():
            held: _Representation = kind.__repr__
            kind.__repr__, kind.__format__ = _representation(held, known), _formatting(held, known)
            stack.callback(setattr, kind, "__repr__", held)
            stack.callback(delattr, kind, "__format__")
        yield


def _representation(held: _Representation, known: str) -> _Representation:
    def representation(number: SymbolicNumber) -> str:
        return _checked(number, held(number), known)

    return representation


def _formatting(held: _Representation, known: str) -> Callable[[SymbolicNumber, str], str]:
    def formatted(number: SymbolicNumber, form: str) -> str:
        # The form of digits (`:3d`) does not fit a name, which people see as it is.
        return _checked(number, held(number), known)

    return formatted


def _checked(number: SymbolicNumber, text: str, known: str) -> str:
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]  # the caller of the method
    if _is_torchs(frame) or _is_known(number, known) or is_for_people(frame):
        return text
    raise text_error().locate_at_caller()


def text_error() -> OnnxsmithError:
    """The error for the text of a size that only the model has."""
    return TracedValueError(
        "Python needs the text of a size that is known only when the model runs",
        help="compute with the size itself; where its digits are needed, leave the dimension out of dynamic_shapes",
    )


def _is_torchs(frame: FrameType | None) -> bool:
    """True if torch asks for a text, or we do: Python's own code and methods that make texts ask for their callers."""
    while frame is not None:
        file = frame.f_code.co_filename
        if is_torch_file(file) or is_ours(frame):
            return True
        is_pythons = is_library(file) and _SITE not in file
        if not is_pythons and frame.f_code.co_name not in TEXT_METHODS:
            return _is_message_for_torch(frame)
        frame = frame.f_back
    return True


def _is_message_for_torch(frame: FrameType) -> bool:
    """True for the message of `torch._check`, which torch calls when the check has failed."""
    caller = frame.f_back
    return (
        caller is not None
        and is_torch_file(caller.f_code.co_filename)
        and caller.f_code.co_name.startswith("_check")
    )


def _is_known(number: SymbolicNumber, known: str) -> bool:
    """True if a symbolic number is one number, whose digits the text has."""
    symbolic: Any = number  # torch leaves its nodes without types
    return getattr(symbolic.node, known)() is not None
