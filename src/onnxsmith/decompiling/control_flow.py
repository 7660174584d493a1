"""`if` statements for `If` nodes, wherever they give the same node back."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import onnx_ir as ir

from onnxsmith.decompiling.layout import INDENT
from onnxsmith.decompiling.loops import reads_after_assigning
from onnxsmith.decompiling.order import in_order
from onnxsmith.decompiling.statements import assignment, joined
from onnxsmith.types.value_types import TensorType

if TYPE_CHECKING:
    from onnxsmith.decompiling.script_writer import ScriptWriter

_BRANCHES = ("then_branch", "else_branch")
#: Deeper than this the compiler takes functions, not statements.
_DEEPEST = 20


def is_if_statement(script: ScriptWriter, node: ir.Node) -> bool:
    """True if an `if` statement makes exactly this node."""
    op = script.definition(node)
    if op is None or op.name != "If" or op.domain or set(node.attributes) != set(_BRANCHES):
        return False
    condition = node.inputs[0]
    if condition is None or condition not in script.names or script.depth >= _DEEPEST:
        return False
    branches = [_graph(node, name) for name in _BRANCHES]
    if any(branch.inputs or len(branch.outputs) != len(node.outputs) for branch in branches):
        return False
    if not all(value.name and (value.uses() or value.is_graph_output()) for value in node.outputs):
        return False
    for then, otherwise in zip(*(branch.outputs for branch in branches), strict=True):
        if then is otherwise or not all(_is_tensor(script, value) for value in (then, otherwise)):
            return False
    return True


def _graph(node: ir.Node, name: str) -> ir.Graph:
    return cast(ir.Graph, node.attributes[name].value)


def _is_tensor(script: ScriptWriter, value: ir.Value) -> bool:
    """True if it is certainly a tensor that the model computes, and no constant."""
    if value.const_value is not None and value.producer() is None:
        return False
    kind = script.declared(value)
    return isinstance(kind, TensorType) or script.types.of(value) is not None


def if_statement(script: ScriptWriter, node: ir.Node, level: int) -> list[str]:
    """The lines of an `if` with its `else`."""
    condition = script.names[cast(ir.Value, node.inputs[0])]
    targets = script.targets(node)
    result = ["", f"{INDENT * level}if {condition}:"]
    script.depth += 1
    result += _branch(script, node, "then_branch", targets, level + 1)
    result.append(f"{INDENT * level}else:")
    result += _branch(script, node, "else_branch", targets, level + 1)
    script.depth -= 1
    script.notes.note_node(node)
    return [*result, ""]


def _branch(script: ScriptWriter, node: ir.Node, name: str, targets: list[str], level: int) -> list[str]:
    graph = _graph(node, name)
    key = f"{script.notes.key_of(node)}:{name}"
    nodes = in_order(graph)
    direct = _direct(script, graph, nodes)
    if direct is not None and reads_after_assigning(script, nodes[-1], targets[0]):
        direct = None
    if direct is not None:
        script.notes.note_direct(direct, node.outputs[0], name)
    result: list[str] = []
    for inner in nodes:
        result += script.statement(inner, level)
    script.notes.note_order(nodes)
    if direct is None:
        values = [script.operand(value) for value in graph.outputs]
        result += assignment(targets, joined(values), level)
    script.details.types[key] = [script.declared(value) for value in graph.outputs]
    script.notes.note_outputs(graph)
    script.notes.note_graph(key, graph)
    while result and result[-1] == "":
        result.pop()
    return result


def _direct(script: ScriptWriter, graph: ir.Graph, nodes: list[ir.Node]) -> ir.Value | None:
    """The one output of a branch, if its last statement makes it and nothing else reads it."""
    if len(graph.outputs) != 1 or not nodes:
        return None
    value = graph.outputs[0]
    is_last = value.producer() is nodes[-1] and len(nodes[-1].outputs) == 1
    return value if is_last and not value.uses() and script.constants.inline(value) is None else None
