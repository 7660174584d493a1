"""Values of the graph around a function that becomes a graph of its own: each that it reads becomes an input.

A function written in another one sees the variables of that. Whoever records it (a gradient, `checkpoint`) passes the
values that it has read, behind its arguments. Knows no graph: one says what it reaches, and makes its own inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

from onnxsmith.core.value import Value
from onnxsmith.graphs.records import ValueRecord


class Captures:
    """The values of a graph that one inside it has read, in the order in which it did."""

    def __init__(self, reaches: Callable[[Value], bool]) -> None:
        #: Tells if a value can be used in the graph around.
        self.reaches = reaches
        self._inputs: dict[ValueRecord, ValueRecord] = {}
        self.values: list[Value] = []

    def start(self) -> None:
        """Forget what an attempt that failed has read."""
        self._inputs.clear()
        self.values.clear()

    def taken(
        self, value: Value, record: ValueRecord, new_input: Callable[[], ValueRecord]
    ) -> ValueRecord | None:
        """The input of the inner graph that stands for a value; None if the graph around has none such."""
        found = self._inputs.get(record)
        if found is None and self.reaches(value):
            found = self._inputs[record] = new_input()
            self.values.append(value)
        return found


#: The captures of the next function that is traced; None where it may read nothing from around it.
AROUND: ContextVar[Captures | None] = ContextVar("onnxsmith_around", default=None)
