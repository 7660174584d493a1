"""Acting for a statement that has no code of its own: nodes and errors then point at it."""

from __future__ import annotations

from contextvars import Token
from types import TracebackType

from onnxsmith.errors import OnnxsmithError
from onnxsmith.source import STATEMENT, Span


class located:
    """Within the block, what is made or goes wrong stands at `span`.

    A class, because a generator takes three times as long, and a conditional statement enters ten of them.
    """

    __slots__ = ("_span", "_token")

    def __init__(self, span: Span | None) -> None:
        self._span = span

    def __enter__(self) -> None:
        self._token: Token[Span | None] = STATEMENT.set(self._span)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        STATEMENT.reset(self._token)
        if isinstance(error, OnnxsmithError):
            error.locate(self._span)
