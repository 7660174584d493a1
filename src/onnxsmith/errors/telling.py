"""Warnings that point at the user's own line, as errors do."""

from __future__ import annotations

import warnings

from onnxsmith.errors.base import ModelWarning
from onnxsmith.source import Span


def tell(text: str, span: Span | None) -> None:
    """Warn of something in a model; at a place of the user's code, where there is one."""
    if span is None or span.claimed_by:
        warnings.warn(ModelWarning(text), stacklevel=3)
    else:
        warnings.warn_explicit(ModelWarning(text), None, span.file, span.line)
