"""The mistakes of one function, collected while it is staged, so that several are reported at once."""

from __future__ import annotations

from collections.abc import Iterable

from onnxsmith.errors import (
    OnnxsmithError,
    UnassignedVariableError,
    UndefinedNameError,
    UnknownRankError,
    combined,
)
from onnxsmith.source import Span

#: More than this nobody reads.
_MOST = 10

#: Errors that may vanish when a number is known that stands for a loop's counter or an attribute: Python asked for its
#: value; attributes and indices that must be known; types that change between iterations; lists that are appended to;
#: values that differ between paths; errors that are raised.
CURED_BY_VALUES = frozenset(
    [
        "C102",
        "C202",
        "C307",
        "C309",
        "C310",
        "C402",
        "C406",
        "C407",
        "C408",
        "C409",
        "C501",
        "C503",
        "C504",
        "C505",
        "C506",
        "C507",
        "C509",
        "C511",
    ]
)


class Mistakes:
    """Errors in the order they were found; the same one at the same place counts once."""

    def __init__(self, known: Iterable[OnnxsmithError] = ()) -> None:
        self._found: dict[tuple[str, Span | None], OnnxsmithError] = {}
        for each in known:
            self.add(each)

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, error: OnnxsmithError) -> None:
        """Take note of an error."""
        error.locate_in_traceback()
        is_of_name = isinstance(error, UndefinedNameError | UnassignedVariableError)
        if is_of_name and any(span == error.span for _, span in self._found):
            return  # what was said of the name before says more
        self._found.setdefault((error.message, error.span), error)

    def error(self) -> OnnxsmithError:
        """All of them as one, in the order of the source; those that types may cure only where there are no others."""
        found = sorted(self._found.values(), key=_position)
        certain = [each for each in found if not may_be_cured(each)]
        return combined((certain or found)[:_MOST])


def _position(error: OnnxsmithError) -> tuple[str, int, int]:
    span = error.span
    return ("", 0, 0) if span is None else (span.file, span.line, span.column)


def may_be_cured(error: OnnxsmithError) -> bool:
    """True if an error may vanish when types and attribute values are known."""
    return error.needs_values or isinstance(error, UnknownRankError)
