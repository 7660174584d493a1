"""The pattern of a rule as a graph: operators, and between them what a value may be.

Plain data. `recording` makes it of a Python function, `matching` compares it with a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from onnxsmith.graphs.records import AttributeContent, FunctionRecord
from onnxsmith.passes.values import Array
from onnxsmith.schema.definition import AttributeType, OperatorDef
from onnxsmith.source import Span
from onnxsmith.types.annotations import AttributeAnnotation
from onnxsmith.types.value_types import UNKNOWN_TENSOR, AnyValueType


@dataclass(frozen=True, slots=True, eq=False)
class AnyTensor:
    """A parameter: any value, as far as its annotation allows."""

    name: str
    type: AnyValueType = UNKNOWN_TENSOR
    #: Whether only a constant will do.
    must_be_constant: bool = False
    #: Whether it stands for all the inputs that are left: `*xs`.
    is_rest: bool = False

    def __str__(self) -> str:
        return f"*{self.name}" if self.is_rest else self.name


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A constant of this content; `is_open` where the element type is that of the tensors around it."""

    array: Array
    is_open: bool = False

    def __str__(self) -> str:
        return str(self.array.tolist()) if self.array.size <= 8 else f"an array of shape {self.array.shape}"


@dataclass(frozen=True, slots=True, eq=False)
class CapturedNumber:
    """A constant whose value the replacement gets as a Python number, or list of numbers."""

    name: str
    kind: AttributeAnnotation

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class Either:
    """One of several values, tried in order."""

    options: tuple[PatternValue, ...]

    def __str__(self) -> str:
        return "one of " + ", ".join(map(str, self.options))


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """An output of a node of the pattern."""

    node: PatternNode
    position: int

    def __str__(self) -> str:
        return self.node.op_type


PatternValue: TypeAlias = AnyTensor | Literal | CapturedNumber | Either | Result


@dataclass(frozen=True, slots=True)
class CapturedAttribute:
    """An attribute whose value the replacement gets."""

    name: str
    type: AttributeType
    kind: AttributeAnnotation


@dataclass(frozen=True, slots=True, eq=False)
class PatternNode:
    """An operator of the pattern, by its definition, and what its inputs and attributes must be."""

    definition: OperatorDef
    #: The version of its domain that the pattern is written in.
    version: int
    inputs: tuple[PatternValue | None, ...]
    attributes: Mapping[str, CapturedAttribute | AttributeContent]
    output_count: int
    #: Whether a node may have more inputs behind those, and attributes that are not mentioned, whatever they say.
    allows_inputs: bool = False
    allows_attributes: bool = False
    #: For a call of a script: its function, and those that it calls.
    functions: tuple[FunctionRecord, ...] = ()

    @property
    def domain(self) -> str:
        return self.definition.domain

    @property
    def op_type(self) -> str:
        return self.definition.name


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """A whole pattern: what it gives, and the node that looking for it begins at."""

    outputs: tuple[Result, ...]
    root: PatternNode
    #: The nodes that every match has, each after those that it reads, and those inside alternatives as well.
    nodes: tuple[PatternNode, ...]
    #: Names of parameters that every match has, and that some have.
    always_bound: frozenset[str]
    sometimes_bound: frozenset[str]
    output_types: tuple[AnyValueType, ...]
    span: Span | None = None


def bound_names(
    value: PatternValue | None, *, always: bool, known: dict[PatternNode, frozenset[str]] | None = None
) -> frozenset[str]:
    """The parameters that a match of a value gives something: those of every alternative, or of any."""
    known = {} if known is None else known
    if value is None or isinstance(value, Literal):
        return frozenset()
    if isinstance(value, AnyTensor | CapturedNumber):
        return frozenset({value.name})
    if isinstance(value, Either):
        parts = [bound_names(each, always=always, known=known) for each in value.options]
        return parts[0].intersection(*parts) if always else parts[0].union(*parts)
    found = known.get(value.node)
    if found is None:
        captured = [each for each in value.node.attributes.values() if isinstance(each, CapturedAttribute)]
        parts = [bound_names(each, always=always, known=known) for each in value.node.inputs]
        found = known[value.node] = frozenset({each.name for each in captured}).union(*parts)
    return found


def makers_needed(node: PatternNode) -> tuple[frozenset[str], ...]:
    """For each input of a node that must be made by an operator, which operators those are."""
    needs = [_makers(each) for each in node.inputs]
    return tuple(dict.fromkeys(each for each in needs if each))


def _makers(value: PatternValue | None) -> frozenset[str]:
    """The operators that may make a value; none where it may also be something else."""
    if isinstance(value, Result):
        return frozenset({value.node.op_type})
    if isinstance(value, Either):
        parts = [_makers(each) for each in value.options]
        return frozenset[str]().union(*parts) if all(parts) else frozenset()
    return frozenset()


def certain_nodes(values: Iterable[PatternValue | None]) -> dict[PatternNode, None]:
    """The nodes that every match of some values has, each after those that it reads.

    Those inside alternatives are left out.
    """
    found: dict[PatternNode, None] = {}

    def visit(value: PatternValue | None) -> None:
        if isinstance(value, Result) and value.node not in found:
            for each in value.node.inputs:
                visit(each)
            found[value.node] = None

    for each in values:
        visit(each)
    return found
