"""Who takes what in a run: the steps around a value, found without going through all steps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import onnx_ir as ir

from onnxsmith.comparing.sides import Side
from onnxsmith.observing import Step

#: Operators that give what they take, in another form.
HANDING_ON = frozenset({"Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})


class Flow:
    """The values that the steps of a run take, and the steps that take each value."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self._readers: dict[ir.Value, list[int]] = defaultdict(list)
        for number, step in enumerate(side.line.steps):
            for each in dict.fromkeys(self.taken(step)):
                if each is not None:
                    self._readers[each].append(number)
        #: Steps that only hand a value on: what they take, and what they give.
        self.handed_on: list[tuple[ir.Value, ir.Value]] = [
            (side.line.actual(step.run.inputs[0]), step.run.outputs[0])
            for step in side.line.steps
            if step.run.op_type in HANDING_ON and not step.run.domain and step.run.inputs[0] is not None
        ]

    def taken(self, step: Step) -> list[ir.Value | None]:
        """The inputs of a step as what they are by now."""
        return [None if each is None else self.side.line.actual(each) for each in step.run.inputs]

    def readers(self, value: ir.Value) -> list[Step]:
        """The steps that take a value, in order."""
        return [self.side.line.steps[number] for number in self._readers.get(value, ())]

    def near(self, values: Iterable[ir.Value]) -> list[Step]:
        """The steps that take one of some values, or the same as what gives one of them, in order."""
        asked = dict.fromkeys(values)
        for value in list(asked):
            step = self.side.by_value.get(value)
            if step is not None:
                asked.update((each, None) for each in self.taken(step) if each is not None)
        numbers = {number for each in asked for number in self._readers.get(each, ())}
        return [self.side.line.steps[number] for number in sorted(numbers)]
