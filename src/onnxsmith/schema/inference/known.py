"""Facts of a value while a graph is made: its type, and its content if shapes depend on it.

Holds facts; the rules that compute them are in the other modules of this package.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from onnxsmith.types.value_types import UNKNOWN_TENSOR, AnyValueType, Dimension

#: The content of a value: an array for a constant; for integers that shapes are computed from, a vector as a tuple
#: of dimensions or a scalar as one of them. A string is a symbolic expression, None inside a tuple an unknown entry.
Data: TypeAlias = np.ndarray[Any, np.dtype[Any]] | tuple[Dimension, ...] | int | str | None


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """All that is known about a value when a graph is made; `TensorType(None, None)` says nothing is."""

    type: AnyValueType
    data: Data = None

    def array(self) -> np.ndarray[Any, np.dtype[Any]] | None:
        """The content as an array; None where a part of it is not known."""
        data = self.data
        if data is None or isinstance(data, np.ndarray):
            return data
        is_known = isinstance(data, int) or (
            isinstance(data, tuple) and all(isinstance(each, int) for each in data)
        )
        return np.array(data, np.int64) if is_known else None


#: What is known of the outputs of a graph attribute (a branch, a loop body), in order.
BodyOutputs: TypeAlias = tuple[Known, ...]

NOTHING = Known(UNKNOWN_TENSOR)
