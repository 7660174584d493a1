"""Ways to look at expressions that one can write in several orders, for fusions that are no rules of two functions.

Nothing is changed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import onnx_ir as ir

from onnxsmith.passes.editor import Editor
from onnxsmith.passes.values import only_for

#: Products of more factors are not looked at.
_MOST_FACTORS = 8


def both_ways(node: ir.Node) -> Iterator[tuple[ir.Value | None, ir.Value | None]]:
    """The two inputs of a node, in either order."""
    if len(node.inputs) == 2:
        left, right = node.inputs
        yield left, right
        if left is not right:
            yield right, left


@dataclass(slots=True)
class Product:
    """The factors of a value that is a product: one number, and the rest."""

    number: float = 1.0
    factors: list[ir.Value] = field(default_factory=list[ir.Value])


def product_of(edit: Editor, value: ir.Value | None, root: ir.Node | None = None) -> Product:
    """The factors of a value. A product that something else reads is a factor itself, and so is what is no product."""
    result = Product()
    waiting = [value]
    while waiting and len(result.factors) <= _MOST_FACTORS:
        each = waiting.pop()
        if each is None:
            continue
        node = (
            each.producer() if root is not None and each.producer() is root else only_for(each, "Mul", "Div")
        )
        if node is None or node.domain or node.op_type not in ("Mul", "Div"):
            result.factors.append(each)
        elif node.op_type == "Mul":
            number, rest = _number_and_rest(edit, node)
            result.number *= number
            waiting.extend(rest)
        else:
            divisor = _number(edit, node.inputs[1], node.inputs[0])
            if divisor is None or divisor == 0:
                result.factors.append(each)
            else:
                result.number /= divisor
                waiting.append(node.inputs[0])
    return result


def _number_and_rest(edit: Editor, node: ir.Node) -> tuple[float, list[ir.Value | None]]:
    """The number in a product of two, and what it is multiplied with; both operands where there is none."""
    for value, other in both_ways(node):
        number = _number(edit, value, other)
        if number is not None:
            return number, [other]
    return 1.0, list(node.inputs)


def _number(edit: Editor, value: ir.Value | None, other: ir.Value | None) -> float | None:
    """The number that a constant is for another operand; a weight that may get other content is none."""
    return edit.number_beside(value, other) if value is None or edit.is_fixed(value) else None
