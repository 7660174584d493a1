"""How many nodes a model has when its functions are dissolved, as ONNX's inference and ONNX Runtime dissolve them."""

from __future__ import annotations

import onnx

from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.rewriting.scopes import FunctionKey, all_nodes, function_key, functions_of
from onnxsmith.graphs.rewriting.unfolding import unfolded_size

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
