"""Staging: the statements of a function, carried out on values that may be symbolic.

What is known is decided now, as Python would: a static `if` takes one branch, a loop over a list runs. What hangs
on a tensor becomes `If` and `Loop`. A block is run with a *leaf*, which says what the end of a path yields; a path
that jumps (return, break, continue) under a condition only the model knows carries the statements after it into its
branch, so that every path ends in a leaf.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from onnxsmith.core.semantics.unknown_method import unknown_method
from onnxsmith.core.target import current_graph
from onnxsmith.core.value import Value
from onnxsmith.errors import OnnxsmithError, UnsupportedSyntaxError
from onnxsmith.scripting.analysis.expressions import BlockSite
from onnxsmith.scripting.source.location import located
from onnxsmith.scripting.staging import chains, loops
from onnxsmith.scripting.staging.assignment import assign, assign_augmented
from onnxsmith.scripting.staging.branches import branch, dispatch, recording
from onnxsmith.scripting.staging.closures import StagedClosure
from onnxsmith.scripting.staging.frame import BROKEN, Frame, Tainted
from onnxsmith.scripting.staging.hooks import Hooks
from onnxsmith.scripting.staging.jumps import BREAK, CONTINUE, NEXT, NOTHING, RESULT, Jump, Leaf, Side
from onnxsmith.scripting.staging.truth import is_symbolic, truth


def stage_frame(frame: Frame) -> Any:
    """Stage one call of a function: what it returns."""
    return Stager(frame).call()


class Stager:
    """Stages one call of one function."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.flow = frame.analysis.flow
        frame.hooks = Hooks(frame, self)

    def call(self) -> Any:
        """What the function returns."""
        mistakes = self.frame.mistakes
        if mistakes is None:
            return self.run(self.frame.analysis.body, RESULT).value
        try:
            result = self.run(self.frame.analysis.body, RESULT).value
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
        while position < len(statements):
            statement = statements[position]
            block = self.frame.block_at(statement)
            if block is not None:
                self._run_block(block, notes=notes)
                position += len(block.statements)
                continue
            position += 1
            if self.flow.jumps(statement):
                if chains.is_long_block(self, statements, position - 1):
                    return chains.run_block(self, statements, position - 1, leaf)
                return self._run_jumping(statement, self._follow(statements, position, leaf))
            if notes:
                self._perform_or_note(statement)
            else:
                self.perform(statement)
        return leaf(NEXT)

    def _run_block(self, block: BlockSite, *, notes: bool) -> None:
        """Carry out plain statements, all at once; after a mistake, those that follow it one by one."""
        frame = self.frame
        first = 0
        perform = self._perform_or_note if notes else self.perform
        try:
            if frame.run_block(block):
                return
        except Exception as raised:
            error = (unknown_method(raised) or raised) if isinstance(raised, AttributeError) else raised
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
            perform(statement)

    def _perform_or_note(self, statement: ast.stmt) -> None:
        """Carry out a statement; one that is wrong leaves its variables broken, and the next is looked at."""
        frame = self.frame
        mistakes, variables = (
            frame.mistakes,
            dict(frame.variables) if hasattr(statement, "body") else frame.variables,
        )
        assert mistakes is not None
        if current_graph().depth > frame.depth:  # in a branch, which ends with the first mistake
            self.perform(statement)
            return
        try:
            self.perform(statement)
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
        """What a path does that reaches the end of the statement before `start`, or jumps."""
        if start == len(statements):
            return leaf
        return Leaf(
            lambda jump: self.run(statements, leaf, start) if jump.kind == "next" else leaf(jump),
            is_long=True,
        )

    def _run_jumping(self, statement: ast.stmt, follow: Leaf) -> Side:
        """Carry out a statement that control may leave in the middle, and what follows."""
        match statement:
            case ast.Return(value=value):
                return follow(Jump("return", None if value is None else self.frame.evaluate(value)))
            case ast.Break():
                return follow(BREAK)
            case ast.Continue():
                return follow(CONTINUE)
            case ast.If():
                return self._if(statement, follow)
            case ast.For() | ast.While():
                return loops.run_loop(self, statement, follow)
            case ast.Match():
                return self.run(self._matched(statement), follow)
            case ast.With():
                leaf = recording(self, statement, self.flow.assigned([statement]))
                return dispatch(self, self._with(statement, leaf), follow, statement)
            case _:
                raise self._unsupported(statement)

    def perform(self, statement: ast.stmt) -> None:
        """Carry out a statement that control leaves at its end."""
        frame = self.frame
        match statement:
            case ast.Assign(targets=targets, value=value):
                result = frame.evaluate_for(value, targets)
                for target in targets:
                    assign(self, target, result)
            case ast.Expr(value=value):
                if not isinstance(value, ast.Constant):
                    frame.evaluate(value)
            case ast.If():
                self._if(statement, NOTHING)
            case ast.For() | ast.While():
                loops.run_loop(self, statement, NOTHING)
            case ast.AugAssign():
                assign_augmented(self, statement)
            case ast.AnnAssign(target=target, value=value):
                if value is not None:
                    assign(self, target, frame.evaluate(value))
            case ast.FunctionDef():
                self._define(statement)
            case ast.Assert(test=test):
                self._assert(statement, test)
            case ast.Pass():
                pass
            case ast.Delete(targets=targets):
                for target in targets:
                    assert isinstance(target, ast.Name)  # the subset check has seen to it
                    frame.read(target.id, target)
                    del frame.variables[target.id]
            case ast.Import() | ast.ImportFrom():
                module = ast.fix_missing_locations(ast.Module([statement], []))
                exec(
                    compile(module, frame.analysis.file, "exec"), frame.globals, frame.variables
                )  # the user's import
            case ast.Match():
                self.run(self._matched(statement), NOTHING)
            case ast.With():
                self._with(statement, NOTHING)
            case ast.Raise(exc=exc):
                self._raise(statement, exc)
            case _:
                raise self._unsupported(statement)

    def _unsupported(self, statement: ast.stmt) -> UnsupportedSyntaxError:
        return UnsupportedSyntaxError(f"a script cannot contain '{type(statement).__name__}'").locate(
            self.frame.span(statement)
        )

    # -- statements ------------------------------------------------------------------------------------

    def assign_name(self, name: str, value: Any) -> None:
        """Bind a variable; a new value of the graph takes its name."""
        self.frame.variables[name] = value
        if isinstance(value, Value) and value.is_symbolic:
            current_graph().suggest_name(value, name)

    def _if(self, statement: ast.If, follow: Leaf) -> Side:
        if chains.is_long_elif(statement):
            return chains.run_elif(self, statement, follow)
        test = self.frame.evaluate(statement.test)
        if not is_symbolic(test):
            return self.run(statement.body if test else statement.orelse, follow)
        with located(self.frame.span(statement.test)):
            condition = truth(test)
        return branch(self, condition, statement.body, statement.orelse, statement, statement.test, follow)

    def _define(self, statement: ast.FunctionDef) -> None:
        function: Any = StagedClosure(self.frame, statement)
        for decorator in reversed(statement.decorator_list):
            function = self.frame.evaluate(decorator)(function)
        self.frame.variables[statement.name] = function

    def _assert(self, statement: ast.Assert, test: ast.expr) -> None:
        value = self.frame.evaluate(test)
        if is_symbolic(value) or value:
            return  # a model has no assertions; the eager run checks it
        raise AssertionError(*(() if statement.msg is None else (self.frame.evaluate(statement.msg),)))

    def _with(self, statement: ast.With, leaf: Leaf) -> Side:
        """Carry out the block within its contexts; they end before anything that follows."""
        with ExitStack() as stack:
            for item in statement.items:
                value = stack.enter_context(self.frame.evaluate(item.context_expr))
                if item.optional_vars is not None:
                    assign(self, item.optional_vars, value)
            return self.run(statement.body, leaf)

    def _raise(self, statement: ast.Raise, exc: ast.expr | None) -> None:
        if current_graph().depth > self.frame.depth:
            raise UnsupportedSyntaxError(
                "a model cannot raise an error, and only the model knows whether this line is reached",
                help="return a value that tells, or check before the model runs",
            ).locate(self.frame.span(statement))
        if exc is None:
            raise UnsupportedSyntaxError("there is no error to raise again").locate(
                self.frame.span(statement)
            )
        raise self.frame.evaluate(exc)

    def _matched(self, statement: ast.Match) -> Sequence[ast.stmt]:
        """The body of the case that a Python value matches."""
        chosen: tuple[int, dict[str, Any]] | None = self.frame.evaluate(statement)
        if chosen is None:
            return ()
        position, bound = chosen
        self.frame.variables.update(bound)
        return statement.cases[position].body
