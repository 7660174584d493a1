"""What is known of a function before it is staged: its statements, variables, flow, and compiled expressions.

Made once per function in the source, however often it is decorated or called.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from onnxsmith.errors import combined
from onnxsmith.opset.module import is_opset_module
from onnxsmith.scripting.analysis.expressions import (
    Block,
    CodePlace,
    ExpressionTable,
    Root,
    compile_expressions,
)
from onnxsmith.scripting.analysis.facts import FactTable
from onnxsmith.scripting.analysis.flow import Flow
from onnxsmith.scripting.analysis.names import parameter_names
from onnxsmith.scripting.analysis.subset import find_unsupported
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
    facts: FactTable
    flow: Flow
    place: CodePlace
    expressions: ExpressionTable

    def fits(self, global_names: Mapping[str, object]) -> bool:
        """Whether the globals still mean what the expressions were compiled for."""
        return self.expressions.fits(global_names)


def analyze(
    node: FunctionNode,
    file: str,
    name: str,
    outer_names: Collection[str],
    global_names: Mapping[str, object],
) -> Analysis:
    """The analysis of a function; `outer_names` are variables of the functions around it.

    Raises UnsupportedSyntaxError for all that ONNX cannot express.
    """
    found = _analyses.get(id(node))
    if found is not None and found.node is node and found.fits(global_names):
        return found
    if isinstance(node, ast.Lambda):
        returned = ast.Return(node.body)
        body: list[ast.stmt] = [ast.copy_location(returned, node.body)]
    else:
        body = node.body
    facts = FactTable(body)
    unsupported = find_unsupported(node, file, name) if facts.may_be_unsupported else []
    if unsupported:
        raise combined(unsupported)
    parameters = parameter_names(node.args)
    local_names = frozenset([*parameters, *facts.assigns])
    variables = local_names | set(outer_names)
    place = CodePlace(
        file,
        name,
        min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))]),
        variables,
        parameters[0] if parameters else None,
        opset_modules((name for name in facts.reads if name not in variables), global_names),
    )
    table = compile_expressions(list(_parts(body, facts)), place)
    if len(_analyses) >= _LIMIT:
        _analyses.clear()
    found = _analyses[id(node)] = Analysis(
        node, file, name, body, parameters, local_names, facts, Flow(body, facts), place, table
    )
    return found


def opset_modules(names: Iterable[str], global_names: Mapping[str, object]) -> dict[str, object]:
    """The globals among these names that are modules of operators."""
    found = {name: global_names.get(name) for name in names}
    return {name: value for name, value in found.items() if is_opset_module(value)}


def _parts(statements: Sequence[ast.stmt], facts: FactTable) -> Iterator[Root | Block]:
    """All that is compiled: plain statements in a row as a block, and the expressions of the others."""
    plain: list[ast.stmt] = []
    for statement in statements:
        if facts[statement].is_plain:
            plain.append(statement)
            # What an inner function reads must be where it is looked for after each statement.
            if not facts.has_scope:
                continue
        if plain:
            yield Block(tuple(plain), tuple(facts[each] for each in plain))
            plain = []
        if not facts[statement].is_plain:
            yield from statement_roots(statement)
            for block in inner_blocks(statement):
                yield from _parts(block, facts)
    if plain:
        yield Block(tuple(plain), tuple(facts[each] for each in plain))


def statement_roots(statement: ast.stmt) -> Iterator[Root]:
    """The expressions that staging evaluates in a statement, without those of the statements inside it."""
    match statement:
        case ast.FunctionDef():
            yield from map(Root, statement.decorator_list)
            yield from map(Root, statement.args.defaults)
            yield from (Root(each) for each in statement.args.kw_defaults if each is not None)
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


def inner_blocks(statement: ast.stmt) -> Iterator[Sequence[ast.stmt]]:
    """The blocks of statements inside a statement; an inner function is a function of its own."""
    match statement:
        case (
            ast.If(body=body, orelse=orelse)
            | ast.For(body=body, orelse=orelse)
            | ast.While(body=body, orelse=orelse)
        ):
            yield body
            yield orelse
        case ast.With(body=body):
            yield body
        case ast.Match(cases=cases):
            for case in cases:
                yield case.body
        case _:
            pass


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
