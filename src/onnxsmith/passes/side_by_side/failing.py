"""Nodes that cannot fail, so that they may run where the loop or the branch that they come from does not."""

from __future__ import annotations

import onnx_ir as ir

from onnxsmith.passes.editor import Editor
from onnxsmith.passes.values import dimensions, fixed_shape, int_attribute, rank, same_shape
from onnxsmith.schema.elementwise_operators import ELEMENTWISE

#: Elementwise operators that fail, or end the process, on a divisor of 0 where they divide whole numbers.
DIVIDING = frozenset({"Div", "Mod"})
#: What cannot fail, whatever it is given.
_HARMLESS = frozenset(
    {"Constant", "Shape", "Size", "Unsqueeze", "Identity", "Transpose", "Slice", "ReduceSum"}
)
#: What fails on sizes alone: where all are known, inference has gone through with it.
_BY_SIZES = frozenset({"Reshape", "Squeeze", "Expand", "Concat", "MatMul"})


def cannot_fail(edit: Editor, node: ir.Node) -> bool:
    """True if a node runs through, whatever its inputs hold."""
    match node.op_type:
        case kind if kind in DIVIDING and not _is_of_floats(node):
            return False
        case kind if kind in ELEMENTWISE:
            return _fit_together(node)
        case kind if kind in _HARMLESS:
            return all(map(edit.is_constant, filter(None, node.inputs[1:])))
        case "Concat" if all(rank(each) == 1 for each in node.inputs):
            return True
        case kind if kind in _BY_SIZES:
            return _has_known_sizes(edit, node)
        case "BitCast":
            return keeps_size(node)
        case "Gather":
            return _is_there(edit, node)
        case _:
            return False


def keeps_size(node: ir.Node) -> bool:
    """True if a node reads the bits of each element as those of one other: then it is elementwise."""
    if node.domain or node.op_type != "BitCast" or node.inputs[0] is None:
        return False
    before, after = node.inputs[0].dtype, node.outputs[0].dtype
    return before is not None and after is not None and before.bitwidth == after.bitwidth


def _is_of_floats(node: ir.Node) -> bool:
    kind = node.outputs[0].dtype
    return kind is not None and kind.is_floating_point()


def _fit_together(node: ir.Node) -> bool:
    """True if the inputs broadcast."""
    arrays = [each for each in node.inputs if each is not None and rank(each) != 0]
    return all(same_shape(arrays[0], each) for each in arrays[1:]) or all(
        fixed_shape(each) is not None for each in arrays
    )


def _has_known_sizes(edit: Editor, node: ir.Node) -> bool:
    if node.op_type in ("Reshape", "Squeeze", "Expand") and not all(
        map(edit.is_constant, filter(None, node.inputs[1:]))
    ):
        return False
    return all(each is None or fixed_shape(each) is not None for each in (*node.inputs, *node.outputs))


def _is_there(edit: Editor, node: ir.Node) -> bool:
    """True if a `Gather` takes what is surely there."""
    sizes, places = dimensions(node.inputs[0]), edit.numbers(node.inputs[1])
    axis = int_attribute(node, "axis", 0)
    if sizes is None or places is None or not -len(sizes) <= axis < len(sizes):
        return False
    size = sizes[axis]
    return isinstance(size, int) and all(-size <= place < size for place in places)
