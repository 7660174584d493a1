"""`for` and `while` statements for `Loop` nodes, wherever they give the same node back.

What a loop does between iterations besides its state (passing its condition on, mostly) is not written: the table
`loops` keeps how the model does it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import onnx_ir as ir

from onnxsmith.decompiling.constants import constant_tensor
from onnxsmith.decompiling.layout import INDENT
from onnxsmith.decompiling.order import in_order
from onnxsmith.decompiling.statements import assignment, joined
from onnxsmith.graphs.origins import SOURCE_KEY
from onnxsmith.graphs.rewriting.scopes import bodies_of, graphs_of
from onnxsmith.types.value_types import TensorType

if TYPE_CHECKING:
    from onnxsmith.decompiling.script_writer import ScriptWriter

#: Deeper than this the compiler takes functions, not statements.
_DEEPEST = 20
#: The inputs of Loop, and of its body, before the values that it carries.
_FIXED = 2


def is_loop_statement(script: ScriptWriter, node: ir.Node) -> bool:
    """True if a `for` or `while` statement makes exactly this node."""
    op = script.definition(node)
    if op is None or op.name != "Loop" or op.domain or set(node.attributes) != {"body"}:
        return False
    inputs = [*node.inputs, *[None] * (_FIXED - len(node.inputs))]
    carried, body = inputs[_FIXED:], _body(node)
    count = len(carried)
    if script.depth >= _DEEPEST or not count or count != len(node.outputs):
        return False
    if len(body.inputs) != _FIXED + count or len(body.outputs) != 1 + count:
        return False
    if not _has_plain_condition(script, node, body) or body.initializers:
        return False
    for position in range(count):
        output, inside, result = (
            node.outputs[position],
            body.inputs[_FIXED + position],
            body.outputs[1 + position],
        )
        if not output.name or not (output.uses() or output.is_graph_output() or inside.uses()):
            return False
        if not _is_tensor(script, result) or not _is_tensor(script, inside) or carried[position] is None:
            return False
        if result.graph is not body or result in (body.inputs[1], body.outputs[0]):
            return False  # a value of another graph, or the condition, which has no variable
    return True


def _body(node: ir.Node) -> ir.Graph:
    return cast(ir.Graph, node.attributes["body"].value)


def _is_tensor(script: ScriptWriter, value: ir.Value) -> bool:
    return isinstance(script.declared(value), TensorType) or script.types.of(value) is not None


def _has_plain_condition(script: ScriptWriter, node: ir.Node, body: ir.Graph) -> bool:
    """True if the condition is only passed on, or made anew at the end of each iteration."""
    trips = node.inputs[0] if node.inputs else None
    start = node.inputs[1] if len(node.inputs) > 1 else None
    given, result = body.inputs[1], body.outputs[0]
    passing = _passing(body)
    uses = [use.node for use in given.uses()]
    if any(user is not passing for user in uses):
        return False
    is_made = result.producer() is not None and result.graph is body and passing is None
    if trips is not None:
        is_passed = result is given or passing is not None or _is_true(result)
        return trips in script.names and (start is None or _is_true(start)) and (is_passed or is_made)
    # Without a count only a condition ends it, and it must be one that the model computes.
    # And only `for` has a name for how often it has run.
    return start is not None and start in script.names and is_made and not body.inputs[0].uses()


def _passing(body: ir.Graph) -> ir.Node | None:
    """The node that makes "go on" for the next iteration: it passes on what it was given, or says True."""
    result = body.outputs[0]
    node = result.producer()
    if node is None or result.graph is not body or result.uses() or node.doc_string:
        return None
    if node.metadata_props.keys() - {SOURCE_KEY}:
        return None
    if node.op_type == "Constant" and _is_true(result):
        return node
    if node.op_type != "Identity" or node.domain:
        return None
    source = cast(ir.Value, node.inputs[0])
    is_outer_truth = source.graph is not body and _is_true(source)
    return node if source is body.inputs[1] or is_outer_truth else None


def _is_true(value: ir.Value) -> bool:
    constant = constant_tensor(value)
    if constant is None or constant[0].dtype != ir.DataType.BOOL or constant[0].size != 1:
        return False
    return bool(cast(Any, constant[0].numpy()).all())


def loop_statement(script: ScriptWriter, node: ir.Node, level: int) -> list[str]:
    """The lines of a loop: its state before it, its head, its body."""
    body = _body(node)
    initial = [script.operand(value) for value in node.inputs[_FIXED:]]
    trips, start = node.inputs[0], node.inputs[1] if len(node.inputs) > 1 else None
    given, result = body.inputs[1], body.outputs[0]
    targets = script.targets(node)
    key = script.notes.key_of(node)
    counter = script.name_value(body.inputs[0], "iteration")
    script.details.values.pop(counter, None)  # the table of loops has it
    # A loop around it may have given the variables their values already: the state is what they hold.
    lines = ["", *([] if initial == targets else assignment(targets, joined(initial), level))]
    notes: dict[str, Any] = {
        "inputs": [value.name or "" for value in body.inputs],
        "types": [script.declared(value) for value in body.inputs],
    }
    condition = ""
    if trips is not None:
        lines.append(f"{INDENT * level}for {counter} in range({script.names[trips]}):")
        if start is not None:
            notes["start"] = start.name or ""
            script.notes.keep(start)
    else:
        condition = script.identifiers.unique(f"{targets[0]}_goes_on")
        lines.append(f"{INDENT * level}{condition} = {script.names[cast(ir.Value, start)]}")
        lines.append(f"{INDENT * level}while {condition}:")
    for value, name in zip(list(body.inputs)[_FIXED:], targets, strict=True):
        script.names[value] = name
        script.notes.keys[value] = f"{key}:body {name}"
    passing, leaving = _passing(body), _leaving(script, body) if trips is not None else None
    if passing is None and _is_true(result):
        notes["constant"] = result.name or ""
        script.notes.keep(result)
    nodes = [each for each in in_order(body) if each not in (passing, leaving)]
    script.depth += 1
    lines += _statements(script, node, body, nodes, targets, level + 1)
    inner = INDENT * (level + 1)
    if leaving is not None:
        notes["left_by"] = [result.name or "", leaving.name or ""]
        lines += [f"{inner}if {script.names[cast(ir.Value, leaving.inputs[0])]}:", f"{inner}{INDENT}break"]
    elif trips is None:
        lines.append(f"{inner}{condition} = {script.names[result]}")
    elif passing is None and result is not given and "constant" not in notes:
        lines += [f"{inner}if not {script.names[result]}:", f"{inner}{INDENT}break"]
    script.depth -= 1
    if passing is not None:
        notes["passed_on"] = [result.name or "", passing.name or "", _following_key(script, body, passing)]
        source = passing.inputs[0] if passing.inputs else None
        if source is not given:
            notes["passed_on"].append("" if source is None else source.name or "")
        if source is not None:
            script.notes.keep(source)
    script.details.types[f"{key}:body"] = [script.declared(value) for value in body.outputs]
    script.details.loops[key] = notes
    script.notes.note_outputs(body)
    script.notes.note_graph(f"{key}:body", body)
    script.notes.note_node(node)
    return [*lines, ""]


def _leaving(script: ScriptWriter, body: ir.Graph) -> ir.Node | None:
    """The Not at the end of a body whose operand says when to leave the loop."""
    result = body.outputs[0]
    node = result.producer()
    nodes = in_order(body)
    if node is None or not nodes or node is not nodes[-1] or node.op_type != "Not" or node.domain:
        return None
    if result.uses() or node.doc_string or node.metadata_props.keys() - {SOURCE_KEY}:
        return None
    operand = cast(ir.Value, node.inputs[0])
    is_own = operand.graph is body and operand.producer() is not None
    return node if is_own and script.constants.inline(operand) is None else None


def _following_key(script: ScriptWriter, body: ir.Graph, passing: ir.Node) -> str:
    """The variable of the node that comes after the one that passes the condition on; none for the last."""
    nodes = in_order(body)
    for node in nodes[nodes.index(passing) + 1 :]:
        if not any(script.constants.inline(value) for value in node.outputs):
            return script.notes.key_of(node)
    return ""


def _statements(
    script: ScriptWriter,
    node: ir.Node,
    body: ir.Graph,
    nodes: list[ir.Node],
    targets: list[str],
    level: int,
) -> list[str]:
    results = list(body.outputs)[1:]
    direct = _direct(body, nodes, results)
    if direct is not None and reads_after_assigning(script, nodes[-1], targets[0]):
        direct = None
    if direct is not None:
        script.notes.note_direct(direct, node.outputs[0], "body")
    lines: list[str] = []
    for inner in nodes:
        lines += script.statement(inner, level)
    script.notes.note_order(nodes)
    changed = [(target, script.names[value]) for target, value in zip(targets, results, strict=True)]
    if direct is None:
        lines += assignment(targets, joined([name for _, name in changed]), level)
    while lines and lines[-1] == "":
        lines.pop()
    return lines


def reads_after_assigning(script: ScriptWriter, node: ir.Node, variable: str) -> bool:
    """True if a loop that assigns a variable reads in its head or body what the variable held before.

    The statement of a loop assigns its state first, so that an earlier value of the same variable would be lost.
    """
    if node.op_type != "Loop" or next(bodies_of(node), None) is None:
        return False
    inside = (each for body in bodies_of(node) for graph in graphs_of(body) for each in (*graph, graph))
    read = (each.outputs if isinstance(each, ir.Graph) else each.inputs for each in inside)
    return any(
        script.names.get(value) == variable
        for values in (node.inputs[:_FIXED], *read)
        for value in values
        if value is not None
    )


def _direct(body: ir.Graph, nodes: list[ir.Node], results: list[ir.Value]) -> ir.Value | None:
    """The one value that is carried, if the last statement makes it and nothing else reads it."""
    if len(results) != 1 or not nodes:
        return None
    value = results[0]
    is_last = value.producer() is nodes[-1] and len(nodes[-1].outputs) == 1
    return value if is_last and not value.uses() and value is not body.outputs[0] else None
