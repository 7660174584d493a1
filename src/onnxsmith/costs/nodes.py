"""The properties of a node that its costs depend on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from onnxsmith.types.value_types import AnyValueType


class CostlyValue(Protocol):
    """A value with a type."""

    @property
    def type(self) -> AnyValueType:
        """Its type, as far as it is known."""
        ...


class CostlyNode(Protocol):
    """A node with the types of its values."""

    @property
    def op_type(self) -> str:
        """The operator."""
        ...

    @property
    def domain(self) -> str:
        """The operator's domain; empty for ONNX's own."""
        ...

    @property
    def operator(self) -> str:
        """The operator with its domain, where it is not ONNX's own."""
        ...

    @property
    def inputs(self) -> Sequence[CostlyValue | None]:
        """Its inputs; None for one that is left out."""
        ...

    @property
    def outputs(self) -> Sequence[CostlyValue]:
        """Its outputs."""
        ...

    @property
    def attributes(self) -> Mapping[str, object]:
        """Its attributes as Python values."""
        ...

    @property
    def bodies(self) -> Sequence[CostlyGraph]:
        """The graphs inside it."""
        ...

    @property
    def function(self) -> CostlyGraph | None:
        """The body of the function that it calls; None for an operator."""
        ...


class CostlyGraph(Protocol):
    """A graph of such nodes."""

    @property
    def name(self) -> str:
        """Its name; of a function, what tells it from others."""
        ...

    @property
    def nodes(self) -> Sequence[CostlyNode]:
        """Its own nodes."""
        ...
