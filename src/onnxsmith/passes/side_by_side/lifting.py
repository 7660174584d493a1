"""The nodes of a loop's body for all turns at once: one rule for each kind of operator.

Where a condition differs from turn to turn, both sides of an `If` are computed and one is chosen. That is right only
where the side that is not taken cannot fail; what could, such as reading a place that is not there, is kept from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import onnx_ir as ir

from onnxsmith.graphs.identity import is_random
from onnxsmith.graphs.rewriting.scopes import has_graphs
from onnxsmith.passes.editor import Attempt
from onnxsmith.passes.side_by_side.bodies import chosen_value
from onnxsmith.passes.side_by_side.failing import DIVIDING, cannot_fail, keeps_size
from onnxsmith.passes.side_by_side.values import CannotLift, Known, Lifted, Summed, Written
from onnxsmith.passes.values import (
    fixed_shape,
    has_references,
    int_attribute,
    rank,
)
from onnxsmith.schema.elementwise_operators import ELEMENTWISE

_REDUCTIONS = frozenset({"ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceProd"})
#: So many elements may a value have in one turn: more would make arrays that nobody asked for.
_MOST_ELEMENTS = 64

#: Element types that the operators take which are put in.
_PLAIN = frozenset(
    {
        ir.DataType.BOOL,
        ir.DataType.INT32,
        ir.DataType.INT64,
        ir.DataType.FLOAT,
        ir.DataType.DOUBLE,
        ir.DataType.UINT8,
        ir.DataType.INT8,
    }
)

#: Lifts a node that has graphs inside.
Control: TypeAlias = "Callable[[Lifter, ir.Node], Sequence[Known]]"


class Lifter:
    """Lifts the nodes of a body, for turns whose number is `count`, an INT64 of shape [1].

    `turns` are their numbers, `control` has a rule for each operator with graphs inside.
    """

    def __init__(
        self,
        at: Attempt,
        count: ir.Value,
        turns: ir.Value,
        control: Mapping[str, Control],
        *,
        is_sure: bool,
    ) -> None:
        self.at = at
        #: Whether there is at least one turn: what fails then fails in the loop, too.
        self._is_sure = is_sure
        self.count = count
        self.turns = turns
        self._control = control
        self.known: dict[ir.Value, Known] = {}
        #: Elements that all turns have looked at, by array and places.
        self._gathered: dict[tuple[ir.Value, ir.Value], Lifted] = {}
        self._outermost = at.made
        #: The turns that take the path that is being lifted; None where all do.
        self.mask: ir.Value | None = None

    # -- looking ---------------------------------------------------------------------------------------

    def of(self, value: ir.Value | None) -> Known | None:
        """The known form of a value; None for an input that is left out."""
        if value is None:
            return None
        found = self.known.get(value)
        if found is not None:
            return found
        return Lifted(value, False, _rank(value))

    def plain(self, value: ir.Value | None) -> Lifted:
        """The same, for what is neither an array that is written to nor a sum."""
        found = self.of(value)
        if not isinstance(found, Lifted):
            raise CannotLift("what is carried from turn to turn is read")
        return found

    def number(self, value: ir.Value | None) -> Lifted:
        """The same, for what is a number in every turn."""
        found = self.plain(value)
        if found.rank:
            raise CannotLift("a number becomes an array")
        return found

    def numbers(self, value: ir.Value | None) -> tuple[int, ...]:
        """The ints of a constant."""
        found = None if value is None else self.at.edit.numbers(self.plain(value).value)
        if found is None:
            raise CannotLift("axes are computed")
        return found

    # -- making ----------------------------------------------------------------------------------------

    def each(self, lifted: Lifted) -> ir.Value:
        """A value as one for each turn."""
        if lifted.is_each:
            return lifted.value
        if lifted.rank == 0:
            return self.at.op("Expand", lifted.value, self.count)
        shape = self.at.op("Concat", self.count, self.at.op("Shape", lifted.value), axis=0)
        return self.at.op("Expand", lifted.value, shape)

    def ranked(self, lifted: Lifted, wanted: int) -> ir.Value:
        """A value whose turns have so many dimensions, for broadcasting."""
        if not lifted.is_each or lifted.rank >= wanted:
            return lifted.value
        axes = list(range(1, 1 + wanted - lifted.rank))
        return self.at.op("Unsqueeze", lifted.value, self.at.constant(axes, "axes"))

    def chosen(self, condition: ir.Value, then: Lifted, other: Lifted) -> Lifted:
        """One of two values for each turn."""
        if then == other:
            return then
        wanted = max(then.rank, other.rank)
        if then.rank != other.rank:
            raise CannotLift("two sides of an if give different numbers of dimensions")
        where = self.ranked(Lifted(condition, True, 0), wanted)
        return Lifted(chosen_value(self.at, where, then.value, other.value), True, wanted)

    def both(self, first: ir.Value | None, second: ir.Value) -> ir.Value:
        """The turns that are in two masks."""
        return second if first is None else self.at.op("And", first, second)

    # -- nodes -----------------------------------------------------------------------------------------

    def graph(self, graph: ir.Graph, waiting: Container[ir.Value] = ()) -> None:
        """Lift all nodes of a graph but those whose results are waiting, or known already; raises CannotLift."""
        if graph.initializers:
            raise CannotLift("a body has weights of its own")
        for node in self.at.edit.living(graph):
            if any(each in waiting for each in node.outputs) or all(
                each in self.known for each in node.outputs
            ):
                continue
            if not all(each.dtype is None or each.dtype in _PLAIN for each in node.outputs):
                raise CannotLift("element types that few operators take")
            results = self._node(node)
            for value, result in zip(node.outputs, results, strict=True):
                if isinstance(result, Lifted) and result.is_each and not _is_small(node, value, result):
                    raise CannotLift("an array in each turn")
                self.known.setdefault(value, result)

    def _node(self, node: ir.Node) -> Sequence[Known]:
        if node.domain or has_references(node) or is_random(node):
            raise CannotLift(f"there is no rule for {node.domain} {node.op_type}")
        given = [self.of(each) for each in node.inputs]
        if has_graphs(node):
            if node.op_type not in self._control:
                raise CannotLift("a graph inside the body")
            return self._control[node.op_type](self, node)
        if all(map(_is_same, given)):
            return self._same(node)
        special = self._carried(node, given)
        if special is not None:
            return (special,)
        rule = _RULES.get(node.op_type)
        if node.op_type in ELEMENTWISE or keeps_size(node):
            rule = Lifter.elementwise
        elif node.op_type in _REDUCTIONS:
            rule = Lifter.reduction
        if rule is None:
            raise CannotLift(f"there is no rule for {node.op_type}")
        return (rule(self, node, [self.plain(each) if each is not None else None for each in node.inputs]),)

    def _same(self, node: ir.Node) -> Sequence[Known]:
        """A node that is the same in all turns."""
        if not cannot_fail(self.at.edit, node):
            if self.mask is not None:
                raise CannotLift("a node may fail that is not always run")
            if not self._is_sure:
                return (self._in_each(node),)
        inputs = [None if each is None else self.plain(each).value for each in node.inputs]
        made = self.at.ops(
            node.op_type,
            *inputs,
            outputs=len(node.outputs),
            like=node.outputs,
            attributes=dict(node.attributes),
        )
        ranks = [self._rank_of(node) if rank(old) is None else _rank(old) for old in node.outputs]
        return [Lifted(new, False, each) for new, each in zip(made, ranks, strict=True)]

    def _in_each(self, node: ir.Node) -> Lifted:
        """A node that is the same in all turns and may fail, once for each turn: without turns it does not fail."""
        given = [self.plain(each) for each in node.inputs]
        if node.op_type in DIVIDING and not any(each.rank for each in given):
            return self._again(node, [self.each(each) for each in given])
        if node.op_type == "Gather" and not given[1].rank and not int_attribute(node, "axis", 0):
            return self._again(node, [given[0].value, self.each(given[1])])
        raise CannotLift("a node may fail that is not always run")

    def _rank_of(self, node: ir.Node) -> int:
        """How many dimensions a result has in one turn, where that is not said."""
        found = rank(node.outputs[0])
        if found is not None:
            return found
        if not node.inputs:
            raise CannotLift("a constant that does not say its shape")
        first = self.plain(node.inputs[0]).rank
        if node.op_type == "Unsqueeze":
            return first + len(self.numbers(node.inputs[1]))
        if node.op_type == "Squeeze":
            return first - len(self.numbers(node.inputs[1]))
        if node.op_type in ELEMENTWISE or keeps_size(node):
            return max([self.plain(each).rank for each in node.inputs if each is not None])
        if node.op_type == "Gather":
            return first - 1 + self.plain(node.inputs[1]).rank
        if node.op_type in ("Concat", "ScatterND"):
            return first
        raise CannotLift("a number of dimensions is not known")

    def _again(self, node: ir.Node, inputs: Sequence[ir.Value | None], axis: int | None = None) -> Lifted:
        attributes = {name: each for name, each in node.attributes.items() if name != "axis" or axis is None}
        made = self.at.op(node.op_type, *inputs, attributes=attributes, axis=axis)
        return Lifted(made, True, self._rank_of(node))

    def elementwise(self, node: ir.Node, given: Sequence[Lifted | None]) -> Lifted:
        """The same operator, with dimensions aligned."""
        wanted = self._rank_of(node)
        if node.op_type in DIVIDING and not self._is_sure and not cannot_fail(self.at.edit, node):
            # Without turns there is no divisor, which would be 0.
            given = [None if each is None else Lifted(self.each(each), True, each.rank) for each in given]
        inputs = [None if each is None else self.ranked(each, wanted) for each in given]
        if self.mask is not None and node.op_type in DIVIDING and node.outputs[0].dtype is not None:
            divisor = given[1]
            if divisor is not None and node.outputs[0].dtype.is_integer():
                one = self.at.like(1, node.outputs[0])
                assert one is not None
                mask = self.ranked(Lifted(self.mask, True, 0), wanted)
                inputs[1] = self.at.op("Where", mask, self.ranked(divisor, wanted), one)
        return self._again(node, inputs)

    def unsqueeze(self, node: ir.Node, given: Sequence[Lifted | None]) -> Lifted:
        """New dimensions behind that of the turns."""
        return self._axes(node, given, self._rank_of(node))

    def squeeze(self, node: ir.Node, given: Sequence[Lifted | None]) -> Lifted:
        """Dimensions less, never that of the turns."""
        if len(given) < 2:
            raise CannotLift("sizes decide which dimensions go")
        return self._axes(node, given, given[0].rank if given[0] is not None else 0)

    def _axes(self, node: ir.Node, given: Sequence[Lifted | None], ranks: int) -> Lifted:
        data = given[0]
        if data is None or not data.is_each:
            raise CannotLift("axes differ from turn to turn")
        axes = [1 + axis % max(ranks, 1) for axis in self.numbers(node.inputs[1])]
        return self._again(node, [data.value, self.at.constant(axes, "axes")])

    def reduction(self, node: ir.Node, given: Sequence[Lifted | None]) -> Lifted:
        """The same, with axes behind that of the turns."""
        data = given[0]
        if data is None or not data.is_each or self.at.version < 18:
            raise CannotLift("a reduction of what does not differ")
        axes = self.numbers(node.inputs[1]) if len(given) > 1 and given[1] is not None else ()
        if not axes and int_attribute(node, "noop_with_empty_axes", 0):
            raise CannotLift("a reduction that reduces nothing")
        places = [1 + axis % data.rank for axis in axes] if axes else list(range(1, 1 + data.rank))
        if not places:
            return data
        return self._again(node, [data.value, self.at.constant(places, "axes")])

    def concat(self, node: ir.Node, given: Sequence[Lifted | None]) -> Lifted:
        """Parts of each turn, one after the other."""
        ranks = self._rank_of(node)
        axis = 1 + int_attribute(node, "axis", 0) % ranks
        return self._again(node, [None if each is None else self.each(each) for each in given], axis=axis)

    def reshape(self, node: ir.Node, given: Sequence[Lifted | None]) -> Lifted:
        """Another shape for each turn."""
        data, shape = given[0], self.numbers(node.inputs[1])
        if -1 in shape and not self._is_sure:
            raise CannotLift("a size that nothing says where there is no turn")
        if data is None or not data.is_each or 0 in shape or self.mask is not None:
            raise CannotLift("a shape that may be anything")
        return self._again(node, [data.value, self.at.constant([0, *shape], "shape")])

    def shape(self, node: ir.Node, given: Sequence[Lifted | None]) -> Lifted:
        """The shape of one turn."""
        data = given[0]
        if data is None or node.attributes:
            raise CannotLift("a part of a shape")
        made = self.at.op("Shape", data.value, start=1)
        return Lifted(made, False, 1)

    def gather(self, node: ir.Node, given: Sequence[Lifted | None]) -> Lifted:
        """Elements at places."""
        data, places = given[0], given[1]
        assert data is not None
        assert places is not None
        axis = int_attribute(node, "axis", 0) % max(data.rank, 1)
        if not places.is_each:
            is_always_run = self.mask is None and self._is_sure
            if not is_always_run and not cannot_fail(self.at.edit, node):
                raise CannotLift("a node may fail that is not always run")
            return self._again(node, [data.value, places.value], axis=axis + 1)
        if data.is_each:
            if data.rank != 1 or places.rank or self.mask is not None:
                raise CannotLift("each turn looks into an array of its own")
            index = self.at.op("Unsqueeze", places.value, self.at.constant([-1], "axes"))
            return Lifted(self.at.op("GatherND", data.value, index, batch_dims=1), True, 0)
        if axis:
            raise CannotLift("another axis than the first is looked into")
        found = self._gathered.get((data.value, places.value))
        if found is None and self.mask is None:
            found = self._again(node, [data.value, places.value])
            if self.at.made is self._outermost:  # what the body of a loop makes is not seen outside of it
                self._gathered[data.value, places.value] = found
        return found or self._guarded(node, data, places)

    def has_gathered(self, node: ir.Node) -> bool:
        """True if all turns look at the elements that a `Gather` takes."""
        data, places = (self.of(each) for each in node.inputs)
        return (
            isinstance(data, Lifted)
            and isinstance(places, Lifted)
            and (data.value, places.value) in self._gathered
        )

    def _guarded(self, node: ir.Node, data: Lifted, places: Lifted) -> Lifted:
        """Elements at places that only some turns look at: the others look at one more, behind the last."""
        if data.rank != 1 or places.rank or self.mask is None:
            raise CannotLift("a node may fail that is not always run")
        nothing = self.at.like(0, node.outputs[0])
        if nothing is None or places.value.dtype not in (None, ir.DataType.INT64):
            raise CannotLift("elements that have no zero")
        at = self.at
        size = at.op("Size", data.value)
        one = at.op("Expand", nothing, at.constant([1], "shape"))
        index = at.op("Less", places.value, at.constant(0))
        index = at.op("Where", index, at.op("Add", places.value, size), places.value)
        # A place that is not there stays one that is not there.
        is_there = at.op("And", at.op("Less", index, size), at.op("GreaterOrEqual", index, at.constant(0)))
        index = at.op("Where", is_there, index, at.op("Add", size, at.constant(1)))
        index = at.op("Where", self.mask, index, size)
        longer = at.op("Concat", data.value, one, axis=0)
        return Lifted(at.op("Gather", longer, index, axis=0), True, 0)

    # -- what is carried -------------------------------------------------------------------------------

    def _carried(self, node: ir.Node, given: Sequence[Known | None]) -> Known | None:
        """The result of a node on an array that turns write to, or on a sum; None for other values."""
        if node.op_type == "Identity":
            return given[0]
        if not any(isinstance(each, Written | Summed) for each in given):
            return None
        first = given[0]
        if isinstance(first, Written) and not any(isinstance(each, Written | Summed) for each in given[1:]):
            if node.op_type == "Shape" and not node.attributes:
                return Lifted(self.at.op("Shape", first.base), False, 1)
            if node.op_type == "Gather" and not int_attribute(node, "axis", 0):
                return self._read(node, first)
            if node.op_type == "ScatterND" and "reduction" not in node.attributes:
                return self._write(node, first)
        elif node.op_type == "Add":
            return self._add(given)
        raise CannotLift("what is carried from turn to turn is read")

    def _place(self, index: ir.Value | None, written: Written) -> Written:
        """The array, looked at in the place of this turn: different turns have different places."""
        place = _scalar_behind(index)
        if place is None or not self._is_own(place):
            raise CannotLift("turns may look at one place")
        return written.at(place, self.plain(place))

    def _is_own(self, place: ir.Value) -> bool:
        """True if a place is the number of the turn, or so much behind it."""
        found = self.known.get(place)
        if isinstance(found, Lifted) and found.value is self.turns:
            return True
        node = place.producer()
        if node is None or node.op_type != "Add" or node.domain:
            return False
        for turn, shift in (node.inputs, reversed(node.inputs)):
            number = None if shift is None else self.at.edit.number(self._constant(shift))
            if turn is not None and number is not None and number >= 0 and self._is_own(turn):
                return True
        return False

    def _constant(self, value: ir.Value) -> ir.Value:
        found = self.known.get(value)
        return found.value if isinstance(found, Lifted) else value

    def _read(self, node: ir.Node, written: Written) -> Lifted:
        found = self._place(node.inputs[1], written)
        self._look_again(written, found)
        assert found.places is not None
        ranks = rank(found.base)
        if ranks is None:
            raise CannotLift("a number of dimensions is not known")
        if found.update is not None and found.mask is None:
            return found.update
        before = self._gather_own(node, found, ranks - 1)
        if found.update is None or found.mask is None:
            return before
        return self.chosen(found.mask, found.update, before)

    def _gather_own(self, node: ir.Node, found: Written, ranks: int) -> Lifted:
        assert found.places is not None
        data = Lifted(found.base, False, ranks + 1)
        if self.mask is not None:
            return self._guarded(node, data, found.places)
        return Lifted(self.at.op("Gather", found.base, found.places.value, axis=0), True, ranks)

    def _look_again(self, before: Written, after: Written) -> None:
        """An array that was looked at in a place is written to in that place alone."""
        for value, each in list(self.known.items()):
            if each is before:
                self.known[value] = after

    def _write(self, node: ir.Node, written: Written) -> Written:
        found = self._place(node.inputs[1], written)
        update = self.plain(node.inputs[2])
        if update.rank != _rank(found.base) - 1:
            raise CannotLift("more than one place is written to")
        update = Lifted(self.each(update), True, update.rank)
        if self.mask is None:
            return replace(found, update=update, mask=None)
        if found.update is None:
            return replace(found, update=update, mask=self.mask)
        mask = None if found.mask is None else self.at.op("Or", found.mask, self.mask)
        return replace(found, update=self.chosen(self.mask, update, found.update), mask=mask)

    def _add(self, given: Sequence[Known | None]) -> Summed:
        first, second = given
        if isinstance(second, Summed):
            first, second = second, first
        if not isinstance(first, Summed) or not isinstance(second, Lifted) or first.addend is not None:
            raise CannotLift("a sum is read")
        if second.rank:
            raise CannotLift("a sum of arrays")
        return replace(first, addend=second)


#: Rules of operators that are neither elementwise nor reductions.
_RULES: dict[str, Callable[[Lifter, ir.Node, Sequence[Lifted | None]], Lifted]] = {
    "Concat": Lifter.concat,
    "Gather": Lifter.gather,
    "Reshape": Lifter.reshape,
    "Shape": Lifter.shape,
    "Squeeze": Lifter.squeeze,
    "Unsqueeze": Lifter.unsqueeze,
}


def _is_small(node: ir.Node, value: ir.Value, result: Lifted) -> bool:
    """True if a value has few elements in one turn."""
    if not result.rank or (node.op_type == "Unsqueeze" and rank(node.inputs[0]) == 0):
        return True
    sizes = fixed_shape(value)
    return sizes is not None and math.prod(sizes) <= _MOST_ELEMENTS


def _is_same(known: Known | None) -> bool:
    """True if a value is the same in all turns."""
    return known is None or (isinstance(known, Lifted) and not known.is_each)


def _rank(value: ir.Value) -> int:
    found = rank(value)
    if found is None:
        raise CannotLift("a number of dimensions is not known")
    return found


def _scalar_behind(index: ir.Value | None) -> ir.Value | None:
    """The number that an index of one place is made of."""
    if index is None or rank(index) == 0:
        return index
    node = index.producer()
    if node is None or node.op_type != "Unsqueeze" or node.domain or rank(node.inputs[0]) != 0:
        return None
    return node.inputs[0]
