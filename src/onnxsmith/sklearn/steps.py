"""The values of a graph that a step of a pipeline takes and gives, for taking the step out of the model again."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import cast

from onnxsmith.context import setting
from onnxsmith.core.target import RecordingTarget, current_graph
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.sklearn.values import Columns, Fitted, Given, Result, Structured, tensors_in


@dataclass(slots=True)
class StepValues:
    """The inputs of a step, and the results of each of its methods: tensors of the graph."""

    estimator: Fitted
    given: Sequence[SymbolicTensor]
    #: The names of columns, where it takes those of a frame.
    columns: Sequence[str] | None
    made: dict[str, SymbolicTensor] = field(default_factory=dict[str, SymbolicTensor])


class _Noted:
    def __init__(self, graph: RecordingTarget) -> None:
        self.graph = graph
        #: By the id of the estimator, which the entry keeps.
        self.steps: dict[int, StepValues] = {}


_noting: ContextVar[_Noted | None] = ContextVar("the steps that were noted", default=None)


@contextlib.contextmanager
def noting_steps() -> Generator[dict[int, StepValues]]:
    """Notes the inputs and results of the steps that are called inside, if they stand in the graph made here."""
    noted = _Noted(current_graph())
    with setting(_noting, noted):
        yield noted.steps


def note_step(estimator: Fitted, method: str, given: Given, made: Result) -> None:
    """Note a call of a step; not one inside a function, nor one whose values are no plain tensors."""
    noted = _noting.get()
    if noted is None or noted.graph is not current_graph():
        return
    if isinstance(given, Structured) or isinstance(made, Structured | Columns | tuple):
        return
    tensors = cast("list[SymbolicTensor]", tensors_in(given))
    (result,) = cast("list[SymbolicTensor]", tensors_in(made))
    names = list(given) if isinstance(given, Columns) else None
    entry = noted.steps.setdefault(id(estimator), StepValues(estimator, tensors, names))
    if [each.record for each in entry.given] != [each.record for each in tensors]:
        noted.steps.pop(id(estimator))  # it is called on other rows, too: no part of the model is the step
    elif all(result.record is not each.record for each in tensors):
        entry.made[method] = result
