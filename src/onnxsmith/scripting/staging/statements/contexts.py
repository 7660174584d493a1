"""`with`: contexts are entered and left while the model is made, on paths that a tensor decides as well."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import cast

from onnxsmith.core.user_values import UserValue
from onnxsmith.scripting.analysis.kinds import FlowQuestions, Names, Root, Targets, names_bound, target_roots
from onnxsmith.scripting.staging.assignment import assign
from onnxsmith.scripting.staging.branches import dispatch, recording
from onnxsmith.scripting.staging.jumps import NEXT, NOTHING, Leaf, Side
from onnxsmith.scripting.staging.stager import Stager
from onnxsmith.scripting.staging.statement_kind import StatementKind, statement_kind


@statement_kind(ast.With)
class Within(StatementKind):
    """`with context as name: …`"""

    def roots(self, statement: ast.stmt) -> Iterator[Root]:
        assert isinstance(statement, ast.With)
        for item in statement.items:
            yield Root(item.context_expr)
            if item.optional_vars is not None:
                yield from target_roots(item.optional_vars)

    def blocks(self, statement: ast.stmt) -> Iterable[Sequence[ast.stmt]]:
        assert isinstance(statement, ast.With)
        return (statement.body,)

    def always_leaves(self, statement: ast.stmt, flow: FlowQuestions) -> bool:
        assert isinstance(statement, ast.With)
        return not flow.can_fall_through(statement.body)

    def live_before(self, statement: ast.stmt, live: Names, targets: Targets, flow: FlowQuestions) -> Names:
        assert isinstance(statement, ast.With)
        targets_of_items = [each.optional_vars for each in statement.items if each.optional_vars is not None]
        bound = [name for each in targets_of_items for name in names_bound(each)]
        inside = flow.live_into(statement.body, live, targets)
        return inside.difference(bound).union(flow.reads(statement))

    def stage(self, stager: Stager, statement: ast.stmt, follow: Leaf) -> Side:
        assert isinstance(statement, ast.With)
        if not stager.flow.jumps(statement):
            self._run(stager, statement, NOTHING)
            return follow(NEXT)
        # The contexts end before anything that follows, so that a jump out of them becomes data first.
        leaf = recording(stager, statement, stager.flow.assigned([statement]))
        return dispatch(stager, self._run(stager, statement, leaf), follow, statement)

    def _run(self, stager: Stager, statement: ast.With, leaf: Leaf) -> Side:
        with ExitStack() as stack:
            for item in statement.items:
                context = cast("AbstractContextManager[UserValue]", stager.frame.evaluate(item.context_expr))
                value = stack.enter_context(context)
                if item.optional_vars is not None:
                    assign(stager, item.optional_vars, value)
            return stager.run(statement.body, leaf)
