"""The names that pieces of a syntax tree bind and read, scopes inside them included."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from onnxsmith.scripting.source.trees import children, walk

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_NOTHING: frozenset[str] = frozenset()


def assigned_names(statements: Iterable[ast.stmt]) -> list[str]:
    """Names that statements may bind, in the order of the source; nested functions bind only their own name."""
    found: dict[str, None] = {}
    for statement in statements:
        _collect_assigned(statement, found)
    return list(found)


def _collect_assigned(node: ast.AST, found: dict[str, None]) -> None:
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Store | ast.Del):
            found[node.id] = None
        return
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        found[node.name] = None
        return
    if isinstance(node, ast.Lambda):
        return
    if isinstance(node, _COMPREHENSIONS):
        for inner in walk(node):  # only a walrus binds outside a comprehension
            if isinstance(inner, ast.NamedExpr):
                found[inner.target.id] = None
        return
    if isinstance(node, ast.alias):
        found[(node.asname or node.name).split(".")[0]] = None
        return
    if isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler) and node.name is not None:
        found[node.name] = None
    elif isinstance(node, ast.MatchMapping) and node.rest is not None:
        found[node.rest] = None
    for child in children(node):
        _collect_assigned(child, found)


def deferred_names(statements: Iterable[ast.stmt]) -> frozenset[str]:
    """Names that nested functions, lambdas and generators read whenever they are called."""
    found: dict[str, None] = {}
    for statement in statements:
        for node in walk(statement):
            if isinstance(node, ast.Lambda | ast.FunctionDef | ast.GeneratorExp):
                _collect_free(node, _NOTHING, found)
    return frozenset(found)


def free_names(node: ast.AST) -> list[str]:
    """Names that an expression reads from around it: not those that its own lambdas and comprehensions bind."""
    found: dict[str, None] = {}
    _collect_free(node, _NOTHING, found)
    return list(found)


def _collect_free(node: ast.AST, bound: frozenset[str], found: dict[str, None]) -> None:
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Store) and node.id not in bound:  # `del x` needs an x
            found[node.id] = None
        return
    if isinstance(node, ast.Lambda):
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                _collect_free(default, bound, found)
        _collect_free(node.body, bound | set(parameter_names(node.args)), found)
        return
    if isinstance(node, ast.FunctionDef):
        for part in (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults):
            if part is not None:
                _collect_free(part, bound, found)
        own = set(assigned_names(node.body)) - declared_nonlocal(node)
        inner = bound | set(parameter_names(node.args)) | own
        for statement in node.body:
            _collect_free(statement, inner, found)
        return
    if isinstance(node, _COMPREHENSIONS):
        inner = bound
        for generator in node.generators:
            _collect_free(generator.iter, inner, found)
            inner = inner | set(assigned_names([ast.Expr(generator.target)]))
            for condition in generator.ifs:
                _collect_free(condition, inner, found)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            _collect_free(part, inner, found)
        return
    for child in children(node):
        _collect_free(child, bound, found)


def parameter_names(arguments: ast.arguments) -> list[str]:
    """All parameters of a function, in the order of its signature."""
    named = [*arguments.posonlyargs, *arguments.args]
    if arguments.vararg:
        named.append(arguments.vararg)
    named += arguments.kwonlyargs
    if arguments.kwarg:
        named.append(arguments.kwarg)
    return [each.arg for each in named]


def own_nodes(function: ast.FunctionDef | ast.Lambda) -> Iterator[ast.AST]:
    """The nodes of a function's body without those of functions inside it, which are given but not looked into."""
    body = function.body if isinstance(function, ast.FunctionDef) else [function.body]
    waiting: list[ast.AST] = [*body]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.AsyncFunctionDef | ast.ClassDef):
            waiting += children(node)


def declared_nonlocal(function: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """The names that a function says belong to a function around it."""
    return frozenset(
        name for node in own_nodes(function) if isinstance(node, ast.Nonlocal) for name in node.names
    )


def is_generator(function: ast.FunctionDef) -> bool:
    """True if calling a function gives a generator."""
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own_nodes(function))


def assigned_from_inside(function: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """The names that functions inside this one assign in it, or in those around it."""
    found: set[str] = set()
    for node in own_nodes(function):
        if isinstance(node, ast.FunctionDef) and not is_generator(node):  # what those assign is refused
            own = {*parameter_names(node.args), *assigned_names(node.body)} - declared_nonlocal(node)
            found |= declared_nonlocal(node) | (assigned_from_inside(node) - own)
    return frozenset(found)


def pattern_reads(pattern: ast.pattern) -> list[str]:
    """Names of values, constants and classes that a pattern of a case reads."""
    parts = [each for each in walk(pattern) if isinstance(each, ast.MatchValue | ast.MatchClass)]
    return [name for each in parts for name in free_names(each)]
