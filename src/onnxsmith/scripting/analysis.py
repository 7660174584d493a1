"""What is known of a function before it is staged: its statements, variables, flow, and compiled expressions.

Made once per function in the source, however often it is decorated or called.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from onnxsmith.scripting.expressions import ExpressionTable, compile_expressions
from onnxsmith.scripting.flow import Flow, assigned_names, parameter_names
from onnxsmith.scripting.function_source import FunctionNode

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
    if body:
        flow.live_after(body[-1])  # before expressions are rewritten: it reads the user's own tree
    roots = [root for statement in body for root in _roots(statement)]
    table = compile_expressions(roots, file, name, local_names | set(outer_names))
    if len(_analyses) >= _LIMIT:
        _analyses.clear()
    found = _analyses[id(node)] = Analysis(node, file, name, body, parameters, local_names, flow, table)
    return found


def _roots(statement: ast.stmt) -> Iterator[ast.AST]:
    """The expressions that staging evaluates, in a statement and the statements inside it."""
    match statement:
        case ast.FunctionDef():
            yield from statement.decorator_list
            yield from statement.args.defaults
            yield from (each for each in statement.args.kw_defaults if each is not None)
            return  # its body is a function of its own
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _target_roots(target)
            yield value
        case ast.AugAssign(target=target, value=value):
            yield from _target_roots(target)
            yield value
        case ast.AnnAssign(target=target, value=value):
            yield from _target_roots(target)
            if value is not None:
                yield value
        case ast.For(target=target):
            yield from _target_roots(target)
            yield from iteration_parts(statement)
        case ast.Match():
            yield statement
        case ast.With():
            for item in statement.items:
                yield item.context_expr
        case ast.Delete():
            pass
        case _:
            for child in ast.iter_child_nodes(statement):
                if isinstance(child, ast.expr):
                    yield child
    for inner in _inner_statements(statement):
        yield from _roots(inner)


_TAKEN_APART = ("range", "zip", "enumerate")


def iteration_parts(statement: ast.For) -> list[ast.expr]:
    """The expressions after `in`: range, zip and enumerate are taken apart, so that tensors may stand in them."""
    if is_taken_apart(statement):
        assert isinstance(statement.iter, ast.Call)
        return [statement.iter.func, *statement.iter.args]
    return [statement.iter]


def is_taken_apart(statement: ast.For) -> bool:
    """Whether a loop runs over a plain call of range, zip or enumerate."""
    match statement.iter:
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            return name in _TAKEN_APART and not any(isinstance(each, ast.Starred) for each in args)
        case _:
            return False


def _inner_statements(statement: ast.stmt) -> Iterator[ast.stmt]:
    for name in ("body", "orelse"):
        yield from getattr(statement, name, ())
    if isinstance(statement, ast.Match):
        for case in statement.cases:
            yield from case.body


def _target_roots(target: ast.expr) -> Iterator[ast.AST]:
    match target:
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for element in elements:
                yield from _target_roots(element)
        case ast.Starred(value=value):
            yield from _target_roots(value)
        case ast.Subscript(value=value, slice=index):
            yield value
            yield index
        case _:
            pass
