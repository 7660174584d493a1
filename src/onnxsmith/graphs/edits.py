"""The history of a model, one record for each change: its pass and rule, the reason, and the nodes before and after.

Nodes are noted by their names, so that the records outlive the graphs that they tell of, and can be written to a file.
All that changes models keeps them: passes, rewrite rules, conversions, and what is changed for a runtime.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NodeNote:
    """A node as the records name it.

    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> better = trace(lambda x: op.Neg(op.Neg(x)) + 1.0, FLOAT["N"]).optimize()
    >>> better.report.edits[0].before[0].operator
    'Neg'
    """

    operator: str
    name: str
    outputs: tuple[str, ...]
    #: The functions and bodies that it stands in, outermost first; empty for the main graph.
    path: tuple[str, ...] = ()
    #: Where it was written, as the model's metadata has it.
    source: str | None = None

    @property
    def called(self) -> str:
        """Its name, or what it gives where it has none, behind what it stands in."""
        own = self.name or ", ".join(filter(None, self.outputs)) or self.operator
        return "/".join((*self.path, own))

    def __str__(self) -> str:
        return f"{self.operator} '{self.called}'"


@dataclass(frozen=True, slots=True)
class Edit:
    """One change: which pass and which of its rules made it, and what became what.

    `before` are the nodes that went, with the outputs that they gave, and `after` those that came; both with their
    place in the source. `after` is empty where nodes were only left out, and `value` then names what is read in their
    place, if anything is. Of a node that stays, and changed, both have a note.

    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> better = trace(lambda x: op.Neg(op.Neg(x)) + 1.0, FLOAT["N"]).optimize()
    >>> better.report.edits[0].operator
    'Neg'
    """

    pass_name: str
    rule: str
    before: tuple[NodeNote, ...]
    after: tuple[NodeNote, ...]
    value: str | None = None
    #: Why, where the rule alone does not say it.
    reason: str = ""

    @property
    def operator(self) -> str:
        """The operator that it is about: that of the node which the rule was for, the first of those that went."""
        return self.before[0].operator if self.before else ""

    @property
    def sources(self) -> tuple[str, ...]:
        """The places in the source that it concerns."""
        return tuple(dict.fromkeys(each.source for each in self.before if each.source))

    @property
    def change(self) -> str:
        """The change in words: the nodes before and after."""
        before = " + ".join(map(str, self.before))
        after = " + ".join(map(str, self.after))
        if self.after:
            return f"{before} -> {after}" if before else f"{after} put in"
        return before + (f" -> '{self.value}'" if self.value else " left out")

    def __str__(self) -> str:
        return f"{self.rule}: {self.change}" + (f" ({self.reason})" if self.reason else "")
