"""A quick test for a pattern at a node: by the names of operators around it, and nothing else.

Most nodes that are not the end of a pattern are told so here, for a small part of what a search costs.
"""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from onnxsmith.passes.rules.pattern import Either, PatternNode, PatternValue, Result

#: How many operators in a row are looked at.
_DEPTH = 4
#: A node with more inputs is not looked at: the ways through many of those would be too many.
_MOST_INPUTS = 8


def may_be(wanted: PatternNode, node: ir.Node, depth: int = _DEPTH) -> bool:
    """True if a node has the operator of a pattern's node, and inputs that may be what the pattern has for them."""
    if node.op_type != wanted.op_type:
        return False
    if depth == 1 or len(node.inputs) > _MOST_INPUTS:
        return True
    makers = [None if each is None else each.producer() for each in node.inputs]
    return all(_is_among(each, makers, depth - 1) for each in wanted.inputs)


def _is_among(wanted: PatternValue | None, makers: Sequence[ir.Node | None], depth: int) -> bool:
    """True if one of some nodes may make a value of the pattern; what need not be made by a node is there."""
    if isinstance(wanted, Either):
        return any(_is_among(each, makers, depth) for each in wanted.options)
    if not isinstance(wanted, Result):
        return True
    return any(each is not None and may_be(wanted.node, each, depth) for each in makers)
