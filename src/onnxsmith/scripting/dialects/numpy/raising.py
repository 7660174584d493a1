"""Errors that numpy code raises where only the model knows: the model fails with their text, and `jit` raises them.

A node that asks for an element which is not there stands in the model, in a branch that runs where the error is raised.
Its name holds the text.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.algorithms.operators import op
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.target import current_graph
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import TensorValue, Value
from onnxsmith.diagnostics import raised_at
from onnxsmith.graphs.raising_nodes import RAISED
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.scripting.source.definition_spans import located
from onnxsmith.scripting.staging.raised import RaisedError, Raises
from onnxsmith.types.dtypes import DType


def guarded(raises: Raises, outputs: Sequence[Value]) -> list[Value]:
    """The outputs of the model: the first fails where the function raises an error, and keeps its name."""
    which = raises.which
    if not isinstance(which, Number) or not outputs:
        return [*outputs]
    output = cast(Tensor, outputs[0])
    # One that comes twice is named as it would be without the check.
    others = [cast(Value, op.Identity(each)) if each is output else each for each in outputs[1:]]
    graph = current_graph()
    if graph.is_given(output):
        output = op.Identity(output)  # the name of an input is not handed on
    code = which.as_dtype(DType.INT64)
    is_right = op.Equal(code, np.array(0, np.int64))
    failing = _failing(code, raises.errors, 1, output)
    made: Any = _operators().If(is_right, then_branch=lambda: op.Identity(output), else_branch=failing)
    graph.hand_name_on(output, made, "unchecked")
    return [made, *others]


def _failing(
    code: TensorValue, errors: Sequence[RaisedError], position: int, output: Tensor
) -> Callable[[], TensorValue]:
    """A branch that fails with the text of the error of this number, and has the type of the output."""

    def fail() -> TensorValue:
        first, *rest = errors
        if not rest:
            return _fail(first, code, output)
        is_first = op.Equal(code, np.array(position, np.int64))
        made: Any = _operators().If(
            is_first,
            then_branch=lambda: _fail(first, code, output),
            else_branch=_failing(code, rest, position + 1, output),
        )
        return made

    return fail


def _fail(raised: RaisedError, code: TensorValue, output: Tensor) -> TensorValue:
    with located(raised.span):
        # Nobody runs a loop to work out constants: what does so would fail before the model runs. It computes
        # something, or it would be dissolved.
        index = _operators().Loop(np.array(1, np.int64), np.array(True), code, body=_far_away)
        beyond = op.Gather(np.zeros(1, np.int64), index)
        record: Any = cast(SymbolicTensor, beyond).record
        words = re.sub(r"[\x00-\x1f'|]+", " ", text_of(raised.error)).strip()
        record.producer.name = f"{RAISED}{words}|"
        # It has the shape of the output, so that the output keeps it whichever branch is taken.
        return op.Expand(op.Cast(beyond, to=cast(DType, output.dtype)), op.Shape(output))


def _far_away(_: Tensor, goes_on: Tensor, current: Tensor) -> tuple[Tensor, Tensor]:
    return goes_on, current + np.array(1 << 40, np.int64)


def _operators() -> Any:
    """Operators whose bodies are functions."""
    return current_graph().operators


def text_of(error: BaseException) -> str:
    """An error as Python shows it: its class and its text."""
    said = str(error)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def again(errors: Sequence[RaisedError], which: int) -> BaseException:
    """The error of a number, to be raised once more, with the place in the code that raises it."""
    found = errors[which - 1]
    return raised_at(copy.copy(found.error).with_traceback(None), found.span)
