"""The names that code reads: globals and attributes, and the words by which it reaches what it does not name."""

from __future__ import annotations

import types

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


def _named(code: types.CodeType) -> frozenset[str]:
    found = {*code.co_names, *code.co_freevars}
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            found |= _named(each)
        elif isinstance(each, str) and HOOKS in code.co_freevars:
            found.add(each)  # a variable that is looked up when it is needed
    return frozenset(found)
