"""Repeated structure as local functions: the equal layers of a model become one function that is called for each.

Decides nothing about text: the result is a model that computes the same, and is written like any other.
"""

from __future__ import annotations

import onnx_ir as ir

from onnxsmith.decompiling.grouping_calls import Repetition
from onnxsmith.decompiling.grouping_choice import choose
from onnxsmith.decompiling.grouping_runs import by_runs
from onnxsmith.decompiling.grouping_scopes import all_scopes, by_scope, class_of, function_name
from onnxsmith.decompiling.grouping_structure import Segment, Wiring
from onnxsmith.decompiling.identifiers import Identifiers
from onnxsmith.decompiling.order import all_graphs, graphs_of, in_order

_DOMAIN = "this"
#: The first IR version with local functions.
_FUNCTIONS_SINCE = 8
#: A model that is nested deeper is left alone; no exporter makes one.
_DEEPEST = 50


def group_repeated(model: ir.Model) -> ir.Model:
    """A model that computes the same, with repeated segments of its graph as calls of local functions.

    The model itself is left as it is, and shares its weights with the new one. Segments are found by the modules that
    names and metadata tell of, and otherwise by their order; they are grouped only if they are isomorphic. Each call
    has its own weights as inputs. Where nothing repeats, and where onnx-ir cannot copy a model (nodes that stand before
    what they use, a branch that gives a value from outside), the result is the model itself.
    """
    if not _is_plain(model):
        return model
    wiring = Wiring(model.graph)
    scopes = all_scopes(wiring)
    groups = choose(wiring, by_scope(wiring, scopes), [])
    # Where names tell of the repetitions, they also tell what else is none; the order of nodes speaks for the others.
    taken = {k for k, scope in enumerate(scopes) if scope} if groups else set[int]()
    groups += choose(wiring, by_runs(wiring, taken), groups)
    result = _copy(model) if groups else None
    if result is None:
        return model
    graph = result.graph
    wiring = Wiring(graph)  # the same places hold the copies
    names = _free_names(result)
    replaced: dict[ir.Value, ir.Value] = {}
    for group in sorted(groups, key=lambda each: min(k for member in each for k in member.nodes)):
        repetition = Repetition(wiring, group, scopes)
        function = repetition.function(_DOMAIN, names.unique(_name(wiring, group)), result.opset_imports)
        repetition.replace(graph, function, replaced)
        repetition.forget_constants(graph)
        result.functions[function.identifier()] = function
    result.opset_imports.setdefault(_DOMAIN, 1)
    result.ir_version = max(result.ir_version, _FUNCTIONS_SINCE)
    if in_order(graph) != list(graph):
        graph.sort()
    return result


def _copy(model: ir.Model) -> ir.Model | None:
    """A copy that shares the weights; None where onnx-ir's own cannot be made."""
    try:
        return model.clone()
    except (RuntimeError, ValueError, KeyError):
        return None


def _name(wiring: Wiring, group: list[Segment]) -> str:
    """What a person would call the segments, by the class of their modules or by the modules' names."""
    if not all(each.scope for each in group):
        return "block"
    classes = {class_of((wiring.nodes[k] for k in each.nodes), each.scope) for each in group}
    named = classes.pop() if len(classes) == 1 else None
    return named or function_name([each.scope for each in group])


def _free_names(model: ir.Model) -> Identifiers:
    """Names that no function has, and no operator of the domain that functions go to."""
    roots = [model.graph, *(each.graph for each in model.functions.values())]
    used = {node.op_type for root in roots for graph in all_graphs(root) for node in graph}
    return Identifiers(used | {name for _, name, _ in model.functions} | {model.graph.name or ""})


def _is_plain(model: ir.Model) -> bool:
    """Whether all nodes stand after what they use, and are not nested without end: that is what can be copied."""
    for root in (model.graph, *(each.graph for each in model.functions.values())):
        waiting = [(root, 0)]
        while waiting:
            graph, depth = waiting.pop()
            if depth > _DEEPEST or in_order(graph) != list(graph):
                return False
            waiting += [(inner, depth + 1) for node in graph for inner in graphs_of(node)]
    return True
