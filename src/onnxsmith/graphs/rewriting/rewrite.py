"""Apply rules to every node of a model: main graph, bodies, and functions, each called copy on its own types.

A model that no rule could concern is given back as it is, the same object. Otherwise the result is a new model; the
given one is not changed. Each node is looked at once: what a rule emits is not given to rules again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, MutableSequence, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import onnx
from onnx import helper

from onnxsmith.graphs.edits import Edit, NodeNote
from onnxsmith.graphs.origin_keys import SOURCE_KEY
from onnxsmith.graphs.rewriting.copies import copied, copied_nodes, replace_nodes, take_places
from onnxsmith.graphs.rewriting.emitter import EMITTED_DOMAINS, Emitter, FreshNames
from onnxsmith.graphs.rewriting.followed_sizes import can_follow_sizes
from onnxsmith.graphs.rewriting.inference_traps import infer, without_traps
from onnxsmith.graphs.rewriting.scopes import (
    FunctionKey,
    all_nodes,
    function_key,
    functions_of,
    functions_that_use,
    inner_graphs,
    operator_key,
    opset_versions,
    plain_domain,
    value_names,
)
from onnxsmith.graphs.rewriting.site import Array, Scope, Site
from onnxsmith.graphs.rewriting.unfolding import is_past_measure
from onnxsmith.schema.registry import default_opset_version

#: How deep functions may call functions: each takes a few frames of Python's stack.
_MOST_CALLS = 200


#: What the records call it.
PASS_NAME = "runtime"


class TooDeep(Exception):
    """Functions call functions deeper than can be followed, or themselves."""


#: Looks at a node; gives (rule, reason) of what it changed, whose nodes are in the site's emitter, or nothing.
Rule: TypeAlias = Callable[[Site], Sequence[tuple[str, str]]]
#: The content of an initializer by its name; None where it cannot be had.
ReadWeight: TypeAlias = Callable[[str], Array | None]
#: Rules by domain and operator.
Rules: TypeAlias = Mapping[tuple[str, str], Rule]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The model after the rules, and what they changed."""

    model: onnx.ModelProto
    edits: tuple[Edit, ...] = field(default=())


def rewrite(
    model: onnx.ModelProto,
    rules: Rules,
    weights: ReadWeight | None = None,
    *,
    mark: str | None = None,
    believes_shapes: bool = False,
) -> Rewritten:
    """Apply rules to a model. `weights` gives the initializers of the main graph whose content stands elsewhere.

    `believes_shapes` is for models of our own making, whose shapes inside are right. `mark` is the key of metadata that
    emitted nodes get, with the names of the rules, where a rule could concern them; nodes that have it are left alone.
    """
    functions = functions_of(model)
    concerned = functions_that_use(functions, rules) if functions else set[FunctionKey]()
    for node in all_nodes(model.graph.node):
        key = function_key(node) if functions else None
        if key in concerned or (key not in functions and operator_key(node) in rules):
            break
    else:
        return Rewritten(model)
    run = _Run(model, rules, functions, concerned, weights or (lambda _: None), mark)
    run.believes_shapes = believes_shapes
    return run.result()


class _Run:
    """One application of rules to one model."""

    def __init__(
        self,
        model: onnx.ModelProto,
        rules: Rules,
        functions: Mapping[FunctionKey, onnx.FunctionProto],
        concerned: set[FunctionKey],
        weights: ReadWeight,
        mark: str | None,
    ) -> None:
        self._given = model
        self._rules = rules
        self._functions = functions
        self._concerned = concerned
        self._weights = weights
        self._mark = mark
        #: Whether the shapes that the model declares inside are right.
        self.believes_shapes = False
        self._names = FreshNames([*value_names(model), *(each.name for each in model.functions)])
        self._edits: list[Edit] = []
        # Edits, and calls that go to a copy.
        self._changes = 0
        # (function, types of its inputs, attributes) -> its copy and what calls it.
        self._copies: dict[tuple[FunctionKey, bytes], onnx.FunctionProto | None] = {}

    def result(self) -> Rewritten:
        model = copied(self._given)
        inferred = _Inferred(
            functools.partial(inferred_graph, self._given, believes_shapes=self.believes_shapes)
        )
        self._graph(model.graph, inferred, None, _with_standard(model.opset_import), (), 0)
        if not self._edits:
            return Rewritten(self._given)
        copies: dict[FunctionKey, list[onnx.FunctionProto]] = {}
        for (key, _), copy in self._copies.items():
            if copy is not None:
                copies.setdefault(key, []).append(copy)
        if copies:
            model.functions.extend(each for group in copies.values() for each in group)
            take_places(model, {key: group[0].name for key, group in copies.items() if len(group) == 1})
        _import_emitted(model.opset_import, model.graph.node)
        for function in model.functions:
            _import_emitted(function.opset_import, function.node)
            # What functions import, the model imports, too.
            _import_emitted(model.opset_import, function.node)
        return Rewritten(model, tuple(self._edits))

    def _graph(
        self,
        graph: onnx.GraphProto,
        inferred: _Inferred,
        outer: Scope | None,
        versions: Mapping[str, int],
        path: tuple[str, ...],
        depth: int,
    ) -> None:
        """Rewrite a graph where it stands. `inferred` is the same graph, with what inference finds."""
        scope = Scope(inferred.graph, outer, graph.node)
        if outer is None:
            for info in graph.input:
                scope.types[info.name] = info.type
        held = {each.name: each for each in graph.initializer}
        replaceable = {each.name for each in graph.input}
        for name in replaceable:
            scope.hold(name, None)
        for name, tensor in held.items():
            if name not in scope.types:
                scope.types[name] = onnx.helper.make_tensor_type_proto(tensor.data_type, list(tensor.dims))
            if name in replaceable:
                continue
            is_elsewhere = tensor.data_location == onnx.TensorProto.EXTERNAL
            scope.hold(name, functools.partial(self._weights, name) if is_elsewhere else tensor)
        nodes = self._nodes(graph.node, inferred, scope, versions, path, depth)
        if nodes is not None:
            replace_nodes(graph.node, nodes)

    def _nodes(
        self,
        nodes: Sequence[onnx.NodeProto],
        inferred: _Inferred,
        scope: Scope,
        versions: Mapping[str, int],
        path: tuple[str, ...],
        depth: int,
    ) -> list[onnx.NodeProto] | None:
        """The nodes with rules applied; None when all of them stay as they are, but for what is inside their bodies."""
        result: list[onnx.NodeProto] = []
        is_changed = False
        for place, node in enumerate(nodes):
            if node.op_type == "Constant" and not plain_domain(node.domain):
                scope.note_constant_node(node)
            for number, graph in enumerate(inner_graphs(node)):
                inner = inferred.inner(place, number)
                self._graph(graph, inner, scope, versions, (*path, node.name or node.op_type), depth)
            key = function_key(node)
            if key in self._functions:
                if key in self._concerned:
                    self._retarget(node, key, scope, path, depth)
                result.append(node)
                continue
            domain = plain_domain(node.domain)
            rule = self._rules.get((domain, node.op_type))
            if rule is None or self._is_marked(node):
                result.append(node)
                continue
            stem = next(filter(None, node.output), node.op_type)
            emit = Emitter(versions.get("", 1), self._names, stem, node.name)
            site = Site(node, versions.get(domain, 1), scope, emit, self._reachable)
            changes = rule(site)
            if changes:
                is_changed = True
                scope.made.update(site.made)
                emitted = [*site.ahead, *emit.nodes]
                for each in emitted:
                    if not each.metadata_props:  # says where the node was written, if anything does
                        each.metadata_props.extend(node.metadata_props)
                rules = ", ".join(name for name, _ in changes)
                self._put_mark(emitted, rules)
                self._note(node, emitted, rules, "; ".join(reason for _, reason in changes), path)
                result.extend(emitted)
            else:
                result.append(node)
        return result if is_changed else None

    def _note(
        self,
        node: onnx.NodeProto,
        emitted: Iterable[onnx.NodeProto],
        rules: str,
        reason: str,
        path: tuple[str, ...],
    ) -> None:
        made = tuple(noted_proto(each, path) for each in emitted)
        self._edits.append(Edit(PASS_NAME, rules, (noted_proto(node, path),), made, reason=reason))
        self._changes += 1

    def _is_marked(self, node: onnx.NodeProto) -> bool:
        return self._mark is not None and any(each.key == self._mark for each in node.metadata_props)

    def _put_mark(self, nodes: Iterable[onnx.NodeProto], rules: str) -> None:
        if self._mark is None:
            return
        for node in all_nodes(nodes):
            if operator_key(node) in self._rules and not self._is_marked(node):
                node.metadata_props.add(key=self._mark, value=rules)

    def _retarget(
        self, node: onnx.NodeProto, key: FunctionKey, scope: Scope, path: tuple[str, ...], depth: int
    ) -> None:
        """Let a node call a copy of its function, rewritten for the types and attributes of this call."""
        if depth >= _MOST_CALLS:
            raise TooDeep(f"functions call functions more than {_MOST_CALLS} deep")
        types = [scope.type_of(name) or onnx.TypeProto() for name in node.input]
        known = ["" if not each else "fixed" if scope.may_be_fixed(each) else "x" for each in node.input]
        call = onnx.NodeProto(attribute=node.attribute, input=known)
        signature = b"".join(each.SerializeToString() + b";" for each in types) + call.SerializeToString()
        if (key, signature) not in self._copies:
            self._copies[key, signature] = None  # stands for itself while it is made, should it call itself
            self._copies[key, signature] = self._copy(key, call, types, (*path, key[1]), depth)
        copy = self._copies[key, signature]
        if copy is not None:
            self._changes += 1
            node.op_type = copy.name
            node.overload = ""
            del node.attribute[:]

    def _copy(
        self,
        key: FunctionKey,
        call: onnx.NodeProto,
        types: Sequence[onnx.TypeProto],
        path: tuple[str, ...],
        depth: int,
    ) -> onnx.FunctionProto | None:
        """The function for one way to call it, rewritten; None when no rule changes anything in it.

        The inputs of `call` say which are "fixed": those that follow from constants.
        """
        copy = copied(self._functions[key])
        given = {each.name: each for each in copy.attribute_proto}
        given.update((each.name, each) for each in call.attribute)
        replace_nodes(copy.node, copied_nodes(copy.node, {}, given))
        del copy.attribute[:]
        del copy.attribute_proto[:]
        graph = onnx.GraphProto(name=copy.name)
        graph.node.extend(copy.node)
        for name, proto in zip(copy.input, types, strict=False):
            if proto.WhichOneof("value"):
                graph.input.append(onnx.ValueInfoProto(name=name, type=proto))
        graph.output.extend(onnx.ValueInfoProto(name=name) for name in copy.output)
        around = onnx.ModelProto(
            ir_version=max(self._given.ir_version, 8),
            graph=graph,
            opset_import=copy.opset_import,
            functions=self._reachable(copy.node),
        )
        before = self._changes
        inferred = _Inferred(functools.partial(inferred_graph, around, believes_shapes=self.believes_shapes))
        fixed = {name for name, given in zip(copy.input, call.input, strict=False) if given == "fixed"}
        scope = Scope(inferred.graph, None, copy.node, fixed)
        for info in graph.input:
            scope.types[info.name] = info.type
        nodes = self._nodes(copy.node, inferred, scope, _with_standard(copy.opset_import), path, depth + 1)
        if nodes is not None:
            replace_nodes(copy.node, nodes)
        if self._changes == before:
            return None
        # Named apart, and not told apart by an overload: IR versions before 10 have none.
        copy.name = self._names.after(copy.name)
        copy.overload = ""
        return copy

    def _reachable(self, nodes: Iterable[onnx.NodeProto]) -> list[onnx.FunctionProto]:
        """The functions that nodes call, and those that these call; copies that were made are among them."""
        if not self._functions:
            return []
        copies = {(each.domain, each.name, ""): each for each in self._copies.values() if each is not None}
        found: dict[FunctionKey, onnx.FunctionProto] = {}
        waiting: list[Iterable[onnx.NodeProto]] = [nodes]
        while waiting:
            for node in all_nodes(waiting.pop()):
                key = function_key(node)
                function = self._functions.get(key) or copies.get(key)
                if function is not None and key not in found:
                    found[key] = function
                    waiting.append(function.node)
        return list(found.values())


def _import_emitted(
    imports: MutableSequence[onnx.OperatorSetIdProto], nodes: Iterable[onnx.NodeProto]
) -> None:
    """Import the domains of emitted nodes that are not imported yet."""
    imported = {plain_domain(each.domain) for each in imports}
    used = {each.domain for each in all_nodes(nodes)}
    for domain in sorted(used & EMITTED_DOMAINS.keys() - imported):
        imports.append(helper.make_opsetid(domain, EMITTED_DOMAINS[domain]))


class _Inferred:
    """A graph as inference leaves it, worked out when it is first asked for."""

    def __init__(self, make: Callable[[], onnx.GraphProto]) -> None:
        self.graph = functools.cache(make)

    def inner(self, place: int, number: int) -> _Inferred:
        """A body of one of its nodes."""
        return _Inferred(lambda: inner_graphs(self.graph().node[place])[number])


def inferred_graph(
    model: onnx.ModelProto, *, believes_shapes: bool = False, follows_sizes: bool = False
) -> onnx.GraphProto:
    """The model's graph with the types that ONNX's inference finds; without shapes where inference gives up.

    Of shapes, only those of the model's inputs are believed: a runtime makes sure of them, and of no others.
    `follows_sizes` lets inference follow what is computed from shapes, unless it would not come back from that.
    """
    plain = without_traps(model)
    if not believes_shapes:
        plain = _without_claims(plain)
    if is_past_measure(plain):
        return plain.graph  # inference follows every call: until the stack ends, or for ever
    try:
        found = infer(plain).graph
        if not follows_sizes or not can_follow_sizes(found):
            return found
        return infer(plain, follows_sizes=True).graph
    except Exception:  # inference throws what it likes on models that break ONNX's rules
        return plain.graph


def _without_claims(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model without the shapes that it declares of values inside it."""
    copy = copied(model)
    waiting = [copy.graph]
    while waiting:
        graph = waiting.pop()
        inside = () if graph is copy.graph else graph.input
        # Initializers say themselves what shape they have; with a claim that has none, inference would not look.
        held = {each.name for each in graph.initializer}
        for info in (*graph.value_info, *graph.output, *inside):
            if info.type.HasField("tensor_type") and info.name not in held:
                info.type.tensor_type.ClearField("shape")
        for node in graph.node:
            waiting.extend(inner_graphs(node))
    return copy


def _with_standard(imports: MutableSequence[onnx.OperatorSetIdProto]) -> dict[str, int]:
    """The versions in force. What is emitted is of the standard domain, which a model of another may not import yet."""
    versions = opset_versions(imports)
    if "" not in versions:
        versions[""] = default_opset_version()
        imports.append(onnx.helper.make_opsetid("", versions[""]))
    return versions


def noted_proto(node: onnx.NodeProto, path: Sequence[str]) -> NodeNote:
    """A node of a proto for the records."""
    domain = plain_domain(node.domain)
    source = next((each.value for each in node.metadata_props if each.key == SOURCE_KEY), None)
    operator = f"{domain}::{node.op_type}" if domain else node.op_type
    return NodeNote(operator, node.name, tuple(node.output), tuple(path), source)
