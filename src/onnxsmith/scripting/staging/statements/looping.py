"""Loops: `for` and `while`, which Python or a tensor decides the iterations of."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from onnxsmith.scripting.analysis.flow import is_endless
from onnxsmith.scripting.analysis.kinds import (
    KINDS,
    FlowQuestions,
    Jumps,
    Names,
    Root,
    Targets,
    names_bound,
    target_roots,
)
from onnxsmith.scripting.staging.iteration import iteration_parts
from onnxsmith.scripting.staging.jumps import Leaf, Side, Stager
from onnxsmith.scripting.staging.loops import run_loop
from onnxsmith.scripting.staging.statement_kind import StatementKind


class Looping(StatementKind):
    """`for target in items: … else: …` and `while test: … else: …`"""

    def roots(self, statement: ast.stmt) -> Iterator[Root]:
        if isinstance(statement, ast.While):
            yield Root(statement.test, is_test=True)
        else:
            assert isinstance(statement, ast.For)
            yield from target_roots(statement.target)
            yield from map(Root, iteration_parts(statement.iter))

    def blocks(self, statement: ast.stmt) -> Iterable[Sequence[ast.stmt]]:
        assert isinstance(statement, ast.For | ast.While)
        return statement.body, statement.orelse

    def jumps(self, statement: ast.stmt, flow: FlowQuestions) -> Jumps:
        assert isinstance(statement, ast.For | ast.While)
        inside, after = flow.block_jumps(statement.body), flow.block_jumps(statement.orelse)
        return Jumps(inside.returns or after.returns, after.breaks, after.continues)

    def always_leaves(self, statement: ast.stmt, flow: FlowQuestions) -> bool:
        assert isinstance(statement, ast.For | ast.While)
        return is_endless(statement) and not flow.block_jumps(statement.body).breaks

    def live_before(self, statement: ast.stmt, live: Names, targets: Targets, flow: FlowQuestions) -> Names:
        assert isinstance(statement, ast.For | ast.While)
        head = frozenset(flow.reads(statement))
        bound = names_bound(statement.target) if isinstance(statement, ast.For) else ()
        again = head if isinstance(statement, ast.While) else frozenset[str]()
        at_start = flow.live_into(statement.orelse, live, targets) | again
        # Two passes reach the fixpoint: what an iteration reads is live at the end of the one before.
        for _ in range(2):
            body = flow.live_into(statement.body, at_start, Targets(live, at_start))
            at_start = at_start | body.difference(bound) | again
        flow.note_loop(statement, at_start)
        return at_start | head

    def stage(self, stager: Stager, statement: ast.stmt, follow: Leaf) -> Side:
        assert isinstance(statement, ast.For | ast.While)
        return run_loop(stager, statement, follow)


KINDS["For"] = KINDS["While"] = Looping()
