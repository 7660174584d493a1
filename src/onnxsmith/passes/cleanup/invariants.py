"""Moves values in front of a loop that every turn computes again, from nothing of its own.

Where the loop surely runs, the first turn computes it anyway, so anything may move. Where it may take no turn at all,
only what is cheap and cannot fail does. Nothing moves that is random, has a body, or is of a domain that nobody knows.
"""

from __future__ import annotations

from collections import Counter

import onnx_ir as ir

from onnxsmith.graphs.identity import is_random
from onnxsmith.graphs.rewriting.scopes import graphs_of, has_graphs
from onnxsmith.passes.editor import Editor
from onnxsmith.passes.edits import Edit, noted
from onnxsmith.passes.loop_turns import body_of, runs_at_least_once
from onnxsmith.passes.values import fixed_shape, rank, same_shape
from onnxsmith.runtime.adapting import FACT_KEY

_RULE = "out of a loop"

#: Operators on one tensor that take any of their types, and one look at each element at the most.
_ONE_LOOK = frozenset(
    {
        "Abs", "Neg", "Exp", "Log", "Sqrt", "Reciprocal", "Relu", "Sigmoid", "Tanh", "Erf", "Not", "Floor", "Ceil",
        "Round", "Sign", "Sin", "Cos", "Softplus", "Softsign", "Shape", "Size", "Constant", "IsNaN", "LeakyRelu",
    }
)  # fmt: skip
#: Operators on two tensors that fail only where the shapes do not fit together.
_OF_TWO = frozenset(
    {"Add", "Sub", "Mul", "Equal", "Less", "Greater", "And", "Or", "LessOrEqual", "GreaterOrEqual"}
)
#: Nothing is gained by moving a copy.
_COPIES = frozenset({"Identity"})


def lift_invariants(edit: Editor) -> int:
    """Move what does not change from turn to turn in front of its loop, the innermost loops first; returns how much."""
    loops = [node for node in edit.nodes() if body_of(node) is not None]
    if not loops:
        return 0
    names = _name_counts(edit)
    count = 0
    for node in reversed(loops):
        if edit.is_spent:
            break
        count += _lift(edit, node, names)
    return count


def _name_counts(edit: Editor) -> Counter[str]:
    """How many values have each name: two bodies may use one each for its own, as long as both stay where they are."""
    counts: Counter[str] = Counter()
    for root in edit.roots():
        for graph in graphs_of(root):
            counts.update([each.name for each in graph.inputs if each.name])
            counts.update(list(graph.initializers))
            for node in graph:
                counts.update([each.name for each in node.outputs if each.name])
    return counts


def _lift(edit: Editor, loop: ir.Node, names: Counter[str]) -> int:
    body = body_of(loop)
    assert body is not None
    own: set[ir.Value] = {*body.inputs, *body.initializers.values()}
    is_sure = runs_at_least_once(edit, loop)
    moved: list[ir.Node] = []
    for node in body:
        if _depends(node, own) or not _may_move(edit, node, is_sure=is_sure):
            own.update(node.outputs)
        else:
            moved.append(node)
    if edit.budget is not None:
        moved = moved[: edit.budget - len(edit.log)]
    if not moved:
        return 0
    before = [noted(node, edit.path(node)) for node in moved]
    for node in moved:
        _part_from_outputs(edit, node, body)
        for value in node.outputs:
            if value.name and names[value.name] > 1:
                names[value.name] -= 1
                value.name = edit.fresh_name(value.name)
    edit.lift(moved, loop)
    for old, node in zip(before, moved, strict=True):
        edit.log.add(Edit(edit.pass_name, _RULE, (old,), (noted(node, edit.path(node)),)))
    return len(moved)


def _depends(node: ir.Node, own: set[ir.Value]) -> bool:
    """True if a node reads what the body of a loop makes, or is given in each turn."""
    return any(each is not None and each in own for each in node.inputs)


def _may_move(edit: Editor, node: ir.Node, *, is_sure: bool) -> bool:
    if node.domain not in ("", "ai.onnx.ml") or FACT_KEY in node.metadata_props or node.op_type in _COPIES:
        return False
    if has_graphs(node) or is_random(node):
        return False
    is_cheap = _is_cheap_and_safe(edit, node)
    results = [each for each in node.outputs if each.is_graph_output()]
    if any(each.dtype in (None, ir.DataType.STRING) for each in results):
        return False  # ONNX Runtime moves text out of what a body gives, and from a copy of what is outside only once
    if results:
        return is_sure and not is_cheap  # a copy would stay inside, which is no cheaper
    return is_sure or is_cheap


def _is_cheap_and_safe(edit: Editor, node: ir.Node) -> bool:
    """True if a node takes little, and cannot fail."""
    if node.domain or not node.outputs:
        return False
    result = node.outputs[0]
    match node.op_type:
        case kind if kind in _ONE_LOOK:
            return True
        case "Transpose" | "Unsqueeze" | "Squeeze":
            # Inference has gone through with it, and axes are constants or attributes. What is known of the result
            # alone does not say that the sizes are 1 which go.
            given = node.inputs[0] if node.op_type == "Squeeze" else result
            known = given is not None and fixed_shape(given) is not None and fixed_shape(result) is not None
            return known and all(edit.is_constant(each) for each in node.inputs[1:])
        case "Cast":
            given = node.inputs[0]
            kinds = (None if given is None else given.dtype, result.dtype)
            return None not in kinds and ir.DataType.STRING not in kinds
        case kind if kind in _OF_TWO or kind == "Div":
            left, right = node.inputs
            if kind == "Div" and (result.dtype is None or not result.dtype.is_floating_point()):
                return False  # a division of integers by zero
            return same_shape(left, right) or 0 in (rank(left), rank(right))
        case _:
            return False


def _part_from_outputs(edit: Editor, node: ir.Node, body: ir.Graph) -> None:
    """Let copies be what the body gives, of what a node makes that is to be moved out of it."""
    places = [place for place, value in enumerate(body.outputs) if value in node.outputs]
    if not places:
        return
    outputs = list(body.outputs)
    for place in places:
        value = body.outputs[place]
        copy = ir.Node("", "Identity", [value], num_outputs=1, name=edit.fresh_name(f"{value.name}_identity"))
        outputs[place] = copy.outputs[0]
        # The output keeps its name, and what is moved gets another one.
        copy.outputs[0].name, value.name = value.name, edit.fresh_name(f"{value.name}_once")
        copy.outputs[0].type, copy.outputs[0].shape = value.type, value.shape
        body.append(copy)
    edit.set_ports(body, list(body.inputs), outputs)
