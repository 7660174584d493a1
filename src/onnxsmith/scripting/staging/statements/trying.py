"""`try`: errors that Python raises while a model is made. A script cannot contain it; other code may."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from onnxsmith.core.target import current_graph
from onnxsmith.core.user_values import Opaque
from onnxsmith.errors import OnnxsmithError, UnsupportedSyntaxError
from onnxsmith.scripting.analysis.kinds import FlowQuestions, Names, Root, Targets
from onnxsmith.scripting.staging.branches import dispatch, recording
from onnxsmith.scripting.staging.handling import GUARDED, HANDLED, can_be_caught
from onnxsmith.scripting.staging.jumps import NEXT, NOTHING, Leaf, Side
from onnxsmith.scripting.staging.stager import Stager
from onnxsmith.scripting.staging.statement_kind import StatementKind, statement_kind


@statement_kind(ast.Try)
class Trying(StatementKind):
    """`try: … except error as name: … else: … finally: …`"""

    def roots(self, statement: ast.stmt) -> Iterator[Root]:
        assert isinstance(statement, ast.Try)
        yield from (Root(each.type) for each in statement.handlers if each.type is not None)

    def blocks(self, statement: ast.stmt) -> Iterable[Sequence[ast.stmt]]:
        assert isinstance(statement, ast.Try)
        handlers = [each.body for each in statement.handlers]
        return (statement.body, *handlers, statement.orelse, statement.finalbody)

    def always_leaves(self, statement: ast.stmt, flow: FlowQuestions) -> bool:
        assert isinstance(statement, ast.Try)
        if statement.finalbody and not flow.can_fall_through(statement.finalbody):
            return True
        ways = [[*statement.body, *statement.orelse], *(each.body for each in statement.handlers)]
        return not any(flow.can_fall_through(each) for each in ways)

    def live_before(self, statement: ast.stmt, live: Names, targets: Targets, flow: FlowQuestions) -> Names:
        assert isinstance(statement, ast.Try)
        last = flow.live_into(statement.finalbody, live, targets)
        handled: Names = frozenset()
        for each in statement.handlers:
            handled |= flow.live_into(each.body, last, targets).difference([each.name or ""])
        after = flow.live_into(statement.orelse, last, targets)
        # An error may come from any of its statements, so that what handlers read is live before all of them.
        inside = flow.live_into(statement.body, after | handled, targets)
        return inside.union(handled, flow.reads(statement))

    def stage(self, stager: Stager, statement: ast.stmt, follow: Leaf) -> Side:
        assert isinstance(statement, ast.Try)
        if not stager.flow.jumps(statement):
            self._run(stager, statement, NOTHING)
            return follow(NEXT)
        # What follows is not under the handlers, so that a jump out of them becomes data first.
        leaf = recording(stager, statement, stager.flow.assigned([statement]))
        return dispatch(stager, self._run(stager, statement, leaf), follow, statement)

    def _run(self, stager: Stager, statement: ast.Try, leaf: Leaf) -> Side:
        last = statement.finalbody
        if last and (stager.flow.block_jumps(last) or stager.flow.assigned(last)):
            raise UnsupportedSyntaxError(
                "'finally' may not leave the block or assign variables here",
                help="assign them behind the 'try'",
            ).locate(stager.frame.span(last[0]))
        try:
            side = self._guarded(stager, statement, leaf)
        except BaseException:
            _leave(stager, last)
            raise
        stager.run(last, NOTHING)
        return side

    def _guarded(self, stager: Stager, statement: ast.Try, leaf: Leaf) -> Side:
        has_jumps = bool(stager.flow.block_jumps(statement.body))
        inside = recording(stager, statement, stager.flow.assigned(statement.body)) if has_jumps else NOTHING
        token = GUARDED.set(current_graph().depth) if statement.handlers else None
        try:
            side = stager.run(statement.body, inside)
        except Exception as error:
            handler = self._handler(stager, statement, error)
            if handler is None:
                raise
            return self._handle(stager, handler, error, leaf)
        finally:
            if token is not None:
                GUARDED.reset(token)
        if not has_jumps:
            return stager.run(statement.orelse, leaf)
        rest = Leaf(lambda jump: stager.run(statement.orelse, leaf) if jump.kind == "next" else leaf(jump))
        return dispatch(stager, side, rest, statement)

    def _handler(self, stager: Stager, statement: ast.Try, error: Exception) -> ast.ExceptHandler | None:
        """The handler of an error; None where it is for others."""
        frame = stager.frame
        for each in statement.handlers:
            kinds = (
                BaseException if each.type is None else cast("type[BaseException]", frame.evaluate(each.type))
            )
            if not isinstance(error, kinds):
                continue
            if can_be_caught(error):
                return each
            if isinstance(error, OnnxsmithError):
                return None
            raise UnsupportedSyntaxError(
                f"whether this error is raised depends on what only the model knows: {type(error).__name__}: {error}",
                help="a model cannot catch errors; check beforehand",
            ).locate(frame.span(each)) from error
        return None

    def _handle(self, stager: Stager, handler: ast.ExceptHandler, error: Exception, leaf: Leaf) -> Side:
        if handler.name is not None:
            stager.frame.assign(handler.name, cast(Opaque, error))
        token = HANDLED.set(error)
        try:
            return stager.run(handler.body, leaf)
        finally:
            HANDLED.reset(token)


def _leave(stager: Stager, last: Sequence[ast.stmt]) -> None:
    """Put back what `finally` puts back, where an error ends staging; that error is the one that is told."""
    with contextlib.suppress(Exception):
        stager.run(last, NOTHING)
