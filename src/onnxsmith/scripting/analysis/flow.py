"""Facts about a function's statements that hold without running it: what is used later, what jumps.

Works on the syntax tree alone; knows no tensors.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from onnxsmith.scripting.analysis.facts import FactTable
from onnxsmith.scripting.analysis.kinds import KINDS, NO_JUMPS, Jumps, Names, Targets, names_bound
from onnxsmith.scripting.analysis.names import deferred_names

_NOTHING: frozenset[str] = frozenset()


def is_endless(statement: ast.For | ast.While) -> bool:
    """True if a loop never comes to its end by itself: `while True`."""
    return (
        isinstance(statement, ast.While)
        and isinstance(statement.test, ast.Constant)
        and bool(statement.test.value)
    )


@dataclass
class Flow:
    """The facts of one function body."""

    body: Sequence[ast.stmt]
    facts: FactTable
    #: Variables that inner functions assign: they are in one place for all, and no path has its own.
    shared: Names = frozenset()
    _jumps: dict[int, Jumps] = field(default_factory=dict[int, Jumps])
    _wherever: dict[int, Names] = field(default_factory=dict[int, Names])

    # -- names -----------------------------------------------------------------------------------------

    def assigned(self, *blocks: Iterable[ast.stmt]) -> list[str]:
        """Names that statements may bind, in the order of the source."""
        return list(
            dict.fromkeys(
                name
                for block in blocks
                for each in block
                for name in self.facts.of[id(each)].assigns
                if name not in self.shared
            )
        )

    def loop_names(self, statement: ast.For | ast.While) -> list[str]:
        """Names that an iteration of a loop may bind: its target, its body, a walrus in its test."""
        head = statement.target if isinstance(statement, ast.For) else statement.test
        bound = [name for name in names_bound(head) if name not in self.shared]
        return list(dict.fromkeys([*bound, *self.assigned(statement.body)]))

    # -- jumps -----------------------------------------------------------------------------------------

    def jumps(self, statement: ast.stmt) -> Jumps:
        """The jumps out of a statement."""
        if self.facts.of[id(statement)].is_plain:
            return NO_JUMPS
        found = self._jumps.get(id(statement))
        if found is None:
            kind = KINDS.loaded(type(statement).__name__)
            found = self._jumps[id(statement)] = NO_JUMPS if kind is None else kind.jumps(statement, self)
        return found

    def block_jumps(self, statements: Iterable[ast.stmt]) -> Jumps:
        """The jumps out of a block."""
        result, of = NO_JUMPS, self.facts.of
        for statement in statements:
            if not of[id(statement)].is_plain:
                result = result | self.jumps(statement)
        return result

    def can_fall_through(self, statements: Sequence[ast.stmt]) -> bool:
        """True if control can reach the end of a block."""
        kinds = [(KINDS.loaded(type(each).__name__), each) for each in statements]
        return not any(kind is not None and kind.always_leaves(each, self) for kind, each in kinds)

    # -- liveness --------------------------------------------------------------------------------------

    def live_after(self, statement: ast.stmt) -> Names:
        """Names whose value at the end of a statement may still be read."""
        return self._live[id(statement)] | self._always

    def live_in_loop(self, statement: ast.For | ast.While) -> Names:
        """Names whose value at the start of an iteration, or when there is none more, may still be read."""
        always = self._always if self._live else _NOTHING  # asking for the one makes all of them
        return self._live_in_body[id(statement)] | always

    def live_after_jump(self, statement: ast.stmt, kind: str) -> Names:
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

    def live_wherever(self, statement: ast.stmt) -> Names:
        """Names that may still be read after a statement, wherever control goes from it."""
        found = self._wherever.get(id(statement))
        if found is None:
            found = self.live_after(statement)
            targets = self._targets[id(statement)]
            found = found.union(targets.breaks, targets.continues)
            if isinstance(statement, ast.For | ast.While):
                found = found | self.live_in_loop(statement)
            self._wherever[id(statement)] = found
        return found

    @cached_property
    def _live(self) -> dict[int, Names]:
        self._live_in_body: dict[int, Names] = {}
        self._targets: dict[int, Targets] = {}
        self._after: dict[int, Names] = {}
        # What a nested function reads may be read at any time: nobody knows when it is called.
        self._always = deferred_names(self.body) if self.facts.has_scope else _NOTHING
        self.live_into(self.body, _NOTHING, Targets(_NOTHING, _NOTHING))
        return self._after

    def live_into(self, statements: Sequence[ast.stmt], live: Names, targets: Targets) -> Names:
        for statement in reversed(statements):
            self._after[id(statement)] = live
            self._targets[id(statement)] = targets
            facts = self.facts.of[id(statement)]
            # What `live_before` says of it, without asking: most statements are plain.
            if facts.is_plain and statement.__class__ is not ast.AugAssign:
                live = live.difference(facts.assigns).union(facts.reads)
            elif (kind := KINDS.loaded(type(statement).__name__)) is not None:
                live = kind.live_before(statement, live, targets, self)
        return live

    def note_loop(self, statement: ast.stmt, live: Names) -> None:
        self._live_in_body[id(statement)] = live

    def reads(self, statement: ast.stmt) -> Sequence[str]:
        return self.facts.of[id(statement)].reads

    def surely_assigned(self, statement: ast.stmt) -> Iterable[str]:
        facts, kind = self.facts.of[id(statement)], KINDS.loaded(type(statement).__name__)
        if facts.is_plain:
            return facts.assigns
        return () if kind is None else kind.surely_assigned(statement)
