"""A model on its way to a runtime: its graph, and its large weights apart from it.

What lies between a model and a session (facts about a runtime, say) rewrites the graph and never touches the weights.
How a `SessionModel` is made of a model is told in `graphs.handover`, how a session is made of it in `runtime`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray

from onnxsmith.graphs.rewriting.copies import copied

#: What the graph says instead of a file's name for a weight that is handed over. It is never opened.
HANDED_OVER = "handed over apart from the graph"

#: Elements as ONNX lays them out, in row-major order and packed where they are smaller than a byte.
Content: TypeAlias = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class FilePart:
    """Where in a file a weight lies; the path is absolute and free of links."""

    path: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class SessionWeight:
    """The content of one weight: `read` gives it from where it lies, and `part` says so if that is a file."""

    read: Callable[[], Content]
    part: FilePart | None = None


@dataclass(frozen=True, slots=True)
class SessionModel:
    """A graph, and the content of those initializers of it that have none.

    `weights` may hold more names than the graph has initializers: whoever rewrites the graph may drop some.
    """

    proto: onnx.ModelProto
    weights: Mapping[str, SessionWeight] = field(default_factory=dict[str, SessionWeight])

    def apart(self) -> list[tuple[onnx.TensorProto, SessionWeight]]:
        """The initializers of the graph whose content lies apart."""
        return [
            (each, self.weights[each.name])
            for each in self.proto.graph.initializer
            if each.data_location == onnx.TensorProto.EXTERNAL and each.name in self.weights
        ]

    def whole(self) -> onnx.ModelProto:
        """A copy with all weights inside, for who cannot take them apart."""
        copy = copied(self.proto)
        for tensor, weight in SessionModel(copy, self.weights).apart():
            tensor.ClearField("external_data")
            tensor.ClearField("data_location")
            tensor.raw_data = weight.read().tobytes()
        return copy
