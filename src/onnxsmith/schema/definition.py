"""Operator definitions: frozen descriptions of inputs, outputs, attributes and type constraints.

Where they come from (onnx, ONNX Runtime, a user) is not known here, nor what is done with them.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Option = Literal["single", "optional", "variadic"]


class AttributeType(enum.IntEnum):
    """The type of an attribute; the value is its code in `AttributeProto.AttributeType`."""

    FLOAT = 1
    INT = 2
    STRING = 3
    TENSOR = 4
    GRAPH = 5
    FLOATS = 6
    INTS = 7
    STRINGS = 8
    TENSORS = 9
    GRAPHS = 10
    SPARSE_TENSOR = 11
    SPARSE_TENSORS = 12
    TYPE_PROTO = 13
    TYPE_PROTOS = 14


class GraphBody:
    """A graph attribute's graph that was made of the user's code; who made it knows what it is."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class AttributeReference:
    """An attribute of a function, used inside its body: the value comes with each call of the function."""

    name: str
    type: AttributeType


@dataclass(frozen=True, slots=True)
class Parameter:
    """A formal input or output.

    `type_name` is the schema's word: a type variable such as `T`, or a type string such as `tensor(int64)`.
    `types` are the ONNX type strings it allows; empty means that anything goes.
    """

    name: str
    type_name: str
    types: frozenset[str]
    option: Option
    is_homogeneous: bool = True
    min_arity: int = 1
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A formal attribute. `default` is a Python value, or None when there is none; a flag is 0 or 1."""

    name: str
    type: AttributeType
    is_required: bool
    default: Any = None
    choices: tuple[str, ...] | None = None
    names_dtype: bool = False
    is_flag: bool = False
    doc: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class OperatorDef:
    """One version of one operator; compared and hashed by identity, since the registry makes each once."""

    domain: str
    name: str
    since_version: int
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    attributes: Mapping[str, Attribute]
    min_inputs: int
    max_inputs: int
    min_outputs: int
    max_outputs: int
    doc: str = ""
    is_deprecated: bool = False
    has_function: bool = False
    #: False for an operator of a domain that nobody has a schema for: nothing about a call can be checked.
    is_known: bool = True

    @property
    def qualified_name(self) -> str:
        """`Relu`, or `com.microsoft.Gelu` outside the standard domain."""
        return f"{self.domain}.{self.name}" if self.domain else self.name

    def __repr__(self) -> str:
        return f"<operator {self.qualified_name}-{self.since_version}>"


def parameter_at(parameters: Sequence[Parameter], position: int) -> Parameter | None:
    """The formal parameter at a position; the last one repeats when it is variadic."""
    if position < len(parameters):
        return parameters[position]
    return parameters[-1] if parameters and parameters[-1].option == "variadic" else None
