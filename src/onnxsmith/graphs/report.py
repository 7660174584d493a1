"""The report of passes on a model, for people: nodes before and after, the work of each rule, and the verification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

import onnx

from onnxsmith.diagnostics import printable
from onnxsmith.graphs import files
from onnxsmith.graphs.edits import Edit
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.model import Model, RawModel
from onnxsmith.graphs.node_counts import operator_counts

#: The report names this many rules.
_SHOWN = 20


@dataclass(slots=True)
class Report:
    """The changes that one run of passes made.

    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> better = trace(lambda x: op.Neg(op.Neg(x)) + 1.0, FLOAT["N"]).optimize()
    >>> better.report.nodes_before, better.report.nodes_after
    (3, 1)
    """

    nodes_before: int = 0
    nodes_after: int = 0
    opset_before: int = 0
    opset_after: int = 0
    weight_bytes_before: int = 0
    weight_bytes_after: int = 0
    #: What became what, in order.
    edits: tuple[Edit, ...] = ()
    #: What is worth a word besides.
    notes: list[str] = field(default_factory=list[str])
    #: How it was verified; None where nobody asked for it.
    verification: str | None = None
    operators_before: Mapping[str, int] = field(default_factory=dict[str, int])
    operators_after: Mapping[str, int] = field(default_factory=dict[str, int])

    @classmethod
    def of(cls, model: ir.Model) -> Self:
        """The report of passes over a model, before they have begun."""
        found = operator_counts(model)
        return cls(
            nodes_before=found.total(),
            opset_before=model.opset_imports.get("", 0),
            weight_bytes_before=files.weight_bytes(model),
            operators_before=found,
        )

    def close(self, model: ir.Model, edits: tuple[Edit, ...]) -> None:
        """Note what the passes have made, and how."""
        self.operators_after = found = operator_counts(model)
        self.nodes_after = found.total()
        self.opset_after = model.opset_imports.get("", 0)
        self.weight_bytes_after = files.weight_bytes(model)
        self.edits = edits

    @property
    def rules(self) -> dict[str, int]:
        """How often each rule changed something, the most frequent first."""
        return dict(Counter(each.rule for each in self.edits).most_common())

    def __str__(self) -> str:
        lines = [f"{self.nodes_before} node{'s' * (self.nodes_before != 1)} before, {self.nodes_after} after"]
        if self.opset_before != self.opset_after:
            lines.append(f"opset {self.opset_before} before, {self.opset_after} after")
        if self.weight_bytes_before != self.weight_bytes_after:
            lines.append(
                f"weights {self.weight_bytes_before:,} bytes before, {self.weight_bytes_after:,} after"
            )
        by_rule = list(self.rules.items())
        lines.extend(f"  {count:>6} x {rule}" for rule, count in by_rule[:_SHOWN])
        if len(by_rule) > _SHOWN:
            more = len(by_rule) - _SHOWN
            lines.append(f"  and {more} more rule{'s' * (more != 1)}")
        if self.verification is not None:
            lines.append(self.verification)
        lines.extend(self.notes)
        return printable("\n".join(lines))

    def __repr__(self) -> str:
        return str(self)


class PassedModel(Model):
    """A model that passes have made of another one; `report` says what they did.

    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> better = trace(lambda x: op.Neg(op.Neg(x)) + 1.0, FLOAT["N"]).optimize()
    >>> better.report.nodes_after
    1
    """

    def __init__(self, model: ir.Model, report: Report) -> None:
        super().__init__(model)
        self.report = report


class PassedRawModel(PassedModel, RawModel):
    """The same for a model with maps or sparse weights, which is held as its proto."""

    def __init__(self, proto: onnx.ModelProto, report: Report) -> None:
        RawModel.__init__(self, proto)
        self.report = report


def with_report(made: Model, report: Report, given: Model) -> PassedModel:
    """A model that passes have made of a given one, with what they did."""
    result = PassedRawModel(made.proto, report) if made.is_proto_only else PassedModel(made.ir, report)
    result.place = given.place
    return result
