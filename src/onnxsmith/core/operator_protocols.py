"""The interface of operators for targets and for the semantics of Python's syntax; `operator` has the class itself.

Standing below the call pipeline, it lets both speak of operators without knowing how one is called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from onnxsmith.core.recording import RecordedBody
from onnxsmith.core.value import Array, Operand, TensorValue
from onnxsmith.schema.definition import AttributeReference, OperatorDef
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import ValueType

#: What Python's syntax, control flow and the attributes of functions give an attribute.
AttributeValue: TypeAlias = (
    DType
    | int
    | float
    | str
    | Sequence[int]
    | Sequence[float]
    | Array
    | ValueType
    | RecordedBody
    | Callable[..., TensorValue | Sequence[TensorValue]]  # the body of an If or a loop
    | AttributeReference
    | None
)


class AnyOperator(Protocol):
    """One operator of one opset version, ready to be called."""

    #: Answers calls of a form that was run before; see `Operator.recall`.
    recall: Callable[[tuple[Any, ...], dict[str, Any], object], Any] | None

    @property
    def definition(self) -> OperatorDef:
        """Its schema."""
        ...

    @property
    def version(self) -> int:
        """The opset version it was asked of."""
        ...

    def __call__(self, /, *inputs: Operand | None, **attributes: AttributeValue) -> TensorValue:
        """Perform a call that has one output."""
        ...


class StandardOperators(Protocol):
    """The standard operators of one opset version, by attribute: `op.Add(a, b)`."""

    version: int

    def __getattr__(self, name: str) -> AnyOperator: ...

    def has(self, name: str) -> bool:
        """True if this version has the operator."""
        ...
