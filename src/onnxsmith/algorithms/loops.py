"""`Loop` with a Python function as its body, and operators that give several tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.operators import Tensor, TensorOperator, TensorOrArray, op
from onnxsmith.core.operator_protocols import AttributeValue
from onnxsmith.core.value import Array, Operand
from onnxsmith.types.dtypes import DType


def loop(
    count: values.Numeric | Array,
    state: Sequence[TensorOrArray],
    body: Callable[..., tuple[Tensor, ...]],
    collected: int = 0,
) -> tuple[Tensor, ...]:
    """The state after the last step, and behind it what was collected, along a new first dimension.

    `body(i, go_on, *state)` gives whether to go on, the next state, and as many tensors to collect as are `collected`.
    """
    bodies: dict[str, Any] = {"body": body}  # a function is an attribute only where it is called
    begun = values.cast(count, DType.INT64)
    return several(op.Loop, begun, np.array(True), *state, outputs=len(state) + collected, **bodies)


def repeat(
    begins: TensorOrArray, state: Sequence[TensorOrArray], body: Callable[..., tuple[Tensor, ...]]
) -> tuple[Tensor, ...]:
    """The state after the step that said to stop; as it is given where it does not begin.

    `body(i, go_on, *state)` gives whether to go on and the next state.
    """
    bodies: dict[str, Any] = {"body": body}  # a function is an attribute only where it is called
    return several(op.Loop, None, begins, *state, outputs=len(state), **bodies)


def several(
    operator: TensorOperator, /, *inputs: Operand | None, outputs: int, **attributes: AttributeValue
) -> tuple[Tensor, ...]:
    """The results of an operator that has several outputs, or as many as are asked for."""
    made = operator(*inputs, outputs=outputs, **attributes)
    return cast("tuple[Tensor, ...]", made) if isinstance(made, tuple) else (made,)
