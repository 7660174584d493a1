"""When a value is true: what `if`, `while`, `and`, `or` and `not` ask of a tensor that only the model knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard, cast

import numpy as np

from onnxsmith.core.operands import operators_for
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.target import current_graph
from onnxsmith.core.value import TensorValue, Value
from onnxsmith.core.value_containers import Carrier
from onnxsmith.diagnostics import shown_as
from onnxsmith.errors import ConditionError, DTypeNotAllowedError
from onnxsmith.schema.inference.known import Known
from onnxsmith.scripting.staging.script_values import Held, T
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import OptionalType, SequenceType, TensorType, describe_shape

if TYPE_CHECKING:
    from onnxsmith.core.target import Target


def is_symbolic(value: object) -> TypeGuard[Value]:
    """True if a value is known only when the model runs."""
    return isinstance(value, Value) and value.is_symbolic


def asked(value: T) -> T | TensorValue:
    """A value where its truth is asked for; of an object that holds tensors, such as an array, the one that tells."""
    is_asked = isinstance(value, Carrier) or hasattr(type(value), "asked_for_truth")
    return cast(Carrier, value).asked_for_truth() if is_asked and cast(Carrier, value).is_symbolic else value


def settled(value: T) -> T | bool:
    """A truth value where somebody decides by it; now, if what is known of sizes tells: N == N, N >= 0.

    Not for loops, which ask again and again.
    """
    if not isinstance(value, Number) or value.kind != "bool" or value.target.is_exact:
        return value
    data = value.known.data
    return bool(data) if isinstance(data, np.ndarray) and data.size == 1 else value


def choosing(is_numpy: bool) -> str:
    """How code says that each element has a choice of its own, for the help of `truth`."""
    return f"; to choose for each element: {'np.where' if is_numpy else 'op.Where'}(condition, a, b)"


def truth(value: Value, what: str = "the condition", elementwise: str = "") -> TensorValue:
    """A symbolic value as a scalar BOOL tensor, if it can have one truth value."""
    kind = value.known.type
    if value.target.is_exact and not isinstance(value, Number):
        return cast(TensorValue, value)  # a given model is taken as it is
    if isinstance(kind, SequenceType):
        op = operators_for(value)
        return op.Greater(op.SequenceLength(value), np.array(0, np.int64))
    if isinstance(kind, OptionalType):
        whole: Any = operators_for(value)  # None is false, and so may be what is there

        def of_element() -> TensorValue:
            return truth(whole.OptionalGetElement(value), what, elementwise)

        return whole.If(
            whole.OptionalHasElement(value), then_branch=of_element, else_branch=lambda: np.array(False)
        )
    assert isinstance(kind, TensorType)
    if kind.dtype is DType.STRING:
        raise DTypeNotAllowedError("a string tensor has no truth value", help="compare it, as in x == 'a'")
    if kind.shape is not None and any(each != 1 for each in kind.shape):
        # A dimension that has a name has any size; only one that nothing is known of may turn out to be 1.
        is_open = all(each in (1, None) for each in kind.shape)
        if not (is_open and len(kind.shape) <= 1):
            raise ConditionError(
                f"{what} has shape {describe_shape(kind.shape)}; it must be one truth value",
                help=f"say which is meant: (…).all() or (…).any(){elementwise}",
            )
    assert isinstance(value, TensorValue)
    tensor = value.tensor if isinstance(value, Number) else value
    if kind.dtype is not DType.BOOL:
        tensor = operators_for(tensor).Cast(tensor, to=DType.BOOL)
    if kind.shape:
        tensor = operators_for(tensor).Reshape(tensor, np.array([], np.int64))
    return tensor


@shown_as("number")
class Negation(Number):
    """The opposite of a truth value of the model. Its `Not` is made where somebody needs it, once for each graph."""

    __slots__ = ("_made", "opposite")

    def __init__(self, opposite: TensorValue) -> None:
        self.opposite = opposite
        self.kind = "bool"
        self.is_natural = False
        self._made: list[TensorValue] = []

    @property
    def known(self) -> Known:
        return Known(TensorType(DType.BOOL, ()))

    @property
    def target(self) -> Target:
        return self.opposite.target

    @property
    def made(self) -> list[TensorValue]:
        """The values that were made of it, one for each graph that needed it."""
        return self._made

    @property
    def tensor(self) -> TensorValue:  # pyright: ignore[reportIncompatibleVariableOverride]  # made on demand
        graph = current_graph()
        for each in self._made:
            if graph.sees(each):
                return each
        self._made.append(graph.operators.Not(self.opposite))
        return self._made[-1]


def visible(value: Value) -> Value:
    """The value that says where another can be used: a negation can be wherever its opposite can."""
    return value.opposite if isinstance(value, Negation) else value


def is_truth_value(value: Held) -> bool:
    """True if a value is True or False, now or in the model."""
    if isinstance(value, Number):
        return value.kind == "bool"
    if isinstance(value, Value):
        return isinstance(value.known.type, TensorType) and value.known.type.dtype is DType.BOOL
    return isinstance(value, bool | np.bool_)
