"""Graphs of the given model that can be recorded again, wherever what they read is seen: branches, bodies, functions.

Holds what rules are given of a node with graphs inside. Who records nodes is `replaying`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import onnx_ir as ir

from onnxsmith.core.call import call
from onnxsmith.core.operator import Operator
from onnxsmith.core.target import current_graph
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.grad.draws import Key, at_turn
from onnxsmith.grad.frames import Frame
from onnxsmith.grad.operators import op, values
from onnxsmith.grad.steps import Step, content_of, shape_of
from onnxsmith.graphs.value import made_value
from onnxsmith.types.value_types import AnyValueType, TensorType


class Recorder(Protocol):
    """Records nodes of the given model; see `replaying.Replay`."""

    steps: list[Step]
    is_backward: bool

    @property
    def has_bits(self) -> bool:
        """True if a value is known to be the bits of numbers."""
        ...

    def is_active(self, value: Value | None) -> bool:
        """True if a value depends on what the gradient is taken with respect to."""
        ...

    def inside(
        self, active: Iterable[Value], *, is_backward: bool, holding: Holding | None = None
    ) -> Recorder:
        """Another one of the same model, for a graph inside it: with steps of its own."""
        ...

    @property
    def keeps_nested(self) -> bool:
        """True if loops inside loops keep their states on the way forward."""
        ...

    def graph(self, graph: ir.Graph, frame: Frame) -> list[Value]:
        """Record the nodes of a graph; returns its outputs."""
        ...


@dataclass(frozen=True, slots=True)
class Held:
    """The results and kept values of a loop inside a body, at one turn of the body or of all of them."""

    outputs: tuple[Value, ...]
    tape: tuple[Value | None, ...]
    inside: tuple[Held | None, ...]
    #: What is known of each value at one turn.
    types: tuple[AnyValueType, ...]
    #: Whether the loop has as many turns each time.
    has_fixed_trips: bool = False

    @staticmethod
    def of(outputs: tuple[Value, ...], control: ControlFlow) -> Held | None:
        """The values to keep of a recorded loop; None where a part is a sequence, which no other sequence can hold."""
        made = Held(outputs, control.tape, control.held, ())
        if not all(isinstance(each, Tensor) for each in made.values):
            return None
        types = tuple([without_names(each.known.type) for each in made.values])
        return replace(made, types=types, has_fixed_trips=_has_fixed_trips(control))

    @property
    def values(self) -> list[Value]:
        """All of them."""
        inner = [value for each in self.inside if each is not None for value in each.values]
        return [*self.outputs, *(each for each in self.tape if each is not None), *inner]

    def are_of_one_shape(self) -> list[bool]:
        """True for each value that certainly has the same shape at each turn."""
        skipped = int(self.has_fixed_trips)
        states = len(self.tape) - 1
        own = [
            *(_is_known(each) for each in self.outputs[:states]),
            *(_is_known(each, skipped) for each in self.outputs[states:]),
            *(_is_known(each, skipped) for each in self.tape if each is not None),
        ]
        return [*own, *(_is_known(each) for each in self.values[len(own) :])]

    def made_of(self, values: Iterator[Value]) -> Held:
        """The same of other values."""
        outputs = tuple([next(values) for _ in self.outputs])
        tape = tuple([None if each is None else next(values) for each in self.tape])
        inside = tuple([None if each is None else each.made_of(values) for each in self.inside])
        return replace(self, outputs=outputs, tape=tape, inside=inside)

    def at(self, pick: Callable[[Value], Value]) -> Held:
        """The values at one turn of stacks of all turns."""
        pairs = zip(self.values, self.types, strict=True)
        return self.made_of(iter([typed(pick(stack), kind) for stack, kind in pairs]))


@dataclass(slots=True, eq=False)
class Holding:
    """The kept values of loops directly inside a body, in their order, while it is recorded or after."""

    kept: list[Held | None] = field(default_factory=list["Held | None"])
    #: Whether the loops are not recorded, as all that they give is there.
    is_given: bool = False
    _next: int = 0

    def taken(self) -> Held | None:
        """The kept values of the next loop."""
        self._next += 1
        return self.kept[self._next - 1] if self.is_given else None


def _is_known(value: Value, skipped: int = 0) -> bool:
    """True if all sizes of a value are known or have names, but for some at the front."""
    shape = shape_of(value)
    return shape is not None and all(each is not None for each in shape[skipped:])


def _has_fixed_trips(control: ControlFlow) -> bool:
    """True if a loop in a body has the same number of turns each time: counted outside, and nothing ends it."""
    body = control.graphs["body"].graph
    if control.operator.definition.name != "Loop":
        return False
    trips, condition = control.inputs[:2]
    is_counted_outside = trips is not None and made_value(trips).scope is not current_graph()
    is_begun = condition is None or bool(content_of(condition))
    ends = body.outputs[0]
    node = ends.producer()
    source = node.inputs[0] if node is not None and node.op_type == "Identity" else ends
    known = None if source is None else source.const_value
    goes_on = source is body.inputs[1] or (known is not None and bool(known.numpy()))
    return is_counted_outside and is_begun and goes_on


def typed(value: Value, kind: AnyValueType) -> Value:
    """A value with its type. Of a tensor in a sequence nothing is known, and functions declare nothing: it says so."""
    known = value.known.type
    if isinstance(known, TensorType) and known.shape is None and isinstance(kind, TensorType) and kind.shape:
        value = op.Reshape(value, op.Reshape(op.Shape(value), np.array([len(kind.shape)])), allowzero=1)
    return current_graph().refined(value, kind)


def without_names(kind: AnyValueType) -> AnyValueType:
    """A type for another graph, where sizes have other names."""
    if not isinstance(kind, TensorType) or kind.shape is None:
        return kind
    return TensorType(kind.dtype, tuple([each if isinstance(each, int) else None for each in kind.shape]))


@dataclass(slots=True, eq=False)
class InnerGraph:
    """The graph of a branch or a loop's body, which can be recorded again wherever what it reads is seen."""

    replay: Recorder
    frame: Frame
    graph: ir.Graph
    captures: tuple[Value, ...]
    #: The key that its random numbers are made of, and whether its first input counts iterations.
    key: Key | None = None
    is_counted: bool = False

    def record(self, arguments: Sequence[Value]) -> list[Value]:
        """Its outputs for these inputs, in the graph that is being recorded now."""
        return self._outputs(self.replay.inside((), is_backward=self.replay.is_backward), arguments)

    def record_held(
        self, arguments: Sequence[Value], active: Iterable[Value]
    ) -> tuple[list[Value], list[Held | None]]:
        """Its outputs, and what loops right inside it keep, where they are asked to."""
        if not self.replay.keeps_nested:
            return self.record(arguments), []
        holding = Holding()
        replay = self.replay.inside(active, is_backward=self.replay.is_backward, holding=holding)
        return self._outputs(replay, arguments), holding.kept

    def steps(
        self, arguments: Sequence[Value], active: Iterable[Value], held: Sequence[Held | None] | None = None
    ) -> tuple[list[Value], list[Step]]:
        """Its outputs, and the steps to them from what is active: for the way back."""
        holding = Holding(list(held), is_given=True) if held else None
        replay = self.replay.inside(active, is_backward=True, holding=holding)
        return self._outputs(replay, arguments), replay.steps

    def _outputs(self, replay: Recorder, arguments: Sequence[Value]) -> list[Value]:
        key = self.key
        if key is not None and self.is_counted:
            key = at_turn(key, arguments[0])
        inner = Frame({}, self.frame, self.frame.attributes, self.frame.called, key=key)
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
    #: What was kept at each turn, by the rule that kept it; and what loops inside have kept.
    tape: tuple[Value | None, ...] = ()
    held: tuple[Held | None, ...] = ()
    #: What is known of each state of a loop at any turn.
    state_types: tuple[AnyValueType, ...] = ()

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
