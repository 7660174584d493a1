"""Numbers that a `Loop` or `Scan` starts from: they take the element type that the body gives that state.

The same as a number that a Python loop carries: `0` before a loop that adds floats to it is a float. Holds the place of
such a literal until the body has been asked; a body that does not say leaves Python's own choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.core import portable
from onnxsmith.core.target import Target
from onnxsmith.core.value import TensorValue
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.inference.known import Known
from onnxsmith.schema.promote import given_array, input_place, is_literal, natural_dtype
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType


class OpenState:
    """A literal whose element type a body decides: an input of a call that is not lifted yet."""

    __slots__ = ("known", "like", "natural", "op", "position", "value")

    def __init__(self, op: OperatorDef, position: int, value: Any) -> None:
        self.op = op
        self.position = position
        #: A Python number, which numpy's arithmetic leaves the type to what it meets.
        self.value: bool | int | float | complex = value.item() if isinstance(value, np.generic) else value
        #: Its element type where the body does not say which.
        self.natural = natural_dtype([value])
        #: The input whose element type the body gives this state, where that is not known yet.
        self.like: TensorValue | None = None
        #: What a body may know of it before that is settled.
        self.known = Known(TensorType(None, ()))

    def array(self, dtype: DType) -> np.ndarray[Any, Any]:
        """The literal with an element type; refused as in every other input where it does not fit."""
        return given_array(self.value, dtype, input_place(self.op, self.position))


def with_open_states(op: OperatorDef, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> Sequence[Any]:
    """The inputs of a call, with the literals among its initial states held open where its body is a function."""
    first, _ = _layout(op)
    if first is None or not callable(attributes.get("body")):
        return inputs
    end = len(inputs) - _scanned(op, attributes)
    return [
        OpenState(op, position, value) if first <= position < end and _is_number(value) else value
        for position, value in enumerate(inputs)
    ]


def _is_number(value: Any) -> bool:
    return is_literal(value) and not isinstance(value, list | tuple | str | bytes)


_NO_STATES: tuple[int | None, int] = (None, 0)
_LAYOUTS: dict[str, tuple[int | None, int]] = {"Loop": (2, 1), "Scan": (0, 0)}


def _layout(op: OperatorDef) -> tuple[int | None, int]:
    """The position of the first state among the inputs and among the outputs of the body."""
    if op.domain != "" or (op.name == "Scan" and op.since_version < 9):
        return _NO_STATES
    return _LAYOUTS.get(op.name, _NO_STATES)


def _scanned(op: OperatorDef, attributes: Mapping[str, Any]) -> int:
    """How many inputs come after the states: those that a Scan goes over."""
    count = attributes.get("num_scan_inputs") if op.name == "Scan" else 0
    return count if isinstance(count, int) else 0


def settled(op: OperatorDef, inputs: Sequence[Any], body: Any, target: Target) -> list[Any]:
    """The inputs, with every literal that was held open as the body has it."""
    first, hidden = _layout(op)
    outputs = cast("Sequence[Known]", getattr(body, "outputs", ()))
    result: list[Any] = []
    for position, value in enumerate(inputs):
        if isinstance(value, OpenState):
            place = position - (first or 0) + hidden
            kind = outputs[place].type if place < len(outputs) else None
            dtype = kind.dtype if isinstance(kind, TensorType) else None
            if dtype is None and value.like is not None:
                # Python's floats are doubles: rounding them when the type is known gives what an eager run gives.
                constant = target.constant(np.asarray(value.value))
                value = portable.cast_like(target.operators, constant, value.like)
            else:
                value = target.constant(value.array(dtype or value.natural))
        result.append(value)
    return result
