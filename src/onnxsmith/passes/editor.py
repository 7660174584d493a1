"""A model that is being changed: which values are constants, new nodes and names, and what takes the place of what.

Rules look at a node through an `Attempt`, and say what shall be read instead of its outputs. Only the editor changes
the graph, so that names, types, metadata and the log are right after every change. It works on onnx-ir, in place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import onnx_ir as ir

from onnxsmith.graphs.edits import Edit, NodeNote
from onnxsmith.graphs.graph_inference import Functions
from onnxsmith.graphs.identity import tensor_key
from onnxsmith.graphs.ir_types import array_to_ir, dimensions_of
from onnxsmith.graphs.named_tensors import named_tensor
from onnxsmith.graphs.notes import WEIGHT_KEY, notes_of
from onnxsmith.graphs.origins import SOURCES_KEY, sources_in, stored_sources
from onnxsmith.graphs.rewriting.scopes import bodies_of, inner_nodes, roots_of
from onnxsmith.passes.edits import EditLog, Removed, Replaced, noted
from onnxsmith.passes.standard_form import name_standard_domain, reveal_hidden_names
from onnxsmith.passes.typing_values import infer_types
from onnxsmith.passes.values import Array, attribute_of, is_open_inside, is_read, names_in

#: The most bytes of constants that are shared by content, and of those that are kept as arrays once they were read.
_SHARED_BYTES, _KEPT_BYTES = 1024, 4096
#: The value of an attribute as rules write it.
AttributeContent: TypeAlias = int | float | str | Sequence[int] | Sequence[float] | ir.Graph | ir.Attr | None
#: What shall be read instead of a node's outputs; None where a rule has nothing to say.
Outcome: TypeAlias = ir.Value | Sequence[ir.Value | None] | None


class Editor:
    """One model, changed in place."""

    def __init__(self, model: ir.Model, *, keeps_weights: bool = False, log: EditLog | None = None) -> None:
        """`keeps_weights` says that weights may get other content one day: what they hold now decides nothing.

        `log` has what was done before.
        """
        name_standard_domain(model)
        self.model = model
        self.keeps_weights = keeps_weights
        #: Whether other weights may take the place of weights.
        self.folds_weights = True
        #: True if loops may become sweeps over blocks: not in a model that may still be differentiated.
        self.settles_loops = False
        self.log = EditLog() if log is None else log
        #: How many changes may still be made; None for as many as there are. A run is repeated with fewer and fewer
        #: to find the change that broke a model.
        self.budget: int | None = None
        #: The pass that runs, for the log.
        self.pass_name = ""
        #: Nodes that are out of the graph already; `sweep` takes them out of its list, all at once.
        self.gone: set[ir.Node] = set()
        #: Nodes of constants that cannot be run beforehand, so that nobody tries again.
        self.unfoldable: set[ir.Node] = set()
        self._names: set[str] = set()
        self._counts: dict[str, int] = {}
        self._arrays: dict[ir.Value, Array] = {}
        self._shared: dict[Hashable, ir.Value] = {}
        self._output_places: dict[ir.Graph, dict[ir.Value, list[int]]] = {}
        self._functions = {function.graph: function for function in model.functions.values()}
        self._outer: dict[ir.Graph, ir.Node] = {}
        for root in self.roots():
            self._names.update(names_in(root))
            for node in root.all_nodes():
                for graph in bodies_of(node):
                    self._outer[graph] = node
        if self._outer:
            for root in self.roots():
                reveal_hidden_names(root, self.fresh_name)
        # Initializers are inputs before IR version 4, and inputs are no constants.
        self.can_add_initializers = model.ir_version >= 4

    @property
    def is_spent(self) -> bool:
        """True if no more changes may be made."""
        return self.budget is not None and len(self.log) >= self.budget

    @property
    def functions(self) -> Functions:
        """The functions of the model."""
        return self.model.functions

    # -- looking ----------------------------------------------------------------------------------------

    def roots(self) -> list[ir.Graph]:
        """The main graph, and those of the functions."""
        return roots_of(self.model)

    def nodes(self) -> Iterator[ir.Node]:
        """All nodes, each before those inside it."""
        for root in self.roots():
            for node in root.all_nodes():
                if node not in self.gone:
                    yield node

    def function_around(self, node: ir.Node) -> ir.Function | None:
        """The function that a node is in."""
        root = self.root_of(node.graph)
        return None if root is None else self._functions.get(root)

    def root_of(self, graph: ir.Graph | None) -> ir.Graph | None:
        """The main graph, or that of a function, that a graph is in."""
        while graph is not None and graph in self._outer:
            graph = self._outer[graph].graph
        return graph

    def version(self, node: ir.Node, domain: str = "") -> int:
        """The version of a domain that a node is in."""
        function = self.function_around(node)
        imports = self.model.opset_imports if function is None else function.opset_imports
        return imports.get(domain, 0)

    def standing_in(self, node: ir.Node, graph: ir.Graph) -> ir.Node | None:
        """The node of a graph that a node is, or is inside of; None where it is elsewhere."""
        found: ir.Node | None = node
        while found is not None and found.graph is not graph:
            found = None if found.graph is None else self._outer.get(found.graph)
        return found

    def around(self, node: ir.Node) -> ir.Node | None:
        """The node that a node stands inside of."""
        return None if node.graph is None else self._outer.get(node.graph)

    def path(self, node: ir.Node) -> tuple[str, ...]:
        """The functions and nodes around a node, outermost first."""
        found: list[str] = []
        graph = node.graph
        while graph is not None and graph in self._outer:
            around = self._outer[graph]
            found.append(around.name or around.op_type)
            graph = around.graph
        function = None if graph is None else self._functions.get(graph)
        if function is not None:
            found.append(function.name)
        return tuple(reversed(found))

    def tensor(self, value: ir.Value | None) -> ir.TensorProtocol | None:
        """The tensor behind a constant: an initializer that is no input, or what a Constant node gives."""
        if value is None:
            return None
        node = value.producer()
        if node is None:
            return value.const_value if value.is_initializer() and not value.is_graph_input() else None
        if node.op_type != "Constant" or node.domain:
            return None
        attribute = node.attributes.get("value")
        if attribute is None or attribute.is_ref() or attribute.type != ir.AttributeType.TENSOR:
            return None
        return attribute.as_tensor()

    def is_constant(self, value: ir.Value | None) -> bool:
        """True if a value is known before the model runs."""
        return self.tensor(value) is not None

    def is_fixed(self, value: ir.Value) -> bool:
        """True if the content of a constant is what it is for good."""
        return not self.keeps_weights or WEIGHT_KEY not in value.meta

    def array(self, value: ir.Value | None, most: int | None = None) -> Array | None:
        """The content of a constant; None for what is no constant, or has more elements than `most`."""
        if value is None:
            return None
        kept = self._arrays.get(value)
        if kept is not None:
            return kept if most is None or kept.size <= most else None
        tensor = self.tensor(value)
        if tensor is None or tensor.dtype == ir.DataType.STRING or (most is not None and tensor.size > most):
            return None
        array = tensor.numpy()
        if array.nbytes <= _KEPT_BYTES:
            self._arrays[value] = array
        return array

    def number(self, value: ir.Value | None) -> float | None:
        """The number that a constant of one element is, whatever its rank."""
        array = self.array(value, 1)
        return (
            None if array is None or array.size != 1 or array.dtype.kind == "c" else float(array.reshape(()))
        )

    def number_beside(self, value: ir.Value | None, other: ir.Value | None) -> float | None:
        """The number that a constant is for another operand, whose shape it leaves as it is."""
        array = self.array(value, 1)
        if array is None or array.size != 1 or array.dtype.kind == "c":
            return None
        own = None if other is None or other.shape is None else len(other.shape)
        is_plain = array.ndim == 0 or (own is not None and array.ndim <= own)
        return float(array.reshape(())) if is_plain else None

    def numbers(self, value: ir.Value | None) -> tuple[int, ...] | None:
        """The ints of a small constant: a shape, axes, or one of them."""
        array = self.array(value, 64)
        return None if array is None or array.dtype.kind not in "iu" else tuple(array.reshape(-1).tolist())

    # -- names and constants ----------------------------------------------------------------------------

    def fresh_name(self, wanted: str) -> str:
        """A name that no value of the model has."""
        name = wanted
        while name in self._names:
            count = self._counts[wanted] = self._counts.get(wanted, 0) + 1
            name = f"{wanted}_{count}"
        self._names.add(name)
        return name

    def release_name(self, value: ir.Value) -> None:
        """Take the name from a value that is going, so that what comes for it can have it."""
        if value.name:
            self._names.discard(value.name)
            value.name = None

    def initializer(self, tensor: ir.TensorProtocol, wanted: str) -> ir.Value:
        """A new initializer of the main graph, which every graph but those of functions may read."""
        name = self.fresh_name(wanted)
        value = ir.Value(
            name=name,
            type=ir.TensorType(tensor.dtype),
            shape=ir.Shape(dimensions_of(tensor)),
            const_value=named_tensor(tensor, name),  # onnx-ir renames it, and it may be another model's, too
        )
        self.model.graph.register_initializer(value)
        return value

    def shared_constant(self, tensor: ir.TensorProtocol, wanted: str) -> ir.Value:
        """An initializer for a tensor; a small one is the same for all that have its content."""
        if tensor.nbytes > _SHARED_BYTES:
            return self.initializer(tensor, wanted)
        value = self._shared.get(key := tensor_key(tensor))
        if value is None or value.name not in self.model.graph.initializers:
            value = self._shared[key] = self.initializer(tensor, wanted)
        return value

    def sees_initializers(self, node: ir.Node) -> bool:
        """True if a node may read a new initializer of the main graph: not in functions, nor in graphs like them."""
        if not self.can_add_initializers:
            return False
        graph = node.graph
        while graph is not None and graph in self._outer:
            around = self._outer[graph]
            if not is_open_inside(around):
                return False
            graph = around.graph
        return graph is self.model.graph

    def inner_graphs_of_main(self) -> list[ir.Graph]:
        """The graphs inside the main graph that may read its initializers."""
        return [
            graph
            for graph, node in self._outer.items()
            if is_open_inside(node) and self.sees_initializers(node)
        ]

    # -- changing ---------------------------------------------------------------------------------------

    def replace(self, attempt: Attempt, values: Sequence[ir.Value | None], rule: str) -> Replaced:
        """Let other values be read instead of a node's outputs; the node goes, and what was only for it."""
        node = attempt.node
        graph = node.graph
        assert graph is not None
        values = _each_once(attempt, [*values, *attempt.others.values()])
        replaced = [*node.outputs, *attempt.others]
        made = attempt.made
        is_new = set(made)
        others = [each for old in attempt.others if (each := old.producer()) is not None]
        # Before their outputs lose their names.
        known = {each: noted(each, self.path(each)) for each in (*others, node)}
        for old, new in zip(replaced, values, strict=True):
            if new is None:
                continue
            maker = new.producer()
            if maker is not None and maker in is_new:
                self._take_over(old, new)
        if made:
            for each in made:
                each.name = each.name or ""  # for what has none, onnx-ir would make one up
            graph.insert_before(node, made)
        renamed: list[tuple[NodeNote, ir.Node]] = []
        for old, new in zip(replaced, values, strict=True):
            if new is not None:
                self._redirect(old, new, node, made, renamed)
        for each in made:
            self._enter(each)
        touched = [each for each in values if each is not None]
        removed = self.remove([*others, node], known)
        self._hand_down(made, node, removed)
        infer_types(self, made)
        value = None if made else next((each.name for each in touched), None)
        before = (*removed.notes, *(note for note, _ in renamed))
        inside = (each for function in attempt.functions for each in function.graph.all_nodes())
        after = (*made, *(each for _, each in renamed if each not in self.gone), *inside)
        self.log.add(
            Edit(self.pass_name, rule, before, tuple([noted(each, self.path(each)) for each in after]), value)
        )
        return Replaced(made, touched, removed.neighbours)

    def _take_over(self, old: ir.Value, new: ir.Value) -> None:
        """Give a new value the name and type of the one that it stands for."""
        new.name, old.name = old.name, self.fresh_name(f"{old.name}_before")
        if old.type is not None:
            new.type = old.type
        if old.shape is not None:
            new.shape = old.shape
        new.metadata_props.update(old.metadata_props)
        notes_of(new).update(notes_of(old))

    def _redirect(
        self,
        old: ir.Value,
        new: ir.Value,
        node: ir.Node,
        made: list[ir.Node],
        renamed: list[tuple[NodeNote, ir.Node]],
    ) -> None:
        """Let the readers of a value read another one; a node whose output gets another name is `renamed`."""
        for user, position in old.uses():
            user.replace_input_with(position, new)
        if not old.is_graph_output():
            return
        graph = old.graph
        assert graph is not None
        places = self._places(graph)
        maker = new.producer()
        is_own = maker is not None and maker.graph is graph
        if (
            not is_own
            or new.is_graph_output()
            or (new.producer() not in made and new.name in _port_names(graph))
        ):
            # An output is what a node of the graph gives, and once: here it is a copy of something else.
            copy = ir.Node("", "Identity", [new], num_outputs=1, name=self.fresh_name(f"{old.name}_identity"))
            copy.outputs[0].name = old.name
            copy.outputs[0].type, copy.outputs[0].shape = old.type or new.type, old.shape or new.shape
            old.name = self.fresh_name(f"{old.name}_before")
            graph.insert_before(node, copy)
            made.append(copy)
            new = copy.outputs[0]
        elif maker is not None and maker not in made:
            renamed.append((noted(maker, self.path(maker)), maker))
            new.name, old.name = old.name, self.fresh_name(f"{old.name}_before")
            if old.shape is not None:
                new.shape = old.shape
        for place in places.pop(old):
            graph.outputs[place] = new
            places.setdefault(new, []).append(place)

    def _places(self, graph: ir.Graph) -> dict[ir.Value, list[int]]:
        """Where values stand among the outputs of a graph."""
        found = self._output_places.get(graph)
        if found is None:
            found = self._output_places[graph] = {}
            for place, value in enumerate(graph.outputs):
                found.setdefault(value, []).append(place)
        return found

    def remove(self, nodes: Iterable[ir.Node], known: Mapping[ir.Node, NodeNote] | None = None) -> Removed:
        """Take nodes out whose results nobody reads, and then what was only for them; `known` are notes of some."""
        result = Removed()
        waiting = list(nodes)
        while waiting:
            node = waiting.pop()
            if node in self.gone or any(is_read(each) for each in node.outputs):
                continue
            note = known.get(node) if known else None
            result.notes.append(note or noted(node, self.path(node)))
            result.metadata.append(node.metadata_props)
            self.gone.add(node)
            for each in self._all_inputs(node):
                maker = each.producer()
                if maker is not None:
                    waiting.append(maker)
                    result.neighbours.append(maker)
                if len(each.uses()) == 1:
                    result.neighbours.extend(use.node for use in each.uses())
        return result

    def _all_inputs(self, node: ir.Node) -> list[ir.Value]:
        """The values that a node and those inside it read from outside; they stop reading them."""
        found: list[ir.Value] = []
        inside = list(inner_nodes(node))
        for each in (node, *inside):
            for position, value in enumerate(each.inputs):
                if value is not None:
                    found.append(value)
                    each.replace_input_with(position, None)
        self.gone.update(inside)
        return list(dict.fromkeys(found))

    def discard(self, made: Iterable[ir.Node]) -> None:
        """Forget nodes that did not come into the graph, and those in graphs that were made for them."""
        for node in made:
            for position in range(len(node.inputs)):
                node.replace_input_with(position, None)
            for graph in set(bodies_of(node)).difference(self._outer):  # the others are of nodes that stay
                self.discard(graph)

    def sweep(self) -> None:
        """Take the nodes that are gone out of their graphs."""
        by_graph: dict[ir.Graph, list[ir.Node]] = {}
        for node in self.gone:
            if node.graph is not None and not self._is_inside_gone(node.graph):
                by_graph.setdefault(node.graph, []).append(node)
        for graph, nodes in by_graph.items():
            graph.remove(nodes)
        self.gone.clear()

    def living(self, graph: ir.Graph) -> list[ir.Node]:
        """The nodes of a graph without those that are gone, which stand in it until they are swept out."""
        return [node for node in graph if node not in self.gone]

    def _is_inside_gone(self, graph: ir.Graph | None) -> bool:
        while graph is not None and graph in self._outer:
            around = self._outer[graph]
            if around in self.gone:
                return True
            graph = around.graph
        return False

    def _enter(self, node: ir.Node) -> None:
        for graph in bodies_of(node):
            self._outer[graph] = node
            for inner in graph.all_nodes():
                for each in bodies_of(inner):
                    self._outer[each] = inner

    def set_ports(self, graph: ir.Graph, inputs: Sequence[ir.Value], outputs: Sequence[ir.Value]) -> None:
        """Give the graph inside a node other inputs and outputs."""
        graph.inputs[:] = inputs
        graph.outputs[:] = outputs
        self._output_places.pop(graph, None)

    def lift(self, nodes: Sequence[ir.Node], around: ir.Node) -> None:
        """Move nodes of a graph inside a node to the place right before that node; what they read is there already."""
        graph, outer = nodes[0].graph, around.graph
        assert graph is not None
        assert outer is not None
        graph.remove(nodes)
        outer.insert_before(around, nodes)

    def add_function(self, function: ir.Function) -> None:
        """Give the model a function that it does not have."""
        self.model.functions[function.identifier()] = function
        self._functions[function.graph] = function
        self._names.update(names_in(function.graph))
        self.adopt(function.graph)

    def adopt(self, graph: ir.Graph) -> None:
        """Take note of the graphs inside new nodes of a graph."""
        for node in graph:
            self._enter(node)

    def _hand_down(self, made: Sequence[ir.Node], node: ir.Node, removed: Removed) -> None:
        """Let new nodes say where what they stand for was written: all of it."""
        if not made:
            return
        sources: dict[str, None] = {}
        for metadata in removed.metadata:
            for each in sources_in(metadata):
                sources.setdefault(str(each))
        for each in made:
            if each.metadata_props:
                continue  # a copy of a node that says so itself
            each.metadata_props.update(node.metadata_props)
            if len(sources) > 1:
                each.metadata_props[SOURCES_KEY] = stored_sources(list(sources))
        for each in made:
            if not each.meta:
                notes_of(each).update(notes_of(node))
            if not each.name:
                stem = (node.name or "").rpartition("/")[0]
                own = f"{each.op_type.lower()}_{each.outputs[0].name}"
                each.name = self.fresh_name(f"{stem}/{own}" if stem else own)


class Attempt:
    """One try of one rule at one node: the node, what is known around it, and the nodes that the rule makes."""

    __slots__ = ("edit", "functions", "made", "node", "others")

    def __init__(self, edit: Editor, node: ir.Node) -> None:
        self.edit = edit
        self.node = node
        self.made: list[ir.Node] = []
        #: Outputs of other nodes that are replaced as well, and by what.
        self.others: dict[ir.Value, ir.Value] = {}
        #: Functions that the model has now, for what was made.
        self.functions: list[ir.Function] = []

    @property
    def version(self) -> int:
        """The version of the standard opset."""
        return self.edit.version(self.node)

    def input(self, position: int) -> ir.Value | None:
        """An input; None where it is left out."""
        inputs = self.node.inputs
        return inputs[position] if position < len(inputs) else None

    def array(self, position: int, most: int | None = None) -> Array | None:
        """The content of an input that is a constant."""
        return self.edit.array(self.input(position), most)

    def number(self, position: int) -> float | None:
        """The number that an input is."""
        return self.edit.number(self.input(position))

    def numbers(self, position: int) -> tuple[int, ...] | None:
        """The ints of an input that is a small constant."""
        return self.edit.numbers(self.input(position))

    def op(
        self,
        op_type: str,
        *inputs: ir.Value | None,
        like: ir.Value | None = None,
        domain: str = "",
        attributes: Mapping[str, ir.Attr] | None = None,
        **plain: AttributeContent,
    ) -> ir.Value:
        """A new node of one output; `like` is a value that the output has the type and shape of."""
        return self.ops(
            op_type, *inputs, outputs=1, like=(like,), domain=domain, attributes=attributes, **plain
        )[0]

    def ops(
        self,
        op_type: str,
        *inputs: ir.Value | None,
        outputs: int,
        like: Sequence[ir.Value | None] = (),
        domain: str = "",
        attributes: Mapping[str, ir.Attr] | None = None,
        **plain: AttributeContent,
    ) -> Sequence[ir.Value]:
        """A new node with several outputs."""
        given = list(inputs)
        while given and given[-1] is None:
            given.pop()
        held = list(attributes.values()) if attributes else []
        for name, content in plain.items():
            if content is not None:
                held.append(attribute_of(name, content))
        made = ir.Node(domain, op_type, given, held, num_outputs=outputs)
        stem = self.node.outputs[0].name or self.node.op_type
        for value in made.outputs:
            value.name = self.edit.fresh_name(f"{stem}_{op_type.lower()}")
        for value, each in zip(made.outputs, like, strict=False):
            if each is not None:
                value.type, value.shape = each.type, each.shape
        self.made.append(made)
        return made.outputs

    def constant(self, content: Array | Sequence[int] | int, name: str = "constant") -> ir.Value:
        """A constant; ints are INT64."""
        array = content if isinstance(content, np.ndarray) else np.array(content, np.int64)
        return self.tensor(array_to_ir(array), name)

    def like(self, number: float, value: ir.Value) -> ir.Value | None:
        """A scalar of the element type of a value, where that is known."""
        if value.dtype is None:
            return None
        return self.constant(np.array(number, value.dtype.numpy()), "constant")

    def tensor(self, tensor: ir.TensorProtocol, name: str = "constant") -> ir.Value:
        """A constant that a tensor is the content of, as an initializer wherever the graph may have one."""
        edit = self.edit
        if edit.sees_initializers(self.node):
            return edit.shared_constant(tensor, name)
        value = self.op("Constant", value=ir.AttrTensor("value", tensor))
        value.type = ir.TensorType(tensor.dtype)
        value.shape = ir.Shape(dimensions_of(tensor))
        return value


#: Looks at a node and says what shall be read instead of its outputs.
Rule: TypeAlias = Callable[[Attempt], Outcome]


def _each_once(attempt: Attempt, values: Sequence[ir.Value | None]) -> Sequence[ir.Value | None]:
    """The values, with a copy where a new one stands for two outputs: it can have the name of one only."""
    new = {value for node in attempt.made for value in node.outputs}
    seen: set[ir.Value] = set()
    result: list[ir.Value | None] = []
    for value in values:
        if value in new and value in seen:
            value = attempt.op("Identity", value, like=value)
        elif value is not None:
            seen.add(value)
        result.append(value)
    return result


def _port_names(graph: ir.Graph) -> Collection[str | None]:
    return {each.name for each in (*graph.inputs, *graph.outputs)}
