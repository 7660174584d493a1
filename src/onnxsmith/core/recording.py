"""Results of a target that records, besides values: finished bodies and functions; and how a new graph starts.

Targets are in `target`; nothing here knows one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from onnxsmith.schema.definition import AttributeType, GraphBody
from onnxsmith.schema.inference.known import Known
from onnxsmith.types.value_types import AnyValueType

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class OpsetChoice:
    """The version of the standard opset that a graph starts from."""

    version: int
    #: Whether it must stay that version.
    is_fixed: bool = False
    #: Whether the user's code names it; a version that nobody named gives way to that of a graph that calls this
    #: one, or of a model that is called.
    is_named: bool = True


@dataclass(frozen=True, slots=True)
class FormalAttribute:
    """An attribute that a function takes; `default` is None where it has none."""

    name: str
    type: AttributeType
    default: int | float | str | Sequence[int | float | str] | Array | None = None


@dataclass(frozen=True, slots=True)
class FunctionHead:
    """The name of a function, its attributes, the version of its domain, and its text for people."""

    domain: str
    name: str
    overload: str = ""
    attributes: tuple[FormalAttribute, ...] = ()
    domain_version: int = 1
    doc_string: str | None = None


class RecordedBody(GraphBody):
    """A finished subgraph: the value of a graph attribute in `emit`. A target has a subclass of its own."""

    __slots__ = ()

    #: What is known of its outputs.
    outputs: tuple[Known, ...]
    #: Whether it reads a tensor from outside whose element type is not known.
    reads_open_type: bool = False

    def add_unused_input(self, kind: AnyValueType) -> None:
        """Add an input at the end that nothing reads: a loop's state goes in as well as out."""
        raise NotImplementedError

    def discard(self) -> None:
        """Forget the body, which no call has been given."""
        raise NotImplementedError


class RecordedFunction(Protocol):
    """A finished function."""

    @property
    def attribute_names(self) -> Collection[str]:
        """The attributes it takes."""
        ...

    @property
    def output_count(self) -> int:
        """How many outputs it has."""
        ...
