"""What could not be converted, and the error that says so: which node, which versions, why, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import onnx_ir as ir

from onnxsmith.diagnostics import clipped, printable
from onnxsmith.errors import VersionConversionError
from onnxsmith.graphs.edits import NodeNote
from onnxsmith.passes.edits import noted
from onnxsmith.passes.versions.step import Refusal
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.same_meaning import Use

#: So many nodes are told of in one error.
_MOST_TOLD = 5
#: Names of nodes come from strangers, and may be as long as they please.
_LONGEST_NAME = 200


class Placed(Protocol):
    """Who knows where a node stands."""

    def path(self, node: ir.Node) -> tuple[str, ...]:
        """The functions and nodes around a node, outermost first."""
        ...


@dataclass(frozen=True, slots=True)
class Refused:
    """One node that cannot be said in the version that is wanted."""

    node: NodeNote
    domain: str
    version: int
    target: int
    reason: str
    remedy: str | None

    @staticmethod
    def of(where: Placed, node: ir.Node, version: int, target: int, refusal: Refusal) -> Refused:
        """The note of a refusal."""
        note = noted(node, where.path(node))
        return Refused(note, node.domain, version, target, refusal.reason, refusal.remedy)

    def __str__(self) -> str:
        place = f" ({printable(clipped(self.node.source, _LONGEST_NAME))})" if self.node.source else ""
        return f"{printable(clipped(str(self.node), _LONGEST_NAME))}{place}: {self.reason}"


def conversion_error(refused: Sequence[Refused]) -> VersionConversionError:
    """The error for nodes that cannot be converted; there is at least one."""
    first = refused[0]
    domain = f" of {first.domain}" if first.domain else ""
    counted = "a node" if len(refused) == 1 else f"{len(refused)} nodes"
    told = "".join(f"\n  {each}" for each in refused[:_MOST_TOLD])
    more = f"\n  and {len(refused) - _MOST_TOLD} more" if len(refused) > _MOST_TOLD else ""
    error = VersionConversionError(
        f"the model is of opset {first.version}{domain} and cannot be said in opset {first.target}, for {counted}:"
        f"{told}{more}",
        help=first.remedy or _remedy(first),
    )
    error.node = (first.node.operator, first.node.name)
    return error


def _remedy(refused: Refused) -> str:
    if refused.target < refused.version:
        return "convert to a newer opset that has it, or change these nodes first"
    return f"stay with opset {refused.version}, or change these nodes first"


def why_not_older(node: ir.Node, op: OperatorDef, before: OperatorDef | None, use: Use) -> Refusal:
    """Why a node of a definition has no place in the one before, and no function either."""
    if before is None:
        return Refusal(
            f"{op.name} came with opset {op.since_version}, and has no function that defines it by older operators"
        )
    more = sorted(use.attributes - before.attributes.keys())
    if more:
        return Refusal(f"{before.name}-{before.since_version} has no {_listed(more)}")
    if len(use.inputs) > before.max_inputs:
        names = [each.name for each in op.inputs[before.max_inputs : len(use.inputs)]]
        return Refusal(f"{before.name}-{before.since_version} has no input {_listed(names)}")
    if "" in use.inputs or "" in use.outputs:
        return Refusal(
            f"its types are not known, and {before.name}-{before.since_version} takes fewer than it",
            "declare the types of the values in the model (value_info), or of its inputs",
        )
    if not use.fits_types(before):
        types = sorted({each for each in (*use.inputs, *use.outputs) if each})
        return Refusal(f"{before.name}-{before.since_version} does not take {_listed(types)}")
    if not use.has_inputs(before):
        return Refusal(f"{before.name}-{before.since_version} needs an input that is left out")
    return Refusal(f"{op.name} changed in opset {op.since_version}, and there is no older way to say it")


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
