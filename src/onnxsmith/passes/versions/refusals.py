"""Parts that could not be converted, and their error: the node, the versions, the reason, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from onnxsmith.diagnostics import clipped, printable
from onnxsmith.errors import VersionConversionError
from onnxsmith.graphs.edits import NodeNote
from onnxsmith.passes.versions.step import DECLARE_TYPES, Refusal
from onnxsmith.schema.bind import spelled
from onnxsmith.schema.definition import OperatorDef, Parameter, parameter_at
from onnxsmith.schema.equivalent_versions import Use

#: So many nodes are told of in one error.
_MOST_TOLD = 5
#: Names of nodes come from strangers, and may be as long as they please.
_LONGEST_NAME = 200
_LONGEST_REASON = 500
_OTHER_TYPE = "use another type there"


@dataclass(frozen=True, slots=True)
class Refused:
    """One node that cannot be said in the version that is wanted.

    `node` is the one that the given model has, whatever became of it on the way. `nearest` is the version next to the
    target that has a form for it; None where there is none because the node is wrong.
    """

    node: NodeNote
    domain: str
    version: int
    target: int
    reason: str
    remedy: str | None
    nearest: int | None

    def __str__(self) -> str:
        place = f" ({printable(clipped(self.node.source, _LONGEST_NAME))})" if self.node.source else ""
        called, reason = clipped(str(self.node), _LONGEST_NAME), clipped(self.reason, _LONGEST_REASON)
        return f"{printable(called)}{place}: {printable(reason)}"


def conversion_error(refused: Sequence[Refused]) -> VersionConversionError:
    """The error for nodes that cannot be converted; there is at least one."""
    refused = list(dict.fromkeys(refused))  # a node may have become several
    first = refused[0]
    domain = f" of {first.domain}" if first.domain else ""
    counted = "a node" if len(refused) == 1 else f"{len(refused)} nodes"
    told = "".join(f"\n  {each}" for each in refused[:_MOST_TOLD])
    more = f"\n  and {len(refused) - _MOST_TOLD} more" if len(refused) > _MOST_TOLD else ""
    error = VersionConversionError(
        f"the model is of opset {first.version}{domain} and cannot be said in opset {first.target}, for {counted}:"
        f"{told}{more}",
        help=_help([each for each in refused if each.domain == first.domain]),
    )
    error.node = (first.node.operator, first.node.name)
    return error


def _help(refused: Sequence[Refused]) -> str:
    """The help text: the remedies that the reasons name, and the version that can be had."""
    first = refused[0]
    nearest = [each.nearest for each in refused if each.nearest is not None]
    ways = list(dict.fromkeys(each.remedy for each in refused[:_MOST_TOLD] if each.remedy))
    if len(nearest) == len(refused):
        is_down = first.target < first.version
        version, called = (max(nearest), "oldest") if is_down else (min(nearest), "newest")
        counted = "this node" if len(refused) == 1 else "these nodes"
        ways.append(f"convert to opset {version}, the {called} that can say {counted}")
    else:
        ways.append("change these nodes first")
    return "; or ".join(ways)


def why_not_older(op: OperatorDef, before: OperatorDef | None, use: Use) -> Refusal:
    """Why a node of a definition has no place in the one before, and no function either."""
    name, since = op.name, op.since_version
    if before is None:
        return Refusal(
            f"{name} came with opset {since}, and has no function that defines it by older operators"
        )
    more = sorted(use.attributes - before.attributes.keys())
    if more:
        return Refusal(f"it has {_listed(more)}, which {name} has since opset {since}")
    if len(use.inputs) > before.max_inputs:
        names = [each.name for each in op.inputs[before.max_inputs : len(use.inputs)]]
        return Refusal(f"it has the input {_listed(names)}, which {name} has since opset {since}")
    if "" in use.inputs or "" in use.outputs:
        return Refusal(
            f"its types are not known, and {name} takes fewer of them before opset {since}", DECLARE_TYPES
        )
    found = type_beyond(before, use)
    if found is not None:
        return found.refusal(before, op)
    if not use.fits_types(before):
        types = sorted({spelled(each) for each in (*use.inputs, *use.outputs) if each})
        return Refusal(f"its types are {_listed(types)}, which {name} takes together since opset {since}")
    if not use.has_inputs(before):
        return Refusal(f"an input is left out, which {name} allows since opset {since}")
    return Refusal(f"{name} changed in opset {since}, and there is no older way to say it")


@dataclass(frozen=True, slots=True)
class TypeBeyond:
    """An input or output whose type a definition does not take."""

    which: Literal["input", "output"]
    position: int
    parameter: Parameter
    kind: str

    def refusal(self, op: OperatorDef, other: OperatorDef | None) -> Refusal:
        """The text for it: the definition does not take it, and another one does, perhaps."""
        name, verb = op.name, "take" if self.which == "input" else "give"
        told = f"its {self.which} '{self.parameter.name}' is {spelled(self.kind)}, which {name}"
        formal = () if other is None else other.inputs if self.which == "input" else other.outputs
        taken = parameter_at(formal, self.position)
        if other is None or taken is None or self.kind not in taken.types:
            return Refusal(f"{told} does not {verb}", _OTHER_TYPE)
        if other.since_version > op.since_version:
            return Refusal(f"{told} {verb}s since opset {other.since_version}", _OTHER_TYPE)
        return Refusal(f"{told} {verb}s no longer since opset {op.since_version}", _OTHER_TYPE)


def type_beyond(op: OperatorDef, use: Use) -> TypeBeyond | None:
    """The first input or output whose type a definition does not take, of those that are known."""
    sides: tuple[tuple[Literal["input", "output"], tuple[str | None, ...], tuple[Parameter, ...]], ...] = (
        ("input", use.inputs, op.inputs),
        ("output", use.outputs, op.outputs),
    )
    for which, types, parameters in sides:
        for position, kind in enumerate(types):
            parameter = parameter_at(parameters, position)
            if kind and parameter is not None and parameter.types and kind not in parameter.types:
                return TypeBeyond(which, position, parameter, kind)
    return None


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
