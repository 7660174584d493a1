"""Staging: the statements of a function, carried out on values that may be symbolic.

What is known is decided now, as Python would: a static `if` takes one branch, a loop over a list runs. What hangs
on a tensor becomes `If` and `Loop`. A block is run with a *leaf*, a function that says what the end of a path
yields; a path that jumps (return, break, continue) under a condition only the model knows carries the statements
after it into its branch, so that every path ends in a leaf.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from onnxsmith.core.target import ACTIVE
from onnxsmith.core.value import Value
from onnxsmith.errors import NestingError, TensorAssignmentError, UnpackError, UnsupportedSyntaxError
from onnxsmith.graphs.body import Body
from onnxsmith.graphs.builder import GraphTarget
from onnxsmith.schema import registry
from onnxsmith.scripting import containers, loops
from onnxsmith.scripting.closures import StagedClosure, in_place
from onnxsmith.scripting.flow import assigned_names
from onnxsmith.scripting.frame import Frame
from onnxsmith.scripting.hooks import Hooks, is_symbolic, truth
from onnxsmith.scripting.location import located
from onnxsmith.scripting.merge import MISSING, Merger, Unassigned, active, common_known, fill_slots
from onnxsmith.source import text_of

#: A model file nests about three messages per `If`, and protobuf reads a hundred.
_DEEPEST = 28

_IN_PLACE_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.iadd,
    ast.Sub: operator.isub,
    ast.Mult: operator.imul,
    ast.Div: operator.itruediv,
    ast.FloorDiv: operator.ifloordiv,
    ast.Mod: operator.imod,
    ast.Pow: operator.ipow,
    ast.MatMult: operator.imatmul,
    ast.BitAnd: operator.iand,
    ast.BitOr: operator.ior,
    ast.BitXor: operator.ixor,
    ast.LShift: operator.ilshift,
    ast.RShift: operator.irshift,
}


class Jump(NamedTuple):
    """How a path through a block ends."""

    kind: str
    value: Any = None


NEXT, BREAK, CONTINUE = Jump("next"), Jump("break"), Jump("continue")
Leaf = Callable[[Jump], Any]


class Stager:
    """Stages one call of one function."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.flow = frame.analysis.flow
        frame.hooks = Hooks(frame, self)

    # -- blocks ----------------------------------------------------------------------------------------

    def call(self) -> Any:
        """What the function returns."""
        return self.run(self.frame.analysis.body, lambda jump: jump.value)

    def run(self, statements: Sequence[ast.stmt], leaf: Leaf, start: int = 0) -> Any:
        """Carry out statements; the result is what the leaf makes of the end."""
        for position in range(start, len(statements)):
            statement = statements[position]
            if not self.flow.jumps(statement):
                self.perform(statement)
                continue

            def rest(after: int = position + 1) -> Any:
                return self.run(statements, leaf, after)

            match statement:
                case ast.Return(value=value):
                    return leaf(Jump("return", None if value is None else self.frame.evaluate(value)))
                case ast.Break():
                    return leaf(BREAK)
                case ast.Continue():
                    return leaf(CONTINUE)
                case ast.If():
                    return self._jumping_if(statement, rest, leaf, has_rest=position + 1 < len(statements))
                case ast.For() | ast.While():
                    return loops.run_loop(self, statement, rest, leaf)
                case ast.Match():
                    return self.run(self._matched(statement), _then(rest, leaf))
                case _:
                    raise UnsupportedSyntaxError(
                        "a jump out of a 'with' block cannot be staged", help="return after the block"
                    ).locate(self.frame.span(statement))
        return leaf(NEXT)

    def perform(self, statement: ast.stmt) -> None:
        """Carry out a statement that control leaves at its end."""
        frame = self.frame
        match statement:
            case ast.Assign(targets=targets, value=value):
                result = frame.evaluate(value)
                for target in targets:
                    self.assign(target, result)
            case ast.Expr(value=value):
                if not isinstance(value, ast.Constant):
                    frame.evaluate(value)
            case ast.If():
                self._plain_if(statement)
            case ast.For() | ast.While():
                loops.run_loop(self, statement, lambda: None, lambda _: None)
            case ast.AugAssign():
                self._augmented(statement)
            case ast.AnnAssign(target=target, value=value):
                if value is not None:
                    self.assign(target, frame.evaluate(value))
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
                exec(compile(module, frame.analysis.file, "exec"), frame.globals, frame.variables)  # noqa: S102  # the user's import
            case ast.Match():
                self.run(self._matched(statement), lambda _: None)
            case ast.With():
                self._with(statement)
            case ast.Raise(exc=exc):
                self._raise(statement, exc)
            case _:
                raise UnsupportedSyntaxError(
                    f"a script cannot contain '{type(statement).__name__}'"
                ).locate(frame.span(statement))

    # -- assignment ------------------------------------------------------------------------------------

    def assign(self, target: ast.expr, value: Any) -> None:
        """Bind a target: a name, a pattern of names, an element of a Python container."""
        match target:
            case ast.Name(id=name):
                self.assign_name(name, value)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                self._unpack(target, elements, value)
            case ast.Subscript(value=container, slice=index):
                self._assign_element(target, self.frame.evaluate(container), self.frame.evaluate(index), value)
            case _:
                raise UnsupportedSyntaxError("this cannot be assigned to in a script").locate(self.frame.span(target))

    def assign_name(self, name: str, value: Any) -> None:
        """Bind a variable; a new value of the graph takes its name."""
        self.frame.variables[name] = value
        if isinstance(value, Value) and value.is_symbolic:
            scope = ACTIVE.get()
            if isinstance(scope, GraphTarget):
                scope.suggest_name(value, name)

    def _unpack(self, target: ast.expr, elements: Sequence[ast.expr], value: Any) -> None:
        values = self._elements(target, elements, value)
        stars = [k for k, each in enumerate(elements) if isinstance(each, ast.Starred)]
        if stars:
            first, after = stars[0], len(elements) - stars[0] - 1
            if len(values) < len(elements) - 1:
                raise self._unpack_error(target, f"at least {len(elements) - 1}", len(values))
            values = [*values[:first], list(values[first : len(values) - after]), *values[len(values) - after :]]
        elif len(values) != len(elements):
            raise self._unpack_error(target, str(len(elements)), len(values))
        for element, each in zip(elements, values, strict=True):
            self.assign(element.value if isinstance(element, ast.Starred) else element, each)

    def _elements(self, target: ast.expr, elements: Sequence[ast.expr], value: Any) -> list[Any]:
        if isinstance(value, Value) and value.is_symbolic:
            length = getattr(value, "shape", None)
            count = length[0] if length is not None and len(length) else None
            if not isinstance(count, int):
                count = len(elements)  # as many as are asked for; the model checks nothing here
            if any(isinstance(each, ast.Starred) for each in elements) and not isinstance(count, int):
                raise self._unpack_error(target, "a known number of", 0)
            return [value[k] for k in range(count)]  # type: ignore[index]
        try:
            return list(value)
        except TypeError:
            raise UnpackError(
                f"a {type(value).__name__} cannot be unpacked into {len(elements)} variables"
            ).locate(self.frame.span(target)) from None

    def _unpack_error(self, target: ast.expr, wanted: str, got: int) -> UnpackError:
        return UnpackError(f"{wanted} values are needed here, and there are {got}").locate(self.frame.span(target))

    def _assign_element(self, target: ast.Subscript, container: Any, index: Any, value: Any) -> None:
        if isinstance(container, Value):
            name, place = (text_of(self.frame.span(each)) for each in (target.value, target.slice))
            raise TensorAssignmentError(
                "an element of a tensor cannot be assigned: tensors do not change",
                help=f"{name} = {name}.at[{place}].set(…)",
            ).locate(self.frame.span(target))
        container[index] = value

    def _augmented(self, statement: ast.AugAssign) -> None:
        compute = _IN_PLACE_OPERATORS[type(statement.op)]
        match statement.target:
            case ast.Name(id=name):
                current = self.frame.read(name, statement.target)
                right = self.frame.evaluate(statement.value)
                self.assign_name(name, self._at(statement, compute, current, right))
            case ast.Subscript(value=container, slice=index):
                owner, key = self.frame.evaluate(container), self.frame.evaluate(index)
                right = self.frame.evaluate(statement.value)
                if isinstance(owner, Value):
                    self._assign_element(statement.target, owner, key, right)
                owner[key] = self._at(statement, compute, owner[key], right)
            case _:
                raise UnsupportedSyntaxError("this cannot be assigned to in a script").locate(
                    self.frame.span(statement.target)
                )

    def _at(self, statement: ast.stmt, compute: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
        """Compute at a statement that is no expression: `x += y` has no code of its own to point at."""
        with located(self.frame.span(statement)):
            return compute(left, right)

    # -- branches --------------------------------------------------------------------------------------

    def _plain_if(self, statement: ast.If) -> None:
        """An `if` without jumps: afterwards, the variables it assigned are merged."""
        test = self.frame.evaluate(statement.test)
        if not is_symbolic(test):
            for inner in statement.body if test else statement.orelse:
                self.perform(inner)
            return
        condition = self._condition(test, statement)
        self.merge_blocks(condition, statement.body, statement.orelse, statement, statement.test)

    def merge_blocks(
        self,
        condition: Any,
        then: Sequence[ast.stmt],
        otherwise: Sequence[ast.stmt],
        statement: ast.stmt,
        reason: ast.AST,
    ) -> None:
        """Stage two blocks as the branches of an `If`; the variables that are used after `statement` are merged."""
        live = self.flow.live_after(statement)
        names = [name for name in assigned_names([*then, *otherwise]) if name in live]

        def side(block: Sequence[ast.stmt], when: str) -> Callable[[], dict[str, Any]]:
            def run() -> dict[str, Any]:
                for inner in block:
                    self.perform(inner)
                missing = Unassigned(self.frame.span(reason), f"it is assigned only when this is {when}")
                return {name: self.frame.variables.get(name, missing) for name in names}

            return run

        merged = self.dynamic_if(condition, side(then, "false"), side(otherwise, "true"), place=statement)
        self.frame.variables.update(merged)

    def _condition(self, test: Any, statement: ast.If | ast.While) -> Any:
        with located(self.frame.span(statement.test)):
            return truth(test)

    def _jumping_if(self, statement: ast.If, rest: Callable[[], Any], leaf: Leaf, *, has_rest: bool) -> Any:
        """An `if` with a return, break or continue in it."""
        test = self.frame.evaluate(statement.test)
        follow = _then(rest, leaf)
        if not is_symbolic(test):
            return self.run(statement.body if test else statement.orelse, follow)
        condition = self._condition(test, statement)
        both_fall = self.flow.can_fall_through(statement.body) and self.flow.can_fall_through(statement.orelse)
        if both_fall and has_rest:
            return self._joining_if(statement, condition, rest, leaf)
        return self.dynamic_if(
            condition,
            lambda: self.run(statement.body, follow),
            lambda: self.run(statement.orelse, follow),
            name="result",
            strict=True,
            place=statement,
        )

    def _joining_if(self, statement: ast.If, condition: Any, rest: Callable[[], Any], leaf: Leaf) -> Any:
        """Both branches may go on to what follows, and some path inside jumps: what follows is staged once."""
        names = assigned_names([statement])

        def record(jump: Jump) -> dict[str, Any]:
            variables = {name: self.frame.variables.get(name, MISSING) for name in names}
            value = jump.value if jump.kind == "return" else MISSING
            return {**{each: jump.kind == each for each in _KINDS}, "value": value, "variables": variables}

        merged = self.dynamic_if(
            condition,
            lambda: self.run(statement.body, record),
            lambda: self.run(statement.orelse, record),
            name="",
            place=statement,
        )
        self.frame.variables.update(
            {name: value for name, value in merged["variables"].items() if value is not MISSING}
        )
        return self.dispatch(merged, {"next": rest}, leaf, statement)

    def dispatch(
        self, record: Mapping[str, Any], handlers: Mapping[str, Callable[[], Any]], leaf: Leaf, place: ast.stmt
    ) -> Any:
        """Go on as a merged record says: by the jump that is known, or by an `If` for each that is possible."""
        possible = [kind for kind in _KINDS if record.get(kind, False) is not False]

        def go(kind: str) -> Any:
            if kind in handlers:
                return handlers[kind]()
            return leaf(Jump(kind, record.get("value") if kind == "return" else None))

        def choose(kinds: Sequence[str]) -> Any:
            kind, *others = kinds
            flag = record[kind]
            if not others or not is_symbolic(flag):
                return go(kind)
            return self.dynamic_if(
                truth(flag), lambda: go(kind), lambda: choose(others), name="result", strict=True, place=place
            )

        return choose(possible)

    def dynamic_if(
        self,
        condition: Any,
        then: Callable[[], Any],
        otherwise: Callable[[], Any],
        *,
        name: str = "",
        strict: bool = False,
        place: ast.AST | None = None,
    ) -> Any:
        """Stage both sides as the branches of an `If`, and give what they have in common."""
        outer = current_graph()
        if outer.depth >= _DEEPEST:
            raise NestingError(
                f"control flow that hangs on tensors is nested more than {_DEEPEST} deep",
                help="use op.Where, or split the function",
            ).locate(None if place is None else self.frame.span(place))
        before = dict(self.frame.variables)
        guard = containers.Guard(self.frame)
        results: list[Any] = []
        scopes = [outer.subgraph(), outer.subgraph()]
        for scope, side in zip(scopes, (then, otherwise), strict=True):
            with active(scope):
                results.append(side())
            self.frame.variables = dict(before)
            guard.check(None if place is None else self.frame.span(place))
        merger = Merger(scopes[0], scopes[1])
        with located(None if place is None else self.frame.span(place)):
            template = merger.merge(results[0], results[1], name, strict=strict)
        if not merger.names:
            for scope in scopes:
                scope.discard()
            return template
        bodies = [
            scope.finish_body(outputs, title)
            for scope, outputs, title in zip(
                scopes, (merger.then_outputs, merger.else_outputs), ("then", "else"), strict=True
            )
        ]
        outputs = self._emit_if(outer, condition, bodies, merger.names)
        return fill_slots(template, outputs)

    def _emit_if(self, outer: GraphTarget, condition: Any, bodies: Sequence[Body], names: Sequence[str]) -> Sequence[Any]:
        known = [common_known(a, b) for a, b in zip(bodies[0].outputs, bodies[1].outputs, strict=True)]
        definition = registry.lookup("", "If", outer.operators.version)
        attributes = {"then_branch": bodies[0], "else_branch": bodies[1]}
        outputs = outer.emit(definition, None, [condition], attributes, len(names), known)
        outer.name_results(outputs, names, [(bodies[0], "then"), (bodies[1], "else")])
        return outputs

    # -- other statements ------------------------------------------------------------------------------

    def _define(self, statement: ast.FunctionDef) -> None:
        function: Any = StagedClosure(self.frame, statement)
        for decorator in reversed(statement.decorator_list):
            function = self.frame.evaluate(decorator)(function)
        self.frame.variables[statement.name] = function

    def _assert(self, statement: ast.Assert, test: ast.expr) -> None:
        value = self.frame.evaluate(test)
        if is_symbolic(value) or value:
            return  # a model has no assertions; the eager run checks it
        message = "" if statement.msg is None else self.frame.evaluate(statement.msg)
        raise AssertionError(message)

    def _with(self, statement: ast.With) -> None:
        first, *others = statement.items
        with self.frame.evaluate(first.context_expr) as value:
            if first.optional_vars is not None:
                self.assign(first.optional_vars, value)
            if others:
                self._with(ast.copy_location(ast.With(others, statement.body), statement))
            else:
                for inner in statement.body:
                    self.perform(inner)

    def _raise(self, statement: ast.Raise, exc: ast.expr | None) -> None:
        if current_graph().depth > self.frame.depth:
            raise UnsupportedSyntaxError(
                "a model cannot raise an error, and only the model knows whether this line is reached",
                help="return a value that tells, or check before the model runs",
            ).locate(self.frame.span(statement))
        if exc is None:
            raise UnsupportedSyntaxError("there is no error to raise again").locate(self.frame.span(statement))
        raise self.frame.evaluate(exc)

    def _matched(self, statement: ast.Match) -> Sequence[ast.stmt]:
        """The body of the case that a Python value matches."""
        chosen: tuple[int, dict[str, Any]] | None = self.frame.evaluate(statement)
        if chosen is None:
            return ()
        position, bound = chosen
        self.frame.variables.update(bound)
        return statement.cases[position].body

    def in_place(self, function: Any) -> Any:
        """A plain Python function that is called with tensors is staged where it is called."""
        return in_place(function)


_KINDS = ("next", "return", "break", "continue")


def _then(rest: Callable[[], Any], leaf: Leaf) -> Leaf:
    return lambda jump: rest() if jump.kind == "next" else leaf(jump)


def current_graph() -> GraphTarget:
    """The graph that is being built."""
    return cast(GraphTarget, ACTIVE.get())
