"""Functions compared by what they do: those of a model with those of the scripts that a rule calls.

Places in the source and names do not count, and an opset in which all operators mean the same is the same.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeAlias

import onnx_ir as ir

from onnxsmith.graphs.identity import ISOMORPHIC
from onnxsmith.graphs.ir_maker import function_to_ir
from onnxsmith.graphs.records import AnyFunction, FunctionRecord, NodeRecord
from onnxsmith.graphs.rewriting.scopes import reached
from onnxsmith.schema import registry
from onnxsmith.schema.equivalent_versions import ANY_TYPE, Use, range_of_meaning

Identifier: TypeAlias = ir.OperatorIdentifier


def has_functions(held: Mapping[Identifier, ir.Function], wanted: Iterable[FunctionRecord]) -> bool:
    """True if a model has functions, under the same names."""
    for each in wanted:
        found = held.get(each.identifier())
        if found is None or content(found) != _content_of(each) or _misfit(each, found.opset_imports):
            return False
    return True


def _misfit(function: FunctionRecord, imports: Mapping[str, int]) -> bool:
    return any(
        other_version(operator, function.opset_imports.get(operator[0], 1), imports.get(operator[0], 0), use)
        for operator, use in uses_inside(function)
    )


@functools.lru_cache(maxsize=64)
def _content_of(function: FunctionRecord) -> Hashable:
    return content(function_to_ir(function))


def content(function: ir.Function) -> Hashable:
    """The content of a function, in the opsets that it imports."""
    return ISOMORPHIC.function(function, versions=False)


def needed_functions(
    called: Iterable[Identifier], functions: Mapping[Identifier, AnyFunction]
) -> dict[Identifier, AnyFunction]:
    """Those of some functions that are called, also by others, in the order in which they are given."""
    needed = reached(called, lambda each: called_in(functions[each]) if each in functions else ())
    return {identifier: each for identifier, each in functions.items() if identifier in needed}


def called_in(function: AnyFunction) -> list[Identifier]:
    """The operators and functions that a function uses, each once."""
    found = {(node.domain, node.op_type, node.overload) for node in function.graph.all_nodes()}
    return list(found)


def other_version(operator: tuple[str, str], written: int, own: int, use: Use) -> str | None:
    """Why an operator of one version of its domain cannot stand in a model of another."""
    domain, op_type = operator
    if written == own or not own:
        return None
    definition = registry.find(domain, op_type, written)
    if definition is None:
        return f"{op_type} is of {domain} {written}, and the model has {own}"
    first, end = range_of_meaning(definition, [use])
    if own < first or (end is not None and own >= end):
        since = f"from opset {first} on" if own < first else f"of an opset before {end}"
        return f"{op_type} is {since}, and the model has opset {own}"
    return None


def uses_inside(function: AnyFunction) -> Iterator[tuple[tuple[str, str], Use]]:
    """The operators that a function uses, by domain and name, and how."""
    for node in function.graph.all_nodes():
        yield (node.domain, node.op_type), _use_inside(node)


def _use_inside(node: ir.Node | NodeRecord) -> Use:
    """How a function uses an operator: there are no types inside."""
    return Use(
        tuple([None if each is None else ANY_TYPE for each in node.inputs]),
        (ANY_TYPE,) * len(node.outputs),
        frozenset(node.attributes)
        if isinstance(node, ir.Node)
        else frozenset(each[0] for each in node.attributes),
    )
