"""Parts of a graph cut out: each becomes a call of a function, and parts with equal bodies share one.

Decides nothing about which nodes belong together: that is a criterion, which hands in parts. Works in place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import onnx_ir as ir

from onnxsmith.graphs.edits import Edit
from onnxsmith.graphs.function import FUNCTION_DOMAIN_VERSION
from onnxsmith.graphs.identifiers import Identifiers
from onnxsmith.graphs.names import Names
from onnxsmith.graphs.notes import notes_of
from onnxsmith.graphs.rewriting.scopes import bodies_of, roots_of
from onnxsmith.passes.edits import EditLog, noted, noted_graph
from onnxsmith.passes.outlining.cycles import without_cycles
from onnxsmith.passes.outlining.labels import Labels
from onnxsmith.passes.outlining.part import Part, Scope, by_height
from onnxsmith.passes.outlining.repetition import Repetition, shared
from onnxsmith.passes.outlining.wiring import Segment, Wiring, is_in_order

#: The domain of functions that are nobody else's.
OWN_DOMAIN = "this"
#: The first IR version with local functions.
_FUNCTIONS_SINCE = 8
_PASS = "outlining"


@dataclass(frozen=True, slots=True)
class Naming:
    """The names that a criterion gives."""

    #: Domain and name that a function for parts that share it shall have; another one may have the name already.
    function_name: Callable[[Sequence[Part]], tuple[str, str]]
    #: Where nodes stand among the modules of the model, as far as that is known.
    scopes: Mapping[ir.Node, Scope] = field(default_factory=dict[ir.Node, Scope])


def cut_out(
    model: ir.Model,
    parts: Sequence[Part],
    naming: Naming,
    log: EditLog | None = None,
    wiring: Wiring | None = None,
) -> None:
    """Put calls of functions in the place of parts of the main graph, the innermost first.

    The nodes stand after what they use, and no node is in two parts unless one is inside the other. Where a part cannot
    be one call, because something between its nodes needs some and is needed by others, it becomes several; one that
    gives nothing stays as it is. Inputs of a function are what its nodes read from outside, values that are computed
    first; weights are among them, and differ from call to call. A constant is inside where it is small and all calls
    have it, and otherwise an input as well. `wiring` is that of the graph, where a criterion has made it already.
    """
    _Outliner(model, naming, log).run(parts, wiring)


class _Outliner:
    def __init__(self, model: ir.Model, naming: Naming, log: EditLog | None) -> None:
        self.model = model
        self.graph = model.graph
        self.naming = naming
        self.log = log
        self.labels = Labels()
        self.scopes = dict(naming.scopes)
        #: The nodes of a part when it was cut out, and the calls that nodes have gone into.
        self.cut: dict[Part, list[ir.Node]] = {}
        self.calls: dict[ir.Node, ir.Node] = {}
        self.function_names: dict[str, Identifiers] = {}
        roots = roots_of(model)
        #: Domains and names of the operators that nodes have, and of functions.
        self.operators = {(node.domain, node.op_type) for root in roots for node in root.all_nodes()}
        self.operators.update((each.domain, each.name) for each in model.functions.values())
        self.node_names = Names()
        self.node_names.reserve(node.name for node in model.graph.all_nodes() if node.name)
        #: Constants that functions have now.
        self.constants: dict[ir.Value, None] = {}

    def run(self, parts: Sequence[Part], known: Wiring | None) -> None:
        for same_height in by_height(parts):
            self._cut(same_height, known or Wiring(self.graph, self.labels))
            known = None
            # Who reads a part may stand between its nodes, and the call stands at their end.
            if not is_in_order(self.graph):
                self.graph.sort()
        self._forget_constants()

    def _cut(self, parts: Sequence[Part], wiring: Wiring) -> None:
        """Parts that have no nodes in common, and whose inner ones are calls already."""
        places = [self._places(wiring, part) for part in parts]
        groups: defaultdict[Hashable, list[tuple[Segment, Part]]] = defaultdict(list)
        for part, pieces in zip(parts, without_cycles(wiring, places), strict=True):
            for nodes in pieces:
                if len(nodes) >= part.fewest and wiring.gives_something(nodes):
                    segment = wiring.segment(nodes, part.scope)
                    groups[part.kind, segment.key].append((segment, part))
        replaced: dict[ir.Value, ir.Value] = {}
        for group in sorted(groups.values(), key=lambda each: min(min(segment.nodes) for segment, _ in each)):
            self._replace(wiring, group, replaced)

    def _places(self, wiring: Wiring, part: Part) -> list[int]:
        inner = [self.calls.get(node, node) for each in part.inner for node in self.cut[each]]
        self.cut[part] = list(dict.fromkeys([*part.nodes, *inner]))
        found = (wiring.place.get(node) for node in self.cut[part])
        return sorted(place for place in found if place is not None and place not in wiring.tied)

    def _replace(
        self, wiring: Wiring, group: Sequence[tuple[Segment, Part]], replaced: dict[ir.Value, ir.Value]
    ) -> None:
        """One function for isomorphic segments, and calls of it. `replaced` has what earlier calls gave instead."""
        group = sorted(group, key=lambda each: min(each[0].nodes))
        imports = self.model.opset_imports
        repetition = Repetition(wiring, [segment for segment, _ in group], self.scopes, imports)
        function = repetition.function(*self._function_name([part for _, part in group]))
        self.model.functions[function.identifier()] = function
        imports.setdefault(function.domain, FUNCTION_DOMAIN_VERSION)
        self.model.ir_version = max(self.model.ir_version, _FUNCTIONS_SINCE)
        self.constants.update(dict.fromkeys(repetition.constants()))
        if self.log is not None:
            body = noted_graph(function.graph, (function.name,))
            self.log.add(Edit(_PASS, f"function {function.name}", (), tuple(body)))
        for number, (segment, part) in enumerate(group):
            nodes = [wiring.nodes[k] for k in sorted(segment.nodes)]
            before = () if self.log is None else tuple(noted(node) for node in nodes)
            call = ir.Node(
                function.domain,
                function.name,
                [replaced.get(each, each) for each in repetition.arguments(number)],
                num_outputs=len(repetition.results),
                name=self.node_names.unique(".".join(part.scope)) if part.scope else "",
                metadata_props=shared([each.metadata_props for each in nodes]),
            )
            self.graph.insert_after(nodes[-1], call)
            for (place, index), new in zip(repetition.results, call.outputs, strict=True):
                old = wiring.nodes[segment.nodes[place]].outputs[index]
                _take_over(old, new)
                replaced[old] = new
            _detach(nodes)
            self.graph.remove(nodes, safe=True)
            self.calls.update(dict.fromkeys(nodes, call))
            self.scopes[call] = part.scope
            if self.log is not None:
                self.log.add(Edit(_PASS, f"call of {function.name}", before, (noted(call),)))

    def _function_name(self, parts: Sequence[Part]) -> tuple[str, str]:
        domain, name = self.naming.function_name(list(dict.fromkeys(parts)))
        if domain not in self.function_names:
            self.function_names[domain] = Identifiers(self._taken_names(domain))
        return domain, self.function_names[domain].unique(name)

    def _taken_names(self, domain: str) -> set[str]:
        """Names that no new function of a domain may have."""
        if domain != OWN_DOMAIN:
            return {name for own, name in self.operators if own == domain}
        # As Python these are functions beside each other: one name for two would have to be told apart there.
        return {name for _, name in self.operators} | {self.graph.name or ""}

    def _forget_constants(self) -> None:
        """Remove the constants that nothing but the functions uses: they have them now."""
        for value in self.constants:
            producer = value.producer()
            if value.uses() or value.is_graph_output():
                continue
            if producer is None:
                self.graph.initializers.pop(value.name or "", None)
            elif producer.graph is self.graph:
                if self.log is not None:
                    self.log.add(Edit(_PASS, "constant of functions", (noted(producer),), ()))
                self.graph.remove(producer, safe=True)


def _take_over(old: ir.Value, new: ir.Value) -> None:
    """Give a value's place in the graph, its name, its type and its notes to another."""
    new.name, new.type, new.shape = old.name, old.type, old.shape
    new.doc_string = old.doc_string
    new.metadata_props.update(old.metadata_props)
    notes_of(new).update(notes_of(old))
    old.replace_all_uses_with(new, replace_graph_outputs=True)


def _detach(nodes: Sequence[ir.Node]) -> None:
    """Let what is inside nodes use nothing any more: removing them does not see to that."""
    for node in nodes:
        for graph in bodies_of(node):
            for inner in graph.all_nodes():
                for position in range(len(inner.inputs)):
                    inner.replace_input_with(position, None)
