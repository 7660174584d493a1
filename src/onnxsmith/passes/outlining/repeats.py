"""Parts that repeat: equal layers of a model, found by what names say of them, and otherwise by their order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import onnx_ir as ir

from onnxsmith.graphs.rewriting.scopes import bodies_of, roots_of
from onnxsmith.passes.outlining.choosing import FEWEST_NODES, choose
from onnxsmith.passes.outlining.cutting import OWN_DOMAIN, Naming, cut_out
from onnxsmith.passes.outlining.part import Part, Scope
from onnxsmith.passes.outlining.runs import by_runs
from onnxsmith.passes.outlining.scopes import all_scopes, class_of, function_name
from onnxsmith.passes.outlining.wiring import Segment, Wiring, is_in_order

#: A model that is nested deeper is left alone; no exporter makes one.
_DEEPEST = 50


def group_repeated(model: ir.Model) -> ir.Model:
    """A model that computes the same, with repeated segments of its graph as calls of local functions.

    The model itself is left as it is, and shares its weights with the new one. Each call has its own weights as inputs.
    Where nothing repeats, and where onnx-ir cannot copy a model (nodes that stand before what they use, a branch that
    gives a value from outside), the result is the model itself.
    """
    result = _copy(model) if _is_plain(model) else None
    if result is None:
        return model
    wiring = Wiring(result.graph)
    parts, scopes = repeated_parts(wiring)
    if not parts:
        return model
    cut_out(result, parts, Naming(repeated_name, scopes), wiring=wiring)
    return result


def repeated_parts(wiring: Wiring) -> tuple[list[Part], dict[ir.Node, Scope]]:
    """Segments of a graph that are isomorphic, two or more of each kind, and where its nodes stand by their names.

    Found by the modules that names and metadata tell of, and otherwise by the order of nodes.
    """
    scopes = all_scopes(wiring)
    groups = choose(wiring, _by_scope(wiring, scopes), [])
    # Where names tell of the repetitions, they also tell what else is none; the order of nodes speaks for the others.
    taken = {k for k, scope in enumerate(scopes) if scope} if groups else set[int]()
    groups += choose(wiring, by_runs(wiring, taken), groups)
    parts = [
        Part([wiring.nodes[k] for k in sorted(each.nodes)], each.scope) for group in groups for each in group
    ]
    return parts, dict(zip(wiring.nodes, scopes, strict=True))


def repeated_name(parts: Sequence[Part]) -> tuple[str, str]:
    """The name that a person would give the parts, by the class of their modules or by the modules' names."""
    if not all(each.scope for each in parts):
        return OWN_DOMAIN, "block"
    classes = {class_of(each.all_nodes(), each.scope) for each in parts}
    named = classes.pop() if len(classes) == 1 else None
    return OWN_DOMAIN, named or function_name([each.scope for each in parts])


def _by_scope(wiring: Wiring, scopes: Sequence[Scope]) -> list[Segment]:
    """A candidate for each module, whatever it is called: equal structure decides which are equal."""
    nodes: defaultdict[Scope, list[int]] = defaultdict(list)
    for k, scope in enumerate(scopes):
        for length in range(1, len(scope) + 1):
            nodes[scope[:length]].append(k)
    found: dict[tuple[int, ...], Scope] = {}
    for scope, members in nodes.items():
        if len(members) >= FEWEST_NODES:
            found.setdefault(tuple(members), scope)
    return [wiring.segment(members, scope) for members, scope in found.items()]


def _copy(model: ir.Model) -> ir.Model | None:
    """A copy that shares the weights; None where onnx-ir's own cannot be made."""
    try:
        return model.clone()
    except (RuntimeError, ValueError, KeyError):
        return None


def _is_plain(model: ir.Model) -> bool:
    """True if all nodes stand after what they use, and are not nested without end: that is what can be copied."""
    for root in roots_of(model):
        waiting = [(root, 0)]
        while waiting:
            graph, depth = waiting.pop()
            if depth > _DEEPEST or not is_in_order(graph):
                return False
            waiting += [(inner, depth + 1) for node in graph for inner in bodies_of(node)]
    return True
