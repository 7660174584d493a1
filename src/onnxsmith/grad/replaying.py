"""A model recorded again, node by node, through the call pipeline: the forward half of a gradient.

So every value is a symbolic tensor with what inference knows of it, on which rules call operators. Functions of the
model are dissolved, and so are operators that have no rule and that ONNX defines by others. What is kept of each call
is a `Step`; going back over the steps is `reverse`'s.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import onnx_ir as ir

from onnxsmith.algorithms.named import algorithm_of
from onnxsmith.core.call import call, has_open_outputs
from onnxsmith.core.operator import Operator
from onnxsmith.core.target import current_graph
from onnxsmith.core.value import Value
from onnxsmith.errors import NotDifferentiableError, OnnxsmithError
from onnxsmith.grad.definitions import defining_graph
from onnxsmith.grad.operators import values
from onnxsmith.grad.steps import Step
from onnxsmith.grad.table import BITS, rule_of
from onnxsmith.grad.target import DOMAIN, GradientTarget
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.graphs.origins import SOURCE_KEY
from onnxsmith.graphs.records import ValueRecord, tensor_inside
from onnxsmith.graphs.value import SymbolicTensor, made_value
from onnxsmith.graphs.weights import Weight
from onnxsmith.schema import registry
from onnxsmith.schema.bind import layout
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.types.value_types import TensorType

#: Attributes of `Constant` that are no tensor, and the element types of what they give.
_PLAIN_CONSTANTS = {
    "value_float": np.float32,
    "value_floats": np.float32,
    "value_int": np.int64,
    "value_ints": np.int64,
}


@dataclass(slots=True, eq=False)
class Frame:
    """What the names of one graph stand for: those of a function's body begin anew, a branch sees those around it."""

    values: dict[ir.Value, Value] = field(default_factory=dict[ir.Value, Value])
    #: What the graph around it knows, for the body of a branch or loop.
    around: Frame | None = None
    #: The attributes that a function is called with.
    attributes: Mapping[str, ir.Attr] = field(default_factory=dict[str, ir.Attr])
    #: The node of the given model whose function or definition this is the body of.
    called: ir.Node | None = None
    #: Whether names of values and nodes are the model's own; what is dissolved gets new ones.
    is_named: bool = False

    def find(self, value: ir.Value) -> Value | None:
        """What a value is, here or in a graph around."""
        here: Frame | None = self
        while here is not None:
            found = here.values.get(value)
            if found is not None:
                return found
            here = here.around
        return None


#: Operators that move elements and leave them as they are.
_MOVING = frozenset(
    [
        *("Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Expand", "Tile", "Pad", "Trilu"),
        *("Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND", "Slice", "Compress"),
        *("Concat", "Split", "DepthToSpace", "SpaceToDepth", "ReverseSequence"),
    ]
)


class Replay:
    """Records the nodes of a model in a target, and the steps that it consists of."""

    def __init__(self, model: ir.Model, *, is_backward: bool = False) -> None:
        #: Whether what is recorded is a part of a gradient already.
        self.is_backward = is_backward
        self.steps: list[Step] = []
        #: The values that depend on what the gradient is taken with respect to.
        self.active: set[ValueRecord] = set()
        #: The whole numbers that are the bits of such values.
        self.bits: set[ValueRecord] = set()
        #: Those that were moved, which no rule follows.
        self._moved: set[ValueRecord] = set()
        #: Inputs that are made where they are first read: by what is recorded until then.
        self.late: dict[ir.Value, Callable[[], Value]] = {}
        self._functions = model.functions
        self._imports = model.opset_imports
        self._operators: dict[tuple[str, str], tuple[Operator, Mapping[str, str]]] = {}
        self._constants: dict[ir.Value, Weight] = {}

    def inside(self, active: Iterable[Value], *, is_backward: bool) -> Replay:
        """Another one of the same model, for a graph inside it: with steps of its own."""
        made = copy.copy(self)
        made.is_backward = is_backward
        made.steps = []
        made.bits = set()
        made._moved = set()
        made.active = {made_value(each).record for each in active}
        return made

    @property
    def target(self) -> GradientTarget:
        """The graph that is being recorded."""
        found = current_graph()
        assert isinstance(found, GradientTarget)  # who records steps has made it one
        return found

    def is_active(self, value: Value | None) -> bool:
        """Whether a value depends on what the gradient is taken with respect to."""
        return value is not None and made_value(value).record in self.active

    # -- values ----------------------------------------------------------------------------------------

    def of(self, value: ir.Value, frame: Frame) -> Value:
        """What a value of the given model is in the graph that is recorded."""
        found = frame.find(value)
        if found is None and value in self.late:
            found = frame.values[value] = self.late[value]()
            self.active.add(made_value(found).record)
        elif found is None:
            tensor = value.const_value
            assert tensor is not None, "nodes are in order, so what is not made yet is a weight"
            found = frame.values[value] = self.weight(value, tensor)
        return found

    def weight(self, value: ir.Value, tensor: ir.TensorProtocol) -> SymbolicTensor:
        """An initializer, which refers to the given model's tensor."""
        held = self._constants.get(value)
        if held is None:
            held = self._constants[value] = Weight(value.name or "weight", tensor)
        return self.target.root.stored(held)

    # -- nodes -----------------------------------------------------------------------------------------

    def graph(self, graph: ir.Graph, frame: Frame) -> list[Value]:
        """Record the nodes of a graph; returns its outputs."""
        for node in graph:
            self.node(node, frame)
        return [self.of(each, frame) for each in graph.outputs]

    def node(self, node: ir.Node, frame: Frame) -> None:
        """Record a node."""
        function = self._functions.get(node.op_identifier()) if self._functions else None
        if function is not None:
            if function.domain == DOMAIN:
                self._marked(node, function, frame)
            elif not self._named_algorithm(node, function, frame):
                self._dissolve(node, function, frame)
            return
        if node.op_type == "Constant" and not node.domain and self._constant(node, frame):
            return
        inputs = tuple([None if each is None else self.of(each, frame) for each in node.inputs])
        operator, _ = self._operator(node)
        definition = operator.definition
        is_on_bits = bool(self.bits) and self._is_on_bits(node, inputs)
        carriers = self.bits if is_on_bits else self.active
        active = tuple([each is not None and made_value(each).record in carriers for each in inputs])
        if _has_graphs(node):
            self._control(node, operator, inputs, frame)
            return
        rule = rule_of(node.domain, node.op_type)
        attributes = {name: _resolved(each, frame) for name, each in node.attributes.items()}
        if rule is None and any(active) and self._define(node, definition, inputs, attributes, frame):
            return
        self._call(node, operator, inputs, attributes, active, frame, is_on_bits=is_on_bits)

    def _is_on_bits(self, node: ir.Node, inputs: Sequence[Value | None]) -> bool:
        is_given = any(each is not None and made_value(each).record in self.bits for each in inputs)
        return is_given and not node.domain and rule_of(BITS, node.op_type) is not None

    def _call(
        self,
        node: ir.Node,
        operator: Operator,
        inputs: tuple[Value | None, ...],
        attributes: Mapping[str, ir.Attr | None],
        active: tuple[bool, ...],
        frame: Frame,
        *,
        is_on_bits: bool,
    ) -> None:
        origin = node if frame.called is None or SOURCE_KEY in node.metadata_props else frame.called
        self.target.origin.set(origin, is_backward=self.is_backward)
        definition = operator.definition
        given = {name: content_of_attribute(each) for name, each in attributes.items() if each is not None}
        spelled = self._operator(node)[1]
        keywords = {spelled.get(name, name): each for name, each in given.items()}
        if not definition.is_known or has_open_outputs(definition):
            rule = rule_of(node.domain, node.op_type) if any(active) else None
            keywords["outputs"] = max(len(node.outputs), 1 if rule is None else rule.outputs)
        before = len(self.target.nodes)
        try:
            made = call(operator, inputs, keywords)
        except OnnxsmithError as error:
            if "node '" not in error.message:
                named = f"node '{node.name}'" if node.name else "a node"
                error.message = f"{named} ({node.op_type}) of the model: {error.message}"
            raise
        outputs = self._named(node, values(made), before, frame)
        if self.bits and not node.domain:
            self._follow_moved(node.op_type, inputs, outputs)
        if any(active):
            self.steps.append(Step(origin, definition, inputs, outputs, given, active, is_on_bits=is_on_bits))
            self.active.update(made_value(each).record for each in outputs if is_real(each))
            if (is_on_bits or node.op_type == "BitCast") and not is_real(outputs[0]):
                self.bits.add(made_value(outputs[0]).record)

    def _follow_moved(self, name: str, inputs: Sequence[Value | None], outputs: Sequence[Value]) -> None:
        """Refuse bits that are read as numbers again after they were moved: their gradient would be lost."""
        given = {made_value(each).record for each in inputs if each is not None}
        if name in _MOVING and not given.isdisjoint(self.bits | self._moved):
            self._moved.update(made_value(each).record for each in outputs)
        if name == "BitCast" and not given.isdisjoint(self._moved):
            raise NotDifferentiableError(
                "bits of numbers are moved and read as numbers again, and no rule follows them",
                help="move the numbers, not their bits, or end the gradient there with stop_gradient(x)",
            )

    def _named(
        self, node: ir.Node, outputs: tuple[Value, ...], before: int, frame: Frame
    ) -> tuple[Value, ...]:
        """Enter the outputs of a node, with the model's names and with types where inference knows less."""
        nodes, names = self.target.nodes, self.target.program
        if frame.is_named and node.name and len(nodes) == before + 1:
            names.node_names.release(nodes[-1].name)
            nodes[-1].name = node.name
        entered: list[Value] = []
        for value, made in zip(node.outputs, outputs, strict=False):
            made = self._completed(value, made)
            record = made_value(made).record
            if frame.is_named and value.name:
                names.names.release(record.name)
                record.name = value.name
            frame.values[value] = made
            entered.append(made)
        return (*entered, *outputs[len(entered) :])

    def _completed(self, value: ir.Value, made: Value) -> Value:
        """A result with the type that the model declares, where inference does not find one."""
        known = made.known.type
        if not isinstance(known, TensorType) or (known.dtype is not None and known.shape is not None):
            return made
        declared = type_from_ir(value.type, value.shape)
        if not isinstance(declared, TensorType) or declared.dtype is None:
            return made
        return self.target.refined(
            made, TensorType(known.dtype or declared.dtype, known.shape or declared.shape)
        )

    def _operator(self, node: ir.Node) -> tuple[Operator, Mapping[str, str]]:
        """The operator that a node calls, and how Python spells its attributes where that is another way."""
        key = node.domain, node.op_type
        found = self._operators.get(key)
        if found is None:
            version = self._imports.get(node.domain, 1)
            definition = registry.find(*key, version) or registry.unchecked(*key, version)
            spelled = {each.name: name for name, each in layout(definition).attribute_names.items()}
            found = self._operators[key] = Operator(definition, version), spelled
        return found

    # -- what is no call -------------------------------------------------------------------------------

    def _constant(self, node: ir.Node, frame: Frame) -> bool:
        """Make a constant an initializer; returns whether it is one."""
        output = node.outputs[0]
        for name, attribute in node.attributes.items():
            resolved = _resolved(attribute, frame)
            content: object = None if resolved is None else resolved.value
            if name == "value" and content is not None:
                frame.values[output] = self.weight(output, cast("ir.TensorProtocol", content))
                return True
            if name in _PLAIN_CONSTANTS and content is not None:
                frame.values[output] = self.target.constant(
                    np.array(cast(Any, content), _PLAIN_CONSTANTS[name])
                )
                return True
        return False

    def _dissolve(self, node: ir.Node, function: ir.Function, frame: Frame) -> None:
        """Record the nodes of a function in the place of a call."""
        attributes = {name: each for name, each in function.attributes.items() if each.value is not None}
        given = {name: _resolved(each, frame) for name, each in node.attributes.items()}
        attributes.update({name: each for name, each in given.items() if each is not None})
        inner = Frame(attributes=attributes, called=frame.called or node)
        for formal, actual in zip(function.inputs, node.inputs, strict=False):
            if actual is not None:
                inner.values[formal] = self.of(actual, frame)
        self._inside(node, function.graph, inner, frame)

    def _marked(self, node: ir.Node, function: ir.Function, frame: Frame) -> None:
        """Record a function that says how it is differentiated: its nodes are no steps, the call is one."""
        inputs = tuple([None if each is None else self.of(each, frame) for each in node.inputs])
        kind = function.name.partition("__")[0]
        body = InnerGraph(self, Frame(called=frame.called or node), function.graph, ())
        outputs = body.record([each for each in inputs if each is not None])
        frame.values.update(zip(node.outputs, outputs, strict=False))
        active = tuple([each is not None and self.is_active(each) for each in inputs])
        if kind == "stop_gradient" or not any(active):
            return
        backward = self._functions.get((DOMAIN, f"backward_of_{function.name}", ""))
        back = None if backward is None else InnerGraph(self, body.frame, backward.graph, ())
        definition = registry.unchecked(DOMAIN, kind, 1)
        made = tuple(outputs)
        self.steps.append(Step(node, definition, inputs, made, {}, active, Marked(body, back)))
        self.active.update(made_value(each).record for each in made if is_real(each))

    def _named_algorithm(self, node: ir.Node, function: ir.Function, frame: Frame) -> bool:
        """Record a function that has a rule by its name: its nodes are no steps. Returns whether it has one."""
        name = algorithm_of(function.domain, function.name)
        if name is None or (rule_of(function.domain, name) is None):
            return False
        inputs = tuple([None if each is None else self.of(each, frame) for each in node.inputs])
        active = tuple([each is not None and self.is_active(each) for each in inputs])
        if not any(active) or any((each.name or "").endswith("_im") for each in function.inputs):
            return False  # rules are for real numbers; complex ones go through the body
        body = InnerGraph(self, Frame(called=frame.called or node), function.graph, ())
        outputs = tuple(body.record([each for each in inputs if each is not None]))
        frame.values.update(zip(node.outputs, outputs, strict=False))
        definition = registry.unchecked(function.domain, name, 1)
        self.steps.append(Step(frame.called or node, definition, inputs, outputs, {}, active))
        self.active.update(made_value(each).record for each in outputs if is_real(each))
        return True

    def _define(
        self,
        node: ir.Node,
        definition: OperatorDef,
        inputs: Sequence[Value | None],
        attributes: Mapping[str, ir.Attr | None],
        frame: Frame,
    ) -> bool:
        """Record what ONNX defines an operator by in the place of a call; returns whether it does."""
        if not definition.is_known or node.domain:
            return False
        types = [None if each is None else each.known.type for each in inputs]
        given = [each for each in attributes.values() if each is not None]
        graph = defining_graph(node, given, types, self._imports.get("", 1))
        if graph is None:
            return False
        inner = Frame(called=frame.called or node)
        present = [each for each in inputs if each is not None]
        for formal, actual in zip(graph.inputs, present, strict=True):
            inner.values[formal] = actual
        self._inside(node, graph, inner, frame)
        return True

    def _inside(self, node: ir.Node, graph: ir.Graph, inner: Frame, frame: Frame) -> None:
        for each in graph:
            self.node(each, inner)
        for formal, actual in zip(graph.outputs, node.outputs, strict=False):
            frame.values[actual] = self.of(formal, inner)

    # -- graphs inside nodes ---------------------------------------------------------------------------

    def _control(
        self, node: ir.Node, operator: Operator, inputs: tuple[Value | None, ...], frame: Frame
    ) -> None:
        """Record a node with graphs inside; what they read from outside counts as inputs of the step."""
        self.target.origin.set(frame.called or node, is_backward=self.is_backward)
        resolved = {name: _resolved(each, frame) for name, each in node.attributes.items()}
        graphs = {name: each.as_graph() for name, each in resolved.items() if each and _is_graph(each)}
        plain = {
            name: content_of_attribute(each)
            for name, each in resolved.items()
            if each and not _is_graph(each)
        }
        outside = list(dict.fromkeys(value for graph in graphs.values() for value in captured(graph)))
        captures = tuple(self.of(each, frame) for each in outside)
        inner = {name: InnerGraph(self, frame, each, captures) for name, each in graphs.items()}
        read = (*inputs, *captures)
        active = tuple([each is not None and self.is_active(each) for each in read])
        rule = rule_of(node.domain, node.op_type) if any(active) else None
        call_of = ControlFlow(operator, inputs, captures, plain, inner, len(node.outputs))
        before = len(self.target.nodes)
        if rule is not None and rule.forward is not None:
            outputs = self._named(node, rule.forward(call_of), before, frame)
        else:
            outputs = self._named(node, call_of.record(), before, frame)
        if any(active):
            step = Step(frame.called or node, operator.definition, read, outputs, plain, active, call_of)
            self.steps.append(step)
            self.active.update(made_value(each).record for each in outputs if is_real(each))


@dataclass(slots=True, eq=False)
class InnerGraph:
    """The graph of a branch or a loop's body, which can be recorded again wherever what it reads is seen."""

    replay: Replay
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

    def _outputs(self, replay: Replay, arguments: Sequence[Value]) -> list[Value]:
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
                if _is_graph(attribute) and not attribute.is_ref():
                    look(attribute.as_graph())
            own.update(node.outputs)
        found.update((each, None) for each in inner.outputs if each not in own)

    look(graph)
    return list(found)


def _is_graph(attribute: ir.Attr) -> bool:
    return attribute.type == ir.AttributeType.GRAPH


def _has_graphs(node: ir.Node) -> bool:
    return any(_is_graph(each) for each in node.attributes.values())


def content_of_attribute(attribute: ir.Attr) -> object:
    """The value of an attribute as the call pipeline takes it."""
    value: Any = attribute.value
    match attribute.type:
        case ir.AttributeType.TENSOR:
            return Weight(attribute.name, value)
        case ir.AttributeType.INTS | ir.AttributeType.FLOATS | ir.AttributeType.STRINGS:
            return tuple(value)
        case ir.AttributeType.TYPE_PROTO:
            return type_from_ir(value.type, value.shape)
        case _:
            return value


def _resolved(attribute: ir.Attr, frame: Frame) -> ir.Attr | None:
    """An attribute with its value: one that refers to an attribute of the function has what the call gives."""
    if not attribute.is_ref():
        return attribute
    given = frame.attributes.get(attribute.ref_attr_name or "")
    return None if given is None else ir.Attr(attribute.name, given.type, given.value)


def is_real(value: Value) -> bool:
    """Whether a value holds numbers that have derivatives."""
    kind = tensor_inside(value.known.type)
    return kind is not None and (kind.dtype is None or kind.dtype.kind in ("float", "complex"))
