"""Ways to look at expressions that one can write in several orders: products, sums, powers. Nothing is changed here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import onnx_ir as ir

from onnxsmith.passes.editor import Editor
from onnxsmith.passes.values import made_by, only_for

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
    """What a value is the product of: one number, and the rest."""

    number: float = 1.0
    factors: list[ir.Value] = field(default_factory=list[ir.Value])

    def without(self, value: ir.Value, times: int = 1) -> list[ir.Value] | None:
        """The factors but one, which is there at least so many times; None where it is not."""
        rest = [each for each in self.factors if each is not value]
        return rest if len(self.factors) - len(rest) == times else None


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
            divisor = edit.number_beside(node.inputs[1], node.inputs[0])
            if divisor is None or divisor == 0:
                result.factors.append(each)
            else:
                result.number /= divisor
                waiting.append(node.inputs[0])
    return result


def _number_and_rest(edit: Editor, node: ir.Node) -> tuple[float, list[ir.Value | None]]:
    """The number in a product of two, and what it is multiplied with; both operands where there is none."""
    for value, other in both_ways(node):
        number = edit.number_beside(value, other)
        if number is not None:
            return number, [other]
    return 1.0, list(node.inputs)


def plus_number(edit: Editor, value: ir.Value | None) -> tuple[ir.Value, float] | None:
    """The two operands of a sum of a value and a number, where nothing else reads the sum."""
    node = only_for(value, "Add")
    if node is None:
        return None
    for term, number in both_ways(node):
        known = edit.number_beside(number, term)
        if known is not None and term is not None:
            return term, known
    return None


def square_of(edit: Editor, value: ir.Value | None) -> ir.Value | None:
    """What a value is the square of, where nothing else reads the square."""
    product = only_for(value, "Mul")
    if product is not None and product.inputs[0] is product.inputs[1]:
        return product.inputs[0]
    power = only_for(value, "Pow")
    if power is not None and edit.number_beside(power.inputs[1], power.inputs[0]) == 2:
        return power.inputs[0]
    return None


#: How far a constant may be from the number that it is meant to be, as a part of it, by element type.
_ROUNDING: dict[ir.DataType | None, float] = {
    ir.DataType.FLOAT16: 1e-2,
    ir.DataType.BFLOAT16: 1e-2,
    ir.DataType.DOUBLE: 1e-12,
}


def is_close(number: float | None, wanted: float, dtype: ir.DataType | None) -> bool:
    """Whether a constant of a model is a number, rounded to its element type."""
    tolerance = _ROUNDING.get(dtype, 1e-6)
    return number is not None and abs(number - wanted) <= tolerance * abs(wanted)


def root_below(edit: Editor, value: ir.Value | None) -> tuple[ir.Value, float] | None:
    """`x` and `e`, for a value that is `1 / sqrt(x + e)`, however that is written, and read once."""
    node = only_for(value, "Reciprocal")
    root = only_for(node.inputs[0], "Sqrt") if node is not None else None
    if root is not None:
        return plus_number(edit, root.inputs[0])
    quotient = only_for(value, "Div")
    if quotient is not None and edit.number_beside(quotient.inputs[0], quotient.inputs[1]) == 1:
        root = only_for(quotient.inputs[1], "Sqrt")
        return None if root is None else plus_number(edit, root.inputs[0])
    power = only_for(value, "Pow")
    if power is not None and edit.number_beside(power.inputs[1], power.inputs[0]) == -0.5:
        return plus_number(edit, power.inputs[0])
    return None


def mean_over_last(edit: Editor, value: ir.Value | None, *, is_shared: bool = False) -> ir.Value | None:
    """What a value is the mean of, over the last dimension, which stays as 1."""
    node = made_by(value, "ReduceMean") if is_shared else only_for(value, "ReduceMean")
    if node is None or node.inputs[0] is None:
        return None
    keep = node.attributes.get("keepdims")
    if keep is not None and (keep.is_ref() or keep.as_int() != 1):
        return None
    source = node.inputs[0]
    given = node.attributes.get("axes")
    if len(node.inputs) > 1:
        axes = edit.numbers(node.inputs[1])
    else:
        axes = None if given is None or given.is_ref() else tuple(given.as_ints())
    if axes is None or len(axes) != 1:
        return None
    size = None if source.shape is None else len(source.shape)
    return source if axes[0] == -1 or (size is not None and axes[0] == size - 1) else None
