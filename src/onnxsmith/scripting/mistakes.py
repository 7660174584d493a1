"""The mistakes of one function, collected while it is staged, so that several are reported at once."""

from __future__ import annotations

from collections.abc import Iterable

from onnxsmith.errors import OnnxsmithError, UnknownRankError, combined
from onnxsmith.source import Span

#: More than this nobody reads.
_MOST = 10


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
    """Whether an error may vanish when types and attribute values are known."""
    return error.needs_values or isinstance(error, UnknownRankError)
