"""Calling Python functions from a staged function: nested ones, helpers, methods.

A plain helper that is called with symbolic values is staged where it is called, so that its own `if` and `for` on
tensors work. Libraries are called as they are.
"""

from __future__ import annotations

import ast
import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from typing import Any, cast

from onnxsmith.core.target import current_graph
from onnxsmith.core.user_values import Opaque, UserValue
from onnxsmith.core.value import Value
from onnxsmith.core.value_containers import Carrier, Wall
from onnxsmith.diagnostics import Label, shown_as
from onnxsmith.errors import OnnxsmithError, SourceNotFoundError, UnsupportedSyntaxError
from onnxsmith.scripting.analysis.analyze import Analysis, analyze
from onnxsmith.scripting.analysis.facts import Names, names_in
from onnxsmith.scripting.analysis.rewrite import HOOKS
from onnxsmith.scripting.analysis.subset import NO_SYNTAX, Syntax
from onnxsmith.scripting.functions.binding import bind_call
from onnxsmith.scripting.source.function_source import find_function, head_span, refuse_if_changed
from onnxsmith.scripting.source.observers import observed
from onnxsmith.scripting.source.outside import closure_of
from onnxsmith.scripting.staging.call_stack import staging
from onnxsmith.scripting.staging.cells import CellScope
from onnxsmith.scripting.staging.dialect import SCRIPTS
from onnxsmith.scripting.staging.frame import Frame, Run
from onnxsmith.scripting.staging.generators import YIELDED, collecting, is_generator, keep_given, once
from onnxsmith.scripting.staging.mistakes import Mistakes
from onnxsmith.scripting.staging.script_values import Function
from onnxsmith.scripting.staging.watch import Captures, call_as_it_is, values_of, watch_call
from onnxsmith.source import PACKAGE_DIRECTORY, Span, caller_span, is_library
from onnxsmith.types.annotations import Annotation, read_value_type
from onnxsmith.types.value_types import AnyValueType


@shown_as("function")
class StagedClosure:
    """A function defined inside a staged one."""

    def __init__(self, frame: Frame, node: ast.FunctionDef) -> None:
        self.frame = frame
        self.node = node
        self.__name__ = node.name
        self.__doc__ = ast.get_docstring(node)
        self.analysis = analyze(
            node,
            frame.analysis.file,
            node.name,
            _visible_names(frame),
            frame.globals,
            shared_around=frame.analysis.place.shared,
            allowed=frame.run.dialect.syntax,
        )
        self.signature = _signature(node, frame)

    def __repr__(self) -> str:
        return f"<function {self.__name__}>"

    @property
    def span(self) -> Span:
        """Where it is defined."""
        return self.frame.span(self.node)

    @property
    def parameter_names(self) -> list[str]:
        """The names of its parameters, in order."""
        return list(self.analysis.parameters)

    @property
    def declared_inputs(self) -> list[AnyValueType | None]:
        """The types that the annotations of its parameters give, None where there is none."""
        arguments = self.node.args
        return [self._declared(each.annotation) for each in (*arguments.posonlyargs, *arguments.args)]

    @property
    def declared_outputs(self) -> list[AnyValueType | None]:
        """The types that its return annotation gives, by output; empty where there is none."""
        if self.node.returns is None:
            return []
        hint = self._evaluated(self.node.returns)
        hints = typing.get_args(hint) if typing.get_origin(hint) is tuple else (hint,)
        return [None if each is Any else read_value_type(each, "the return annotation") for each in hints]

    def _declared(self, annotation: ast.expr | None) -> AnyValueType | None:
        if annotation is None:
            return None
        return read_value_type(self._evaluated(annotation), f"an annotation of '{self.__name__}'")

    def _evaluated(self, annotation: ast.expr) -> Annotation:
        """An annotation as Python would evaluate it where the function is defined."""
        frame = self.frame
        code = compile(ast.fix_missing_locations(ast.Expression(annotation)), frame.analysis.file, "eval")
        return eval(
            code, frame.globals, {**frame.closure, **frame.cells, **frame.variables}
        )  # the user's own annotation

    def reached(self) -> tuple[Names, dict[str, Any]]:
        """The names in its code, with the values of the variables around it."""
        names = names_in([self.node])
        defaults = {name: each.default for name, each in self.signature.parameters.items()}
        return names, {**values_of(self.frame, names.variables), **defaults}

    def __call__(self, *args: UserValue, **kwargs: UserValue) -> UserValue:
        arguments = bind_call(self.__name__, self.signature, args, kwargs, self.span)
        frame = self.frame
        return run_staged(self.analysis, frame.globals, frame.closure, arguments, frame, run=frame.run)


def _visible_names(frame: Frame) -> set[str]:
    names: set[str] = set()
    here: Frame | None = frame
    while here is not None:
        names.update(here.analysis.place.variables)
        here = here.outer
    return names


def _signature(node: ast.FunctionDef, frame: Frame) -> inspect.Signature:
    kinds = inspect.Parameter
    arguments = node.args
    parameters: list[inspect.Parameter] = []
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[Any] = [kinds.empty] * (len(positional) - len(arguments.defaults))
    defaults += [frame.evaluate(each) for each in arguments.defaults]
    for k, (each, default) in enumerate(zip(positional, defaults, strict=True)):
        kind = kinds.POSITIONAL_ONLY if k < len(arguments.posonlyargs) else kinds.POSITIONAL_OR_KEYWORD
        parameters.append(kinds(each.arg, kind, default=default))
    if arguments.vararg:
        parameters.append(kinds(arguments.vararg.arg, kinds.VAR_POSITIONAL))
    for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        default = kinds.empty if value is None else frame.evaluate(value)
        parameters.append(kinds(each.arg, kinds.KEYWORD_ONLY, default=default))
    if arguments.kwarg:
        parameters.append(kinds(arguments.kwarg.arg, kinds.VAR_KEYWORD))
    return inspect.Signature(parameters)


def run_staged(
    analysis: Analysis,
    global_names: dict[str, Any],
    closure: Mapping[str, Any],
    arguments: Mapping[str, Any],
    outer: Frame | None = None,
    mistakes: Mistakes | None = None,
    *,
    run: Run,
    owns_arguments: bool = False,
) -> UserValue:
    """Stage one call of a function and give what it returns; `mistakes` collects those of several statements.

    Objects among the arguments may be changed where it `owns_arguments`: they were made for this call. `run` is the
    stager's: it stages a frame, and all that is called from there is staged by it, too.
    """
    frame = Frame(analysis, global_names, closure, outer)
    for name, value in arguments.items():
        frame.assign(name, value)
    frame.depth = current_graph().depth
    frame.mistakes = mistakes
    frame.run = run
    if mistakes is None:
        frame.given = arguments
    with staging(analysis.node, analysis.name):
        if mistakes is None:
            return run(frame)
        wall = nullcontext() if owns_arguments else Wall()
        given = _from_outside(analysis, arguments)
        with Captures(), CellScope(), wall, watch_call(frame, given):  # a script, not what it calls
            return run(frame)


def _from_outside(analysis: Analysis, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that come from outside; the dict of `**options` is made for the call, its items are not."""
    own = analysis.node.args.kwarg
    if own is None or own.arg not in arguments:
        return dict(arguments)
    return {**arguments, own.arg: tuple(arguments[own.arg].values())}


def in_place(function: Function, run: Run) -> Function:
    """The function to call instead of `function` in a staged function."""
    if isinstance(function, types.MethodType):
        inner = function.__func__
        if isinstance(inner, types.FunctionType) and run.dialect.is_staged(inner):
            behind = observed(inner)
            if behind is not None:
                return in_place(cast(Any, behind).__get__(function.__self__), run)
            return _InPlace(inner, (cast(UserValue, function.__self__),), run)
        return function
    if isinstance(function, types.FunctionType):
        if HOOKS in function.__code__.co_freevars:
            return function  # a lambda of a staged function: what it contains is staged already
        behind = observed(function)
        if behind is not None:
            return in_place(behind, run)
        return _InPlace(function, (), run) if run.dialect.is_staged(function) else function
    if isinstance(function, functools.partial):
        inner = cast("functools.partial[Any]", function)
        return functools.partial(in_place(inner.func, run), *inner.args, **inner.keywords)
    if isinstance(function, type):
        return cast(Any, function)
    inner = getattr(cast(Any, type(function)), "__call__", None)  # noqa: B004  # the function itself is wanted
    if isinstance(inner, types.FunctionType) and run.dialect.is_staged(inner):
        return _InPlace(inner, (cast(Opaque, function),), run)
    return function


def has_symbolic(
    values: Iterable[UserValue],
    depth: int = 3,
    *,
    is_open: Callable[[UserValue], bool] = SCRIPTS.is_open,
) -> bool:
    """True if symbolic values are among these, or in the containers among these; `is_open` knows further ones."""
    for value in values:
        if isinstance(value, Value | Carrier):
            if value.is_symbolic or is_open(value):
                return True
        elif depth and isinstance(value, tuple | list | set):
            if has_symbolic(cast("list[Any]", value), depth - 1, is_open=is_open):
                return True
        elif (
            depth
            and isinstance(value, dict)
            and has_symbolic(cast("dict[Any, Any]", value).values(), depth - 1, is_open=is_open)
        ):
            return True
    return False


@shown_as("function")
class _InPlace:
    """A helper, staged where it is called if it is given symbolic values."""

    __slots__ = ("_bound", "_function", "_run")

    def __init__(self, function: types.FunctionType, bound: tuple[UserValue, ...], run: Run) -> None:
        self._function = function
        self._bound = bound
        self._run = run

    def __repr__(self) -> str:
        return f"{self._function.__qualname__}()"  # as Python's own errors say it

    def __call__(self, *args: UserValue, **kwargs: UserValue) -> UserValue:
        function, args = self._function, (*self._bound, *args)
        if not has_symbolic((*args, *kwargs.values()), is_open=self._run.dialect.is_open):
            return self._run.dialect.result(call_as_it_is(function, *args, **kwargs))
        try:
            return self._staged(args, kwargs)
        except OnnxsmithError as error:
            _locate_at_call(error, function)
            raise

    def _staged(self, args: tuple[UserValue, ...], kwargs: dict[str, UserValue]) -> UserValue:
        function, dialect = self._function, self._run.dialect
        if dialect.stages_all and is_generator(function) and not function.__code__.co_freevars:
            return self._generated(args, kwargs)
        analysis = helper_analysis(function, dialect.syntax, must_be=dialect.stages_all)
        if analysis is None:
            return dialect.result(call_as_it_is(function, *args, **kwargs))
        refuse_if_changed(function, analysis.node)
        definition = head_span(analysis.node, analysis.file, analysis.name)
        # Its own parameters, also where `functools.wraps` says that it has those of another function.
        signature = own_signature(function)
        arguments = bind_call(function.__name__, signature, args, kwargs, definition)
        return run_staged(analysis, function.__globals__, closure_of(function), arguments, run=self._run)

    def _generated(self, args: tuple[UserValue, ...], kwargs: dict[str, UserValue]) -> UserValue:
        """The result of a generator function."""
        function, dialect = self._function, self._run.dialect
        code, node = function.__code__, find_function(function)
        refuse_if_changed(function, node)
        made = collecting(node, code.co_filename, function.__name__)
        names = {**function.__globals__, YIELDED: dialect.yielded}
        analysis = analyze(made, code.co_filename, function.__name__, (), names, allowed=dialect.syntax)
        definition = head_span(node, code.co_filename, function.__name__)
        arguments = bind_call(function.__name__, own_signature(function), args, kwargs, definition)
        found = run_staged(analysis, names, {}, arguments, run=self._run)
        keep_given(arguments.values())
        return once(found)


def _locate_at_call(error: OnnxsmithError, function: types.FunctionType) -> None:
    """Let an error that stands in a library's file point at the user's call; the other place is shown after it."""
    inside = error.span
    if inside is None or not is_library(inside.file):
        return
    call = caller_span()
    if call is None or is_library(call.file):
        return  # the caller is of the library, too: where that is called, this is asked again
    if not inside.file.startswith(PACKAGE_DIRECTORY):
        error.message = f"{_public_name(function)} cannot be staged here: {error.message}"
        error.also(inside, "in this line of it")
    error.labels = (Label(call, ""), *error.labels[1:])


def _public_name(function: types.FunctionType) -> str:
    """A function of a library as users write it, as far as its module tells."""
    home = [each for each in function.__module__.split(".") if not each.startswith("_")]
    short = {"numpy": ["np"]}.get(home[0], home) if home else []
    return ".".join([*short, function.__name__])


def own_signature(function: types.FunctionType) -> inspect.Signature:
    """The parameters that the code of a function has, whatever its `__wrapped__` or `__signature__` say to others."""
    if "__signature__" not in function.__dict__:
        return inspect.signature(function, follow_wrapped=False)
    bare = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    bare.__kwdefaults__ = function.__kwdefaults__
    return inspect.signature(bare, follow_wrapped=False)


def helper_analysis(
    function: types.FunctionType, allowed: Syntax = NO_SYNTAX, *, must_be: bool = False
) -> Analysis | None:
    """The analysis of a helper; None where it has no source or uses what scripts cannot: Python then runs it.

    Where it `must_be` staged, that is an error.
    """
    code = function.__code__
    try:
        node = find_function(function)
        return analyze(
            node,
            code.co_filename,
            function.__name__,
            code.co_freevars,
            function.__globals__,
            allowed=allowed,
        )
    except (SourceNotFoundError, UnsupportedSyntaxError):
        if must_be:
            raise
        return None
