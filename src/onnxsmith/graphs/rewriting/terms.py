"""Numbers and conditions about a node's inputs that are worked out at once where they are known, and emitted where not.

A term is an int that is known now, or the name of an INT64 scalar; a condition is a bool, or the name of a BOOL scalar.
So one text says what must hold, and what inference proves costs no node.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias

from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.types.dtypes import DType

Term: TypeAlias = int | str
Condition: TypeAlias = bool | str

_COMPARED: dict[str, Callable[[int, int], bool]] = {
    "Equal": operator.eq,
    "Less": operator.lt,
    "Greater": operator.gt,
}


class Terms:
    """Terms about one node."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.emit = site.emit

    # -- numbers ----------------------------------------------------------------------------------------

    def rank(self, position: int) -> Term:
        """How many dimensions an input has."""
        known = self.site.rank(position)
        return self.emit.rank(self.site.input(position)) if known is None else known

    def dimension(self, position: int, axis: int) -> Term:
        """A dimension of an input; -1 where it has no such axis."""
        shape = self.site.shape(position)
        if shape is not None:
            if not -len(shape) <= axis < len(shape):
                return -1
            size = shape[axis]
            if size is not None:
                return size
        return self.emit.dimension(self.site.input(position), axis)

    def size(self, position: int) -> Term:
        """How many elements an input has."""
        shape = self.site.shape(position)
        if shape is not None:
            if 0 in shape:
                return 0
            product = 1
            for each in shape:
                if each is None:
                    break
                product *= each
            else:
                return product
        return self.emit.size(self.site.input(position))

    def name(self, term: Term) -> str:
        """A term as a value of the graph."""
        return term if isinstance(term, str) else self.emit.constant(term)

    def remainder(self, term: Term, divisor: int) -> Term:
        """The remainder after a division by a positive number."""
        if isinstance(term, int):
            return term % divisor
        whole = self.emit.op("Mul", self.emit.op("Div", term, self.name(divisor)), self.name(divisor))
        return self.emit.op("Sub", term, whole)

    # -- conditions -------------------------------------------------------------------------------------

    def compare(self, kind: Literal["Equal", "Less", "Greater"], left: Term, right: Term) -> Condition:
        """One comparison."""
        if isinstance(left, int) and isinstance(right, int):
            return _COMPARED[kind](left, right)
        if self.emit.version < 9 and kind != "Equal":  # no integers yet; sizes fit into doubles
            return self.emit.op(
                kind,
                self.emit.cast(self.name(left), DType.DOUBLE),
                self.emit.cast(self.name(right), DType.DOUBLE),
            )
        return self.emit.op(kind, self.name(left), self.name(right))

    def equal(self, left: Term, right: Term) -> Condition:
        return self.compare("Equal", left, right)

    def is_one_of(self, term: Term, values: Iterable[int]) -> Condition:
        return self.any(self.equal(term, each) for each in values)

    def is_positive(self, term: Term) -> Condition:
        return self.compare("Greater", term, 0)

    def negated(self, condition: Condition) -> Condition:
        return not condition if isinstance(condition, bool) else self.emit.negated(condition)

    def all(self, conditions: Iterable[Condition]) -> Condition:
        """True if every condition holds."""
        open_ones: list[str] = []
        for each in conditions:
            if each is False:
                return False
            if isinstance(each, str):
                open_ones.append(each)
        if not open_ones:
            return True
        result = open_ones[0]
        for each in open_ones[1:]:
            result = self.emit.both(result, each)
        return result

    def any(self, conditions: Iterable[Condition]) -> Condition:
        """True if some condition holds."""
        return self.negated(self.all([self.negated(each) for each in conditions]))

    def implies(self, first: Condition, second: Condition) -> Condition:
        return self.any([self.negated(first), second])

    def has_elements(self, position: int) -> Condition:
        """True if an input has any element."""
        return self.is_positive(self.size(position))
