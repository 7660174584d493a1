"""Fills the tables beside a script: what the model says of its values, nodes and graphs and the code does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import onnx_ir as ir

from onnxsmith.decompiling.constants import Constants
from onnxsmith.decompiling.details import Details
from onnxsmith.decompiling.inferring import has_element_type
from onnxsmith.decompiling.node_names import best_rule, name_by_rule
from onnxsmith.errors import DecompileError
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.graphs.notes import QUANTIZATION_KEY, notes_of
from onnxsmith.graphs.origins import SOURCE_KEY
from onnxsmith.graphs.rewriting.scopes import described_node, graphs_of

if TYPE_CHECKING:
    from onnxsmith.decompiling.module_writer import ModuleWriter


class ScriptNotes:
    """The tables of one script, with what values are called in them."""

    def __init__(self, module: ModuleWriter, graph: ir.Graph, constants: Constants) -> None:
        self._module = module
        self._constants = constants
        # The outputs of a function, which the code says nothing of.
        self._own_outputs = set[ir.Value]() if graph is module.model.graph else set(graph.outputs)
        self.details = Details()
        #: The variables that hold values.
        self.names: dict[ir.Value, str] = {}
        #: What a value is called in the tables: its variable, and where a branch assigns it, which one.
        self.keys: dict[ir.Value, str] = {}
        # Constant node -> the places where it stands as a literal, in the order of the code.
        self._constant_uses: dict[ir.Node, list[str]] = {}
        # Attributes that a call cannot say.
        self._unsaid: dict[ir.Node, dict[str, tuple[str, Any]]] = {}
        # Graphs that were written before the node that has them: the attribute that names each, and the graph.
        self._bodies: dict[ir.Node, list[tuple[str, ir.Graph]]] = {}
        self.details.node_rule = best_rule(
            (node.name or "", _first_name(node), node.op_type) for each in graphs_of(graph) for node in each
        )

    def key_of(self, node: ir.Node) -> str:
        """The variable that a node is known by: that of its first output that has one."""
        found = next((self.keys[value] for value in node.outputs if value in self.keys), None)
        if found is None:
            raise DecompileError(
                f"{described_node(node)} has no outputs, and nothing could read what it makes"
            )
        return found

    # -- values ----------------------------------------------------------------------------------------

    def note_name(self, value: ir.Value, variable: str) -> None:
        """A variable holds a value from now on."""
        self.names[value] = self.keys[value] = variable
        if variable != (value.name or ""):
            self.details.values[variable] = value.name or ""

    def note_direct(self, value: ir.Value, outer: ir.Value, attribute: str) -> None:
        """The graph of an attribute makes a value right into the variable of its node's output."""
        variable = self.names[outer]
        key = f"{self.keys[outer]}:{attribute}"
        self.names[value], self.keys[value] = variable, key
        if value.name != variable:
            self.details.values[key] = value.name or ""

    def note_value(self, value: ir.Value) -> None:
        """Keep what is said of an input or output besides its name and type."""
        details, key = self.details, self._value_key(value)
        if value.doc_string:
            details.docs.setdefault(key, value.doc_string)
        if value.metadata_props:
            details.metadata.setdefault(key, dict(sorted(value.metadata_props.items())))
        shape = [] if value.shape is None else [_dimension(each) for each in value.shape]
        if any(
            each < 0 if isinstance(each, int) else each is not None and not each.strip() for each in shape
        ):
            details.shapes[key] = shape
        denoted = [getattr(value.type, "denotation", None) or ""]
        if value.shape is not None:
            denoted += [value.shape.get_denotation(k) or "" for k in range(len(value.shape))]
        if any(denoted):
            details.denotations[key] = denoted
        self._note_quantization(value)

    def note_parameter(self, value: ir.Value) -> None:
        """Keep what is said of an input of a function, whose parameters have no types."""
        kind = type_from_ir(value.type, value.shape)
        if has_element_type(kind):
            self.details.value_types[self.keys[value]] = kind

    def _note_type(self, value: ir.Value) -> None:
        """Keep the type of a value where inference will not find it; the outputs of graphs say theirs."""
        findings = self._module.findings
        if value not in findings.beyond or (value.is_graph_output() and value not in self._own_outputs):
            return
        if has_element_type(findings.types[value]):
            self.details.value_types[self.keys[value]] = findings.types[value]

    def _note_quantization(self, value: ir.Value) -> None:
        quantization = notes_of(value).get(QUANTIZATION_KEY)
        if quantization:
            self.details.quantization[self._value_key(value)] = dict(quantization)

    def _value_key(self, value: ir.Value) -> str:
        if value in self.keys:
            return f"value {self.keys[value]}"
        return f"initializer {value.name}"

    # -- nodes -----------------------------------------------------------------------------------------

    def unsaid(self, node: ir.Node, attribute: ir.Attr) -> None:
        """Keep an attribute of a node that will be noted."""
        self._unsaid.setdefault(node, {})[attribute.name] = (attribute.type.name, list(attribute.value))

    def body(self, node: ir.Node, attribute: str, graph: ir.Graph) -> None:
        """Keep a graph of a node that will be noted."""
        self._bodies.setdefault(node, []).append((attribute, graph))

    def note_node(self, node: ir.Node) -> None:
        """Keep what is said of a node whose outputs have variables."""
        details, key = self.details, self.key_of(node)
        name = node.name or ""
        if name_by_rule(details.node_rule, _first_name(node), node.op_type) != name:
            details.nodes[key] = name
        if node.doc_string:
            details.docs[key] = node.doc_string
        for attribute in node.attributes.values():
            if attribute.doc_string:
                details.docs[f"{key}.{attribute.name}"] = attribute.doc_string
            if attribute.type == ir.AttributeType.TENSORS and not attribute.is_ref():
                for position, tensor in enumerate(attribute.as_tensors()):
                    if tensor.name:
                        details.tensors[f"{key}.{attribute.name}.{position}"] = tensor.name
            if attribute.type == ir.AttributeType.TENSOR and not attribute.is_ref():
                name = cast(ir.TensorProtocol, attribute.value).name
                if name:
                    details.tensors[f"{key}.{attribute.name}"] = name
        for value in node.outputs:
            if value in self.keys:
                self.note_value(value)
                self._note_type(value)
        notes = {name: text for name, text in sorted(node.metadata_props.items()) if name != SOURCE_KEY}
        if notes:
            details.metadata[key] = notes
        self._note_literals(node, key)
        if node in self._unsaid:
            details.attributes[key] = self._unsaid.pop(node)
        for attribute, graph in self._bodies.pop(node, ()):
            self.note_graph(f"{key}:{attribute}", graph)

    def _note_literals(self, node: ir.Node, key: str) -> None:
        for position, value in enumerate(node.inputs):
            inline = None if value is None or value in self.names else self._constants.inline(value)
            if inline is None or value is None:
                continue
            place = f"{key}[{position}]"
            if inline.node is None:
                self.details.literals[place] = value.name or ""
            else:
                self._constant_uses.setdefault(inline.node, []).append(place)

    def note_order(self, nodes: Sequence[ir.Node]) -> None:
        """Note the Constant nodes that stand in the code as literals, in their order, and where each belongs."""
        following = ""
        entries: list[tuple[str, tuple[str, ...]]] = []
        for node in reversed(nodes):
            uses = self._constant_uses.get(node)
            if uses is None:
                following = self.key_of(node)
                continue
            names = (node.outputs[0].name or "", node.name or "")
            tensor = cast(ir.TensorProtocol, node.attributes["value"].value)
            if tensor.name:
                self.details.tensors[f"constant {names[0]}"] = tensor.name
            first = uses[0].rpartition("[")[0]
            entry = names if first == following else (*names, following)
            entries += [(place, entry) for place in reversed(uses)]
        self.details.constants.update(reversed(entries))

    # -- graphs ----------------------------------------------------------------------------------------

    def note_outputs(self, graph: ir.Graph) -> None:
        """Keep what is said of the outputs of a graph."""
        for value in graph.outputs:
            self.note_value(value)

    def note_graph(self, key: str, graph: ir.Graph) -> None:
        """Keep what is said of a graph inside another."""
        details = self.details
        details.graphs[key] = graph.name or ""
        if graph.doc_string:
            details.docs[f"graph {key}"] = graph.doc_string
        if graph.metadata_props:
            details.metadata[f"graph {key}"] = dict(sorted(graph.metadata_props.items()))
        if graph.initializers:
            details.local[key] = list(graph.initializers)
            self.note_unused(key, graph)

    def note_unused(self, key: str, graph: ir.Graph) -> None:
        """Keep the initializers of a graph that the code does not mention."""
        unused = [
            self._module.weight_key(value, self.details)
            for value in graph.initializers.values()
            if value not in self._module.mentioned
            and value not in self.names
            and self._constants.inline(value) is None
        ]
        if unused:
            self.details.unused[key] = unused

    def keep(self, value: ir.Value) -> None:
        """Keep a value that the code does not mention among the weights, if it is an initializer."""
        if value.producer() is None and value.const_value is not None:
            self._module.weight_key(value, self.details)


def _dimension(each: Any) -> Any:
    return each if isinstance(each, int) else each.value


def _first_name(node: ir.Node) -> str:
    return next((value.name for value in node.outputs if value.name), "")
