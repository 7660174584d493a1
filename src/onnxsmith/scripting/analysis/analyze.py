"""Analyses a function before it is staged: its statements, variables, flow, and compiled expressions.

Made once per function in the source, however often it is decorated or called.
"""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from onnxsmith.context import collection_paused
from onnxsmith.core.call_cache import CallCache
from onnxsmith.errors import combined
from onnxsmith.opset.module import is_opset_module
from onnxsmith.scripting.analysis.expressions import (
    Block,
    CodePlace,
    ExpressionTable,
    compile_expressions,
)
from onnxsmith.scripting.analysis.facts import Facts, FactTable
from onnxsmith.scripting.analysis.flow import Flow
from onnxsmith.scripting.analysis.kinds import KINDS, Root
from onnxsmith.scripting.analysis.names import assigned_from_inside, declared_nonlocal, parameter_names
from onnxsmith.scripting.analysis.statement_order import statements_in
from onnxsmith.scripting.analysis.subset import NO_SYNTAX, Syntax, find_unsupported
from onnxsmith.scripting.source.function_source import FunctionNode


def with_branches(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a function, with `if` statements in the place of such `match` statements."""
    if not any(isinstance(each, ast.Match) for each in statements_in(body)):
        return body
    module = ast.Module(copy.deepcopy(body), [])  # the tree itself is compared with the function's code
    _Rewriter().generic_visit(module)
    return module.body


class _Rewriter(ast.NodeTransformer):
    def visit_Match(self, node: ast.Match) -> ast.stmt:
        self.generic_visit(node)
        subject = node.subject
        if not isinstance(subject, ast.Name) or not node.cases:
            return node
        tests = [_test(subject, each) for each in node.cases]
        known = [each for each in tests if each is not None]
        if len(known) < len(tests):
            return node
        rest: list[ast.stmt] = []
        for test, case in zip(reversed(known), reversed(node.cases), strict=True):
            if isinstance(test, ast.Constant):  # the wildcard, which is the last
                rest = case.body
                continue
            rest = [ast.copy_location(ast.If(test, case.body, rest), test)]
        if not rest or not isinstance(rest[0], ast.If):
            return node
        return ast.copy_location(rest[0], node)


def _test(subject: ast.Name, case: ast.match_case) -> ast.expr | None:
    """The condition of a case; None for what is no comparison with numbers."""
    match case.pattern:
        case ast.MatchAs(pattern=None, name=None) as pattern:
            return case.guard or ast.copy_location(ast.Constant(True), pattern)
        case pattern:
            test = _comparison(subject, pattern)
    if test is None or case.guard is None:
        return test
    return ast.copy_location(ast.BoolOp(ast.And(), [test, case.guard]), case.guard)


def _comparison(subject: ast.Name, pattern: ast.pattern) -> ast.expr | None:
    match pattern:
        case ast.MatchValue(value=value) if _is_number(value):
            name = ast.copy_location(ast.Name(subject.id, ast.Load()), pattern)
            return ast.copy_location(ast.Compare(name, [ast.Eq()], [value]), pattern)
        case ast.MatchOr(patterns=patterns):
            tests = [_comparison(subject, each) for each in patterns]
            known = [each for each in tests if each is not None]
            return (
                ast.copy_location(ast.BoolOp(ast.Or(), [*known]), pattern)
                if len(known) == len(tests)
                else None
            )
        case _:
            return None


def _is_number(value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=int() | float()) | ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return True
        case _:
            return False


_NO_NAMES: frozenset[str] = frozenset()
#: Lines of functions whose analyses are kept, besides those that scripts hold themselves.
_KEPT_LINES = 4_000
# By the id of the tree, which the entry keeps alive, and what it may contain.
_analyses = CallCache["Analysis"](_KEPT_LINES)


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
    #: Of the local names those that inner functions assign, and of the others those that this one assigns.
    cell_names: frozenset[str]
    nonlocal_names: frozenset[str]

    def fits(self, global_names: Mapping[str, object]) -> bool:
        """True if the globals still mean what the expressions were compiled for."""
        return self.expressions.fits(global_names)


def analyze(
    node: FunctionNode,
    file: str,
    name: str,
    outer_names: Collection[str],
    global_names: Mapping[str, object],
    *,
    shared_around: frozenset[str] | None = None,
    allowed: Syntax = NO_SYNTAX,
) -> Analysis:
    """The analysis of a function; `outer_names` are variables of the functions around it.

    `shared_around` are those that inner functions assign, where the function is staged as part of another one: it was
    looked at with that one for what a script cannot contain. `allowed` is syntax that it may contain all the same.

    Raises UnsupportedSyntaxError for all that ONNX cannot express.
    """
    key = id(node), allowed
    found = _analyses.get(key)
    if found is not None and found.node is node and found.fits(global_names):
        if found.nonlocal_names and shared_around is None:
            _refuse_unsupported(node, file, name, allowed)
        return found
    with collection_paused():
        found = _analysis(node, file, name, outer_names, global_names, shared_around, allowed)
    _analyses.put(key, found, (node.end_lineno or node.lineno) - node.lineno + 1)
    return found


def _analysis(
    node: FunctionNode,
    file: str,
    name: str,
    outer_names: Collection[str],
    global_names: Mapping[str, object],
    shared_around: frozenset[str] | None,
    allowed: Syntax,
) -> Analysis:
    if isinstance(node, ast.Lambda):
        returned = ast.Return(node.body)
        body: list[ast.stmt] = [ast.copy_location(returned, node.body)]
    else:
        body = node.body
    facts = FactTable(body)
    if facts.has_scope and (rewritten := with_branches(body)) is not body:  # a `match` counts as a scope
        body = rewritten
        facts = FactTable(body)
    if facts.may_be_unsupported and shared_around is None:
        _refuse_unsupported(node, file, name, allowed)
    parameters = parameter_names(node.args)
    nonlocal_names = declared_nonlocal(node) if facts.may_be_unsupported else _NO_NAMES
    local_names = frozenset([*parameters, *facts.assigns]) - nonlocal_names
    from_inside = assigned_from_inside(node) if facts.has_scope else _NO_NAMES
    cell_names = from_inside & local_names
    # What an inner function may assign in a call is read at its place in the expression, not before.
    shared = from_inside | nonlocal_names | ((shared_around or _NO_NAMES) - local_names)
    variables = local_names | set(outer_names)
    place = CodePlace(
        file,
        name,
        min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))]),
        variables,
        parameters[0] if parameters else None,
        opset_modules((name for name in facts.reads if name not in variables), global_names),
        shared,
        facts.has_walrus or facts.has_scope,
    )
    table = compile_expressions(_parts(body, facts, bool(shared)), place)
    flow = Flow(body, facts, shared)
    return Analysis(
        node, file, name, body, parameters, local_names, facts, flow, place, table, cell_names, nonlocal_names
    )


def _refuse_unsupported(node: FunctionNode, file: str, name: str, allowed: Syntax) -> None:
    unsupported = find_unsupported(node, file, name, allowed)
    if unsupported:
        raise combined(unsupported)


def opset_modules(names: Iterable[str], global_names: Mapping[str, object]) -> dict[str, object]:
    """The globals among these names that are modules of operators."""
    found = {name: global_names.get(name) for name in names}
    return {
        name: value
        for name, value in found.items()
        if isinstance(value, types.ModuleType) and is_opset_module(value)
    }


def _parts(statements: Sequence[ast.stmt], facts: FactTable, is_shared: bool) -> list[Root | Block]:
    """All that is compiled: plain statements in a row as a block, and the expressions of the others.

    Where a variable `is_shared` with inner functions that assign it, each statement puts it where they find it.
    """
    found: list[Root | Block] = []
    plain: list[ast.stmt] = []
    known: list[Facts] = []
    for statement in statements:
        own = facts.of[id(statement)]
        is_plain = own.is_plain and not is_shared
        if is_plain:
            plain.append(statement)
            known.append(own)
            # What an inner function reads must be where it is looked for after each statement.
            if not facts.has_scope:
                continue
        if plain:
            found.append(Block(tuple(plain), tuple(known)))
            plain, known = [], []
        if not is_plain:
            kind = KINDS.get(type(statement).__name__)
            if kind is not None:
                found += kind.roots(statement)
                for block in kind.blocks(statement):
                    found += _parts(block, facts, is_shared)
    if plain:
        found.append(Block(tuple(plain), tuple(known)))
    return found
