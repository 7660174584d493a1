"""The names that code reads: globals and attributes, and the words by which it reaches what it does not name."""

from __future__ import annotations

import ast
import dis
import re
import sys
import types
from collections.abc import Iterator, Sequence
from typing import cast

from onnxsmith.scripting.analysis.rewrite import HOOKS

#: Names through which code reaches attributes that it does not name.
BY_TEXT = frozenset(
    [
        "getattr",
        "hasattr",
        "setattr",
        "delattr",
        "vars",
        "dir",
        "__dict__",
        "__getattribute__",
        "__setattr__",
        "globals",
        "copy",
        "attrgetter",
        "methodcaller",
        "deepcopy",
        "replace",
        "asdict",
        "astuple",
        "import_module",
        "__import__",
        "eval",
        "exec",
    ]
)

_CODE_LIMIT = 1024
_code_names: dict[int, tuple[types.CodeType, frozenset[str]]] = {}


def code_names(code: types.CodeType) -> frozenset[str]:
    """The globals and attributes that code names, with the functions inside it."""
    entry = _code_names.get(id(code))
    if entry is None:
        if len(_code_names) >= _CODE_LIMIT:
            _code_names.clear()
        entry = _code_names[id(code)] = (code, _named(code))
    return entry[1]


#: A field of a text that `format` fills, and the attributes that it reads: `"{0.k.m}"`.
_FIELD = re.compile(r"\{\w*([^{}!:]*)")
_ATTRIBUTE = re.compile(r"\.(\w+)")
_MATCH_CLASS = dis.opmap["MATCH_CLASS"]


def _named(code: types.CodeType) -> frozenset[str]:
    found = {*code.co_names, *code.co_freevars}
    has_class_pattern = _MATCH_CLASS in code.co_code[::2]
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            found |= _named(each)
        elif isinstance(each, str):
            if HOOKS in code.co_freevars:
                found.add(each)  # a variable that is looked up when it is needed
            found.update(name for field in _FIELD.findall(each) for name in _ATTRIBUTE.findall(field))
        elif (
            isinstance(each, tuple) and has_class_pattern
        ):  # `case Point(x=0, y=z)` has the names in a constant
            found.update(name for name in cast("tuple[object, ...]", each) if isinstance(name, str))
    return frozenset(found)


# -- Import statements inside functions: `import random` in a script reaches what it would at the top --


_IMPORT = dis.opmap["IMPORT_NAME"]


def imported_by(statements: Sequence[ast.stmt]) -> Iterator[tuple[str, object]]:
    """The names that statements, with those inside them, import, and what they will stand for."""
    waiting = list(statements)
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, ast.Import):
            yield from _modules(each.name for each in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            module = sys.modules.get(statement.module or "")
            for each in statement.names if module is not None else ():
                yield each.asname or each.name, getattr(module, each.name, None)
        for block in ("body", "orelse", "finalbody"):
            waiting += getattr(statement, block, ())


def imported_by_code(code: types.CodeType) -> Iterator[tuple[str, object]]:
    """The modules that a function imports when it runs."""
    if _IMPORT in code.co_code[::2]:
        return _modules(str(each.argval) for each in dis.get_instructions(code) if each.opcode == _IMPORT)
    return iter(())


def _modules(names: Iterator[str]) -> Iterator[tuple[str, object]]:
    for name in names:
        if name in sys.modules:
            yield name.partition(".")[0], sys.modules[name]
