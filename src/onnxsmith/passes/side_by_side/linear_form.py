"""A number that a loop carries, where each turn makes it a factor times itself, plus something that does not wait.

Only says what a body computes; nothing is made here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

import onnx_ir as ir

from onnxsmith.graphs.rewriting.scopes import bodies_of
from onnxsmith.passes.editor import Editor

_Made = TypeVar("_Made")

#: Element types whose multiples are what they are, but for rounding.
_ROUNDED = frozenset([ir.DataType.FLOAT, ir.DataType.DOUBLE])
#: By so much a number may be multiplied or divided in one step: nothing on the way is much larger than the result.
_LARGEST = 2.0**10


@dataclass(frozen=True, slots=True)
class Linear:
    """The linear form of a value in the number that is carried."""

    factor: float
    #: The sum of the sizes of all factors that were added up: where it is larger than the factor, they have cancelled.
    weight: float
    #: How many values were added that do not wait for the number.
    addends: int
    #: Whether a condition chooses what is added.
    is_chosen: bool = False
    #: Whether it was multiplied on the way, which may round, or be infinite, even where the factor is 1 in the end.
    is_scaled: bool = False

    def times(self, number: float) -> Linear:
        """The same, multiplied by a number that is known."""
        return replace(self, factor=self.factor * number, weight=self.weight * abs(number), is_scaled=True)

    def negative(self) -> Linear:
        """The same with the other sign, which is exact."""
        return replace(self, factor=-self.factor)

    def plus(self, other: Linear) -> Linear:
        """The sum of two."""
        return Linear(
            self.factor + other.factor,
            self.weight + other.weight,
            self.addends + other.addends,
            self.is_chosen or other.is_chosen,
            self.is_scaled or other.is_scaled,
        )

    def otherwise(self, other: Linear) -> Linear | None:
        """One of two, as a condition says; None where the condition chooses the factor."""
        if self.factor != other.factor:
            return None
        return Linear(
            self.factor,
            max(self.weight, other.weight),
            max(self.addends, other.addends),
            is_chosen=True,
            is_scaled=self.is_scaled or other.is_scaled,
        )


@dataclass(frozen=True, slots=True)
class Dependence:
    """The values of a body that depend on the number, and those that depend on numbers not yet known in all turns."""

    held: ir.Value
    own: Collection[ir.Value]
    unknown: Collection[ir.Value]


def linear_form(edit: Editor, value: ir.Value, of: Dependence) -> Linear | None:
    """The linear form of a value in the number; None where it has none, or is not known to have one."""
    if value is of.held:
        return Linear(1.0, 1.0, 0)
    if value not in of.own:
        return None if value in of.unknown else Linear(0.0, 0.0, 1)
    node = value.producer()
    inputs = [] if node is None or node.domain else [each for each in node.inputs if each is not None]
    match "" if node is None else node.op_type, inputs:
        case "Identity", [only]:
            return linear_form(edit, only, of)
        case "Neg", [only]:
            found = linear_form(edit, only, of)
            return None if found is None else found.negative()
        case ("Add" | "Sub") as kind, [first, second]:
            one, other = linear_form(edit, first, of), linear_form(edit, second, of)
            if one is None or other is None:
                return None
            return one.plus(other if kind == "Add" else other.negative())
        case ("Mul" | "Div") as kind, [first, second]:
            if kind == "Mul" and first not in of.own:
                first, second = second, first
            number = None if second in of.own or not edit.is_fixed(second) else edit.number(second)
            found = linear_form(edit, first, of)
            if number is None or found is None or value.dtype not in _ROUNDED:
                return None  # whole numbers divide to whole numbers
            if not 1 / _LARGEST <= abs(number) <= _LARGEST:
                return None
            return found.times(number if kind == "Mul" else 1 / number)
        case _:
            sides = None if node is None else chosen_from(node, value)
            if sides is None or inputs[0] in of.own or inputs[0] in of.unknown:
                return None
            one, other = linear_form(edit, sides[0], of), linear_form(edit, sides[1], of)
            return None if one is None or other is None else one.otherwise(other)


def chosen_from(node: ir.Node, value: ir.Value) -> tuple[ir.Value, ir.Value] | None:
    """The value where the condition of an `If` or `Where` is true, and the value where it is not."""
    if node.domain or node.op_type not in ("If", "Where"):
        return None
    if node.op_type == "Where":
        _, one, other = node.inputs
        return None if one is None or other is None else (one, other)
    place = list(node.outputs).index(value)
    one, other = (node.attributes[name].as_graph().outputs[place] for name in ("then_branch", "else_branch"))
    return one, other


def rest(
    value: ir.Value,
    of: Dependence,
    apart: Callable[[ir.Value], _Made],
    make: Callable[[str, list[_Made]], _Made],
    zero: _Made,
) -> _Made | None:
    """The value of a linear form where the number is 0, in the same steps; None for 0.

    `apart` gives the values that do not wait for the number, `make` makes a node of an operator.
    """
    if value is of.held:
        return None
    if value not in of.own:
        return apart(value)
    node = value.producer()
    assert node is not None
    sides = chosen_from(node, value)
    if sides is not None:
        condition = node.inputs[0]
        assert condition is not None
        one, other = (rest(each, of, apart, make, zero) for each in sides)
        if one is None and other is None:
            return None
        return make(
            "Where", [apart(condition), zero if one is None else one, zero if other is None else other]
        )
    found = [rest(each, of, apart, make, zero) for each in node.inputs if each is not None]
    if node.op_type == "Identity":
        return found[0]
    there = [each for each in found if each is not None]
    if len(there) == len(found):
        return make(node.op_type, there)
    if not there or node.op_type not in ("Add", "Sub"):
        return None  # the negative of 0, or a number times 0
    return make("Neg", there) if node.op_type == "Sub" and found[0] is None else there[0]


def waiting_for(body: ir.Graph, states: Collection[ir.Value]) -> set[ir.Value]:
    """The values of a body that depend on some of its inputs, these included."""
    found = set(states)
    if found:
        _spread(body, found)
    return found


def _spread(graph: ir.Graph, found: set[ir.Value]) -> None:
    for node in graph:
        for inner in bodies_of(node):
            _spread(inner, found)
        if any(each in found for each in _read_by(node)):
            found.update(node.outputs)


def _read_by(node: ir.Node) -> Iterator[ir.Value]:
    """The values that a node reads, and those that the graphs inside it read or hand on."""
    yield from (each for each in node.inputs if each is not None)
    for graph in bodies_of(node):
        for each in graph:
            yield from _read_by(each)
        yield from graph.outputs
