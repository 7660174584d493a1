"""Gives a graph that a script made, and the graphs inside it, the names and notes that the tables of `rebuild` hold."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import onnx_ir as ir

from onnxsmith.decompiling.node_names import name_by_rule
from onnxsmith.decompiling.restored_constants import RestoredConstants
from onnxsmith.decompiling.restored_keys import (
    give_keys,
    is_fresh,
    key_of_node,
    key_of_value,
    keys_by_variable,
)
from onnxsmith.graphs.ir_types import type_to_ir
from onnxsmith.graphs.notes import QUANTIZATION_KEY, VARIABLE_KEY, notes_of
from onnxsmith.graphs.origins import SOURCE_KEY
from onnxsmith.graphs.rewriting.scopes import graphs_of, named_bodies
from onnxsmith.graphs.weights import Weights
from onnxsmith.types.annotations import read_value_type


def restore_graph(
    graph: ir.Graph, tables: Mapping[str, Any], *, sources: bool, weights: Weights | None = None
) -> None:
    """Restore a graph; `sources` says whether nodes keep the place in the source that they came from."""
    _Restorer(graph, tables, sources, weights).run()


def restore_notes(value: ir.Value, key: str, tables: Mapping[str, Any]) -> None:
    """Give a value what the tables say of it besides its name."""
    value.doc_string = tables.get("docs", {}).get(key) or value.doc_string
    value.metadata_props.update(tables.get("metadata", {}).get(key, {}))
    if key in tables.get("quantization", {}):
        notes_of(value)[QUANTIZATION_KEY] = dict(tables["quantization"][key])
    if key in tables.get("shapes", {}):
        value.shape = ir.Shape(tables["shapes"][key])
    if key in tables.get("denotations", {}):
        said, *dimensions = tables["denotations"][key]
        if value.type is not None:
            kind = copy.copy(value.type)
            kind.denotation = said or None
            value.type = kind
        if value.shape is not None:
            value.shape = ir.Shape(list(value.shape), denotations=[each or None for each in dimensions])


class _Restorer:
    def __init__(
        self, graph: ir.Graph, tables: Mapping[str, Any], sources: bool, weights: Weights | None
    ) -> None:
        self._graph = graph
        self._tables = tables
        self._sources = sources
        self._values: Mapping[str, str] = tables.get("values", {})
        self._nodes: Mapping[str, str] = tables.get("nodes", {})
        self._rule: str = tables.get("node_rule", "")
        self._graphs: Mapping[str, str] = tables.get("graphs", {})
        self._types: Mapping[str, Sequence[Any]] = tables.get("types", {})
        self._loop_notes: Mapping[str, Mapping[str, Any]] = tables.get("loops", {})
        self._docs: Mapping[str, str] = tables.get("docs", {})
        self._metadata: Mapping[str, Mapping[str, str]] = tables.get("metadata", {})
        self._attributes: Mapping[str, Mapping[str, Sequence[Any]]] = tables.get("attributes", {})
        self._tensors: Mapping[str, str] = tables.get("tensors", {})
        self._constants = RestoredConstants(graph, tables, weights)
        self._loops = RestoredLoops()
        # Graphs inside of nodes, and what the tables call them.
        self._inner: list[tuple[ir.Graph, str]] = []
        # Values that are named by their variables.
        self._implicit: set[ir.Value] = set()
        self._seen: set[str] = set()
        self._taken: set[str] = set()

    def run(self) -> None:
        self._graph.doc_string = self._docs.get("") or self._graph.doc_string
        self._graph.metadata_props.update(self._metadata.get("", {}))
        self._visit(self._graph, "", "", {})
        self._constants.finish()
        for graph in graphs_of(self._graph):
            self._tell_apart(graph)
        self._loops.connect(self._graph)
        for graph, prefix in self._inner:  # the output of a loop may be another value by now
            self._declare(graph, prefix)

    def _visit(self, graph: ir.Graph, prefix: str, attribute: str, owners: Mapping[str, str]) -> None:
        """Restore one graph, which the tables call `prefix`; see `give_keys` for the others."""
        self._constants.enter(graph, prefix)
        give_keys(graph, attribute, owners, self._seen)
        for value in graph.inputs:
            self._name_value(value)
        nodes = list(graph)
        for node in nodes:
            self._restore_node(graph, node, key_of_node(node))
        self._constants.leave(graph, prefix, nodes)

    def _name_value(self, value: ir.Value) -> None:
        key = key_of_value(value)
        if key is None:
            return
        if is_fresh(value):
            value.name = self._fresh_name(notes_of(value)[VARIABLE_KEY])
            return
        named = self._values.get(key)
        value.name = named if named is not None else notes_of(value)[VARIABLE_KEY]
        if named is None:
            self._implicit.add(value)
        restore_notes(value, f"value {key}", self._tables)

    def _fresh_name(self, variable: str) -> str:
        """A name for an earlier value of a variable: the variable's with a number that nothing else has."""
        if not self._taken:
            tables = (self._values, self._tables.get("literals", {}), self._tables.get("weights", {}))
            self._taken.update(name for table in tables for name in table.values())
            self._taken.update(output for output, *_ in self._tables.get("constants", {}).values())
            values = [value for graph in graphs_of(self._graph) for node in graph for value in node.outputs]
            self._taken.update(notes_of(value).get(VARIABLE_KEY, "") for value in values)
            self._taken.update(self._graph.initializers)
        count = 1
        while f"{variable}_{count}" in self._taken:
            count += 1
        self._taken.add(f"{variable}_{count}")
        return f"{variable}_{count}"

    def _tell_apart(self, graph: ir.Graph) -> None:
        """Where an edited variable is called like something else of the same graph, its value gets another name."""
        made = [value for node in graph for value in node.outputs if value.name]
        values = dict.fromkeys([*graph.inputs, *graph.initializers.values(), *made])
        taken = {value.name for value in values if value not in self._implicit}
        for value in values:
            if value in self._implicit:
                while value.name in taken:
                    value.name = f"{value.name}_"
                taken.add(value.name)

    def _restore_node(self, graph: ir.Graph, node: ir.Node, key: str) -> None:
        self._constants.restore(graph, node, key)
        first = ""
        for value in node.outputs:
            if notes_of(value).get(VARIABLE_KEY) == "_":
                value.name = ""
            else:
                self._name_value(value)
            first = first or value.name or ""
        _drop_missing_outputs(node)
        if not self._sources:
            origin = node.metadata_props.pop(SOURCE_KEY, None)
            if origin is not None:  # the file says nothing; this process still knows
                notes_of(node)[SOURCE_KEY] = origin
        node.name = self._nodes.get(key, name_by_rule(self._rule, first, node.op_type))
        node.doc_string = self._docs.get(key) or None
        node.metadata_props.update(self._metadata.get(key, {}))
        self._restore_attributes(node, key)
        self._restore_bodies(node, key)

    def _restore_attributes(self, node: ir.Node, key: str) -> None:
        for name, (kind, value) in self._attributes.get(key, {}).items():
            node.attributes[name] = ir.Attr(name, ir.AttributeType[kind], tuple(value))
        for each in list(node.attributes.values()):
            place = f"{key}.{each.name}"
            if each.type == ir.AttributeType.TENSOR and not each.is_ref():
                cast(ir.TensorProtocol, each.value).name = self._tensors.get(place, "")  # mostly none
            if each.type == ir.AttributeType.TENSORS and not each.is_ref():
                for position, tensor in enumerate(each.as_tensors()):
                    tensor.name = self._tensors.get(f"{place}.{position}", "")
            doc = self._docs.get(place)
            if doc:
                node.attributes[each.name] = (
                    ir.RefAttr(each.name, each.ref_attr_name or "", each.type, doc)
                    if each.is_ref()
                    else ir.Attr(each.name, each.type, each.value, doc_string=doc)
                )

    def _restore_bodies(self, node: ir.Node, key: str) -> None:
        for name, called, graph in named_bodies(node):
            prefix = f"{key}:{called}"
            graph.name = self._graphs.get(prefix, graph.name)
            graph.doc_string = self._docs.get(f"graph {prefix}") or None
            graph.metadata_props.update(self._metadata.get(f"graph {prefix}", {}))
            self._visit(graph, prefix, name, keys_by_variable(node))
            if key in self._loop_notes and name == "body":
                self._loops.restore(node, graph, self._loop_notes[key])
            self._inner.append((graph, prefix))

    def _declare(self, graph: ir.Graph, prefix: str) -> None:
        """Give the outputs of a graph the types that the code has no place for."""
        kinds = self._types.get(prefix, ())
        if len(kinds) != len(graph.outputs):
            return  # an edit has given it others
        for value, kind in zip(graph.outputs, kinds, strict=True):
            if value.is_graph_input():
                continue  # it has been said what it is
            if kind is not None:
                value.type, value.shape = type_to_ir(read_value_type(kind))
                restore_notes(value, f"value {key_of_value(value)}", self._tables)
            elif value.producer() is not None and value.graph is graph:
                value.type = value.shape = None


def _drop_missing_outputs(node: ir.Node) -> None:
    count = len(node.outputs)
    while count > 1 and not node.outputs[count - 1].name:
        count -= 1
    if count < len(node.outputs):
        node.resize_outputs(count)


# -- restored loops --------------------------------------------------------------------------------------------
# Puts back what the statement of a loop does not say: the inputs of its body, and how its condition goes on.


class RestoredLoops:
    """The loops of one graph and the graphs inside it."""

    def __init__(self) -> None:
        # What is to be done with a value, and its name.
        self._later: list[tuple[Callable[[ir.Value], object], str]] = []

    def restore(self, node: ir.Node, body: ir.Graph, notes: Mapping[str, Any]) -> None:
        """Restore one loop; `notes` are its entry in the table of loops."""
        # Where an edit has given it another number of variables, none of them is sure to be the one of before.
        if len(body.inputs) == len(notes["inputs"]):
            for value, name, kind in zip(body.inputs, notes["inputs"], notes["types"], strict=True):
                declared = (None, None) if kind is None else type_to_ir(read_value_type(kind))
                if value.type is None or declared[0] is None or value.type == declared[0]:
                    value.name, (value.type, value.shape) = name, declared
        if "start" in notes:
            self._later.append((lambda value: node.replace_input_with(1, value), notes["start"]))
        # A jump that was added to the loop decides whether it goes on.
        goes_on = len(body.inputs) > 1 and body.outputs[0] is body.inputs[1]
        if "constant" in notes and goes_on:
            self._later.append((lambda value: body.outputs.__setitem__(0, value), notes["constant"]))
        if "left_by" in notes:
            leaving = body.outputs[0].producer()
            is_made = leaving is not None and leaving.op_type == "Not"
            if is_made and leaving is not None and key_of_value(leaving.outputs[0]) is None:
                leaving.outputs[0].name, leaving.name = notes["left_by"]
        if "passed_on" in notes and goes_on:
            self._pass_on(body, *notes["passed_on"])

    def _pass_on(
        self, body: ir.Graph, output: str, name: str, before: str, source: str | None = None
    ) -> None:
        """Add the node that makes the condition of the next iteration.

        It passes on the condition that it was given, or the value that `source` names; where that is no name, the
        node is a Constant. It comes before the node of the variable `before`, or at the end.
        """
        old = body.outputs[0]
        result = ir.Value(name=output, type=old.type, shape=old.shape)
        if source == "":
            truth = ir.Attr("value", ir.AttributeType.TENSOR, ir.tensor(np.array(True)))
            passing = ir.Node("", "Constant", [], [truth], outputs=[result], name=name)
        else:
            passing = ir.Node("", "Identity", [body.inputs[1]], outputs=[result], name=name)
        if source:
            self._later.append((lambda value: passing.replace_input_with(0, value), source))
        following = next((each for each in body if key_of_node(each) == before), None) if before else None
        if following is None:
            body.append(passing)
        else:
            body.insert_before(following, passing)
        body.outputs[0] = result

    def connect(self, graph: ir.Graph) -> None:
        """Give loops the conditions that other places make, once all values have their names."""
        if not self._later:
            return
        found: dict[str, ir.Value] = {}
        for each in graphs_of(graph):
            made = (value for node in each for value in node.outputs)
            for value in (*each.inputs, *each.initializers.values(), *made):
                found.setdefault(value.name or "", value)
        for use, name in self._later:
            if name in found:
                use(found[name])
