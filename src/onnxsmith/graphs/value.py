"""Values of a graph that is being made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, cast

import onnx_ir as ir

from onnxsmith.core.semantics.index_items import Index
from onnxsmith.core.semantics.number import Number, number
from onnxsmith.core.sequence import TensorSequence
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.errors import boundary
from onnxsmith.graphs.unpacking import refuse_rows_for_outputs
from onnxsmith.schema.inference.known import Known
from onnxsmith.source import Span, taken_apart
from onnxsmith.types.value_types import TensorType

if TYPE_CHECKING:
    from onnxsmith.graphs.builder import GraphTarget


class SymbolicValue(Value):
    """A value that exists when the model runs: what is known of it, and where it was made."""

    __slots__ = ()
    is_symbolic: ClassVar[bool] = True


class SymbolicTensor(Tensor, SymbolicValue):
    """A tensor of a graph."""

    __slots__ = ("_known", "_scope", "ir_value", "span")

    def __init__(self, ir_value: ir.Value, known: Known, scope: GraphTarget, span: Span | None) -> None:
        self.ir_value = ir_value
        self._known = known
        self._scope = scope
        self.span = span

    @property
    def known(self) -> Known:
        return self._known

    @property
    def scope(self) -> GraphTarget:
        """The graph it belongs to."""
        return self._scope if self._scope.absorbed_by is None else self._scope.home

    @property
    def target(self) -> GraphTarget:
        return self.scope

    @property
    def name(self) -> str:
        """Its name in the graph."""
        return self.ir_value.name or ""

    def as_number(self) -> Number:
        return number(self)

    def __hash__(self) -> int:
        return hash(self.as_number())  # a set or dict asks for its value: the error says so

    @boundary
    def __iter__(self) -> Iterator[Tensor]:
        is_taken_apart, count = taken_apart()
        if is_taken_apart:
            refuse_rows_for_outputs(self, count)
        return super().__iter__()

    def as_shape(self) -> SymbolicShape:
        return SymbolicShape(self.ir_value, self.known, self.scope, self.span)

    def __repr__(self) -> str:
        return f"<symbolic tensor {self.name}: {self.type!r}>"


class SymbolicShape(SymbolicTensor):
    """The shape of a tensor of unknown rank: a vector whose elements are Python numbers, as those of a tuple are."""

    __slots__ = ()

    def __getitem__(self, index: Index) -> SymbolicTensor | Number:
        part = cast(SymbolicTensor, super().__getitem__(index))
        rank = part.type.rank
        return part.as_number() if rank == 0 else part.as_shape() if rank == 1 else part


class SymbolicSequence(TensorSequence, SymbolicValue):
    """A sequence or optional of a graph."""

    __slots__ = ("_known", "_scope", "ir_value", "span")

    def __init__(self, ir_value: ir.Value, known: Known, scope: GraphTarget, span: Span | None) -> None:
        self.ir_value = ir_value
        self._known = known
        self._scope = scope
        self.span = span

    @property
    def known(self) -> Known:
        return self._known

    @property
    def scope(self) -> GraphTarget:
        """The graph it belongs to."""
        return self._scope if self._scope.absorbed_by is None else self._scope.home

    @property
    def target(self) -> GraphTarget:
        return self.scope

    @property
    def name(self) -> str:
        """Its name in the graph."""
        return self.ir_value.name or ""

    def __repr__(self) -> str:
        return f"<symbolic {self.known.type!r} {self.name}>"


def wrap(
    ir_value: ir.Value, known: Known, scope: GraphTarget, span: Span | None
) -> SymbolicTensor | SymbolicSequence:
    """The Python object for a value of a graph, by its type."""
    kind = SymbolicTensor if isinstance(known.type, TensorType) else SymbolicSequence
    return kind(ir_value, known, scope, span)
