"""The result of a comparison, for people and for programs."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from onnxsmith.diagnostics import clipped, printable
from onnxsmith.graphs.agreement import Difference
from onnxsmith.inspection import Node
from onnxsmith.observing import Step
from onnxsmith.source import Span

_SHOWN_NODES = 10
#: Of more nodes that compute a weight, only the last is named.
_SHOWN_MAKERS = 4
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class ComparedNode:
    """A node that two runs part at, in one of the models.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, compare, opset21 as op, trace
    >>> first = trace(lambda a: op.Exp(op.Relu(a)), FLOAT["N"])
    >>> second = trace(lambda a: op.Exp(op.Abs(a)), FLOAT["N"])
    >>> found = compare(first, second, {"a": np.float32([-1, 1])})
    >>> found.node.node.op_type, found.other.node.op_type
    ('Relu', 'Abs')
    """

    node: Node
    #: The turns of the loops around it in which it differs, outermost first.
    turns: tuple[int, ...] = ()
    #: The last turn where several were compared together, of which `turns` has the first.
    until: int | None = None

    @property
    def address(self) -> str:
        """Where it stands, as `model.nodes` has it."""
        return self.node.address

    @property
    def source(self) -> Span | None:
        """The place in Python that made it."""
        return self.node.source

    def __str__(self) -> str:
        called = f" '{clipped(self.node.name, _LONGEST_NAME)}'" if self.node.name else ""
        turn = f", turn {', '.join(map(str, self.turns))}" if self.turns else ""
        if self.until is not None:
            turn += f" to {self.until}"
        place = "" if self.source is None else f", {self.source}"
        return printable(f"{self.node.operator}{called} (node {self.address}{turn}{place})")


def compared(step: Step | None) -> ComparedNode | None:
    """The node of a step."""
    return None if step is None else ComparedNode(step.node, step.turns, step.until)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of comparing two runs: true if they agree, and else with the first node where they part.

    `node` is the node of the first model and `other` that of the second. Each is None if several nodes stand between
    the last equal values and the first different ones, and the values cannot tell which. Those nodes are its `region`.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, compare, opset21 as op, trace
    >>> first = trace(lambda a: op.Exp(op.Relu(a)), FLOAT["N"])
    >>> second = trace(lambda a: op.Exp(op.Abs(a)), FLOAT["N"])
    >>> found = compare(first, second, {"a": np.float32([-1, 1])})
    >>> bool(found), found.node.node.op_type
    (False, 'Relu')
    """

    #: How many values have a counterpart in the other run, and how many of them differ.
    matched: int
    differing: int
    node: ComparedNode | None = None
    other: ComparedNode | None = None
    region: tuple[ComparedNode, ...] = ()
    other_region: tuple[ComparedNode, ...] = ()
    #: How the result of the node differs, where both are given the same values.
    difference: Difference | None = None
    #: How weights that it takes differ, by name, where both nodes are of one operator that takes them as they are; or
    #: how the weight differs that one model holds and the other computes.
    weights: Mapping[str, Difference] = field(default_factory=dict[str, Difference])
    #: The name of the value that it gives.
    value: str = ""
    #: Whether that explains all of the difference of the outputs.
    explains: bool = False
    #: Whether the region computes a weight, of weights alone.
    is_weight: bool = False
    #: What each model calls the weight that they part at, where it holds it.
    held: tuple[str, str] = ("", "")
    #: How the outputs differ, by name; those that agree are not here.
    outputs: Mapping[str, Difference] = field(default_factory=dict[str, Difference])
    #: The inputs that it was found with, in words.
    inputs: str = ""
    #: What is worth a word besides.
    notes: tuple[str, ...] = ()
    #: The files that were written to reproduce it.
    written: tuple[Path, ...] = ()

    @property
    def is_equal(self) -> bool:
        """True if both runs agree."""
        return self.difference is None and not self.outputs

    def __bool__(self) -> bool:
        return self.is_equal

    def __str__(self) -> str:
        if self.is_equal:
            lines = [f"equal: {self.matched} values agree" + (f" for {self.inputs}" if self.inputs else "")]
        elif self.difference is None:
            lines = [f"the outputs differ, and no node was found that does: {', '.join(self.outputs)}"]
        else:
            lines = [f"they part at {self._where(self.node, self.region, self.held[0])}"]
            lines.append(f"  in the other: {self._where(self.other, self.other_region, self.held[1])}")
            for name, told in () if any(self.held) else self.weights.items():
                lines.append(f"  weight '{clipped(name, _LONGEST_NAME)}' differs: {told}")
            lines.append(f"  '{clipped(self.value, _LONGEST_NAME)}': {self.difference}")
            if not self.explains:
                lines.append("  other nodes differ, too: this is the first")
        lines += [f"  output '{name}': {told}" for name, told in self.outputs.items()]
        return printable("\n".join([*lines, *self.notes]))

    def _where(self, node: ComparedNode | None, region: tuple[ComparedNode, ...], held: str) -> str:
        if node is not None:
            return str(node)
        if not region:
            called = f"weight '{clipped(held, _LONGEST_NAME)}'" if held else "a weight"
            return f"{called}, which the model holds" if held or self.is_weight else "a constant"
        computing = [each for each in region if each.node.op_type != "Constant"] or region
        if self.is_weight and len(computing) > _SHOWN_MAKERS:
            return f"the weight that {len(computing)} nodes compute, the last of them {computing[-1]}"
        shown = ", ".join(map(str, computing[:_SHOWN_NODES]))
        more = f" and {len(computing) - _SHOWN_NODES} more" if len(computing) > _SHOWN_NODES else ""
        return f"the weight that {shown}{more} compute" if self.is_weight else f"one of {shown}{more}"

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"
