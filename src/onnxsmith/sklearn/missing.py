"""Missing values among text: ONNX's strings have none, so that a text which nobody writes stands for them.

It begins with a noncharacter of Unicode, which are there for use within programs. What reads data frames puts it in,
and what looks for categories knows it. NaN, None and pandas' NA are one thing to a model.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from onnxsmith.core.user_values import UserValue

#: Stands for NaN, None, pandas' NA and the nulls of polars.
NAN_TEXT = "\ufdd0nan"


def is_nan(value: UserValue) -> bool:
    """True if a value is a NaN, or pandas' NA."""
    if isinstance(value, float | np.floating):
        return bool(np.isnan(float(cast(float, value))))
    return type(value).__name__ in ("NAType", "NaTType")


def text_of(value: UserValue) -> str | None:
    """The text for a value in a column of text; None for a value that is neither text nor missing."""
    if isinstance(value, str):
        return str(value)
    return NAN_TEXT if value is None or is_nan(value) else None
