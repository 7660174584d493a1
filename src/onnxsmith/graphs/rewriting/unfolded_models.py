"""How many nodes a model has when its functions are dissolved, as ONNX's inference and ONNX Runtime dissolve them."""

from __future__ import annotations

import onnx

from onnxsmith.graphs.rewriting.scopes import FunctionKey, all_nodes, function_key, functions_of
from onnxsmith.graphs.rewriting.unfolding import unfolded_size

#: Functions that each call the next one twice double at every level. With more nodes than these, whatever follows every
#: call (inference, ONNX Runtime, the reference evaluator) does not come back in minutes.
MOST_NODES = 100_000


def is_past_measure(model: onnx.ModelProto) -> bool:
    """True if functions call others so often that nothing that follows every call comes to an end."""
    return bool(model.functions) and nodes_without_functions(model, MOST_NODES) is None


def nodes_without_functions(model: onnx.ModelProto, most: int) -> int | None:
    """The number of nodes; None where there are more than `most`, or functions call each other without end."""
    functions = functions_of(model)
    sizes: dict[FunctionKey, int] = {}
    calls: dict[FunctionKey, list[FunctionKey]] = {}
    for key, function in functions.items():
        inside = [function_key(node) for node in all_nodes(function.node)]
        calls[key] = [each for each in inside if each in functions]
        sizes[key] = len(inside)
    called = (function_key(node) for node in all_nodes(model.graph.node))
    roots = (each if each in functions else None for each in called)
    return unfolded_size(sizes, calls, roots, most)
