"""Shapes of what loops carry from turn to turn, by induction: as it was given, if every turn leaves it so.

onnx's inference knows nothing of them, since a turn may change a shape, and what a body declares nothing makes sure of.
Inference itself is done elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import onnx_ir as ir

from onnxsmith.passes.values import dimensions, is_vague


@dataclass(frozen=True, slots=True)
class _Carried:
    """One value that a `Loop` carries: what it is before the first turn, in a turn, behind it, and after the loop."""

    given: ir.Value
    inside: ir.Value
    behind: ir.Value
    after: ir.Value | None


class CarriedShapes:
    """Assumptions about the shapes that loops carry, and those that have turned out to be wrong."""

    def __init__(self, model: ir.Model) -> None:
        self._model = model
        self._supposed: list[_Carried] = []
        self._held: list[_Carried] = []
        self._refuted: set[ir.Value] = set()
        self.has_loops = any(node.op_type == "Loop" for node in model.graph.all_nodes())

    def suppose(self) -> bool:
        """Give values inside loops the shapes that they begin with; whether there is a new one."""
        if not self.has_loops:
            return False
        self._supposed.clear()
        for each in _all_carried(self._model):
            shape = each.given.shape
            if shape is None or is_vague(shape) or each.inside in self._refuted:
                continue
            if each.inside.shape is None:
                each.inside.shape = shape
                self._supposed.append(each)
        return bool(self._supposed)

    def refute(self) -> bool:
        """Take back what is not so behind a turn; whether there was any."""
        wrong = [each for each in self._supposed if dimensions(each.behind) != dimensions(each.inside)]
        self._take_back(wrong)
        if not wrong:
            self._held += self._supposed
            self.conclude()
        return bool(wrong)

    def conclude(self) -> None:
        """Give what loops give in the end the shapes that have turned out to hold in every turn."""
        for each in self._held:
            if each.after is not None and each.after.shape is None:
                each.after.shape = each.inside.shape

    def give_up(self) -> None:
        """Take back all that was supposed last."""
        self._take_back(list(self._supposed))

    def _take_back(self, wrong: list[_Carried]) -> None:
        for each in wrong:
            each.inside.shape = None
            self._refuted.add(each.inside)
        self._supposed = [each for each in self._supposed if each.inside not in self._refuted]


def _all_carried(model: ir.Model) -> Iterator[_Carried]:
    for node in model.graph.all_nodes():
        attribute = node.attributes.get("body") if node.op_type == "Loop" and not node.domain else None
        if attribute is None or attribute.is_ref() or attribute.type != ir.AttributeType.GRAPH:
            continue
        body = attribute.as_graph()
        for place, given in enumerate(node.inputs[2:]):
            if given is None or place + 2 >= len(body.inputs) or place + 1 >= len(body.outputs):
                continue
            after = node.outputs[place] if place < len(node.outputs) else None
            yield _Carried(given, body.inputs[place + 2], body.outputs[place + 1], after)
