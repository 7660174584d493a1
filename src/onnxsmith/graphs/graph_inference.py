"""Infers the outputs of a finished graph for inputs of certain types: our inference, node by node.

Reads the graph and changes nothing. What inference leaves open is taken from the types that the model declares, with
its names of dimensions read as the sizes that the inputs give them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.errors import InferenceError, OnnxsmithError, ShapeError
from onnxsmith.graphs.attributes import content_of_attribute
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.rewriting.scopes import described_node, required_inputs
from onnxsmith.graphs.weights import Weight
from onnxsmith.schema import registry
from onnxsmith.schema.bind import check_node, check_types
from onnxsmith.schema.definition import AttributeReference, AttributeType, OperatorDef
from onnxsmith.schema.equivalent_versions import Use
from onnxsmith.schema.inference import infer
from onnxsmith.schema.inference.broadcasting import Different, completed_type, merge_types
from onnxsmith.schema.inference.known import NOTHING, Known
from onnxsmith.schema.inference.signature import without_shape
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, Dimension, TensorType, shapes_differ

#: Nodes that are looked at, those of functions at every call: a model from a stranger may unfold without end.
_MOST_NODES = 200_000
#: Functions are followed into others so far, as onnx's checker follows them; each call takes four frames of the stack.
_DEEPEST_CALL = 100
#: A loop's types are open after as many turns that changed them.
_TURNS = 3

Functions: TypeAlias = "Mapping[ir.OperatorIdentifier, ir.Function]"


#: How a model uses each of its operators.
Uses = dict[OperatorDef, set[Use]]


def infer_model(
    model: ir.Model,
    inputs: Sequence[Known],
    sizes: Mapping[str, Dimension],
    doubts: list[OnnxsmithError] | None = None,
) -> tuple[list[Known], Uses]:
    """The facts of the outputs of a model, and its use of operators.

    `sizes` are those of the dimensions that its inputs name. Raises what a call of the operator that cannot work
    raises, with the node in the message. What cannot work in a body, which may never be asked to, is added to `doubts`.
    """
    state = State(doubts)
    walk = Walk(model.functions, model.opset_imports, sizes, {}, state)
    required = required_inputs(model.graph)
    for value, known in zip(required, inputs, strict=True):
        walk.known[value] = walk.completed(known, value)
    walk.hold(each for each in model.graph.initializers.values() if each.is_graph_input())
    return walk.graph(model.graph), state.uses


def _call_key(
    identifier: ir.OperatorIdentifier, inputs: Sequence[Known | None], attributes: Mapping[str, Any]
) -> Hashable | None:
    """The key of the result of a function; None where it depends on values or attributes that cannot be compared."""
    if any(each is not None and each.data is not None for each in inputs):
        return None
    key = (
        identifier,
        tuple(None if each is None else each.type for each in inputs),
        tuple(attributes.items()),
    )
    try:
        hash(key)
    except TypeError:
        return None
    return key


class State:
    """The state that all graphs of a model share."""

    def __init__(self, doubts: list[OnnxsmithError] | None = None) -> None:
        #: How many nodes may still be looked at.
        self.nodes = _MOST_NODES
        self.doubts = doubts
        #: The objection to a node that the definition of its operator does not allow: no inputs can make that right.
        self.ill_formed: OnnxsmithError | None = None
        #: The functions that are being called, one inside the other.
        self.calls: list[ir.OperatorIdentifier] = []
        self.uses: Uses = {}
        #: What functions give, by function, types and attributes: without it, functions that each call the next one
        #: twice are walked as often as there are paths through them.
        self.results: dict[Hashable, Sequence[Known]] = {}
        #: What was known of the values of functions, call by call, for who wants to keep that.
        self.inside: list[Mapping[ir.Value, Known]] | None = None


class Walk:
    """One graph with its subgraphs: the values of a function are other values at every call."""

    def __init__(
        self,
        functions: Functions,
        opset_imports: Mapping[str, int],
        sizes: Mapping[str, Dimension],
        attributes: Mapping[str, Any],
        state: State,
    ) -> None:
        self.functions = functions
        self.opset_imports = opset_imports
        self.sizes = sizes
        #: The values of the function's attributes, where the graph is a function's.
        self.attributes = attributes
        self.state = state
        self.known: dict[ir.Value, Known] = {}

    def hold(self, initializers: Iterable[ir.Value]) -> None:
        """Note the content of initializers."""
        for value in initializers:
            if value.const_value is not None:
                self.known[value] = Weight(value.name or "", value.const_value).known

    def graph(self, graph: ir.Graph) -> list[Known]:
        # The default of an input is no constant: a caller may give another value.
        self.hold(each for each in graph.initializers.values() if not each.is_graph_input())
        for node in graph:
            self.node(node)
        return [self.of(value) for value in graph.outputs]

    def of(self, value: ir.Value) -> Known:
        """The facts of a value."""
        return self.known.get(value) or self.completed(NOTHING, value)

    def node(self, node: ir.Node) -> None:
        self.state.nodes -= 1
        inputs = [None if each is None else self.of(each) for each in node.inputs]
        try:
            outputs = self.outputs(node, inputs)
        except OnnxsmithError as error:
            called = described_node(node)
            if "node '" not in error.message:
                error.message = f"{called} of the model: {error.message}"
            error.culprit = None
            error.node = error.node or (node.op_type, node.name or "")
            raise
        for value, known in zip(node.outputs, outputs, strict=False):
            self.known[value] = self.completed(known, value)
        op = self.definition(node)
        if op is not None:
            use = Use(
                tuple(None if each is None else each.type.onnx_name for each in inputs),
                tuple(self.of(each).type.onnx_name for each in node.outputs),
                frozenset(node.attributes),
                text_attributes(node),
            )
            self.state.uses.setdefault(op, set()).add(use)

    def definition(self, node: ir.Node) -> OperatorDef | None:
        """The operator that a node calls; None for a function, and for what nobody has a schema of."""
        version = self.opset_imports.get(node.domain)
        if version is None or node.op_identifier() in self.functions:
            return None
        return registry.find(node.domain, node.op_type, version)

    def outputs(self, node: ir.Node, inputs: Sequence[Known | None]) -> Sequence[Known]:
        function = self.functions.get(node.op_identifier())
        attributes = {name: self.attribute(each) for name, each in node.attributes.items()}
        if function is not None:
            return self.function(function, inputs, attributes)
        op, version = self.definition(node), self.opset_imports.get(node.domain, 1)
        unreadable = {name for name, each in attributes.items() if each is _UNREADABLE}
        if op is None or self.state.nodes < 0 or unreadable & op.attributes.keys():
            return [NOTHING] * len(node.outputs)
        self.check(op, inputs, attributes)
        if node.domain == "" and node.op_type == "Constant" and isinstance(attributes.get("value"), Weight):
            return [attributes["value"].known]
        graphs = {name: each for name, each in attributes.items() if isinstance(each, ir.Graph)}
        runs = _bodies_that_run(op, inputs)
        bodies = {
            name: tuple(self.body(op, each, inputs, attributes, certain=name in runs))
            for name, each in graphs.items()
        }
        plain = {name: each for name, each in attributes.items() if name not in graphs}
        return infer(op, version, inputs, plain, len(node.outputs), bodies)

    def check(self, op: OperatorDef, inputs: Sequence[Known | None], attributes: Mapping[str, Any]) -> None:
        """Refuse a node that the definition of its operator does not allow, whatever the values are."""
        try:
            check_node(op, inputs, attributes)
            check_types(op, [None if each is None else each.type for each in inputs])
        except OnnxsmithError as error:
            self.state.ill_formed = error
            raise

    def function(
        self, function: ir.Function, inputs: Sequence[Known | None], attributes: Mapping[str, Any]
    ) -> Sequence[Known]:
        identifier = function.identifier()
        is_deep = len(self.state.calls) >= _DEEPEST_CALL
        if self.state.nodes < 0 or is_deep or identifier in self.state.calls:
            return [NOTHING] * len(function.outputs)
        defaults = {
            name: self.attribute(each) for name, each in function.attributes.items() if each.value is not None
        }
        key = _call_key(identifier, inputs, attributes)
        found = None if key is None else self.state.results.get(key)
        if found is not None:
            return found
        inner = Walk(self.functions, function.opset_imports, {}, {**defaults, **attributes}, self.state)
        for value, known in zip(function.inputs, inputs, strict=False):
            inner.known[value] = known or NOTHING
        self.state.calls.append(identifier)
        try:
            found = inner.graph(function.graph)
        finally:
            self.state.calls.pop()
        if self.state.inside is not None:
            self.state.inside.append(inner.known)
        if key is not None:
            self.state.results[key] = found
        return found

    def body(
        self,
        op: OperatorDef,
        graph: ir.Graph,
        inputs: Sequence[Known | None],
        attributes: Mapping[str, Any],
        *,
        certain: bool,
    ) -> list[Known]:
        """The outputs of a subgraph. One that cannot run is a mistake if it is certain to be asked to."""
        if op.name == "Loop":
            state = [NOTHING if each is None else each for each in inputs[2:]]
            fixed = [Known(TensorType(DType.INT64, ())), Known(TensorType(DType.BOOL, ()))]
            return self.loop(
                graph, fixed, [Known(each.type) for each in state], [], hidden=1, certain=certain
            )
        if op.name == "Scan":
            count = attributes.get("num_scan_inputs", 0)
            given = [NOTHING if each is None else each for each in inputs]
            if op.since_version < 9:  # with the lengths in front, and a batch around all others
                given = [_without_axis(each, 0) for each in given[1:]]
            split = len(given) - count
            axes = attributes.get("scan_input_axes") or (0,) * count
            scanned = [_without_axis(each, axis) for each, axis in zip(given[split:], axes, strict=False)]
            lengths = [_length(each, axis) for each, axis in zip(given[split:], axes, strict=False)]
            is_run = any(isinstance(each, int) and each > 0 for each in lengths)
            state = [Known(each.type) for each in given[:split]]
            return self.loop(graph, [], state, scanned, hidden=0, certain=is_run)
        return self.once(graph, [], certain=certain)

    def loop(
        self,
        graph: ir.Graph,
        before: Sequence[Known],
        state: list[Known],
        after: Sequence[Known],
        hidden: int,
        *,
        certain: bool,
    ) -> list[Known]:
        """The body of a loop, with types for its state that hold at every turn; the first may be certain to come."""
        outputs: list[Known] = []
        for turn in range(_TURNS + 1):
            outputs = self.once(graph, [*before, *state, *after], certain=certain and not turn)
            if after and not turn:
                _check_states(state, outputs)
            joined = [_joined(a, b) for a, b in zip(state, outputs[hidden:], strict=False)]
            if [each.type for each in joined] == [each.type for each in state]:
                break
            is_last = turn == _TURNS - 1
            state = [Known(without_shape(each.type)) if is_last else each for each in joined]
        return outputs

    def once(self, graph: ir.Graph, inputs: Sequence[Known], *, certain: bool) -> list[Known]:
        for position, value in enumerate(graph.inputs):
            given = inputs[position] if position < len(inputs) else self.completed(NOTHING, value)
            _check_given(value, given)
            self.known[value] = given
        try:
            return self.graph(graph)
        except OnnxsmithError as error:
            if certain or error is self.state.ill_formed:
                raise
            if self.state.doubts is not None:
                self.state.doubts.append(error)
            return [NOTHING] * len(graph.outputs)

    def attribute(self, attribute: ir.Attr) -> Any:
        """The value of an attribute as inference takes it."""
        if attribute.is_ref():
            name = attribute.ref_attr_name or ""
            kind = AttributeType(int(attribute.type))
            return self.attributes.get(name, AttributeReference(name, kind))
        is_read = attribute.type.name in _READ_ATTRIBUTES
        return content_of_attribute(attribute) if is_read else _UNREADABLE

    def completed(self, known: Known, value: ir.Value) -> Known:
        """The facts of a value, with those that the model declares where they say more."""
        if value.type is None and value.shape is None:
            return known
        kind = completed_type(known.type, type_from_ir(value.type, value.shape), self.sizes)
        return known if kind is known.type else Known(kind, known.data)


def text_attributes(node: ir.Node) -> frozenset[str]:
    """The attributes of a node that are text, as `Use` has them."""
    return frozenset(
        f"{name}={each.as_string()}"
        for name, each in node.attributes.items()
        if each.type == ir.AttributeType.STRING and not each.is_ref()
    )


#: The types of attributes that inference reads, and one of another type: sparse tensors, lists of graphs.
_READ_ATTRIBUTES = frozenset(
    {"TENSOR", "INTS", "FLOATS", "STRINGS", "INT", "FLOAT", "STRING", "GRAPH", "TYPE_PROTO"}
)
_UNREADABLE = object()


def _check_states(before: Sequence[Known], after: Sequence[Known]) -> None:
    """Checks that the values that a Scan carries keep their shapes; a Loop may change them."""
    for number, (first, second) in enumerate(zip(before, after, strict=False)):
        shapes = [each.type.shape if isinstance(each.type, TensorType) else None for each in (first, second)]
        if shapes_differ(*shapes):
            raise ShapeError(
                f"Scan starts state {number} with {first.type.described}, but its body gives {second.type.described}"
            )


def _check_given(value: ir.Value, given: Known) -> None:
    """A body is given what it declares."""
    declared = type_from_ir(value.type, value.shape) if value.type is not None else None
    if not isinstance(declared, TensorType) or not isinstance(given.type, TensorType):
        return
    is_typed = declared.dtype is not None and given.type.dtype not in (None, declared.dtype)
    shapes = declared.shape, given.type.shape
    if is_typed or (shapes[0] is not None and shapes[1] is not None and len(shapes[0]) != len(shapes[1])):
        raise InferenceError(
            f"the body declares '{value.name}' as {declared.described}, and is given {given.type.described}"
        )


def _joined(before: Known, after: Known) -> Known:
    try:
        return Known(merge_types(before.type, after.type))
    except Different:
        return NOTHING


def _bodies_that_run(op: OperatorDef, inputs: Sequence[Known | None]) -> set[str]:
    """The bodies of a node that are certain to be run, at least once."""
    if op.name == "If":
        chosen = _content(inputs, 0)
        return set() if chosen is None else {"then_branch" if chosen else "else_branch"}
    if op.name == "Loop":
        trips, goes_on = _content(inputs, 0), _content(inputs, 1)
        is_started = goes_on is not None if len(inputs) > 1 and inputs[1] is not None else True
        return {"body"} if trips and is_started and goes_on in (None, 1) else set()
    return set()


def _content(inputs: Sequence[Known | None], position: int) -> int | None:
    """A number or truth value that an input is known to be; None where it is not known, or not given."""
    known = inputs[position] if position < len(inputs) else None
    data = None if known is None else known.data
    if isinstance(data, np.ndarray):
        return int(data.item()) if data.size == 1 and data.dtype.kind in "biu" else None
    return data if isinstance(data, int) else None


def _length(known: Known, axis: int) -> Dimension:
    shape = known.type.shape if isinstance(known.type, TensorType) else None
    return shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None


def _without_axis(known: Known, axis: int) -> Known:
    kind = known.type
    if not isinstance(kind, TensorType) or not kind.shape or not -len(kind.shape) <= axis < len(kind.shape):
        return Known(TensorType(kind.dtype, None)) if isinstance(kind, TensorType) else NOTHING
    dropped = axis % len(kind.shape)
    return Known(TensorType(kind.dtype, (*kind.shape[:dropped], *kind.shape[dropped + 1 :])))


def sizes_of(model: ir.Model, inputs: Sequence[AnyValueType]) -> dict[str, Dimension]:
    """The size of each dimension that a model's inputs name, for inputs of these types.

    A name that would stand for two different sizes stands for none.
    """
    sizes: dict[str, Dimension] = {}
    ambiguous: set[str] = set()
    required = required_inputs(model.graph)
    for value, given in zip(required, inputs, strict=True):
        declared = type_from_ir(value.type, value.shape)
        if not (isinstance(declared, TensorType) and isinstance(given, TensorType)):
            continue
        for name, size in zip(
            declared.shape or (), cast("tuple[Dimension, ...]", given.shape or ()), strict=False
        ):
            if isinstance(name, str) and size is not None and sizes.setdefault(name, size) != size:
                ambiguous.add(name)
    return {name: size for name, size in sizes.items() if name not in ambiguous}
