"""A script as a debugger should see it: its own frame, with its caller right above it.

Calling a script turns arrays into tensors before the function runs, and tensors into arrays after it. Done around the
function, that is a stack of our frames between the user's two. So while a debugger watches, the function is compiled
once more, with both steps inside it; its lines, variables and globals are the user's own.
"""

from __future__ import annotations

import ast
import copy
import sys
import types
from collections.abc import Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from onnxsmith.core.target import ACTIVE, Target
from onnxsmith.core.user_values import UserValue
from onnxsmith.scripting.functions.debuggers import paused, resume
from onnxsmith.scripting.functions.eager_call import EAGER_TARGET, given_results, prepared
from onnxsmith.scripting.source.definition_spans import located
from onnxsmith.source import position_span

if TYPE_CHECKING:
    from onnxsmith.scripting.functions.definition import ScriptDefinition

#: Stands in the compiled code for the object whose methods are the three steps. Nobody can write such a constant: the
#: compiler makes a frozenset of `x in {…}`, and never puts it into a tuple.
_STEPS: Any = (frozenset(["the steps of a call"]),)


@dataclass(frozen=True, slots=True)
class _Run:
    """A call that is under way."""

    token: Token[Target | None]
    gives_tensors: bool
    is_inside: bool


NodeT = TypeVar("NodeT", bound=ast.AST)
_runs: ContextVar[tuple[_Run, ...]] = ContextVar("onnxsmith_watched_runs", default=())


def watched_function(script: ScriptDefinition, node: ast.FunctionDef) -> types.FunctionType:
    """The script's function, doing for itself what a call of the script does around it."""
    function = script.function
    code = _compiled(node, function.__code__)
    steps = _Steps(script)
    constants = tuple(steps if each == _STEPS else each for each in code.co_consts)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    made = types.FunctionType(
        code.replace(
            co_consts=constants,
            co_name=function.__code__.co_name,  # private names of functions in methods are written otherwise
            co_qualname=function.__code__.co_qualname,
        ),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(cells[name] for name in code.co_freevars),
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


# -- what is compiled --------------------------------------------------------------------------------------


def _compiled(node: ast.FunctionDef, original: types.CodeType) -> types.CodeType:
    definition = copy.deepcopy(node)
    definition.decorator_list = []
    body = [_Returns().visit(each) for each in definition.body]
    names = parameter_order(definition.args)
    enter = _call("enter", [ast.Name(name, ast.Load()) for name in names])
    targets = ast.Tuple([ast.Name(name, ast.Store()) for name in names], ast.Store())
    first: ast.stmt = ast.Assign([targets], enter) if names else ast.Expr(enter)
    definition.body = [
        _placed(first, definition),
        _placed(ast.Try(body, [], [], [_placed(ast.Expr(_call("leave", [])), body[-1])]), body[0]),
    ]
    # Variables of the functions around it are variables of one around it here, too.
    outer = ast.FunctionDef("outer", _parameters(original.co_freevars), [definition], [], None, None)
    module = ast.fix_missing_locations(ast.Module([_placed(outer, node)], []))
    around = _inner(compile(module, original.co_filename, "exec", dont_inherit=True), "outer")
    return _inner(around, node.name)


class _Returns(ast.NodeTransformer):
    """Passes what a function returns through the last step; inner functions return for themselves."""

    def visit_Return(self, node: ast.Return) -> ast.Return:
        value = node.value or _placed(ast.Constant(None), node)
        return ast.copy_location(ast.Return(_placed(_call("give", [value]), node)), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node


def _call(step: str, arguments: Sequence[ast.expr]) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Constant(_STEPS), step, ast.Load()), list(arguments), [])


def _placed(node: NodeT, like: ast.stmt | ast.expr) -> NodeT:
    """A node that is not the user's, on the line of one that is."""
    for each in ast.walk(node):
        if isinstance(each, ast.stmt | ast.expr) and not hasattr(each, "lineno"):
            ast.copy_location(each, like)
            if isinstance(like, ast.FunctionDef):
                each.end_lineno, each.end_col_offset = like.lineno, like.col_offset + len("def ")
    return node


def parameter_order(arguments: ast.arguments) -> list[str]:
    """The parameters of a function as `inspect` orders them."""
    found = [*arguments.posonlyargs, *arguments.args]
    found += [] if arguments.vararg is None else [arguments.vararg]
    found += arguments.kwonlyargs
    found += [] if arguments.kwarg is None else [arguments.kwarg]
    return [each.arg for each in found]


def _parameters(names: Sequence[str]) -> ast.arguments:
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])


def _inner(code: types.CodeType, name: str) -> types.CodeType:
    return next(each for each in code.co_consts if isinstance(each, types.CodeType) and each.co_name == name)


# -- the three steps ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Steps:
    """The steps of a call of a script before, at and after the end of its function."""

    script: ScriptDefinition

    def enter(self, *values: UserValue) -> tuple[UserValue, ...]:
        """The arguments as tensors; from here on operators run."""
        tracer = paused()
        try:
            return self._entered(sys._getframe(1).f_back, values)  # pyright: ignore[reportPrivateUsage]  # the documented way to read the stack
        finally:
            resume(tracer)

    def _entered(
        self, caller: types.FrameType | None, values: tuple[UserValue, ...]
    ) -> tuple[UserValue, ...]:
        active = ACTIVE.get()
        place = None if caller is None else position_span(caller.f_code, caller.f_lasti, caller.f_lineno)
        arguments = dict(zip(self.script.parameters.python.parameters, values, strict=True))
        with located(place):
            given, gives_tensors = prepared(self.script, arguments, active)
        run = _Run(ACTIVE.set(EAGER_TARGET), gives_tensors, active is not None)
        _runs.set((*_runs.get(), run))
        return tuple(given[name] for name in arguments)

    def give(self, result: UserValue) -> UserValue:
        """The result for the caller."""
        run = _runs.get()[-1]
        return given_results(self.script, result, gives_tensors=run.gives_tensors, is_inside=run.is_inside)

    def leave(self) -> None:
        """Undo what `enter` set, however the function ended."""
        *before, run = _runs.get()
        _runs.set(tuple(before))
        ACTIVE.reset(run.token)
