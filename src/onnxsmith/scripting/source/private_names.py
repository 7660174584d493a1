"""Private names of classes in a file's tree, as Python compiles them: `self.__w` in class `K` is `self._K__w`.

Code of a function is compiled outside its class here, where Python would leave such names as they are written. Names of
keyword arguments stay, as they do in Python.
"""

from __future__ import annotations

import ast
import re
from typing import cast

#: A name that begins with two underscores and does not end with two.
_PRIVATE = re.compile(r"\b__\w*[^\W_]_?\b")
#: The fields of nodes that hold names of variables and attributes.
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Name: ("id",),
    ast.Attribute: ("attr",),
    ast.arg: ("arg",),
    ast.ExceptHandler: ("name",),
    ast.MatchAs: ("name",),
    ast.MatchStar: ("name",),
    ast.MatchMapping: ("rest",),
    ast.ImportFrom: ("module",),
    ast.alias: ("name", "asname"),
}


def has_private_names(text: str) -> bool:
    """True if names in a file's text may be private names of a class."""
    return "class" in text and _PRIVATE.search(text) is not None


def mangle_private_names(tree: ast.Module) -> None:
    """Give the private names in all classes of a tree the names that Python gives them.

    Functions that stand in a class itself keep their names: no code of a function takes them for a variable.
    """
    _Mangler().visit(tree)


class _Mangler(ast.NodeVisitor):
    def __init__(self) -> None:
        self._class = ""
        self._is_in_function = False

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.ClassDef):
            self._enter_class(node)
            return
        if self._class:
            self._rename(node)
        was_in_function = self._is_in_function
        self._is_in_function = was_in_function or isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        )
        self.generic_visit(node)
        self._is_in_function = was_in_function

    def _enter_class(self, node: ast.ClassDef) -> None:
        for each in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(each)
        outer = self._class, self._is_in_function
        self._class, self._is_in_function = node.name.lstrip("_"), False
        for each in node.body:
            self.visit(each)
        self._class, self._is_in_function = outer
        if self._class and self._is_in_function:
            node.name = self._mangled(node.name)

    def _rename(self, node: ast.AST) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if self._is_in_function:
                node.name = self._mangled(node.name)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            node.names = [self._mangled(each) for each in node.names]
        for field in _FIELDS.get(type(node), ()):
            name = cast("str | None", getattr(node, field))
            if name is not None:
                setattr(node, field, self._mangled(name))

    def _mangled(self, name: str) -> str:
        is_private = name.startswith("__") and not name.endswith("__") and "." not in name
        return f"_{self._class}{name}" if is_private else name
