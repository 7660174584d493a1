"""Finds the tables that modules share: entries of lazy registries that a string names, and tables filled elsewhere.

`FUNCTIONS["where"]` depends on the module that registers `where`, and so does `helper("where")` where `helper` looks
its parameter up. A table that another module fills depends on that module. Reads syntax trees only; which of it is a
problem is for `check_layers` to say.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

#: Key of a registry -> the module that registers it.
Index: TypeAlias = Mapping[object, str]
_FILLING = frozenset({"add", "append", "extend", "register", "setdefault", "update"})
_CONTAINERS = frozenset({"dict", "list", "set", "Registry", "WeakKeyDictionary", "defaultdict"})
_Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Tables:
    """The tables of all modules, by the module's name and the name in it."""

    registries: dict[tuple[str, str], Index] = field(default_factory=dict[tuple[str, str], Index])
    #: Tables that can be filled, and functions that fill one of their own module.
    fillable: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])


def find_tables(trees: Mapping[str, ast.Module]) -> Tables:
    """The tables that the modules define."""
    found = Tables()
    for module, tree in trees.items():
        texts = {name: value.value for name, value in _bound(tree) if isinstance(value, ast.Constant)}
        containers: set[str] = set()
        for name, value in _bound(tree):
            call = value.func if isinstance(value, ast.Call) else None
            call = call.value if isinstance(call, ast.Subscript) else call  # `dict[str, int]()`
            kind = getattr(call, "attr", getattr(call, "id", None))
            if kind in _CONTAINERS or isinstance(value, ast.Dict | ast.List | ast.Set):
                containers.add(name)
                found.fillable[module, name] = name
            if kind == "Registry" and isinstance(value, ast.Call) and len(value.args) == 2:
                package, table = (_known_text(each, texts) for each in value.args)
                found.registries[module, name] = _read_index(trees, package, table)
        for each in tree.body:
            if isinstance(each, _Definition):
                names = [name for node in ast.walk(each) for name in _filled(node)]
                filled = [name for name in names if name in containers or name in _globals(each)]
                if filled:
                    found.fillable[module, each.name] = filled[0]
    return found


def _known_text(node: ast.expr, texts: Mapping[str, object]) -> str:
    value = node.value if isinstance(node, ast.Constant) else texts.get(getattr(node, "id", ""))
    return str(value)


def _bound(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """The names that the top of a module assigns, with what they stand for."""
    for each in tree.body:
        targets = each.targets if isinstance(each, ast.Assign) else [getattr(each, "target", None)]
        if isinstance(each, ast.Assign | ast.AnnAssign) and each.value is not None:
            for target in targets:
                if isinstance(target, ast.Name):
                    yield target.id, each.value


def _read_index(trees: Mapping[str, ast.Module], package: str, table: str) -> Index:
    """The generated index of a registry, with whole names of modules."""
    index = (
        dict(_bound(trees[f"{package}.lazy_index"])).get(table) if f"{package}.lazy_index" in trees else None
    )
    if not isinstance(index, ast.Dict):
        return {}
    entries: dict[object, str] = ast.literal_eval(index)
    return {key: f"{package}.{module}" for key, module in entries.items()}


def _globals(function: _Definition) -> set[str]:
    """The names of the module that a function assigns."""
    return {name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names}


def _filled(node: ast.AST) -> Iterator[str]:
    """The names of the tables that a node fills, or replaces."""
    table: ast.expr | None = None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FILLING:
        table = node.func.value
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        table = node.value
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        table = node
    if isinstance(table, ast.Name):
        yield table.id


@dataclass
class Reader:
    """Reads what one module takes of the tables of others."""

    module: str
    tree: ast.Module
    tables: Tables
    imported: Mapping[str, tuple[str, str]]  # name here -> module and name there

    def __post_init__(self) -> None:
        self._registries: dict[str, Index] = {}
        for name in self.imported:
            index = self.tables.registries.get(self.imported[name])
            if index is not None:
                self._registries[name] = index
        for name, value in _bound(self.tree):
            inner = value.args[-1] if isinstance(value, ast.Call) and value.args else value  # a cast
            index = self._registries.get(
                getattr(inner, "id", ""), self.tables.registries.get((self.module, name))
            )
            if index is not None:
                self._registries[name] = index

    def entries(self) -> Iterator[tuple[int, object, str]]:
        """Entries of registries that the module names: line, key, and the module that registers it."""
        helpers = {each.name: each for each in ast.walk(self.tree) if isinstance(each, _Definition)}
        looking = {name: found for name, each in helpers.items() if (found := self._looked_up(each))}
        for node in ast.walk(self.tree):
            for index, key in self._keys(node, looking):
                if key in index:
                    yield getattr(node, "lineno", 1), key, index[key]

    def _keys(
        self, node: ast.AST, looking: Mapping[str, list[tuple[int, Index]]]
    ) -> Iterator[tuple[Index, object]]:
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            index = self._registries.get(getattr(node.value, "id", ""))
            if index is not None:
                yield index, _constant(node.slice)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            index = self._registries.get(getattr(node.func.value, "id", ""))
            if index is not None and node.args:
                yield index, _constant(node.args[0])
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            for place, index in looking.get(node.func.id, ()):
                if place < len(node.args):
                    yield index, _constant(node.args[place])

    def _looked_up(self, function: _Definition) -> list[tuple[int, Index]]:
        """The parameters of a function that it looks up in a registry."""
        names = [each.arg for each in function.args.args]
        return [
            (names.index(node.slice.id), self._registries[node.value.id])
            for node in ast.walk(function)
            if isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id in self._registries
            and isinstance(node.slice, ast.Name)
            and node.slice.id in names
        ]

    def fills(self) -> Iterator[tuple[int, str, str]]:
        """Tables of other modules that this one fills: line, their module, and their name there.

        A function that fills a table of its own module counts where the top of this one calls it: a call that a user
        makes later fills a cache.
        """
        called = [node for node in _top(self.tree) if isinstance(node, ast.Call)]
        named = [(each, each.func.id) for each in called if isinstance(each.func, ast.Name)]
        filled = [(each, name) for each in ast.walk(self.tree) for name in _filled(each)]
        for node, name in (*named, *filled):
            owner = self.imported.get(name)
            if owner is not None and owner in self.tables.fillable:
                yield getattr(node, "lineno", 1), owner[0], self.tables.fillable[owner]


def _constant(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def _top(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes that run when the module is imported; a decorator without arguments as a call."""
    for each in ast.iter_child_nodes(tree):
        yield each
        if isinstance(each, _Definition | ast.ClassDef):
            for decorator in each.decorator_list:
                if isinstance(decorator, ast.Name):
                    yield ast.copy_location(ast.Call(decorator, [], []), decorator)
                yield from (decorator, *_top(decorator))
        if not isinstance(each, _Definition | ast.Lambda):
            yield from _top(each)
