"""Keeps ONNX Runtime from choosing between the branches of an `If` inside a body before a run.

Where the condition is constant, or follows from shapes that it knows, its constant folding puts the branch in the place
of the `If`. In a body it then forgets all readers of the result but one. When that one's shape is folded, too, the
branch is taken for unread and goes, and the other readers fail with "Missing Input". A branch in a body with a loop
that reads a value from outside of the branch ends the process, if the body is that of an `If` which is chosen, too.
What concerns an operator by itself stands in `facts`.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, MutableSequence, Sequence

import onnx

from onnxsmith.graphs.edits import Edit
from onnxsmith.graphs.rewriting.branches import at_run_only
from onnxsmith.graphs.rewriting.copies import copied
from onnxsmith.graphs.rewriting.emitter import Emitter, FreshNames
from onnxsmith.graphs.rewriting.rewrite import PASS_NAME, Rewritten, noted_proto
from onnxsmith.graphs.rewriting.scopes import inner_graphs, opset_versions, plain_domain, value_names
from onnxsmith.types.dtypes import DType

RULE = "branch folded in a body"
_REASON = "a branch in a body that is chosen before a run loses readers of its result, or ends the process"
#: Operators whose results never follow from constants and shapes: what loops and draws give is known by a run only.
_NEVER_FIXED = frozenset({"Loop", "Scan", "Bernoulli", "Multinomial", "Dropout"}).union(
    {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike"}
)
#: Operators that ask for no more than a shape.
_OF_SHAPES = frozenset(["Shape", "Size"])
#: The first opset with a Loop whose body may say what it does here.
_OLDEST = 11


def keep_from_folding(model: onnx.ModelProto) -> Rewritten:
    """The model with conditions that only a run knows; the same object where nothing is to be changed.

    One value that is true, and that only a run knows, serves for all conditions of a graph with its bodies.
    """
    if not _has_branches_in_bodies(model):
        return Rewritten(model)
    result = copied(model)
    work = _Work(FreshNames(value_names(model)))
    version = opset_versions(result.opset_import).get("", 1)
    work.top(result.graph.node, {each.name for each in result.graph.input}, version, (), is_body=False)
    for function in result.functions:
        own = opset_versions(function.opset_import).get("", version)
        # A function takes the place of its calls, wherever these are, and what it is given may be constant.
        work.top(function.node, set(), own, (function.name,), is_body=True)
    return Rewritten(result, tuple(work.edits)) if work.edits else Rewritten(model)


def _has_branches_in_bodies(model: onnx.ModelProto) -> bool:
    waiting = [(model.graph.node, False), *((each.node, True) for each in model.functions)]
    while waiting:
        nodes, is_body = waiting.pop()
        for node in nodes:
            if is_body and node.op_type == "If":
                return True
            waiting.extend((graph.node, True) for graph in inner_graphs(node))
    return False


class _Work:
    """The changes to one model, which is a copy."""

    def __init__(self, names: FreshNames) -> None:
        self.edits: list[Edit] = []
        self._names = names

    def top(
        self,
        nodes: MutableSequence[onnx.NodeProto],
        inputs: set[str],
        version: int,
        path: tuple[str, ...],
        *,
        is_body: bool,
    ) -> None:
        """Change the nodes of the main graph or of a function. `inputs` are values that a run gives."""
        if version < _OLDEST:
            return
        emit = Emitter(version, self._names, "always", "always")
        always = at_run_only(emit, emit.constant(True, DType.BOOL), DType.BOOL)
        found = self._nodes(nodes, ChainMap(dict.fromkeys(inputs, False)), always, version, path, is_body)
        if found:
            _put_in_front(nodes, emit.nodes)

    def _nodes(
        self,
        nodes: MutableSequence[onnx.NodeProto],
        fixed: ChainMap[str, bool],
        always: str,
        version: int,
        path: tuple[str, ...],
        is_body: bool,
    ) -> bool:
        """Change the nodes of one graph; True if any was. `fixed` has what follows from constants and shapes."""
        chosen: list[int] = []
        is_changed = False
        for place, node in enumerate(nodes):
            for graph in inner_graphs(node):
                given = dict.fromkeys([each.name for each in graph.input], False)
                inside = (*path, node.name or node.op_type)
                if self._nodes(graph.node, fixed.new_child(given), always, version, inside, True):
                    is_changed = True
            result = _is_fixed(node, fixed)
            fixed.update(dict.fromkeys(node.output, result))
            if is_body and _is_branch(node) and fixed.get(node.input[0], True):
                chosen.append(place)
        if chosen:
            lost = _with_lost_readers(nodes, chosen)
            chosen = [each for each in chosen if each in lost or _has_bodies_that_reach_out(nodes[each])]
        for place in reversed(chosen):
            node = nodes[place]
            emit = Emitter(version, self._names, node.output[0], node.name)
            before = noted_proto(node, path)
            node.input[0] = emit.both(node.input[0], always)
            emit.nodes[0].metadata_props.extend(node.metadata_props)
            self.edits.append(Edit(PASS_NAME, RULE, (before,), (noted_proto(node, path),), reason=_REASON))
            _put_in_front(nodes, emit.nodes, place)
        return is_changed or bool(chosen)


def _is_branch(node: onnx.NodeProto) -> bool:
    return node.op_type == "If" and not plain_domain(node.domain)


def _is_fixed(node: onnx.NodeProto, fixed: ChainMap[str, bool]) -> bool:
    """True if what a node gives may follow from constants and shapes. Nothing is said of initializers: they do."""
    if node.op_type in _NEVER_FIXED:
        return False
    return node.op_type in _OF_SHAPES or all(fixed.get(each, True) for each in node.input)


def _has_bodies_that_reach_out(branch: onnx.NodeProto) -> bool:
    """True if a node in a branch of an `If` has a body that reads a value from outside of the branch."""
    for graph in inner_graphs(branch):
        inside = {name for each in graph.node for name in each.output}
        inside.update(each.name for each in graph.initializer)
        for node in graph.node:
            for body in inner_graphs(node):
                if not _free(body) <= inside:
                    return True
    return False


def _free(graph: onnx.GraphProto) -> set[str]:
    """The values that a body reads from around it."""
    own = {each.name for each in (*graph.input, *graph.initializer)}
    own.update(name for node in graph.node for name in node.output)
    read = {name for node in graph.node for name in node.input if name}
    for node in graph.node:
        for body in inner_graphs(node):
            read |= _free(body)
    return read - own


def _with_lost_readers(nodes: Sequence[onnx.NodeProto], places: Iterable[int]) -> list[int]:
    """The places of nodes whose results have two readers or more, and with a shape that is asked for behind one."""
    readers: dict[str, list[int]] = {}
    for place, node in enumerate(nodes):
        for name in dict.fromkeys(_read(node)):
            readers.setdefault(name, []).append(place)
    # Backwards, so that what stands behind a node is known: whether a shape is.
    leads_to_shape = [False] * len(nodes)
    for place in range(len(nodes) - 1, -1, -1):
        node = nodes[place]
        behind = (reader for name in node.output for reader in readers.get(name, ()))
        leads_to_shape[place] = node.op_type == "Shape" or any(leads_to_shape[each] for each in behind)
    return [
        place
        for place in places
        if any(
            len(found := readers.get(name, [])) > 1 and any(leads_to_shape[each] for each in found)
            for name in nodes[place].output
        )
    ]


def _read(node: onnx.NodeProto) -> Iterable[str]:
    """All that a node reads, by its bodies, too."""
    yield from filter(None, node.input)
    for graph in inner_graphs(node):
        for each in graph.node:
            yield from _read(each)
        yield from (each.name for each in graph.output)


def _put_in_front(
    nodes: MutableSequence[onnx.NodeProto], added: Sequence[onnx.NodeProto], place: int = 0
) -> None:
    for each in reversed(added):
        nodes.insert(place, each)
