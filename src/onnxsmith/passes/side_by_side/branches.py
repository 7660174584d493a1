"""The two sides of a choice in a loop's body, for all turns at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import onnx_ir as ir

from onnxsmith.passes.side_by_side.bodies import chosen_value
from onnxsmith.passes.side_by_side.lifting import Lifter
from onnxsmith.passes.side_by_side.linear_form import Dependence, chosen_from
from onnxsmith.passes.side_by_side.values import Lifted

_Found = TypeVar("_Found")


def on_both_sides(
    lifter: Lifter, node: ir.Node, value: ir.Value, of: Dependence, find: Callable[[ir.Value], _Found]
) -> tuple[_Found, _Found]:
    """Call `find` with the two values that an `If` or `Where` chooses from, where the condition is known.

    What the graphs of an `If` compute that does not wait is lifted before.
    """
    sides = chosen_from(node, value)
    assert sides is not None
    if node.op_type == "Where":
        return find(sides[0]), find(sides[1])
    before = lifter.mask
    taken = lifter.each(lifter.number(node.inputs[0]))
    found: list[_Found] = []
    for name, side, mask in zip(
        ("then_branch", "else_branch"), sides, (taken, lifter.at.op("Not", taken)), strict=True
    ):
        lifter.mask = lifter.both(before, mask)
        lifter.graph(node.attributes[name].as_graph(), {*of.own, *of.unknown})
        found.append(find(side))
    lifter.mask = before
    return found[0], found[1]


def one_of(lifter: Lifter, condition: Lifted, one: Lifted, other: Lifted) -> Lifted:
    """One of two numbers, as a condition says that may be the same in all turns."""
    if one == other:
        return one
    made = chosen_value(lifter.at, condition.value, one.value, other.value)
    return Lifted(made, any(each.is_each for each in (condition, one, other)), 0)
