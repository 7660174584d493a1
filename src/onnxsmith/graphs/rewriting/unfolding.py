"""How large a model is when its functions are dissolved: functions that call others twice double at every level.

Counts from the calls alone, and unfolds nothing. A model past the measure is known by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import onnx

from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.rewriting.scopes import FunctionKey, all_nodes, function_key, functions_of

Key = TypeVar("Key")


def unfolded_size(
    sizes: Mapping[Key, int], calls: Mapping[Key, Sequence[Key]], roots: Iterable[Key | None], most: int
) -> int | None:
    """How many nodes there are in all; None where that is more than `most`, or without end.

    `sizes` has the nodes of each function, `calls` the functions that these call, once for each call. `roots` are the
    nodes of the main graph: the function that each calls, or None.
    """
    order = callees_first(calls)
    if order is None:
        return None
    totals = dict(sizes)
    for key in order:
        totals[key] += sum(totals[each] for each in calls[key])
        if totals[key] > most:
            return None
    total = sum(1 if each is None else 1 + totals[each] for each in roots)
    return None if total > most else total


def callees_first(calls: Mapping[Key, Sequence[Key]]) -> list[Key] | None:
    """The functions in an order in which each comes after those that it calls; None where they call each other."""
    done: dict[Key, None] = {}
    for first in calls:
        path: set[Key] = set()
        stack = [first]
        while stack:
            key = stack[-1]
            if key in done:
                stack.pop()
                continue
            waiting = [each for each in calls[key] if each not in done]
            if not waiting:
                done[key] = None
                path.discard(key)
                stack.pop()
            elif key in path:
                return None
            else:
                path.add(key)
                stack.extend(dict.fromkeys(waiting))
    return list(done)


#: Functions that each call the next one twice double at every level. With more nodes than these, whatever follows every
#: call (inference, ONNX Runtime, the reference evaluator) does not come back in minutes.
MOST_NODES = 100_000


def is_past_measure(model: ir.Model | onnx.ModelProto) -> bool:
    """True if functions call others so often that nothing that follows every call comes to an end."""
    return bool(model.functions) and nodes_without_functions(model, MOST_NODES) is None


def nodes_without_functions(model: ir.Model | onnx.ModelProto, most: int) -> int | None:
    """The number of nodes; None where there are more than `most`, or functions call each other without end."""
    inside: dict[FunctionKey, list[FunctionKey]]
    if isinstance(model, onnx.ModelProto):
        functions = functions_of(model)
        inside = {
            key: [function_key(node) for node in all_nodes(each.node)] for key, each in functions.items()
        }
        called = [function_key(node) for node in all_nodes(model.graph.node)]
    else:
        bodies = model.functions.items()
        inside = {key: [node.op_identifier() for node in each.graph.all_nodes()] for key, each in bodies}
        called = [node.op_identifier() for node in model.graph.all_nodes()]
    sizes = {key: len(each) for key, each in inside.items()}
    calls = {key: [each for each in every if each in inside] for key, every in inside.items()}
    return unfolded_size(sizes, calls, (each if each in inside else None for each in called), most)
