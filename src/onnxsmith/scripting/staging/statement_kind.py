"""A kind of statement: what analysis asks of it, and how it is staged."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod

from onnxsmith.scripting.analysis.kinds import StatementShape
from onnxsmith.scripting.staging.jumps import NEXT, Leaf, Side, Stager


class StatementKind(StatementShape, ABC):
    """One kind of statement. A class for one says how it differs from a statement that control leaves at its end.

    `statement` is always of the classes that the kind stands for in the table of `statements`.
    """

    @abstractmethod
    def stage(self, stager: Stager, statement: ast.stmt, follow: Leaf) -> Side:
        """Carry it out, and give what `follow` makes of each way out of it.

        Where it does not jump, nobody looks at what is given.
        """


class PlainKind(StatementKind):
    """A kind of statement that control leaves at its end."""

    def stage(self, stager: Stager, statement: ast.stmt, follow: Leaf) -> Side:
        self.perform(stager, statement)
        return follow(NEXT)

    @abstractmethod
    def perform(self, stager: Stager, statement: ast.stmt) -> None:
        """Carry it out."""
