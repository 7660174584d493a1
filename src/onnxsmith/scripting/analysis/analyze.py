"""What is known of a function before it is staged: its statements, variables, flow, and compiled expressions.

Made once per function in the source, however often it is decorated or called.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TypeGuard

from onnxsmith.scripting.analysis.expressions import ExpressionTable, Root, compile_expressions
from onnxsmith.scripting.analysis.flow import Flow, assigned_names, parameter_names
from onnxsmith.scripting.source.function_source import FunctionNode
from onnxsmith.scripting.source.trees import children

_LIMIT = 1024
_analyses: dict[int, Analysis] = {}


@dataclass(frozen=True, slots=True)
class Analysis:
    """A function, ready to be staged."""

    node: FunctionNode
    file: str
    name: str
    body: list[ast.stmt]
    parameters: list[str]
    local_names: frozenset[str]
    flow: Flow
    expressions: ExpressionTable


def analyze(node: FunctionNode, file: str, name: str, outer_names: Collection[str]) -> Analysis:
    """The analysis of a function; `outer_names` are variables of the functions around it."""
    found = _analyses.get(id(node))
    if found is not None and found.node is node:
        return found
    if isinstance(node, ast.Lambda):
        returned = ast.Return(node.body)
        body: list[ast.stmt] = [ast.copy_location(returned, node.body)]
    else:
        body = node.body
    parameters = parameter_names(node.args)
    local_names = frozenset([*parameters, *assigned_names(body)])
    flow = Flow(body)
    roots = [root for statement in body for root in _roots(statement)]
    first_parameter = parameters[0] if parameters else None
    first_line = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
    table = compile_expressions(
        roots, file, name, first_line, local_names | set(outer_names), first_parameter
    )
    if len(_analyses) >= _LIMIT:
        _analyses.clear()
    found = _analyses[id(node)] = Analysis(node, file, name, body, parameters, local_names, flow, table)
    return found


def _roots(statement: ast.stmt) -> Iterator[Root]:
    """The expressions that staging evaluates, in a statement and the statements inside it."""
    match statement:
        case ast.FunctionDef():
            yield from map(Root, statement.decorator_list)
            yield from map(Root, statement.args.defaults)
            yield from (Root(each) for each in statement.args.kw_defaults if each is not None)
            return  # its body is a function of its own
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _target_roots(target)
            yield Root(value)
        case ast.AugAssign(target=target, value=value):
            yield from _target_roots(target)
            yield Root(value)
        case ast.AnnAssign(target=target, value=value):
            yield from _target_roots(target)
            if value is not None:
                yield Root(value)
        case ast.If(test=test) | ast.While(test=test):
            yield Root(test, is_test=True)
        case ast.Assert(test=test, msg=message):
            yield Root(test, is_test=True)
            if message is not None:
                yield Root(message)
        case ast.For(target=target):
            yield from _target_roots(target)
            yield from map(Root, iteration_parts(statement.iter))
        case ast.Match():
            yield Root(statement)
        case ast.With(items=items):
            for item in items:
                yield Root(item.context_expr)
                if item.optional_vars is not None:
                    yield from _target_roots(item.optional_vars)
        case ast.Delete():
            pass
        case _:
            for child in children(statement):
                if isinstance(child, ast.expr):
                    yield Root(child)
    for inner in _inner_statements(statement):
        yield from _roots(inner)


#: Calls after `in` that are taken apart, so that tensors may stand in them.
_TAKEN_APART = ("range", "zip", "enumerate", "reversed")


def iteration_parts(node: ast.expr) -> Iterator[ast.expr]:
    """The expressions after `in` that are evaluated as they are: the functions and arguments of what is taken apart."""
    if is_taken_apart(node):
        yield node.func
        for argument in (*node.args, *(each.value for each in node.keywords)):
            yield from iteration_parts(argument)
    else:
        yield node


def is_taken_apart(node: ast.expr) -> TypeGuard[ast.Call]:
    """Whether an expression is a plain call of range, zip, enumerate or reversed."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
            is_plain = not any(isinstance(each, ast.Starred) for each in args) and all(
                each.arg for each in keywords
            )
            return name in _TAKEN_APART and is_plain
        case _:
            return False


def _inner_statements(statement: ast.stmt) -> Iterator[ast.stmt]:
    for name in ("body", "orelse"):
        yield from getattr(statement, name, ())
    if isinstance(statement, ast.Match):
        for case in statement.cases:
            yield from case.body


def _target_roots(target: ast.expr) -> Iterator[Root]:
    match target:
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for element in elements:
                yield from _target_roots(element)
        case ast.Starred(value=value):
            yield from _target_roots(value)
        case ast.Subscript(value=value, slice=index):
            yield Root(value)
            yield Root(index)
        case _:
            pass
