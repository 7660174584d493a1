"""A function while it is staged: its variables, and how its expressions are evaluated."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Protocol, cast

from onnxsmith.core.operator import Operator
from onnxsmith.core.semantics.python_errors import refusal_for
from onnxsmith.core.shown_text import showing
from onnxsmith.core.target import current_graph
from onnxsmith.core.user_values import UserValue
from onnxsmith.core.value import Value
from onnxsmith.core.value_containers import MOMENTS
from onnxsmith.diagnostics import did_you_mean, undefined_name_help
from onnxsmith.errors import (
    DynamicPythonValueError,
    OnnxsmithError,
    UnassignedVariableError,
    UndefinedNameError,
)
from onnxsmith.schema.definition import AttributeReference
from onnxsmith.scripting.analysis.analyze import Analysis
from onnxsmith.scripting.analysis.expressions import BlockSite, Evaluate, Root, compile_expressions
from onnxsmith.scripting.source.function_source import head_span, span_of
from onnxsmith.scripting.staging.cells import Cells, new_cells
from onnxsmith.scripting.staging.dialect import SCRIPTS, Calls, Dialects
from onnxsmith.scripting.staging.merge import AssignedWhere, Differing, Unassigned
from onnxsmith.scripting.staging.mistakes import Mistakes
from onnxsmith.scripting.staging.perhaps import Implications, Perhaps
from onnxsmith.scripting.staging.script_values import Function, Held, Marker
from onnxsmith.source import NOT_UNPACKED, STATEMENT, UNPACKED, Span, caller_span, position_span


class TextOfPaths(str):
    """One of two texts; only the model knows which."""

    __slots__ = ()

    def _asked(self, *_: object) -> NoReturn:
        raise DynamicPythonValueError(
            f"this text is {str.__str__(self)}, depending on a tensor's value",
            help="only tensors and numbers can depend on a tensor; it can be shown in an error alone",
        ).locate_at_caller()

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = _asked  # pyright: ignore[reportAssignmentType]
    __hash__ = __len__ = __getitem__ = startswith = endswith = lower = upper = _asked  # pyright: ignore[reportAssignmentType]


def of_paths(then: object, otherwise: object) -> TextOfPaths | None:
    """The text that stands for two texts; None where one is something else."""
    if not isinstance(then, str) or not isinstance(otherwise, str):
        return None
    return TextOfPaths(f"{str.__str__(then)} or {str.__str__(otherwise)}")


class Absent(Marker):
    """No variable of this name."""


_ABSENT = Absent()
_NO_CELLS = Cells()
#: What stands for a variable that cannot be read as it is.
_MARKS = frozenset([Unassigned, AssignedWhere, Differing, Perhaps])
#: The value of a variable whose assignment was a mistake.
BROKEN = Unassigned(None, "its assignment was a mistake")


#: What becomes a constant that nobody has a name for.
_NAMELESS = frozenset([bool, int, float, str, type(None), AttributeReference])


class _NeedsCode(Exception):
    """A call of an operator is not made without the code that it stands in."""


class Tainted(Exception):
    """A statement uses a variable whose assignment was a mistake; nothing can be said about it."""


class Run(Calls, Protocol):
    """How a frame is staged, and all that is called from there."""

    @property
    def dialect(self) -> Dialects:
        """The dialects of the code, as one."""
        ...

    def __call__(self, frame: Frame) -> UserValue:
        """Stage one call of a function: what it returns."""
        ...


class _NotRun:
    dialect = SCRIPTS

    def __call__(self, frame: Frame) -> NoReturn:
        raise AssertionError(f"{frame.analysis.name} is not being staged")

    def staged(self, function: Function) -> NoReturn:
        raise AssertionError(f"{function} is not being staged")

    called = staged


_not_run = _NotRun()


class Frame:
    """The variables of one call of a function that is being staged."""

    def __init__(
        self,
        analysis: Analysis,
        global_names: dict[str, Any],
        closure: Mapping[str, Any],
        outer: Frame | None = None,
    ) -> None:
        self.analysis = analysis
        self.globals = global_names
        self.closure = closure
        self.outer = outer
        self.variables: dict[str, Held] = {}
        #: When the call began: what was made before is its caller's.
        self.started = next(MOMENTS)
        #: The variables that inner functions assign; they are not among the others.
        self.cells = new_cells() if analysis.cell_names else _NO_CELLS
        #: What is known where a truth value of the model is.
        self.implications = Implications()
        #: By the id of an optional of the model, whether it is there on the path that is staged.
        self.there: Mapping[int, bool] = {}
        #: What the compiled code of the function calls; set by the stager.
        self.hooks: object = None
        #: How deep in subgraphs the call stands; deeper means under a condition only the model knows.
        self.depth = 0
        #: Where the mistakes of a script's own statements are collected; None in helpers, whose callers collect.
        self.mistakes: Mistakes | None = None
        #: The arguments of a helper: its caller may hold them, too.
        self.given: Mapping[str, object] = {}
        #: How a frame is staged; set by whoever makes one, and handed on to the frames of what it calls.
        self.run: Run = _not_run
        self._functions = analysis.expressions.instantiate(global_names)
        #: Where nodes stand that somebody asked about, by their ids: the entry keeps the node alive.
        self._spans: dict[int, tuple[ast.AST, Span]] = {}
        #: Expressions of statements that stand in a block, and are needed one by one after a mistake.
        self._late: dict[int, tuple[Evaluate, tuple[str, ...]]] = {}

    def assign(self, name: str, value: Held) -> None:
        """Bind a variable."""
        self._home(name)[name] = value

    def delete(self, name: str, place: ast.AST) -> None:
        """Take a variable away, which must have a value."""
        self.read(name, place)
        del self._home(name)[name]

    def _home(self, name: str) -> dict[str, Held]:
        """Where a variable is kept that this function assigns."""
        if name in self.analysis.cell_names:
            return self.cells
        if name not in self.analysis.nonlocal_names:
            return self.variables
        frame = self.outer
        while frame is not None and name not in frame.analysis.local_names:
            frame = frame.outer
        assert frame is not None  # the subset check has seen to it
        return frame.cells

    def evaluate(self, root: ast.AST) -> UserValue:
        """The value of an expression, computed by Python at the user's own position."""
        if isinstance(root, ast.Constant):
            return root.value
        if isinstance(root, ast.Name) and self._has(root.id):
            return self.read(root.id, root)
        key = id(root)
        if (
            isinstance(root, ast.Call)
            and key not in self.analysis.expressions.sites
            and key not in self._late
        ):
            made = self._called(root)
            if made is not _ABSENT:
                return cast(UserValue, made)
        function, names = self._expression(root)
        variables = self.variables
        values: list[Any] = []
        for name in names:
            value = variables.get(name, _ABSENT)
            if value is _ABSENT or value.__class__ in _MARKS:
                value = self._look_further(name, value, root)
            values.append(value)
        try:
            return function(self.hooks, *values)
        except Exception as error:
            refused = refusal_for(error)
            if refused is None:
                raise
            raise refused from None

    def _has(self, name: str) -> bool:
        """True if a name is a variable, or stands for something outside."""
        return name in self.analysis.place.variables or name in self.globals or hasattr(builtins, name)

    def _expression(self, root: ast.AST) -> tuple[Evaluate, tuple[str, ...]]:
        site = self.analysis.expressions.sites.get(id(root))
        if site is not None:
            return self._functions[site.position], site.names
        found = self._late.get(id(root))
        if found is None:
            table = compile_expressions([Root(root)], self.analysis.place, with_all=True)
            found = (table.instantiate(self.globals)[0], table.sites[id(root)].names)
            self._late[id(root)] = found
        return found

    def run_block(self, block: BlockSite) -> bool:
        """Run a block; not where a variable that it reads has no value: its statements one by one tell where."""
        assert block.position is not None  # else it has no code
        variables = self.variables
        values: list[Any] = []
        for name in block.names:
            value = variables.get(name, _ABSENT)
            if value is _ABSENT and name not in self.analysis.local_names:
                try:
                    value = self._outside(name, None)
                except (OnnxsmithError, Tainted):
                    return False
            if value is _ABSENT or value.__class__ in _MARKS:
                return False
            values.append(value)
        function = self._functions[block.position]
        try:
            results = function(self.hooks, *values)
        except Exception as error:
            self.keep_done(block, error)  # a 'try' or a context around it may catch the error
            raise
        variables.update(zip(block.results, results, strict=True))
        return True

    def call_operators(self, statements: Sequence[ast.stmt], start: int) -> int:
        """Make the calls of a block without code, from one on: the place of the first that is not made, or the end."""
        graph = current_graph()
        for statement in cast("Sequence[ast.Assign]", statements[start:]):
            made = self._called(cast(ast.Call, statement.value))
            if made is _ABSENT:
                break
            name = cast(ast.Name, statement.targets[0]).id
            self.variables[name] = made
            if isinstance(made, Value):
                graph.suggest_name(made, name)
            start += 1
        return start

    def _called(self, call: ast.Call) -> Held | Absent:
        """The result of a call of an operator; none where the call needs its code.

        A call that fails needs it: it is made again by its code, which tells why it fails, and where.
        """
        place = STATEMENT.set(span_of(call, self.analysis.file, self.analysis.name))
        unpacked = UNPACKED.set(NOT_UNPACKED)
        try:
            return self._operator_of(call)(
                *[self._argument(each) for each in call.args],
                **{cast(str, each.arg): self._argument(each.value) for each in call.keywords},
            )
        except Exception:
            return _ABSENT
        finally:
            UNPACKED.reset(unpacked)
            STATEMENT.reset(place)

    def _operator_of(self, call: ast.Call) -> Operator:
        function = cast(ast.Attribute, call.func)
        module = self.analysis.place.modules[cast(ast.Name, function.value).id]
        found: object = getattr(module, function.attr)
        if not isinstance(found, Operator):
            raise _NeedsCode
        return found

    def _argument(self, node: ast.expr) -> UserValue:
        """A variable or a constant; not what gets its name in the graph from the code that reads it, as arrays do."""
        if isinstance(node, ast.Constant):
            return node.value
        value = self.variables[cast(ast.Name, node).id]
        if not (isinstance(value, Value) and value.is_symbolic) and value.__class__ not in _NAMELESS:
            raise _NeedsCode
        return cast(UserValue, value)

    def keep_done(self, block: BlockSite, error: BaseException) -> int:
        """Take the variables that a block had assigned when it failed; which of its statements failed."""
        assert block.position is not None  # else nothing of it is running
        code = self._functions[block.position].__code__
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_frame.f_code is not code:
            traceback = traceback.tb_next
        if traceback is None:
            return 0
        held = traceback.tb_frame.f_locals
        self.variables.update({name: held[name] for name in block.results if name in held})
        span = position_span(code, traceback.tb_lasti, traceback.tb_lineno)
        ends = [(each.end_lineno or each.lineno, each.end_col_offset or 0) for each in block.statements]
        return next((k for k, end in enumerate(ends) if (span.line, span.column) < end), len(ends) - 1)

    def evaluate_for(self, root: ast.AST, targets: Sequence[ast.expr]) -> UserValue:
        """The value of an expression that is assigned: an operator gives as many outputs as are unpacked."""
        first = targets[0]
        if not isinstance(root, ast.Call) or not isinstance(first, ast.Tuple | ast.List):
            return self.evaluate(root)
        if any(isinstance(each, ast.Starred) for each in first.elts):
            return self.evaluate(root)
        code = self._expression(root)[0].__code__
        token = UNPACKED.set((code, len(first.elts)))
        try:
            return self.evaluate(root)
        finally:
            UNPACKED.reset(token)

    def read(self, name: str, place: ast.AST | None = None) -> UserValue:
        """The value of a variable that is used at `place`, or in the expression that runs now."""
        value = self.variables.get(name, _ABSENT)
        if value is _ABSENT or value.__class__ in _MARKS:
            return self._look_further(name, value, place)
        return cast(UserValue, value)

    def perhaps(self, name: str) -> Perhaps | None:
        """A variable of which only the model knows whether it is None; None for any other."""
        frame: Frame | None = self
        while frame is not None and name not in frame.analysis.local_names:
            frame = frame.outer
        value = None if frame is None else frame.variables.get(name, frame.cells.get(name))
        return value if isinstance(value, Perhaps) else None

    def span(self, node: ast.AST) -> Span:
        """Where a node stands."""
        found = self._spans.get(id(node))
        if found is None:
            span = head_span(node, self.analysis.file, self.analysis.name)
            found = self._spans[id(node)] = (node, span)
        return found[1]

    def _look_further(self, name: str, value: Held, place: ast.AST | None) -> UserValue:
        if value is _ABSENT and name not in self.analysis.local_names:
            found = self._outside(name, place)
            if not isinstance(found, Absent):
                return found
        if value is _ABSENT:
            value = self.cells.get(name, _ABSENT)
            if value is not _ABSENT and value.__class__ not in _MARKS:
                return cast(UserValue, value)
        if isinstance(value, Differing) and self.run.dialect.syntax:
            text = of_paths(value.then, value.otherwise)
            if text is not None:
                return text
        raise self._mistake(name, value, place)

    def _outside(self, name: str, place: ast.AST | None) -> UserValue | Absent:
        frame = self.outer
        while frame is not None:
            if name in frame.analysis.local_names:
                return frame.read(name, place)
            if name in frame.closure:
                return frame.closure[name]
            frame = frame.outer
        if name in self.closure:
            return self.closure[name]
        if name in self.analysis.place.variables:  # it has no value yet, and no namesake stands for it
            return _ABSENT
        if name in self.globals:
            return self.globals[name]
        return getattr(builtins, name, _ABSENT)

    def _mistake(self, name: str, value: Held, place: ast.AST | None) -> Exception:
        if value is BROKEN:
            return Tainted()
        span = caller_span() if place is None else self._use_span(name, place)
        if isinstance(value, Unassigned):
            error = UnassignedVariableError(
                f"'{name}' may have no value here",
                help=f"give '{name}' a value before, on every path",
            ).locate(span, "used here")
            return error.also(value.span, value.reason)
        if isinstance(value, Perhaps):
            return DynamicPythonValueError(
                f"'{name}' may be None here, which only the model knows",
                help=f"say what holds then, before this: if {name} is None: …; or choose: "
                f"{name} if {name} is not None else …",
            ).locate(span)
        if isinstance(value, Differing):
            return DynamicPythonValueError(
                f"'{name}' is {_shown(value.then)} or {_shown(value.otherwise)}, depending on a tensor's value",
                help="only tensors and numbers can depend on a tensor; choose between tensors instead",
            ).locate(span)
        known = [*self.analysis.local_names, *self.closure, *self.globals, *dir(builtins)]
        if name in self.analysis.local_names:
            return self._without_value(name, span, known)
        if name in self.analysis.place.variables:
            error = UnassignedVariableError(
                f"'{name}' has no value yet: the function around this one gives it one later",
                help=f"give '{name}' a value before the script is used",
            ).locate(span)
            error.name = name  # as Python's own error says it, and as a check asks: it may have one later
            return error
        return UndefinedNameError(f"'{name}' is not defined", help=undefined_name_help(name, known)).locate(
            span
        )

    def _without_value(self, name: str, span: Span | None, known: Sequence[str]) -> UnassignedVariableError:
        """The error for a variable that gets its value later, or was deleted."""
        uses = [
            each for each in ast.walk(self.analysis.node) if isinstance(each, ast.Name) and each.id == name
        ]
        line = 0 if span is None else span.line
        for each in uses:
            if isinstance(each.ctx, ast.Del) and each.lineno < line:
                error = UnassignedVariableError(f"'{name}' was deleted before it is used here").locate(span)
                return error.also(self.span(each), "deleted here")
        error = UnassignedVariableError(
            f"'{name}' is used before it has a value",
            help=did_you_mean(name, set(known) - {name}) or f"give '{name}' a value before this line",
        ).locate(span)
        first = next((each for each in uses if isinstance(each.ctx, ast.Store) and each.lineno >= line), None)
        return error if first is None else error.also(self.span(first), "it gets one only here")

    def _use_span(self, name: str, place: ast.AST) -> Span:
        uses = [each for each in ast.walk(place) if isinstance(each, ast.Name) and each.id == name]
        return self.span(uses[0] if uses else place)


def _shown(value: Held) -> str:
    with showing():
        text = repr(value)
    return text if len(text) <= 40 else f"a {type(value).__name__}"
