"""Arrays that a graph takes over: whoever makes it may want to know, since a graph shares their memory.

Small arrays are copied by the graph; they are not told of.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

import numpy as np

#: Arrays of any element type and shape.
AnyArray = np.ndarray[tuple[int, ...], np.dtype[np.generic]]

#: What is told of each array whose memory becomes part of a graph.
ON_CAPTURE: ContextVar[Callable[[AnyArray], None] | None] = ContextVar("onnxsmith_on_capture", default=None)
