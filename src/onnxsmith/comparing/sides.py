"""One of the two runs that are compared: an observed run, with a signature of every value in it."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import cast

import onnx_ir as ir

from onnxsmith.comparing.signatures import Signature, signature
from onnxsmith.graphs.elements import read_only
from onnxsmith.graphs.run_values import Array, RunValue
from onnxsmith.inspection import Node
from onnxsmith.observing import ObservedRun, Step


class Side(ObservedRun):
    """A run of a model on inputs. A value that was let go is computed again when it is asked for."""

    @functools.cached_property
    def signatures(self) -> dict[ir.Value, Signature]:
        """The facts that are kept of every value that can be looked at."""
        return {}

    @functools.cached_property
    def _by_node(self) -> dict[int, list[Step]]:
        found: dict[int, list[Step]] = {}
        for step in self.line.steps:
            found.setdefault(id(step.node), []).append(step)
        return found

    def closer(self, step: Step) -> Side:
        """The same run, in which the turns that a step has together are looked at more closely."""
        assert step.until is not None
        return Side(
            self.model,
            self._inputs,
            engine=self._engine,
            providers=self._providers,
            memory=self._memory,
            closer={step.node.address: range(step.turns[-1], step.until + 1)},
        )

    def look(self) -> None:
        """Run all of it once, and keep what the budget allows, and a signature of every value."""
        self.stream(list(self.by_value), self._note, left_out=lambda value: None)
        for value, held in self._given.items():
            self._note(value, held)

    def _note(self, value: ir.Value, held: RunValue) -> None:
        found = signature(held)
        if found is not None:
            self.signatures[value] = found

    def array(self, value: ir.Value) -> Array:
        """The elements of a value that has a signature; computed again where it was not kept."""
        if value in self._given:
            return cast(Array, self._given[value])
        if value in self.line.constants:
            return read_only(self.line.constants[value])
        if value not in self._values:
            position = self.order[value]
            near = list(self.by_value)[position : position + max(1, min(self._chunk, 16))]
            asked = [each for each in near if each in self.signatures]
            self._values.clear()
            self._values.update(zip(asked, self.computed(asked, {}), strict=True))
        return cast(Array, self._values[value])

    def note_constant(self, value: ir.Value) -> None:
        """Keep a signature of a weight, too."""
        if value not in self.signatures:
            self._note(value, read_only(self.line.constants[value]))

    def computed_after(
        self, wanted: Sequence[ir.Value], given: Mapping[ir.Value, RunValue]
    ) -> list[RunValue]:
        """Values of the run where some values are others, from what is held of values that do not depend on these."""
        changed = set(given)
        for step in self.line.steps:
            if any(self.line.actual(each) in changed for each in self.line.taken(step)):
                changed.update(step.run.outputs)
        held = {
            each: self._values[each] for each in self._handed if each in self._values and each not in changed
        }
        return self.computed(wanted, {**held, **given})

    def runs_of(self, node: Node) -> Sequence[Step]:
        """All steps that are runs of one node, or have some: a node in a loop or function has several."""
        found = list(self._by_node.get(id(node), ()))
        around = node.graph.owner
        while around is not None:  # turns that were not taken apart
            found += (step for step in self._by_node.get(id(around), ()) if step.until is not None)
            around = around.graph.owner
        return found
