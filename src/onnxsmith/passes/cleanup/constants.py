"""Constants as initializers of the main graph, each content once: what later passes look at is in one place."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import onnx_ir as ir

from onnxsmith.graphs.edits import Edit
from onnxsmith.graphs.function import BACKWARD_OF, IN_USE_OF
from onnxsmith.graphs.identity import VALUE_NUMBER
from onnxsmith.graphs.ir_types import CONSTANT_NUMBERS
from onnxsmith.graphs.rewriting.scopes import graphs_of, reached
from onnxsmith.passes.editor import Editor
from onnxsmith.passes.edits import noted
from onnxsmith.passes.values import is_read, redirect


def constant_tensor(node: ir.Node) -> ir.TensorProtocol | None:
    """The tensor that a Constant node gives, in whichever way it says it; None for what is no dense tensor."""
    for name, attribute in node.attributes.items():
        if attribute.is_ref():
            return None
        match name:
            case "value":
                return attribute.as_tensor() if attribute.type == ir.AttributeType.TENSOR else None
            case "value_int" | "value_ints" | "value_float" | "value_floats":
                return ir.Tensor(np.array(attribute.value, CONSTANT_NUMBERS[name]))
            case "value_string":
                return _text([attribute.value], ())
            case "value_strings":
                return _text(list(attribute.value), (len(attribute.value),))
            case _:
                pass
    return None


def _text(given: list[str | bytes], shape: tuple[int, ...]) -> ir.TensorProtocol:
    array = np.empty(len(given), object)
    array[:] = [each.encode() if isinstance(each, str) else each for each in given]
    return ir.StringTensor(array.reshape(shape), shape=ir.Shape(shape))


def lift_constants(edit: Editor) -> int:
    """Make initializers of Constant nodes, except in functions, which have none."""
    if not edit.can_add_initializers:
        return 0
    count = 0
    for node in list(edit.model.graph.all_nodes()):
        if node.op_type != "Constant" or node.domain or node.outputs[0].is_graph_output():
            continue
        if not edit.sees_initializers(node):
            continue
        tensor = constant_tensor(node)
        if tensor is None:
            continue
        old = node.outputs[0]
        name = old.name or "constant"
        note = noted(node, edit.path(node))
        if node.graph is edit.model.graph:
            edit.release_name(old)
        value = edit.shared_constant(tensor, name)
        redirect(old, value)
        edit.gone.add(node)
        edit.log.add(Edit(edit.pass_name, "constant as an initializer", (note,), (), value.name))
        count += 1
    edit.sweep()
    return count


def lift_initializers(edit: Editor) -> int:
    """Move the initializers of nested graphs into the main graph."""
    if not edit.can_add_initializers:
        return 0
    count = 0
    for graph in edit.inner_graphs_of_main():
        for name, value in list(graph.initializers.items()):
            if value.is_graph_output() or value.is_graph_input() or value.const_value is None:
                continue
            lifted = edit.shared_constant(value.const_value, name)
            redirect(value, lifted)
            del graph.initializers[name]
            count += 1
    return count


def share_constants(edit: Editor) -> int:
    """Let initializers of one content be one."""
    graph = edit.model.graph
    seen: dict[Hashable, ir.Value] = {}
    count = 0
    for name, value in list(graph.initializers.items()):
        tensor = value.const_value
        if tensor is None or value.is_graph_input() or value.is_graph_output() or not edit.is_fixed(value):
            continue
        first = seen.setdefault(VALUE_NUMBER.tensor(tensor), value)
        if first is value:
            continue
        redirect(value, first)
        del graph.initializers[name]
        count += 1
    return count


def drop_unread_initializers(edit: Editor) -> int:
    """Leave out the initializers that nothing reads. One that is an input stays: callers may name it."""
    count = 0
    for root in edit.roots():
        for graph in graphs_of(root):
            for name, value in list(graph.initializers.items()):
                if not is_read(value) and not value.is_graph_input():
                    del graph.initializers[name]
                    count += 1
    return count


def drop_dead_nodes(edit: Editor) -> int:
    """Leave out the nodes that nothing needs."""
    count = 0
    for node in list(edit.nodes()):
        if node in edit.gone or any(is_read(each) for each in node.outputs):
            continue
        removed = edit.remove([node])
        if removed.notes:
            count += len(removed.notes)
            edit.log.add(Edit(edit.pass_name, "dead code", tuple(removed.notes), ()))
    edit.sweep()
    return count


def drop_unused_functions(edit: Editor) -> int:
    """Leave out the functions that nothing calls, and that say no gradient and no use of one that is called."""
    functions = edit.model.functions

    def needed(graph: ir.Graph) -> list[ir.OperatorIdentifier]:
        calls = {node.op_identifier() for node in graph.all_nodes()}
        beside = {
            (domain, f"{role}{name}", overload)
            for domain, name, overload in calls
            for role in (BACKWARD_OF, IN_USE_OF)
        }
        return [key for key in calls | beside if key in functions]

    called = reached(needed(edit.model.graph), lambda key: needed(functions[key].graph))
    unused = [key for key in functions if key not in called]
    for key in unused:
        left_out = tuple([noted(node, edit.path(node)) for node in functions[key].graph])
        edit.log.add(Edit(edit.pass_name, "function that nothing calls", left_out, ()))
        del functions[key]
    return len(unused)
