"""Missing values among text: ONNX's strings have none, so that two texts which nobody writes stand for them.

They are noncharacters of Unicode, which are there for use within programs. What reads data frames puts them in, and
what looks for categories knows them.
"""

from __future__ import annotations

from typing import cast

import numpy as np

#: Stands for NaN, pandas' NA and the nulls of polars.
NAN_TEXT = "\ufdd0nan"
#: Stands for None in an array of objects.
NONE_TEXT = "\ufdd0None"


def is_nan(value: object) -> bool:
    """Whether a value is a float that is no number, or pandas' NA."""
    if isinstance(value, float | np.floating):
        return bool(np.isnan(float(cast(float, value))))
    return type(value).__name__ in ("NAType", "NaTType")


def text_of(value: object) -> str | None:
    """What stands for a value in a column of text; None for what is neither text nor missing."""
    if isinstance(value, str):
        return str(value)
    if value is None:
        return NONE_TEXT
    return NAN_TEXT if is_nan(value) else None
