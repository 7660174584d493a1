"""`op`: the operators that rules call, as those of algorithms are, typed to give tensors that can be computed with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

from onnxsmith.algorithms.operators import op as portable_op
from onnxsmith.core.operator_protocols import AttributeValue
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Operand, Value


class TensorOperator(Protocol):
    """One operator."""

    def __call__(
        self, /, *inputs: Operand | None, **attributes: AttributeValue | Callable[..., object]
    ) -> Tensor:
        """Perform a call that has one output, a tensor."""
        ...


class TensorOperators(Protocol):
    """The standard operators of the graph that is being recorded, by attribute."""

    def __getattr__(self, name: str) -> TensorOperator: ...

    def has(self, name: str) -> bool:
        """True if the opset has the operator."""
        ...


op: TensorOperators = cast("TensorOperators", portable_op)


def several(results: object) -> tuple[Tensor, ...]:
    """The results of a call with several outputs; one alone comes as it is."""
    return cast("tuple[Tensor, ...]", results) if isinstance(results, tuple) else (cast(Tensor, results),)


def values(results: object) -> tuple[Value, ...]:
    """The same for a call whose outputs may be sequences."""
    return cast("tuple[Value, ...]", results) if isinstance(results, tuple) else (cast(Value, results),)
