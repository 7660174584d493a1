"""Import statements inside functions: `import random` in a script reaches what it would at the top.

Only modules that are loaded already are looked at: one that is not has no state yet that could be missed.
"""

from __future__ import annotations

import ast
import dis
import sys
import types
from collections.abc import Iterator, Sequence

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
