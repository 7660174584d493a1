"""Warnings that point at the user's own line, as errors do."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from onnxsmith.errors.base import ModelWarning, RuntimeSupportWarning
from onnxsmith.source import Span, caller_span


def tell(text: str, span: Span | None, kind: type[Warning] = ModelWarning) -> None:
    """Warn of something in a model; at a place of the user's code, where there is one."""
    if span is None or span.claimed_by:
        warnings.warn(kind(text), stacklevel=3)
    else:
        warnings.warn_explicit(kind(text), None, span.file, span.line)


def tell_of_runtime(
    faults: Sequence[str], remedy: str = "save model.for_runtime(), which it gets right"
) -> None:
    """Warn of a model that the installed runtime gets wrong, or cannot load, with the remedy."""
    shown = "".join(f"\n  {each}" for each in faults[:_MOST_FAULTS])
    rest = f"\n  and {len(faults) - _MOST_FAULTS} more" if len(faults) > _MOST_FAULTS else ""
    text = f"the installed ONNX Runtime gets this model wrong, or does not load it:{shown}{rest}\n{remedy}"
    tell(text, caller_span(), RuntimeSupportWarning)


_MOST_FAULTS = 5
