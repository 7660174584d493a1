"""Acting for a statement that has no code of its own: nodes and errors then point at it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from onnxsmith.errors import OnnxsmithError
from onnxsmith.source import STATEMENT, Span


@contextmanager
def located(span: Span | None) -> Generator[None]:
    """Within the block, what is made or goes wrong stands at `span`."""
    token = STATEMENT.set(span)
    try:
        yield
    except OnnxsmithError as error:
        error.locate(span)
        raise
    finally:
        STATEMENT.reset(token)
