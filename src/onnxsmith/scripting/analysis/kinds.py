"""The interface of a kind of statement for analysis, and the lazy table of kinds, which `staging/statements` fills.

The classes stand there, and also say how such a statement is staged.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from onnxsmith.registry import Registry
from onnxsmith.scripting.analysis.names import assigned_names

Names = frozenset[str]


@dataclass(frozen=True, slots=True)
class Root:
    """An expression to compile; of a test only the truth value matters."""

    node: ast.AST
    is_test: bool = False

    @property
    def is_at_hand(self) -> bool:
        """True if a look at the variables gives its value, so that there is nothing to run."""
        return isinstance(self.node, ast.Name | ast.Constant)


@dataclass(frozen=True, slots=True)
class Jumps:
    """The jumps that leave a piece of code: to the end of the function or of the loop around it."""

    returns: bool = False
    breaks: bool = False
    continues: bool = False

    def __bool__(self) -> bool:
        return self.returns or self.breaks or self.continues

    def __or__(self, other: Jumps) -> Jumps:
        if other is NO_JUMPS or self is other:
            return self
        return Jumps(
            self.returns or other.returns, self.breaks or other.breaks, self.continues or other.continues
        )


NO_JUMPS = Jumps()


@dataclass(frozen=True, slots=True)
class Targets:
    """The variables that are live where `break` and `continue` go."""

    breaks: Names
    continues: Names


class FlowQuestions(Protocol):
    """The questions that a kind of statement may ask about the statements inside it."""

    def block_jumps(self, statements: Iterable[ast.stmt]) -> Jumps:
        """The jumps out of a block."""
        ...

    def can_fall_through(self, statements: Sequence[ast.stmt]) -> bool:
        """True if control can reach the end of a block."""
        ...

    def reads(self, statement: ast.stmt) -> Sequence[str]:
        """The names that the statement's own expressions read."""
        ...

    def surely_assigned(self, statement: ast.stmt) -> Iterable[str]:
        """The names that the statement binds on every path."""
        ...

    def live_into(self, statements: Sequence[ast.stmt], live: Names, targets: Targets) -> Names:
        """The names that are live at the start of a block, where `live` are at its end."""
        ...

    def note_loop(self, statement: ast.stmt, live: Names) -> None:
        """Take note of what is live at the start of a loop's iterations."""
        ...


class StatementShape:
    """One kind of statement, as analysis sees it. What stands here holds for statements without others inside."""

    def roots(self, statement: ast.stmt) -> Iterator[Root]:
        """The expressions that are evaluated to stage it."""
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.expr):
                yield Root(child)

    def blocks(self, statement: ast.stmt) -> Iterable[Sequence[ast.stmt]]:
        """The blocks of statements inside it."""
        return ()

    def jumps(self, statement: ast.stmt, flow: FlowQuestions) -> Jumps:
        """The jumps that may leave it: those of its blocks."""
        result = NO_JUMPS
        for block in self.blocks(statement):
            result = result | flow.block_jumps(block)
        return result

    def always_leaves(self, statement: ast.stmt, flow: FlowQuestions) -> bool:
        """True if control never reaches its end."""
        return False

    def surely_assigned(self, statement: ast.stmt) -> Iterable[str]:
        """The names that it binds on every path; a walrus may stand where it is not reached."""
        return ()

    def live_before(self, statement: ast.stmt, live: Names, targets: Targets, flow: FlowQuestions) -> Names:
        """The names whose value before it may be read, where `live` are those after it."""
        return live.difference(flow.surely_assigned(statement)).union(flow.reads(statement))


#: By the name of the class of the tree's node; statements of other classes are none that a script can contain.
#: `FactTable` loads those that a function has; who asks after that asks for what is `loaded`, which costs less.
KINDS: Registry[str, StatementShape] = Registry("onnxsmith.scripting.staging.statements", "KINDS")


def target_roots(target: ast.expr) -> Iterator[Root]:
    """The expressions that are evaluated to assign a target: the containers and indices in it."""
    match target:
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for element in elements:
                yield from target_roots(element)
        case ast.Starred(value=value):
            yield from target_roots(value)
        case ast.Subscript(value=value, slice=index):
            yield Root(value)
            yield Root(index)
        case ast.Attribute(value=value):
            yield Root(value)
        case _:
            pass


def names_bound(target: ast.expr) -> list[str]:
    """The variables that a target binds."""
    if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
        return [target.id]
    return assigned_names([ast.Expr(target)])
