"""Puts back what the statement of a loop does not say: the inputs of its body, and how its condition goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx_ir as ir

from onnxsmith.decompiling.order import all_graphs
from onnxsmith.decompiling.restored_keys import key_of_node, key_of_value
from onnxsmith.graphs.ir_types import type_to_ir
from onnxsmith.types.annotations import read_value_type


class RestoredLoops:
    """The loops of one graph and the graphs inside it."""

    def __init__(self) -> None:
        # What is to be done with a value, and its name.
        self._later: list[tuple[Callable[[ir.Value], object], str]] = []

    def restore(self, node: ir.Node, body: ir.Graph, notes: Mapping[str, Any]) -> None:
        """Restore one loop; `notes` are its entry in the table of loops."""
        # Where an edit has given it another number of variables, none of them is sure to be the one of before.
        if len(body.inputs) == len(notes["inputs"]):
            for value, name, kind in zip(body.inputs, notes["inputs"], notes["types"], strict=True):
                declared = (None, None) if kind is None else type_to_ir(read_value_type(kind))
                if value.type is None or declared[0] is None or value.type == declared[0]:
                    value.name, (value.type, value.shape) = name, declared
        if "start" in notes:
            self._later.append((lambda value: node.replace_input_with(1, value), notes["start"]))
        # A jump that was added to the loop decides whether it goes on.
        goes_on = len(body.inputs) > 1 and body.outputs[0] is body.inputs[1]
        if "constant" in notes and goes_on:
            self._later.append((lambda value: body.outputs.__setitem__(0, value), notes["constant"]))
        if "left_by" in notes:
            leaving = body.outputs[0].producer()
            is_made = leaving is not None and leaving.op_type == "Not"
            if is_made and leaving is not None and key_of_value(leaving.outputs[0]) is None:
                leaving.outputs[0].name, leaving.name = notes["left_by"]
        if "passed_on" in notes and goes_on:
            self._pass_on(body, *notes["passed_on"])

    def _pass_on(
        self, body: ir.Graph, output: str, name: str, before: str, source: str | None = None
    ) -> None:
        """Add the node that makes the condition of the next iteration.

        It passes on the condition that it was given, or the value that `source` names; where that is no name, the
        node is a Constant. It comes before the node of the variable `before`, or at the end.
        """
        old = body.outputs[0]
        result = ir.Value(name=output, type=old.type, shape=old.shape)
        if source == "":
            truth = ir.Attr("value", ir.AttributeType.TENSOR, ir.tensor(np.array(True)))
            passing = ir.Node("", "Constant", [], [truth], outputs=[result], name=name)
        else:
            passing = ir.Node("", "Identity", [body.inputs[1]], outputs=[result], name=name)
        if source:
            self._later.append((lambda value: passing.replace_input_with(0, value), source))
        following = next((each for each in body if key_of_node(each) == before), None) if before else None
        if following is None:
            body.append(passing)
        else:
            body.insert_before(following, passing)
        body.outputs[0] = result

    def connect(self, graph: ir.Graph) -> None:
        """Give loops the conditions that other places make, once all values have their names."""
        if not self._later:
            return
        found: dict[str, ir.Value] = {}
        for each in all_graphs(graph):
            made = (value for node in each for value in node.outputs)
            for value in (*each.inputs, *each.initializers.values(), *made):
                found.setdefault(value.name or "", value)
        for use, name in self._later:
            if name in found:
                use(found[name])
