"""Rewrites an expression so that Python's own decisions on truth values, and calls, go through hooks.

The user's tree stays as it is: new nodes are made, at the same positions.
"""

from __future__ import annotations

import ast
import copy
import operator
from collections.abc import Callable, Collection, Generator, Iterable
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from onnxsmith.scripting.analysis.facts import Facts
from onnxsmith.scripting.analysis.names import assigned_names, declared_nonlocal, parameter_names

#: The parameter through which rewritten expressions reach their hooks.
HOOKS = "__onnxsmith__"
#: The parameter of a comprehension that is a function of what it goes through.
_GONE_THROUGH = "__gone_through__"

N = TypeVar("N", bound=ast.AST)
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

_COMPARE_HOOKS: dict[type[ast.cmpop], str] = {
    ast.In: "contains",
    ast.NotIn: "lacks",
    ast.Is: "same",
    ast.IsNot: "different",
}


def position_of(place: ast.AST) -> dict[str, Any]:
    """The position of a node of the user's, for nodes that stand for it: `ast.Name(name, ast.Load(), **position)`."""
    node = cast(ast.expr, place)  # whatever has a place has these
    return {
        "lineno": node.lineno,
        "col_offset": node.col_offset,
        "end_lineno": node.end_lineno,
        "end_col_offset": node.end_col_offset,
    }


def at(place: ast.AST, node: N) -> N:
    """Give a new node the position of the one it stands for."""
    node.lineno, node.col_offset = place.lineno, place.col_offset  # type: ignore[attr-defined]
    node.end_lineno, node.end_col_offset = place.end_lineno, place.end_col_offset  # type: ignore[attr-defined]
    return node


#: Nodes that a rewriter has nothing to do with: what is a constant, and what says how others are meant.
_WITHOUT_PARTS = (ast.Constant, ast.expr_context, ast.operator, ast.unaryop)

_visitors: dict[type[ast.AST], Callable[[Rewriter, ast.AST], ast.AST]] = {}


def _as_it_is(node: ast.expr) -> ast.expr:
    return node


class Rewriter(ast.NodeTransformer):
    """Rewrites the expressions of one site, and notes which variables it has to be called with.

    Those that are read later (in a lambda, or in an operand that may be skipped) are looked up then, by a hook.
    """

    def __init__(
        self,
        variables: Collection[str],
        walrus_names: Collection[str],
        first_parameter: str | None,
        modules: Collection[str] = (),
    ) -> None:
        self._modules = modules
        self._variables = variables
        self._walrus_names = walrus_names
        self._first_parameter = first_parameter
        self._bound: list[Collection[str]] = []
        self._is_deferred = False
        self.direct_names: dict[str, None] = {}

    def rewrite(self, node: ast.expr) -> ast.expr:
        """The expression, rewritten."""
        return cast(ast.expr, self.visit(node))

    def rewrite_test(self, node: ast.expr) -> ast.expr:
        """An expression of which only the truth value matters."""
        match node:
            case ast.BoolOp(op=op, values=values):
                name = "all_true" if isinstance(op, ast.And) else "any_true"
                return self._hook(node, name, self._operands(values, self.rewrite_test))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._hook(node, "negated", [self.rewrite_test(operand)])
            case _:
                return self.rewrite(node)

    def rewrite_statement(self, statement: ast.stmt, facts: Facts) -> list[ast.stmt]:
        """A plain statement: what is assigned is named after its variable."""
        bound = self._bound
        is_as_written = facts.called_of is not None and all(
            name in self._modules and not any(name in each for each in bound) for name in facts.called_of
        )
        if is_as_written:  # operators alone: there is nothing to replace in it, and what it reads is known
            for name in facts.reads:
                if name in self._variables and not any(name in each for each in bound):
                    self.direct_names[name] = None
        rewrite = _as_it_is if is_as_written else self.rewrite
        match statement:
            case ast.Assign(targets=targets, value=value):
                return [at(statement, ast.Assign(targets, self._named(targets[0], value, rewrite(value))))]
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                stored = at(target, ast.Name(cast(ast.Name, target).id, ast.Store()))
                return [at(statement, ast.Assign([stored], self._named(target, value, rewrite(value))))]
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                self.visit_Name(at(target, ast.Name(name, ast.Load())))
                made = at(statement, ast.AugAssign(target, op, rewrite(value)))
                read = at(statement, ast.Name(name, ast.Load()))
                allowed = at(statement, ast.Expr(self._hook(statement, "augmented", [read])))
                return [allowed, made, at(statement, ast.Expr(self._named(target, statement, read)))]
            case ast.Expr(value=value):
                return [at(statement, ast.Expr(rewrite(value)))]
            case _:
                raise AssertionError(f"{type(statement).__name__} is no plain statement")

    def _named(self, target: ast.expr, place: ast.AST, value: ast.expr) -> ast.expr:
        """The assigned value, passed through the hook that names it."""
        if isinstance(value, ast.Constant):
            return value
        return self._hook(place, "named", [at(place, ast.Constant(cast(ast.Name, target).id)), value])

    def rewrite_subject(self, statement: ast.Match) -> ast.expr:
        """The subject of a `match`, passed through a hook that is told if a pattern asks for a class, or for True."""
        patterns = [each for case in statement.cases for each in ast.walk(case.pattern)]
        asks_for_class = any(
            isinstance(each, ast.MatchClass)
            or (isinstance(each, ast.MatchSingleton) and each.value is not None)
            for each in patterns
        )
        asks = at(statement.subject, ast.Constant(asks_for_class))
        return self._hook(statement.subject, "matched", [asks, self.rewrite(statement.subject)])

    def rewrite_pattern(self, pattern: ast.pattern) -> ast.pattern:
        """A pattern of a case: the names in it are values, constants or classes."""
        self._note_names(pattern)
        return pattern

    @contextmanager
    def binding(self, names: Collection[str]) -> Generator[None]:
        """Within the block these names belong to the expression itself."""
        self._bound.append(names)
        try:
            yield
        finally:
            self._bound.pop()

    # -- nodes -----------------------------------------------------------------------------------------

    def visit(self, node: ast.AST) -> Any:
        kind = node.__class__
        if kind is ast.Constant:
            return node
        visit = _visitors.get(kind)
        if visit is None:  # the same as NodeVisitor does, without making a name each time
            visit = _visitors[kind] = getattr(Rewriter, f"visit_{kind.__name__}", Rewriter.generic_visit)
        return visit(self, node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        made: ast.AST | None = (
            None  # the tree belongs to the user's file, and others read it: changes go to a copy
        )
        for name in node._fields:
            old = getattr(node, name, None)
            new: Any = old
            if isinstance(old, list):
                items = cast("list[Any]", old)
                new = [self.visit(each) if isinstance(each, ast.AST) else each for each in items]
                if all(map(operator.is_, items, new)):
                    continue
            elif isinstance(old, ast.AST) and not isinstance(old, _WITHOUT_PARTS):
                new = self.visit(old)
            if new is not old:
                made = copy.copy(node) if made is None else made
                setattr(made, name, new)
        return node if made is None else made

    def visit_Name(self, node: ast.Name) -> ast.AST:
        name = node.id
        if not isinstance(node.ctx, ast.Load) or (self._bound and self._is_bound(name)):
            return node
        if name in self._walrus_names or (self._is_deferred and name in self._variables):
            return self._hook(node, "load", [at(node, ast.Constant(name))])
        if name in self._variables:
            self.direct_names[name] = None
        return node

    def _is_bound(self, name: str) -> bool:
        return any(name in names for names in self._bound)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        name = "both" if isinstance(node.op, ast.And) else "either"
        return self._hook(node, name, self._operands(node.values, self.rewrite))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        return self.rewrite_test(node) if isinstance(node.op, ast.Not) else self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        test = self._hook(node.test, "condition", [self.rewrite_test(node.test)])
        with self._deferring():
            body, orelse = self.rewrite(node.body), self.rewrite(node.orelse)
        bound = self._names(node, assigned_names([ast.Expr(node.body), ast.Expr(node.orelse)]))
        return self._hook(node, "choose", [bound, test, self._delayed(body), self._delayed(orelse)])

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        match node:
            case ast.Compare(
                left=ast.Name(id=name),
                ops=[ast.Is() | ast.IsNot() as op],
                comparators=[ast.Constant(value=None)],
            ) if name in self._variables and not self._is_bound(name):
                hook = "is_none" if isinstance(op, ast.Is) else "is_not_none"
                return self._hook(node, hook, [at(node.left, ast.Constant(name))])
            case _:
                pass
        left = self.rewrite(node.left)
        if len(node.ops) == 1:
            right = self.rewrite(node.comparators[0])
            name = _COMPARE_HOOKS.get(type(node.ops[0]))
            return (
                at(node, ast.Compare(left, node.ops, [right]))
                if name is None
                else self._hook(node, name, [left, right])
            )
        # a < b < c: each operand is evaluated once, from the left, as Python does.
        operators = at(
            node, ast.Tuple([at(node, ast.Constant(type(op).__name__)) for op in node.ops], ast.Load())
        )
        with self._deferring():
            later = [self._delayed(self.rewrite(each)) for each in node.comparators]
        return self._hook(node, "chained", [operators, left, *later])

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(func=ast.Name(id="super"), args=[], keywords=[]) if (
                self._first_parameter is not None
            ):
                # Without arguments, super reads them from the frame that calls it, which is not the method's here.
                given = [
                    self.visit(at(node, ast.Name(name, ast.Load())))
                    for name in ("__class__", self._first_parameter)
                ]
                return at(node, ast.Call(node.func, given, []))
            case ast.Call(func=ast.Name(id="print")):
                function = self.rewrite(node.func)
                with self._deferring():
                    call = self._call(node)
                bound = self._names(node, assigned_names([ast.Expr(node)]))
                return self._hook(node, "printed", [bound, function, self._delayed(call)])
            case _:
                return self._call(node)

    def _call(self, node: ast.Call) -> ast.Call:
        match node.func:
            case ast.Attribute(value=ast.Name(id=name)) if name in self._modules and not self._is_bound(name):
                return cast(ast.Call, self.generic_visit(node))  # an operator, which is called as it is
            case _:
                pass
        made = copy.copy(cast(ast.Call, self.generic_visit(node)))
        made.func = self._hook(node.func, "callee", [made.func])
        return made

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        made = copy.copy(cast(ast.Subscript, self.generic_visit(node)))
        if isinstance(node.ctx, ast.Load):
            made.value = self._hook(node.value, "container", [made.value])
        return made

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        made = cast(ast.Attribute, self.generic_visit(node))
        if node.attr == "__class__" and isinstance(node.ctx, ast.Load):
            return self._hook(node, "class_of", [made.value])
        if node.attr != "dtype" or not isinstance(node.ctx, ast.Load):
            return made
        made = copy.copy(made)
        made.value = self._hook(node.value, "typed", [made.value])
        return made

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        made = copy.copy(cast(ast.FormattedValue, self.generic_visit(node)))
        made.value = self._hook(node.value, "formatted", [made.value])
        return made

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        made = cast(ast.BinOp, self.generic_visit(node))
        is_text = isinstance(node.left, ast.JoinedStr) or (
            isinstance(node.left, ast.Constant) and isinstance(node.left.value, str)
        )
        if not is_text or not isinstance(node.op, ast.Mod):
            return made
        return self._hook(node, "percent", [made.left, made.right])

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        return self._hook(node, "bind", [at(node, ast.Constant(node.target.id)), self.rewrite(node.value)])

    # -- scopes inside an expression -------------------------------------------------------------------

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        arguments = self.visit(node.args)
        with self._deferring(), self.binding(parameter_names(node.args)):
            body = self.rewrite(node.body)
        return at(node, ast.Lambda(arguments, body))

    def visit_arg(self, node: ast.arg) -> ast.AST:
        # The annotation of a parameter is not evaluated.
        return node if node.annotation is None else at(node, ast.arg(node.arg))

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        return self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self._comprehension(node)

    def _comprehension(self, node: _Comprehension) -> ast.AST:
        made = copy.copy(node)
        first = self.rewrite(node.generators[0].iter)
        targets = assigned_names([ast.Expr(each.target) for each in node.generators])
        was_deferred = self._is_deferred
        self._is_deferred = was_deferred or isinstance(
            node, ast.GeneratorExp
        )  # a generator runs when it is asked
        with self.binding(targets):
            made.generators = [
                copy.copy(cast(ast.comprehension, self.visit(each))) for each in node.generators
            ]
            if isinstance(node, ast.DictComp):
                cast(ast.DictComp, made).key = self.rewrite(node.key)
                cast(ast.DictComp, made).value = self.rewrite(node.value)
            else:
                cast(ast.ListComp, made).elt = self.rewrite(node.elt)
        self._is_deferred = was_deferred
        if not isinstance(node, ast.ListComp | ast.GeneratorExp) or not self._may_be_loop(node):
            made.generators[0].iter = first
            return made
        # What it goes through, and what it makes of that, one after the other: a hook may do it in another way.
        made.generators[0].iter = at(first, ast.Name(_GONE_THROUGH, ast.Load()))
        source = ast.arguments([], [at(node, ast.arg(_GONE_THROUGH))], None, [], [], None, [])
        ends = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
        position = at(node, ast.Tuple([at(node, ast.Constant(each)) for each in ends], ast.Load()))
        return self._hook(
            node, "comprehended", [position, self._delayed(first), at(node, ast.Lambda(source, made))]
        )

    def _may_be_loop(self, node: ast.ListComp | ast.GeneratorExp) -> bool:
        """True if a comprehension means the same as a function of its own: all that it reads are variables."""
        parts = [
            each
            for generator in node.generators
            for each in (generator.target, generator.iter, *generator.ifs)
        ]
        return (
            not self._bound
            and not any(each.is_async for each in node.generators)
            and not any(
                isinstance(each, ast.NamedExpr) for part in (node.elt, *parts) for each in ast.walk(part)
            )
        )

    # -- generators ------------------------------------------------------------------------------------

    def rewrite_generator(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """A generator function as one that Python runs, which reads the variables around it when it needs them."""
        made = self.visit_FunctionDef(node)
        made.decorator_list = []
        return made

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        made = copy.copy(node)
        made.decorator_list = [self.rewrite(each) for each in node.decorator_list]
        made.args, made.returns = self.visit(node.args), None
        own = set(assigned_names(node.body)) - declared_nonlocal(node)
        with self._deferring(), self.binding({*parameter_names(node.args), *own}):
            made.body = [self.visit(each) for each in node.body]
        return made

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        made = copy.copy(node)
        made.pattern = self.rewrite_pattern(node.pattern)
        if node.guard is not None:
            made.guard = self._hook(node.guard, "known_test", [self.rewrite_test(node.guard)])
        made.body = [self.visit(each) for each in node.body]
        return made

    def visit_If(self, node: ast.If) -> ast.AST:
        return self._with_known(node, "known_test")

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._with_known(node, "known_test")

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        return self._with_known(node, "assumed")

    def _with_known(self, node: ast.If | ast.While | ast.Assert, hook: str) -> ast.AST:
        """A statement that Python decides: what decides goes through a hook."""
        made = copy.copy(self.generic_visit(node))
        assert isinstance(made, ast.If | ast.While | ast.Assert)
        made.test = self._hook(node.test, hook, [self.rewrite_test(node.test)])
        return made

    # -- parts -----------------------------------------------------------------------------------------

    def _operands(self, values: list[ast.expr], rewrite: Callable[[ast.expr], ast.expr]) -> list[ast.expr]:
        """The operands of `and` or `or`: what the later ones bind, the first, and the others as functions."""
        first, *others = values
        made = [self._names(first, assigned_names([ast.Expr(each) for each in others])), rewrite(first)]
        with self._deferring():
            return made + [self._delayed(rewrite(each)) for each in others]

    def _names(self, place: ast.AST, names: Iterable[str]) -> ast.expr:
        return at(place, ast.Tuple([at(place, ast.Constant(name)) for name in names], ast.Load()))

    def _note_names(self, node: ast.AST) -> None:
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and each.id in self._variables:
                self.direct_names[each.id] = None

    @contextmanager
    def _deferring(self) -> Generator[None]:
        was_deferred, self._is_deferred = self._is_deferred, True
        try:
            yield
        finally:
            self._is_deferred = was_deferred

    def _hook(self, place: ast.AST, name: str, arguments: list[ast.expr]) -> ast.expr:
        here = position_of(place)
        hook = ast.Attribute(ast.Name(HOOKS, ast.Load(), **here), name, ast.Load(), **here)
        return ast.Call(hook, arguments, [], **here)

    @staticmethod
    def _delayed(body: ast.expr) -> ast.expr:
        return at(body, ast.Lambda(ast.arguments([], [], None, [], [], None, []), body))
