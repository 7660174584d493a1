"""Staging: the statements of a function, carried out on values that may be symbolic.

Known values are decided now, as Python would: a static `if` takes one branch, a loop over a list runs. Control flow
that depends on a tensor becomes `If` and `Loop`. A block is run with a *leaf*, which says what the end of a path
yields. A path may jump (return, break, continue) under a condition only the model knows. It then carries the statements
after it into its branch, so that every path ends in a leaf.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import cast

from onnxsmith.core.semantics.python_errors import refusal_for
from onnxsmith.core.target import current_graph
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Value
from onnxsmith.errors import OnnxsmithError, UnsupportedSyntaxError
from onnxsmith.scripting.analysis.expressions import BlockSite
from onnxsmith.scripting.analysis.kinds import KINDS
from onnxsmith.scripting.staging import chains
from onnxsmith.scripting.staging.closures import in_place
from onnxsmith.scripting.staging.dialect import Dialect, Dialects
from onnxsmith.scripting.staging.frame import BROKEN, Frame, Tainted
from onnxsmith.scripting.staging.hooks import Hooks
from onnxsmith.scripting.staging.jumps import NEXT, NOTHING, RESULT, Leaf, Side
from onnxsmith.scripting.staging.script_values import Function
from onnxsmith.scripting.staging.statement_kind import StatementKind


class Staging:
    """Stages calls of functions in dialects, which are asked in order."""

    def __init__(self, *dialects: Dialect) -> None:
        self.dialect = Dialects(*dialects)

    def __call__(self, frame: Frame) -> UserValue:
        """Stage one call of a function: what it returns."""
        return FunctionStager(frame).call()

    def staged(self, function: Function) -> Function:
        """A function that stages another where it is called."""
        return in_place(function, self)

    def called(self, function: Function) -> Function:
        """The function that is called where the code calls one."""
        return self.dialect.callee(function, None, self) or in_place(function, self)


#: Stages calls of functions as scripts.
stage_frame = Staging()


class FunctionStager:
    """Stages one call of one function."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.flow = frame.analysis.flow
        frame.hooks = Hooks(frame, self)

    def call(self) -> UserValue:
        """The result of the function."""
        mistakes = self.frame.mistakes
        if mistakes is None:
            return cast(UserValue, self.run(self.frame.analysis.body, RESULT).value)
        try:
            result = cast(UserValue, self.run(self.frame.analysis.body, RESULT).value)
        except OnnxsmithError as error:
            mistakes.add(error)
        except Exception:
            if not mistakes:  # else it may only be what a mistake led to
                raise
        else:
            if not mistakes:
                return result
        raise mistakes.error()

    # -- blocks ----------------------------------------------------------------------------------------

    def run(self, statements: Sequence[ast.stmt], leaf: Leaf, start: int = 0) -> Side:
        """Carry out statements; the result is what the leaf makes of the end."""
        position = start
        notes = self.frame.mistakes is not None and statements is self.frame.analysis.body
        blocks = self.frame.analysis.expressions.blocks
        while position < len(statements):
            statement = statements[position]
            block = blocks.get(id(statement))
            if block is not None:
                self._run_block(block, notes=notes)
                position += len(block.statements)
                continue
            position += 1
            if self.flow.jumps(statement):
                if chains.is_long_block(self, statements, position - 1):
                    return chains.run_block(self, statements, position - 1, leaf)
                return self._stage(statement, self._follow(statements, position, leaf))
            if notes:
                self._stage_or_note(statement)
            else:
                self._stage(statement, NOTHING)
        return leaf(NEXT)

    def _run_block(self, block: BlockSite, *, notes: bool) -> None:
        """Carry out plain statements, all at once; after a mistake, those that follow it one by one."""
        frame = self.frame
        if block.position is None:
            self._call_operators(block.statements, notes=notes)
            return
        first = 0
        try:
            if frame.run_block(block):
                return
        except Exception as raised:
            error = refusal_for(raised) or raised
            mistakes = frame.mistakes
            if not notes or mistakes is None or current_graph().depth > frame.depth:
                raise error from None
            first = frame.keep_done(block, raised)
            if isinstance(error, OnnxsmithError):
                mistakes.add(error)
            elif not mistakes:
                raise
            frame.variables |= dict.fromkeys(self.flow.assigned([block.statements[first]]), BROKEN)
            first += 1
        for statement in block.statements[first:]:
            self._stage_one(statement, notes=notes)

    def _call_operators(self, statements: Sequence[ast.stmt], *, notes: bool) -> None:
        position = 0
        while (position := self.frame.call_operators(statements, position)) < len(statements):
            self._stage_one(statements[position], notes=notes)
            position += 1

    def _stage_one(self, statement: ast.stmt, *, notes: bool) -> None:
        if notes:
            self._stage_or_note(statement)
        else:
            self._stage(statement, NOTHING)

    def _stage_or_note(self, statement: ast.stmt) -> None:
        """Carry out a statement; one that is wrong leaves its variables broken, and the next is looked at."""
        frame = self.frame
        mistakes, variables = (
            frame.mistakes,
            dict(frame.variables) if hasattr(statement, "body") else frame.variables,
        )
        assert mistakes is not None
        if current_graph().depth > frame.depth:  # in a branch, which ends with the first mistake
            self._stage(statement, NOTHING)
            return
        try:
            self._stage(statement, NOTHING)
        except Tainted:
            pass
        except OnnxsmithError as error:
            mistakes.add(error)
        except Exception:
            if not mistakes:
                raise
        else:
            return
        frame.variables = {**variables, **dict.fromkeys(self.flow.assigned([statement]), BROKEN)}

    def _follow(self, statements: Sequence[ast.stmt], start: int, leaf: Leaf) -> Leaf:
        """The leaf of a path that reaches the end of the statement before `start`, or jumps."""
        if start == len(statements):
            return leaf
        return Leaf(
            lambda jump: self.run(statements, leaf, start) if jump.kind == "next" else leaf(jump),
            is_long=True,
        )

    def _stage(self, statement: ast.stmt, follow: Leaf) -> Side:
        kind = KINDS.get(type(statement).__name__)
        if not isinstance(kind, StatementKind):
            raise UnsupportedSyntaxError(f"a script cannot contain '{type(statement).__name__}'").locate(
                self.frame.span(statement)
            )
        return kind.stage(self, statement, follow)

    def assign_name(self, name: str, value: UserValue) -> None:
        """Bind a variable; a new value of the graph takes its name."""
        self.frame.assign(name, value)
        if isinstance(value, Value) and value.is_symbolic:
            current_graph().suggest_name(value, name)
