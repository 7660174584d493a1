"""Statements that choose between blocks: `if`, which a tensor may decide, and `match`, which Python decides."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from onnxsmith.errors import TracedValueError, UnsupportedSyntaxError
from onnxsmith.scripting.analysis.kinds import KINDS, FlowQuestions, Names, Root, Targets
from onnxsmith.scripting.analysis.names import free_names, pattern_reads
from onnxsmith.scripting.source.definition_spans import located
from onnxsmith.scripting.staging import chains
from onnxsmith.scripting.staging.branches import branch
from onnxsmith.scripting.staging.jumps import Leaf, Side, Stager
from onnxsmith.scripting.staging.statement_kind import StatementKind
from onnxsmith.scripting.staging.truth import asked, choosing, is_symbolic, settled, truth


class Condition(StatementKind):
    """`if test: … else: …`"""

    def roots(self, statement: ast.stmt) -> Iterator[Root]:
        assert isinstance(statement, ast.If)
        yield Root(statement.test, is_test=True)

    def blocks(self, statement: ast.stmt) -> Iterable[Sequence[ast.stmt]]:
        assert isinstance(statement, ast.If)
        return statement.body, statement.orelse

    def always_leaves(self, statement: ast.stmt, flow: FlowQuestions) -> bool:
        assert isinstance(statement, ast.If)
        return bool(statement.orelse) and not any(
            flow.can_fall_through(each) for each in self.blocks(statement)
        )

    def live_before(self, statement: ast.stmt, live: Names, targets: Targets, flow: FlowQuestions) -> Names:
        inside = [flow.live_into(each, live, targets) for each in self.blocks(statement)]
        return frozenset[str]().union(flow.reads(statement), *inside)

    def stage(self, stager: Stager, statement: ast.stmt, follow: Leaf) -> Side:
        assert isinstance(statement, ast.If)
        if chains.is_long_elif(statement):
            return chains.run_elif(stager, statement, follow)
        test = stager.frame.evaluate(statement.test)
        with located(stager.frame.span(statement.test)):
            test = settled(asked(test))
            # An array that is recorded has no truth value.
            if is_symbolic(test):
                condition = truth(test, elementwise=choosing(stager.frame.run.dialect.stages_all))
            else:
                condition = bool(test)
        if isinstance(condition, bool):
            return stager.run(statement.body if condition else statement.orelse, follow)
        return branch(stager, condition, statement.body, statement.orelse, statement, statement.test, follow)


class Matching(StatementKind):
    """`match subject: …`"""

    def roots(self, statement: ast.stmt) -> Iterator[Root]:
        yield Root(statement)

    def blocks(self, statement: ast.stmt) -> Iterable[Sequence[ast.stmt]]:
        assert isinstance(statement, ast.Match)
        return [case.body for case in statement.cases]

    def live_before(self, statement: ast.stmt, live: Names, targets: Targets, flow: FlowQuestions) -> Names:
        assert isinstance(statement, ast.Match)
        result = live.union(free_names(statement.subject))
        for case in statement.cases:
            inside = flow.live_into(case.body, live, targets)
            guard = free_names(case.guard) if case.guard is not None else ()
            result = result.union(inside, guard, pattern_reads(case.pattern))
        return result

    def stage(self, stager: Stager, statement: ast.stmt, follow: Leaf) -> Side:
        assert isinstance(statement, ast.Match)
        # The subject with all patterns is one expression of ours: which case it is, and what that binds.
        try:
            chosen = cast("tuple[int, dict[str, Any]] | None", stager.frame.evaluate(statement))
        except TracedValueError:
            raise UnsupportedSyntaxError(
                "'match' looks at this value when the model is made, and only the model knows it",
                help="match a variable with numbers alone, or decide with 'if': if n == 1: …",
            ).locate(stager.frame.span(statement.subject)) from None
        if chosen is None:
            return stager.run((), follow)
        position, bound = chosen
        for name, value in bound.items():
            stager.frame.assign(name, value)
        return stager.run(statement.cases[position].body, follow)


KINDS["If"] = Condition()
KINDS["Match"] = Matching()
