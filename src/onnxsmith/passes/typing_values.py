"""Types of values where the model has none: found once for the whole model, then for each node that a rule makes.

What is found is for rules to decide by. It is taken away at the end: a model declares no more than before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import onnx
import onnx_ir as ir

from onnxsmith.errors import OnnxsmithError
from onnxsmith.graphs.graph_inference import Functions, State, Walk
from onnxsmith.graphs.handover import session_model
from onnxsmith.graphs.ir_types import type_to_ir
from onnxsmith.graphs.raw import has_map
from onnxsmith.graphs.rewriting.rewrite import inferred_graph
from onnxsmith.graphs.rewriting.scopes import all_graphs, bodies_of
from onnxsmith.graphs.weights import Weight
from onnxsmith.passes.values import dimensions, fixed_shape, is_vague


class Typed(Protocol):
    """The interface that inference needs of a model that is being changed."""

    @property
    def functions(self) -> Functions:
        """The functions of the model."""
        ...

    def version(self, node: ir.Node, domain: str = "") -> int:
        """The version of a domain that a node is in."""
        ...

    def tensor(self, value: ir.Value | None) -> ir.TensorProtocol | None:
        """The tensor behind a constant."""
        ...


class DeclaredTypes:
    """The types that a model declares for its values, by graph and name, while others are known as well."""

    def __init__(self, model: ir.Model) -> None:
        self._model = model
        self._declared: dict[tuple[ir.Graph, str], tuple[ir.TypeProtocol | None, ir.Shape | None]] = {}
        self._carried = CarriedShapes(model)
        #: Inputs of graphs inside the model: nothing makes sure of their shapes either.
        self._inner_inputs: list[tuple[ir.Value, ir.Shape | None]] = []
        for graph in all_graphs(model):
            for value in _own_values(graph):
                if value.name and (value.type is not None or value.shape is not None):
                    self._declared[graph, value.name] = (value.type, value.shape)
            for node in graph:
                for inner in bodies_of(node):
                    self._inner_inputs += [(each, each.shape) for each in _believed_by_none(node, inner)]

    def forget_shapes(self) -> None:
        """Forget the shapes that the model declares inside itself: nothing makes sure that they are right."""
        self._forget_results()
        for value, _ in self._inner_inputs:
            value.shape = None

    def is_open(self) -> bool:
        """True if there are values in the main graph whose shapes are not known, or have sizes without a name."""
        return any(each.shape is None or is_vague(each.shape) for each in _own_values(self._model.graph))

    def fill(self) -> None:
        """Give the values of the main graph, and of those inside it, the types that onnx's inference finds."""
        self._infer()
        # Shapes of what loops carry are tried out, and with those that hold there may be more to try.
        for _ in range(_MOST_TRIALS):
            if not self._carried.suppose():
                return
            for _ in range(_MOST_TRIALS):
                self._forget_results()
                self._infer()
                if not self._carried.refute():
                    break
            else:
                self._carried.give_up()
                self._forget_results()
                self._infer()

    def _infer(self) -> None:
        try:
            proto = session_model(self._model).proto
        except OnnxsmithError:  # sparse tensors as attributes, which onnx-ir cannot write
            return
        # What is claimed of shapes by now are suppositions of ours, and what was found before.
        found = inferred_graph(proto, believes_shapes=self._carried.has_loops, follows_sizes=True)
        _fill(self._model.graph, found)

    def _forget_results(self) -> None:
        for graph in all_graphs(self._model):
            for value in _own_values(graph):
                value.shape = None
        self._carried.conclude()

    def restore(self) -> None:
        """Let the model declare what it declared before, and no more."""
        for graph in all_graphs(self._model):
            for value in _own_values(graph):
                value.type, value.shape = self._declared.get((graph, value.name or ""), (None, None))
        for value, shape in self._inner_inputs:
            value.shape = shape


#: How often shapes of what loops carry are tried out.
_MOST_TRIALS = 3


def _believed_by_none(node: ir.Node, inner: ir.Graph) -> list[ir.Value]:
    """The inputs of a graph inside a node whose shapes are not the runtime's own.

    The number of the turn and the condition of a `Loop` are scalars, or of one dimension if the body says so.
    """
    if node.op_type != "Loop" or node.domain:
        return list(inner.inputs)
    own = [each for each in inner.inputs[:2] if fixed_shape(each) in ((), (1,))]
    return [each for each in inner.inputs if not any(each is known for known in own)]


def _own_values(graph: ir.Graph) -> Iterator[ir.Value]:
    """The outputs of the nodes of a graph."""
    for node in graph:
        yield from node.outputs


def _fill(graph: ir.Graph, found: onnx.GraphProto) -> None:
    types = {each.name: each.type for each in (*found.value_info, *found.output)}
    for node, proto in zip(graph, found.node, strict=False):
        for value in node.outputs:
            if value.name in types:
                _give(value, types[value.name])
        if node.attributes:
            held = [each.g for each in proto.attribute if each.type == onnx.AttributeProto.GRAPH]
            for inner, theirs in zip(bodies_of(node), held, strict=False):
                for value, info in zip(inner.inputs, theirs.input, strict=False):
                    if value.shape is None:
                        _give(value, info.type)
                _fill(inner, theirs)


def _give(value: ir.Value, kind: onnx.TypeProto) -> None:
    if has_map(kind):  # onnx-ir has no place for one
        return
    if value.type is None:
        value.type = ir.serde.deserialize_type_proto_for_type(kind)
    shape = ir.serde.deserialize_type_proto_for_shape(kind)
    if shape is not None:
        value.shape = shape


def walked(model: Typed, node: ir.Node, functions: Functions) -> Walk | None:
    """Inference that has gone through one node, with what is known of its inputs; None where it cannot work."""
    imports = {each: model.version(node, each) for each in {"", node.domain}}
    walk = Walk(functions, imports, {}, {}, State())
    for value in node.inputs:
        tensor = model.tensor(value)
        if value is not None and tensor is not None:
            walk.known[value] = Weight(value.name or "", tensor).known
    try:
        walk.node(node)
    except OnnxsmithError:
        return None
    return walk


def infer_types(model: Typed, nodes: Sequence[ir.Node]) -> None:
    """Give the outputs of new nodes the types that their inputs decide, where nobody has said them."""
    for node in nodes:
        if all(each.type is not None and each.shape is not None for each in node.outputs):
            continue
        walk = walked(model, node, model.functions)
        if walk is None:  # what cannot work is the model's own mistake, and stays as it is
            continue
        for value in node.outputs:
            kind, shape = type_to_ir(walk.of(value).type)
            value.type = value.type or kind
            value.shape = value.shape or shape


# -- carried shapes --------------------------------------------------------------------------------------------
# Shapes of what loops carry from turn to turn, by induction: as it was given, if every turn leaves it so.
#
# onnx's inference knows nothing of them, since a turn may change a shape, and what a body declares nothing makes sure
# of. Inference itself is done elsewhere.


@dataclass(frozen=True, slots=True)
class _Carried:
    """One value that a `Loop` carries: what it is before the first turn, in a turn, behind it, and after the loop."""

    given: ir.Value
    inside: ir.Value
    behind: ir.Value
    after: ir.Value | None


class CarriedShapes:
    """Assumptions about the shapes that loops carry, and those that have turned out to be wrong."""

    def __init__(self, model: ir.Model) -> None:
        self._model = model
        self._supposed: list[_Carried] = []
        self._held: list[_Carried] = []
        self._refuted: set[ir.Value] = set()
        self.has_loops = any(node.op_type == "Loop" for node in model.graph.all_nodes())

    def suppose(self) -> bool:
        """Give values inside loops the shapes that they begin with; whether there is a new one."""
        if not self.has_loops:
            return False
        self._supposed.clear()
        for each in _all_carried(self._model):
            shape = each.given.shape
            if shape is None or is_vague(shape) or each.inside in self._refuted:
                continue
            if each.inside.shape is None:
                each.inside.shape = shape
                self._supposed.append(each)
        return bool(self._supposed)

    def refute(self) -> bool:
        """Take back what is not so behind a turn; whether there was any."""
        wrong = [each for each in self._supposed if dimensions(each.behind) != dimensions(each.inside)]
        self._take_back(wrong)
        if not wrong:
            self._held += self._supposed
            self.conclude()
        return bool(wrong)

    def conclude(self) -> None:
        """Give what loops give in the end the shapes that have turned out to hold in every turn."""
        for each in self._held:
            if each.after is not None and each.after.shape is None:
                each.after.shape = each.inside.shape

    def give_up(self) -> None:
        """Take back all that was supposed last."""
        self._take_back(list(self._supposed))

    def _take_back(self, wrong: list[_Carried]) -> None:
        for each in wrong:
            each.inside.shape = None
            self._refuted.add(each.inside)
        self._supposed = [each for each in self._supposed if each.inside not in self._refuted]


def _all_carried(model: ir.Model) -> Iterator[_Carried]:
    for node in model.graph.all_nodes():
        attribute = node.attributes.get("body") if node.op_type == "Loop" and not node.domain else None
        if attribute is None or attribute.is_ref() or attribute.type != ir.AttributeType.GRAPH:
            continue
        body = attribute.as_graph()
        for place, given in enumerate(node.inputs[2:]):
            if given is None or place + 2 >= len(body.inputs) or place + 1 >= len(body.outputs):
                continue
            after = node.outputs[place] if place < len(node.outputs) else None
            yield _Carried(given, body.inputs[place + 2], body.outputs[place + 1], after)
