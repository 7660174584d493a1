"""Facts about a function's statements that hold without running it: what is used later, what jumps.

Works on the syntax tree alone; knows no tensors.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from onnxsmith.scripting.analysis.facts import FactTable
from onnxsmith.scripting.analysis.names import assigned_names, deferred_names, free_names, pattern_reads

_NOTHING: frozenset[str] = frozenset()


def is_endless(statement: ast.For | ast.While) -> bool:
    """Whether a loop never comes to its end by itself: `while True`."""
    return (
        isinstance(statement, ast.While)
        and isinstance(statement.test, ast.Constant)
        and bool(statement.test.value)
    )


@dataclass(frozen=True, slots=True)
class Jumps:
    """Which jumps leave a piece of code: to the end of the function or of the loop around it."""

    returns: bool = False
    breaks: bool = False
    continues: bool = False

    def __bool__(self) -> bool:
        return self.returns or self.breaks or self.continues

    def __or__(self, other: Jumps) -> Jumps:
        return Jumps(
            self.returns or other.returns, self.breaks or other.breaks, self.continues or other.continues
        )


_NO_JUMPS = Jumps()


@dataclass
class Flow:
    """The facts of one function body."""

    body: Sequence[ast.stmt]
    facts: FactTable
    _jumps: dict[int, Jumps] = field(default_factory=dict[int, Jumps])

    # -- names -----------------------------------------------------------------------------------------

    def assigned(self, *blocks: Iterable[ast.stmt]) -> list[str]:
        """Names that statements may bind, in the order of the source."""
        return list(
            dict.fromkeys(name for block in blocks for each in block for name in self.facts[each].assigns)
        )

    def loop_names(self, statement: ast.For | ast.While) -> list[str]:
        """Names that an iteration of a loop may bind: its target, its body, a walrus in its test."""
        head = statement.target if isinstance(statement, ast.For) else statement.test
        return list(dict.fromkeys([*assigned_names([ast.Expr(head)]), *self.assigned(statement.body)]))

    # -- jumps -----------------------------------------------------------------------------------------

    def jumps(self, statement: ast.stmt) -> Jumps:
        """The jumps out of a statement."""
        found = self._jumps.get(id(statement))
        if found is None:
            found = self._jumps[id(statement)] = self._find_jumps(statement)
        return found

    def block_jumps(self, statements: Iterable[ast.stmt]) -> Jumps:
        """The jumps out of a block."""
        result = _NO_JUMPS
        for statement in statements:
            result = result | self.jumps(statement)
        return result

    def _find_jumps(self, statement: ast.stmt) -> Jumps:
        match statement:
            case ast.Return():
                return Jumps(returns=True)
            case ast.Break():
                return Jumps(breaks=True)
            case ast.Continue():
                return Jumps(continues=True)
            case ast.For() | ast.While():
                inside, after = self.block_jumps(statement.body), self.block_jumps(statement.orelse)
                return Jumps(inside.returns or after.returns, after.breaks, after.continues)
            case ast.If():
                return self.block_jumps(statement.body) | self.block_jumps(statement.orelse)
            case ast.With():
                return self.block_jumps(statement.body)
            case ast.Match():
                result = _NO_JUMPS
                for case in statement.cases:
                    result = result | self.block_jumps(case.body)
                return result
            case _:
                return _NO_JUMPS

    def can_fall_through(self, statements: Sequence[ast.stmt]) -> bool:
        """Whether control can reach the end of a block."""
        return not any(self._always_leaves(statement) for statement in statements)

    def _always_leaves(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Return() | ast.Break() | ast.Continue() | ast.Raise():
                return True
            case ast.If(orelse=orelse) if orelse:
                return not self.can_fall_through(statement.body) and not self.can_fall_through(orelse)
            case ast.With():
                return not self.can_fall_through(statement.body)
            case ast.While():
                return is_endless(statement) and not self.block_jumps(statement.body).breaks
            case _:
                return False

    # -- liveness --------------------------------------------------------------------------------------

    def live_after(self, statement: ast.stmt) -> frozenset[str]:
        """Names whose value at the end of a statement may still be read."""
        return self._live[id(statement)] | self._always

    def live_in_loop(self, statement: ast.For | ast.While) -> frozenset[str]:
        """Names whose value at the start of an iteration, or when there is none more, may still be read."""
        return self._live_in_body[id(statement)] | self._always

    def live_after_jump(self, statement: ast.stmt, kind: str) -> frozenset[str]:
        """Names that may still be read where a path out of a statement goes on."""
        match kind:
            case "next":
                return self.live_after(statement)
            case "break":
                return self._targets[id(statement)].breaks | self._always
            case "continue":
                return self._targets[id(statement)].continues | self._always
            case _:
                return _NOTHING

    @cached_property
    def _live(self) -> dict[int, frozenset[str]]:
        self._live_in_body: dict[int, frozenset[str]] = {}
        self._targets: dict[int, _Targets] = {}
        after: dict[int, frozenset[str]] = {}
        # What a nested function reads may be read at any time: nobody knows when it is called.
        self._always = deferred_names(self.body) if self.facts.has_scope else _NOTHING
        self._block(self.body, _NOTHING, _Targets(_NOTHING, _NOTHING), after)
        return after

    def _block(
        self,
        statements: Sequence[ast.stmt],
        live: frozenset[str],
        targets: _Targets,
        after: dict[int, frozenset[str]],
    ) -> frozenset[str]:
        for statement in reversed(statements):
            after[id(statement)] = live
            self._targets[id(statement)] = targets
            live = self._statement(statement, live, targets, after)
        return live

    def _statement(
        self, statement: ast.stmt, live: frozenset[str], targets: _Targets, after: dict[int, frozenset[str]]
    ) -> frozenset[str]:
        match statement:
            case ast.Return(value=value):
                return frozenset(self.facts[statement].reads) if value is not None else _NOTHING
            case ast.Break():
                return targets.breaks
            case ast.Continue():
                return targets.continues
            case ast.If():
                then = self._block(statement.body, live, targets, after)
                otherwise = self._block(statement.orelse, live, targets, after)
                return then.union(otherwise, self.facts[statement].reads)
            case ast.For() | ast.While():
                return self._loop(statement, live, targets, after)
            case ast.With():
                inner = self._block(statement.body, live, targets, after)
                items = [each.context_expr for each in statement.items]
                bound = assigned_names([ast.With(statement.items, [])])
                return (inner - set(bound)) | {name for each in items for name in free_names(each)}
            case ast.Match(subject=subject):
                result = live | frozenset(free_names(subject))
                for case in statement.cases:
                    inner = self._block(case.body, live, targets, after)
                    guard = free_names(case.guard) if case.guard is not None else ()
                    result |= inner.union(guard, pattern_reads(case.pattern))
                return result
            case ast.AugAssign(target=ast.Name(id=name)):
                return live.union([name], self.facts[statement].reads)
            case _:
                facts = self.facts[statement]
                bound = facts.assigns if facts.is_plain else self._surely_bound(statement)
                return live.difference(bound).union(facts.reads)

    def _loop(
        self,
        statement: ast.For | ast.While,
        live: frozenset[str],
        targets: _Targets,
        after: dict[int, frozenset[str]],
    ) -> frozenset[str]:
        read_before = frozenset(
            free_names(statement.iter if isinstance(statement, ast.For) else statement.test)
        )
        bound = (
            set(assigned_names([ast.Expr(statement.target)]))
            if isinstance(statement, ast.For)
            else set[str]()
        )
        at_end = self._block(statement.orelse, live, targets, after)
        test = read_before if isinstance(statement, ast.While) else _NOTHING
        at_start = at_end | test
        # Two passes reach the fixed point: what an iteration reads is live at the end of the one before.
        for _ in range(2):
            inner = _Targets(live, at_start)
            body = self._block(statement.body, at_start, inner, after)
            at_start = at_start | (body - bound) | test
        self._live_in_body[id(statement)] = at_start
        return at_start | read_before

    @staticmethod
    def _surely_bound(statement: ast.stmt) -> Iterable[str]:
        """Names that a statement binds on every path; a walrus may stand where it is not reached."""
        match statement:
            case ast.Assign(targets=targets):
                return frozenset(assigned_names([ast.Expr(each) for each in targets]))
            case ast.AnnAssign(target=target, value=value) if value is not None:
                return frozenset(assigned_names([ast.Expr(target)]))
            case ast.FunctionDef() | ast.Import() | ast.ImportFrom():
                return frozenset(assigned_names([statement]))
            case _:
                return _NOTHING


@dataclass(frozen=True, slots=True)
class _Targets:
    """What is live where `break` and `continue` go."""

    breaks: frozenset[str]
    continues: frozenset[str]
