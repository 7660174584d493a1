"""Finds whole numbers that are the bits of numbers that the gradient depends on, while a model is recorded."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from onnxsmith.core.value import Value
from onnxsmith.errors import NotDifferentiableError
from onnxsmith.grad.table import BITS, RULES
from onnxsmith.graphs.records import ValueRecord
from onnxsmith.graphs.value import made_value

#: Operators that move elements and leave them as they are.
_MOVING = frozenset(
    [
        *("Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Expand", "Tile", "Pad", "Trilu"),
        *("Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND", "Slice", "Compress"),
        *("Concat", "Split", "DepthToSpace", "SpaceToDepth", "ReverseSequence"),
    ]
)


class Bits:
    """The values of one graph that are bits; false while there are none."""

    def __init__(self) -> None:
        self.records: set[ValueRecord] = set()
        #: Those that were moved, which no rule follows.
        self._moved: set[ValueRecord] = set()

    def __bool__(self) -> bool:
        return bool(self.records)

    def handles(self, node: ir.Node, inputs: Sequence[Value | None]) -> bool:
        """True if a node is a call on bits, which has a rule as such."""
        is_given = any(each is not None and made_value(each).record in self.records for each in inputs)
        return is_given and not node.domain and (BITS, node.op_type) in RULES

    def follow(self, name: str, inputs: Sequence[Value | None], outputs: Sequence[Value]) -> None:
        """Refuse bits that are read as numbers again after they were moved: their gradient would be lost."""
        given = {made_value(each).record for each in inputs if each is not None}
        if name in _MOVING and not given.isdisjoint(self.records | self._moved):
            self._moved.update(made_value(each).record for each in outputs)
        if name == "BitCast" and not given.isdisjoint(self._moved):
            raise NotDifferentiableError(
                "bits of numbers are moved and read as numbers again, and no rule follows them",
                help="move the numbers, not their bits, or end the gradient there with stop_gradient(x)",
            )
