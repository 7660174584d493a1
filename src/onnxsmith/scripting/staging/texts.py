"""Text that differs between two paths of the model: it may be shown, as an error's text, and decides nothing."""

from __future__ import annotations

from typing import NoReturn

from onnxsmith.errors import DynamicPythonValueError


class TextOfPaths(str):
    """One of two texts; only the model knows which."""

    __slots__ = ()

    def _asked(self, *_: object) -> NoReturn:
        raise DynamicPythonValueError(
            f"this text is {str.__str__(self)}, depending on a tensor's value",
            help="only tensors and numbers can depend on a tensor; it can be shown in an error alone",
        ).locate_at_caller()

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = _asked  # pyright: ignore[reportAssignmentType]
    __hash__ = __len__ = __getitem__ = startswith = endswith = lower = upper = _asked  # pyright: ignore[reportAssignmentType]


def of_paths(then: object, otherwise: object) -> TextOfPaths | None:
    """The text that stands for two texts; None where one is something else."""
    if not isinstance(then, str) or not isinstance(otherwise, str):
        return None
    return TextOfPaths(f"{str.__str__(then)} or {str.__str__(otherwise)}")
