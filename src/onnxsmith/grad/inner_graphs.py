"""Graphs of the given model that can be recorded again, wherever what they read is seen: branches, bodies, functions.

Holds what rules are given of a node with graphs inside. Who records nodes is `replaying`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import onnx_ir as ir

from onnxsmith.core.call import call
from onnxsmith.core.operator import Operator
from onnxsmith.core.value import Value
from onnxsmith.grad.frames import Frame, is_graph
from onnxsmith.grad.operators import values
from onnxsmith.grad.steps import Step


class Recorder(Protocol):
    """What records nodes of the given model: `replaying.Replay`."""

    steps: list[Step]
    is_backward: bool

    @property
    def has_bits(self) -> bool:
        """Whether a value is known to be the bits of numbers."""
        ...

    def is_active(self, value: Value | None) -> bool:
        """Whether a value depends on what the gradient is taken with respect to."""
        ...

    def inside(self, active: Iterable[Value], *, is_backward: bool) -> Recorder:
        """Another one of the same model, for a graph inside it: with steps of its own."""
        ...

    def graph(self, graph: ir.Graph, frame: Frame) -> list[Value]:
        """Record the nodes of a graph; returns its outputs."""
        ...


@dataclass(slots=True, eq=False)
class InnerGraph:
    """The graph of a branch or a loop's body, which can be recorded again wherever what it reads is seen."""

    replay: Recorder
    frame: Frame
    graph: ir.Graph
    captures: tuple[Value, ...]

    def record(self, arguments: Sequence[Value]) -> list[Value]:
        """Its outputs for these inputs, in the graph that is being recorded now."""
        return self._outputs(self.replay.inside((), is_backward=self.replay.is_backward), arguments)

    def steps(self, arguments: Sequence[Value], active: Iterable[Value]) -> tuple[list[Value], list[Step]]:
        """Its outputs, and the steps to them from what is active: for the way back."""
        replay = self.replay.inside(active, is_backward=True)
        return self._outputs(replay, arguments), replay.steps

    def _outputs(self, replay: Recorder, arguments: Sequence[Value]) -> list[Value]:
        inner = Frame({}, self.frame, self.frame.attributes, self.frame.called)
        inner.values.update(zip(self.graph.inputs, arguments, strict=True))
        return replay.graph(self.graph, inner)

    def as_function(self) -> Callable[..., Sequence[Value]]:
        """It as a function of its inputs, as operators take bodies."""

        def body(*arguments: Value) -> Sequence[Value]:
            return self.record(arguments)

        return self.named(body)

    def named(self, function: Callable[..., Sequence[Value]]) -> Callable[..., Sequence[Value]]:
        """A function whose parameters are called as the graph's inputs."""
        function.__dict__["parameter_names"] = [each.name or "" for each in self.graph.inputs]
        return function


@dataclass(frozen=True, slots=True)
class Marked:
    """A function that says how it is differentiated: its body, and its backward function where it has one."""

    body: InnerGraph
    backward: InnerGraph | None


@dataclass(slots=True, eq=False)
class ControlFlow:
    """A node with graphs inside: what it is called with, and what a rule keeps of it for the way back."""

    operator: Operator
    inputs: tuple[Value | None, ...]
    captures: tuple[Value, ...]
    attributes: Mapping[str, object]
    graphs: Mapping[str, InnerGraph]
    output_count: int
    #: What was kept at each turn, by the rule that kept it.
    tape: tuple[Value | None, ...] = ()

    def record(self) -> tuple[Value, ...]:
        """Its outputs, with nothing kept."""
        bodies = {name: each.as_function() for name, each in self.graphs.items()}
        return self.call(self.inputs, self.attributes, bodies, self.output_count)

    def call(
        self,
        inputs: Sequence[Value | None],
        attributes: Mapping[str, object],
        bodies: Mapping[str, Callable[..., object]],
        output_count: int,
    ) -> tuple[Value, ...]:
        """A call of the operator."""
        keywords: dict[str, object] = {**attributes, **bodies, "outputs": output_count}
        return values(call(self.operator, tuple(inputs), keywords))


def captured(graph: ir.Graph) -> list[ir.Value]:
    """The values of graphs around it that a graph reads, each once."""
    own: set[ir.Value] = set()
    found: dict[ir.Value, None] = {}

    def look(inner: ir.Graph) -> None:
        own.update(inner.inputs)
        own.update(inner.initializers.values())
        for node in inner:
            found.update((each, None) for each in node.inputs if each is not None and each not in own)
            for attribute in node.attributes.values():
                if is_graph(attribute) and not attribute.is_ref():
                    look(attribute.as_graph())
            own.update(node.outputs)
        found.update((each, None) for each in inner.outputs if each not in own)

    look(graph)
    return list(found)
