"""The functions of two models that become one: equal ones are one, others get names of their own."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

from onnxsmith.graphs.copying import call_by, with_graph
from onnxsmith.graphs.identity import IDENTICAL
from onnxsmith.graphs.rewriting.scopes import roots_of
from onnxsmith.passes.surgery.holding import Held


def join_functions(first: Held, second: Held) -> None:
    """Give the first model the functions of the second; in place, in both."""
    ours, theirs = first.ir.functions, second.ir.functions
    if not theirs and not ours:
        return
    for here, there in ((first, second), (second, first)):
        # An operator of one model must not become a function of the other.
        clashing = [each for each in _operators(here) if each in there.ir.functions]
        _rename(there, {each: _free(each, first, second) for each in clashing})
    other = {
        each: theirs[each] for each in theirs if each in ours and not _are_equal(ours[each], theirs[each])
    }
    _rename(second, {each: _free(each, first, second) for each in other})
    for identifier, function in theirs.items():
        ours.setdefault(identifier, function)


def _operators(held: Held) -> set[ir.OperatorIdentifier]:
    """The operators that a model uses and does not define."""
    parts = roots_of(held.ir)
    used = {node.op_identifier() for part in parts for node in part.all_nodes()}
    return used - held.ir.functions.keys()


def _free(identifier: ir.OperatorIdentifier, *models: Held) -> ir.OperatorIdentifier:
    domain, name, overload = identifier
    taken = {each for model in models for each in (*model.ir.functions, *_operators(model))}
    number = 1
    while (domain, f"{name}_{number}", overload) in taken:
        number += 1
    return domain, f"{name}_{number}", overload


def _are_equal(one: ir.Function, other: ir.Function) -> bool:
    return one is other or (
        one.opset_imports == other.opset_imports and IDENTICAL.function(one) == IDENTICAL.function(other)
    )


def _rename(held: Held, new: Mapping[ir.OperatorIdentifier, ir.OperatorIdentifier]) -> None:
    if not new:
        return
    functions = held.ir.functions
    for old, identifier in new.items():
        function = functions.pop(old)
        functions[identifier] = with_graph(function, function.graph, identifier)
    for graph in roots_of(held.ir):
        call_by(new, graph.all_nodes())
