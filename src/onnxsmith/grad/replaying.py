"""A model recorded again, node by node, through the call pipeline: the forward half of a gradient.

So every value is a symbolic tensor with what inference knows of it, on which rules call operators. Functions that the
model calls at several places stay functions (`called_functions`). Others are dissolved, and so are operators that have
no rule and that ONNX defines by others. What is kept of each call is a `Step`; going back over the steps is
`reverse`'s.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import onnx_ir as ir

from onnxsmith.algorithms.named import algorithm_of
from onnxsmith.core.call import call, has_open_outputs
from onnxsmith.core.operator import Operator
from onnxsmith.core.target import current_graph
from onnxsmith.core.value import Value
from onnxsmith.errors import NotDifferentiableError, OnnxsmithError
from onnxsmith.grad.bit_tracking import Bits
from onnxsmith.grad.called_functions import Forms
from onnxsmith.grad.definitions import defining_graph
from onnxsmith.grad.draws import Draws, Key, has_no_seed, is_used
from onnxsmith.grad.frames import Frame, is_graph
from onnxsmith.grad.inner_graphs import ControlFlow, Held, Holding, InnerGraph, Marked
from onnxsmith.grad.operators import values
from onnxsmith.grad.paths import span_of
from onnxsmith.grad.steps import Step, is_real
from onnxsmith.grad.table import RULES
from onnxsmith.grad.target import DOMAIN, GradientTarget
from onnxsmith.graphs.attributes import content_of_attribute
from onnxsmith.graphs.copying import resolved
from onnxsmith.graphs.function import BACKWARD_OF
from onnxsmith.graphs.ir_types import CONSTANT_NUMBERS, type_from_ir
from onnxsmith.graphs.origins import SOURCE_KEY
from onnxsmith.graphs.raising_nodes import RAISED
from onnxsmith.graphs.records import ValueRecord
from onnxsmith.graphs.rewriting.scopes import captured, has_graphs
from onnxsmith.graphs.rewriting.unfolding import MOST_NODES, is_past_measure
from onnxsmith.graphs.value import SymbolicTensor, made_value
from onnxsmith.graphs.weights import Weight
from onnxsmith.schema import registry
from onnxsmith.schema.bind import layout
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.types.value_types import TensorType


class Replay:
    """Records the nodes of a model in a target, and the steps that it consists of.

    Raises NotDifferentiableError for a model whose functions call others without measure: a gradient keeps the values
    of every call, also where the functions stay functions.
    """

    def __init__(self, model: ir.Model, *, is_backward: bool = False, keeps_nested: bool = False) -> None:
        if is_past_measure(model):
            raise NotDifferentiableError(
                f"the functions of the model call others so often that they make more than {MOST_NODES:,} nodes",
                help="a gradient keeps the values of every call; put a Loop in the place of repeated calls",
            )
        #: Whether loops inside loops keep their states on the way forward.
        self.keeps_nested = keeps_nested
        #: What loops of this graph keep for the one around it, or have kept.
        self._holding: Holding | None = None
        #: Whether what is recorded is a part of a gradient already.
        self.is_backward = is_backward
        self.steps: list[Step] = []
        #: The values that depend on what the gradient is taken with respect to.
        self.active: set[ValueRecord] = set()
        #: The whole numbers that are the bits of such values.
        self.bits = Bits()
        #: Inputs that are made where they are first read: by what is recorded until then.
        self.late: dict[ir.Value, Callable[[], Value]] = {}
        self._functions = model.functions
        self._imports = model.opset_imports
        self._operators: dict[tuple[str, str], tuple[Operator, Mapping[str, str]]] = {}
        self._constants: dict[ir.Value, Weight] = {}
        self._forms = Forms(model)
        self._draws = Draws(model.functions)

    def inside(self, active: Iterable[Value], *, is_backward: bool, holding: Holding | None = None) -> Replay:
        """Another one of the same model, for a graph inside it: with steps of its own."""
        made = copy.copy(self)
        made.is_backward = is_backward
        made._holding = holding
        made.steps = []
        made.bits = Bits()
        made.active = {made_value(each).record for each in active}
        return made

    @property
    def target(self) -> GradientTarget:
        """The graph that is being recorded."""
        found = current_graph()
        assert isinstance(found, GradientTarget)  # who records steps has made it one
        return found

    @property
    def has_bits(self) -> bool:
        """True if a value is known to be the bits of numbers."""
        return bool(self.bits)

    def is_active(self, value: Value | None) -> bool:
        """True if a value depends on what the gradient is taken with respect to."""
        return value is not None and made_value(value).record in self.active

    # -- values ----------------------------------------------------------------------------------------

    def of(self, value: ir.Value, frame: Frame) -> Value:
        """The value in the recorded graph for a value of the given model."""
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
            elif not self._named_algorithm(node, function, frame) and not self._called(node, function, frame):
                self._dissolve(node, function, frame)
            return
        if node.op_type == "Constant" and not node.domain and self._constant(node, frame):
            return
        inputs = tuple([None if each is None else self.of(each, frame) for each in node.inputs])
        operator, _ = self._operator(node)
        definition = operator.definition
        is_on_bits = bool(self.bits) and self.bits.handles(node, inputs)
        carriers = self.bits.records if is_on_bits else self.active
        active = tuple([each is not None and made_value(each).record in carriers for each in inputs])
        if has_graphs(node):
            self._control(node, operator, inputs, frame)
            return
        if frame.key is not None and has_no_seed(node) and is_used(inputs, node):
            self._draw(node, operator, inputs, active, frame, frame.key)
            return
        rule = RULES.get((node.domain, node.op_type))
        attributes = {name: resolved(each, frame.attributes) for name, each in node.attributes.items()}
        if any(active):
            is_for_it = rule is not None and (
                rule.only is None or rule.only(inputs, _contents(attributes), len(node.outputs))
            )
            if not is_for_it and self._define(node, definition, inputs, attributes, frame):
                return
        self._call(node, operator, inputs, attributes, active, frame, is_on_bits=is_on_bits)

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
        given = _contents(attributes)
        rule = RULES.get((node.domain, node.op_type)) if any(active) else None
        if rule is not None and rule.kept is not None:
            step = Step(origin, definition, inputs, (), given, active)
            kept = rule.kept(step)
            if kept is not None:
                step.outputs = self._named(node, kept, -1, frame)
                self._add(step)
                return
        spelled = self._operator(node)[1]
        keywords = {spelled.get(name, name): each for name, each in given.items()}
        if not definition.is_known or has_open_outputs(definition):
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
            self.bits.follow(node.op_type, inputs, outputs)
        if any(active):
            self.steps.append(Step(origin, definition, inputs, outputs, given, active, is_on_bits=is_on_bits))
            self.active.update(made_value(each).record for each in outputs if is_real(each))
            if (is_on_bits or node.op_type == "BitCast") and not is_real(outputs[0]):
                self.bits.records.add(made_value(outputs[0]).record)

    def _draw(
        self,
        node: ir.Node,
        operator: Operator,
        inputs: tuple[Value | None, ...],
        active: tuple[bool, ...],
        frame: Frame,
        key: Key,
    ) -> None:
        """Record a random node whose numbers follow from a key, so that they are the same whenever it is recorded."""
        origin = node if frame.called is None or SOURCE_KEY in node.metadata_props else frame.called
        self.target.origin.set(origin, is_backward=self.is_backward)
        given = _contents({name: resolved(each, frame.attributes) for name, each in node.attributes.items()})
        step = Step(origin, operator.definition, inputs, (), given, active)
        step.outputs = self._named(node, self._draws.results(node, step, key), -1, frame)
        if any(active):
            self._add(step)

    def _add(self, step: Step) -> None:
        """Enter a step whose results depend on what the gradient is taken with respect to."""
        self.steps.append(step)
        self.active.update(made_value(each).record for each in step.outputs if is_real(each))

    def _named(
        self, node: ir.Node, outputs: tuple[Value, ...], before: int, frame: Frame
    ) -> tuple[Value, ...]:
        """Enter the outputs of a node, with the model's names and with types where inference knows less."""
        nodes, names = self.target.nodes, self.target.program
        # One that fails on purpose says by its name why, wherever it stands.
        keeps_name = frame.is_named or (node.name or "").startswith(RAISED)
        if keeps_name and node.name and len(nodes) == before + 1:
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
            given = resolved(attribute, frame.attributes)
            content: object = None if given is None else given.value
            if name == "value" and content is not None:
                frame.values[output] = self.weight(output, cast("ir.TensorProtocol", content))
                return True
            if name in CONSTANT_NUMBERS and content is not None:
                frame.values[output] = self.target.constant(
                    np.array(cast(Any, content), CONSTANT_NUMBERS[name])
                )
                return True
        return False

    def _called(self, node: ir.Node, function: ir.Function, frame: Frame) -> bool:
        """Record a call of a function that the model calls at several places; returns whether it is one."""
        if not self._forms.is_called_again(function):
            return False
        if frame.key is not None and self._draws.are_in([function.graph]):
            return False  # a call would draw numbers of its own, each time that it is recorded
        inputs = tuple([None if each is None else self.of(each, frame) for each in node.inputs])
        if self.bits and any(
            each is not None and made_value(each).record in self.bits.records for each in inputs
        ):
            return False
        active = tuple([each is not None and self.is_active(each) for each in inputs])
        target = self.target
        form = self._forms.find(self, target, function, inputs, active, _attributes(node, function, frame))
        if form is None:
            return False
        target.origin.set(frame.called or node, is_backward=self.is_backward)
        before = len(target.nodes)
        made = self._forms.call(target, form, inputs)
        outputs = self._named(node, made.outputs, before, frame)
        if any(form.active_results):
            definition = registry.unchecked(DOMAIN, "called", 1)
            self.steps.append(Step(frame.called or node, definition, inputs, outputs, {}, active, made))
            pairs = zip(outputs, form.active_results, strict=True)
            self.active.update(made_value(each).record for each, is_active in pairs if is_active)
        return True

    def _dissolve(self, node: ir.Node, function: ir.Function, frame: Frame) -> None:
        """Record the nodes of a function in the place of a call."""
        attributes = _attributes(node, function, frame)
        inner = Frame(
            attributes=attributes, called=frame.called or node, key=self._key_around(node, function, frame)
        )
        for formal, actual in zip(function.inputs, node.inputs, strict=False):
            if actual is not None:
                inner.values[formal] = self.of(actual, frame)
        self._inside(node, function.graph, inner, frame)

    def _marked(self, node: ir.Node, function: ir.Function, frame: Frame) -> None:
        """Record a function that says how it is differentiated: its nodes are no steps, the call is one."""
        inputs = tuple([None if each is None else self.of(each, frame) for each in node.inputs])
        kind = function.name.partition("__")[0]
        is_again = kind == "checkpoint" or frame.key is not None
        key = self._key(node, [function.graph], frame) if is_again else None
        body = InnerGraph(self, Frame(called=frame.called or node), function.graph, (), key)
        outputs = body.record([each for each in inputs if each is not None])
        frame.values.update(zip(node.outputs, outputs, strict=False))
        active = tuple([each is not None and self.is_active(each) for each in inputs])
        if kind == "stop_gradient" or not any(active):
            return
        backward = self._functions.get((DOMAIN, f"{BACKWARD_OF}{function.name}", ""))
        back = None if backward is None else InnerGraph(self, body.frame, backward.graph, ())
        definition = registry.unchecked(DOMAIN, kind, 1)
        made = tuple(outputs)
        self.steps.append(Step(node, definition, inputs, made, {}, active, Marked(body, back)))
        self.active.update(made_value(each).record for each in made if is_real(each))

    def _named_algorithm(self, node: ir.Node, function: ir.Function, frame: Frame) -> bool:
        """Record a function that has a rule by its name: its nodes are no steps. Returns whether it has one."""
        name = algorithm_of(function.domain, function.name)
        rule = None if name is None else RULES.get((function.domain, name))
        if name is None or rule is None:
            return False
        inputs = tuple([None if each is None else self.of(each, frame) for each in node.inputs])
        active = tuple([each is not None and self.is_active(each) for each in inputs])
        if not any(active) or any((each.name or "").endswith("_im") for each in function.inputs):
            return False  # rules are for real numbers; complex ones go through the body
        if rule.only is not None and not rule.only(inputs, {"form": function.name}, len(node.outputs)):
            return False
        key = self._key_around(node, function, frame)
        body = InnerGraph(self, Frame(called=frame.called or node), function.graph, (), key)
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
        found = {name: resolved(each, frame.attributes) for name, each in node.attributes.items()}
        graphs = {name: each.as_graph() for name, each in found.items() if each and is_graph(each)}
        plain = {
            name: content_of_attribute(each) for name, each in found.items() if each and not is_graph(each)
        }
        outside = list(dict.fromkeys(value for graph in graphs.values() for value in captured(graph)))
        captures = tuple(self.of(each, frame) for each in outside)
        read = (*inputs, *captures)
        active = tuple([each is not None and self.is_active(each) for each in read])
        key = self._key_of_bodies(node, graphs.values(), frame, is_again=any(active))
        is_counted = node.op_type == "Loop"
        inner = {
            name: InnerGraph(self, frame, each, captures, key, is_counted) for name, each in graphs.items()
        }
        rule = RULES.get((node.domain, node.op_type)) if any(active) else None
        call_of = ControlFlow(operator, inputs, captures, plain, inner, len(node.outputs))
        before = len(self.target.nodes)
        if rule is not None and rule.forward is not None:
            outputs = self._named(node, self._kept_forward(call_of, rule.forward), before, frame)
        else:
            outputs = self._named(node, call_of.record(), before, frame)
        if any(active):
            step = Step(frame.called or node, operator.definition, read, outputs, plain, active, call_of)
            self.steps.append(step)
            self.active.update(made_value(each).record for each in outputs if is_real(each))

    def _key(self, node: ir.Node, graphs: Iterable[ir.Graph], frame: Frame) -> Key | None:
        """The key of graphs that may be recorded several times; None where they draw no numbers."""
        return self._draws.inside(frame.key, node) if self._draws.are_in(graphs) else None

    def _key_around(self, node: ir.Node, function: ir.Function, frame: Frame) -> Key | None:
        """The same for a function that is recorded as often as the graph that calls it."""
        return None if frame.key is None else self._key(node, [function.graph], frame)

    def _key_of_bodies(
        self, node: ir.Node, graphs: Iterable[ir.Graph], frame: Frame, *, is_again: bool
    ) -> Key | None:
        """The same for the bodies of a node, where nothing says which iteration it is for some operators."""
        if node.op_type in ("If", "Loop"):
            return self._key(node, graphs, frame)
        if not self._draws.are_in(graphs) or not (is_again or frame.key is not None):
            return None
        error = NotDifferentiableError(
            f"the body of a {node.op_type} draws random numbers, and the way back would draw others",
            help="draw them before it and scan over them, or use a loop",
        )
        raise error.locate(span_of(node))

    def _kept_forward(
        self, control: ControlFlow, forward: Callable[[ControlFlow], tuple[Value, ...]]
    ) -> tuple[Value, ...]:
        """The outputs of a node that keeps something; what it gave and kept on the way forward, where that is there."""
        holding = self._holding
        held = None if holding is None else holding.taken()
        if held is not None:
            control.tape, control.held = held.tape, held.inside
            return held.outputs
        outputs = forward(control)
        if holding is not None and not holding.is_given:
            holding.kept.append(Held.of(outputs, control))
        return outputs


def _attributes(node: ir.Node, function: ir.Function, frame: Frame) -> dict[str, ir.Attr]:
    """The attributes of a function as a call has them."""
    found = {name: each for name, each in function.attributes.items() if each.value is not None}
    given = {name: resolved(each, frame.attributes) for name, each in node.attributes.items()}
    return found | {name: each for name, each in given.items() if each is not None}


def _contents(attributes: Mapping[str, ir.Attr | None]) -> dict[str, object]:
    """The values of attributes that are given."""
    return {name: content_of_attribute(each) for name, each in attributes.items() if each is not None}
