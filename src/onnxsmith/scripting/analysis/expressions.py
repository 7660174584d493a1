"""Expressions of a script as Python code of their own, run by Python itself.

Each expression of a statement becomes a small function of the variables it reads, compiled in the user's file and
at the user's positions: tracebacks, carets and debuggers point where the user wrote it. Only what Python decides by
truth value (`and`, `or`, `not`, `if … else`, chained comparisons), calls, and the walrus go through hooks, because
a tensor's truth value is not known yet.
"""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from onnxsmith.scripting.analysis.facts import Facts, call_reads
from onnxsmith.scripting.analysis.kinds import Root
from onnxsmith.scripting.analysis.names import assigned_names
from onnxsmith.scripting.analysis.rewrite import HOOKS, Rewriter, at, position_of
from onnxsmith.scripting.source.trees import walk

_COLLECT = "__onnxsmith_collect__"
#: A function is called many times with the same globals, and globals are few.
_KEPT_INSTANCES = 8

Evaluate = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Block:
    """Plain statements that are run one after the other, as one function that gives the variables they assign."""

    statements: tuple[ast.stmt, ...]
    facts: tuple[Facts, ...]


@dataclass(frozen=True, slots=True)
class BlockSite:
    """One block: where it is in the table, the variables it is called with, and those that it gives.

    One whose statements each assign what one call of an operator gives is not in the table, and has no position:
    staging makes the calls itself, in less time than it takes to compile them.
    """

    position: int | None
    names: tuple[str, ...]
    results: tuple[str, ...]
    statements: tuple[ast.stmt, ...]


@dataclass(frozen=True, slots=True)
class Site:
    """One compiled expression: where it is in the table, and which variables it is called with."""

    position: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExpressionTable:
    """All expressions of one function, compiled at once."""

    code: types.CodeType
    sites: dict[int, Site]
    #: By the first statement of each.
    blocks: dict[int, BlockSite]
    #: The modules of operators that the code was compiled for, by the global name that each has.
    modules: Mapping[str, object]
    #: Keeps the trees alive whose ids are the keys above.
    roots: tuple[ast.AST, ...]
    _instances: dict[int, tuple[dict[str, Any], list[Evaluate]]] = field(
        default_factory=dict[int, tuple[dict[str, Any], list[Evaluate]]]
    )

    def fits(self, global_names: Mapping[str, object]) -> bool:
        """True if the globals still mean what the code was compiled for."""
        return all(global_names.get(name) is module for name, module in self.modules.items())

    def instantiate(self, global_names: dict[str, Any]) -> list[Evaluate]:
        """The functions of the table, with a function's own globals."""
        found = self._instances.get(id(global_names))
        if found is not None:
            return found[1]
        functions: list[Evaluate] = []
        # The user's own expressions, in their own module; the decorator of each puts it into the list.
        exec(self.code, global_names, {_COLLECT: functions.append})
        if len(self._instances) >= _KEPT_INSTANCES:
            self._instances.clear()
        self._instances[id(global_names)] = (global_names, functions)
        return functions


@dataclass(frozen=True, slots=True)
class CodePlace:
    """Where compiled expressions come from, and what their names mean."""

    file: str
    function_name: str
    first_line: int
    #: The names that are no globals.
    variables: Collection[str]
    first_parameter: str | None
    #: Globals that are modules of operators: what is called there needs no hook.
    modules: Mapping[str, object]
    #: Variables that a call of an inner function may assign: they are looked up where they stand.
    shared: frozenset[str]
    #: False if no expression of the function binds a name with `:=`.
    may_have_walrus: bool


def compile_expressions(
    roots: Sequence[Root | Block], place: CodePlace, *, with_all: bool = False
) -> ExpressionTable:
    """Compile expressions (and the patterns of match statements) and blocks; names and constants only `with_all`."""
    sites: dict[int, Site] = {}
    blocks: dict[int, BlockSite] = {}
    definitions: list[ast.stmt] = []
    has_tracer = _has_tracer()
    for root in roots:
        if isinstance(root, Root) and root.is_at_hand and not with_all:
            continue
        if isinstance(root, Block):
            first = root.statements[0]
            if not has_tracer and all(each.is_call and _is_known(each.reads, place) for each in root.facts):
                blocks[id(first)] = BlockSite(None, (), (), root.statements)
                continue
            rewriter = Rewriter(place.variables, (), place.first_parameter, place.modules)
            body, results = _block_body(root, rewriter)
            names = tuple(rewriter.direct_names)
            blocks[id(first)] = BlockSite(len(definitions), names, results, root.statements)
        else:
            first = root.node
            called = None if with_all or has_tracer or not isinstance(first, ast.Call) else call_reads(first)
            if called is not None and _is_known(called, place):
                continue
            late = _walrus_names(first) | place.shared if place.may_have_walrus else place.shared
            rewriter = Rewriter(place.variables, late, place.first_parameter, place.modules)
            body = _root_body(root, rewriter)
            names = tuple(rewriter.direct_names)
            sites[id(first)] = Site(len(definitions), names)
        definitions.append(_definition(first, place, names, body))
    code = compile(ast.Module(definitions, []), place.file, "exec", dont_inherit=True)
    held = tuple(root.statements[0] if isinstance(root, Block) else root.node for root in roots)
    return ExpressionTable(code, sites, blocks, place.modules, held)


def _root_body(root: Root, rewriter: Rewriter) -> list[ast.stmt]:
    if isinstance(root.node, ast.Match):
        return [_match_body(root.node, rewriter)]
    if isinstance(root.node, ast.FunctionDef):
        made = rewriter.rewrite_generator(root.node)
        return [made, at(made, ast.Return(at(made, ast.Name(made.name, ast.Load()))))]
    assert isinstance(root.node, ast.expr)
    expression = rewriter.rewrite_test(root.node) if root.is_test else rewriter.rewrite(root.node)
    return [at(root.node, ast.Return(_without_slices(expression)))]


def _has_tracer() -> bool:
    """True if somebody follows the lines that run, as coverage does: then each has code."""
    monitoring = getattr(sys, "monitoring", None)  # since Python 3.12
    has_tool = monitoring is not None and any(map(monitoring.get_tool, range(6)))
    return has_tool or sys.gettrace() is not None


def _is_known(reads: Sequence[str], place: CodePlace) -> bool:
    """True if a call of an attribute of the first of these names calls an operator, on variables alone."""
    return reads[0] in place.modules and all(name in place.variables for name in reads[1:])


def _returned(block: Block, names: Iterable[str]) -> ast.stmt:
    here = position_of(block.statements[-1])
    values: list[ast.expr] = [ast.Name(name, ast.Load(), **here) for name in names]
    return ast.Return(ast.Tuple(values, ast.Load(), **here), **here)


def _block_body(block: Block, rewriter: Rewriter) -> tuple[list[ast.stmt], tuple[str, ...]]:
    """The statements of a block, and the variables that they assign, in order."""
    body: list[ast.stmt] = []
    assigned: dict[str, None] = {}
    with rewriter.binding(assigned):  # what was assigned in the block is a variable of its own
        for statement, facts in zip(block.statements, block.facts, strict=True):
            body += rewriter.rewrite_statement(statement, facts)
            assigned |= dict.fromkeys(facts.assigns)
    body.append(_returned(block, assigned))
    return body, tuple(assigned)


def _walrus_names(root: ast.AST) -> frozenset[str]:
    """A walrus binds while the expression runs, so its name is looked up then, by a hook."""
    return frozenset(each.target.id for each in walk(root) if isinstance(each, ast.NamedExpr))


def _definition(root: ast.AST, place: CodePlace, names: Iterable[str], body: list[ast.stmt]) -> ast.stmt:
    """One expression as a function. It begins where the user's function does: readers of frames look for it there."""
    here = position_of(root)
    parameters = [ast.arg(each, **here) for each in (HOOKS, *names)]
    arguments = ast.arguments([], parameters, None, [], [], None, [])
    spelled = place.function_name if place.function_name.isidentifier() else "lambda_"
    here.update(lineno=place.first_line, col_offset=0)
    collect = ast.Name(_COLLECT, ast.Load(), **here)
    return ast.FunctionDef(spelled, arguments, body, [collect], None, None, **here)


def _without_slices(index: ast.expr) -> ast.expr:
    """The index of `y[1:2] = v` as an expression: a slice is one only between brackets."""
    if isinstance(index, ast.Slice):
        parts = [each or at(index, ast.Constant(None)) for each in (index.lower, index.upper, index.step)]
        return at(index, ast.Call(at(index, ast.Name("slice", ast.Load())), parts, []))
    if isinstance(index, ast.Tuple) and any(isinstance(each, ast.Slice) for each in index.elts):
        return at(index, ast.Tuple([_without_slices(each) for each in index.elts], ast.Load()))
    return index


def _match_body(statement: ast.Match, rewriter: Rewriter) -> ast.stmt:
    """The statement with each case's body replaced by: which case it is, and what its pattern bound."""
    subject = rewriter.rewrite_subject(statement)
    cases: list[ast.match_case] = []
    for position, case in enumerate(statement.cases):
        bound = list(_pattern_names(case.pattern))
        values = [at(case.pattern, ast.Name(name, ast.Load())) for name in bound]
        keys: list[ast.expr | None] = [at(case.pattern, ast.Constant(name)) for name in bound]
        result = ast.Tuple(
            [at(case.pattern, ast.Constant(position)), at(case.pattern, ast.Dict(keys, list(values)))],
            ast.Load(),
        )
        with rewriter.binding(bound):
            guard = rewriter.rewrite_test(case.guard) if case.guard is not None else None
        pattern = rewriter.rewrite_pattern(case.pattern)
        returned = at(case.pattern, ast.Return(at(case.pattern, result)))
        cases.append(ast.match_case(pattern, guard, [returned]))
    return at(statement, ast.Match(subject, cases))


def _pattern_names(pattern: ast.pattern) -> Iterator[str]:
    yield from assigned_names([ast.Match(ast.Constant(None), [ast.match_case(pattern, None, [])])])
