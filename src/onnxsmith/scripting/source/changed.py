"""Notices that a file was edited after the code in it was imported: what runs and what is read differ then.

Only files that were written while this process runs are compared, and only with what the function was compiled to.
pytest rewrites functions with `assert`; those cannot be compared.
"""

from __future__ import annotations

import ast
import functools
import linecache
import time
import types

from onnxsmith.errors import SourceNotFoundError
from onnxsmith.scripting.source.function_source import FunctionNode, future_flags, inner_code, is_same_code

#: What was last written before is what was imported.
_STARTED = time.time()


def refuse_if_changed(function: types.FunctionType, node: FunctionNode) -> None:
    """Raise SourceNotFoundError if the function runs other code than its file has now."""
    code = function.__code__
    entry = linecache.cache.get(code.co_filename)
    written = entry[1] if entry is not None and len(entry) > 1 else None
    if not isinstance(written, float) or written <= _STARTED or _is_rewritten(function, node):
        return
    text = "".join(linecache.getlines(code.co_filename))
    compiled = _compiled(text, code.co_filename, future_flags(code))
    if any(is_same_code(each, code) for each in compiled.get(code.co_name, ())):
        return
    raise SourceNotFoundError(
        f"'{function.__name__}' was edited after it was imported: what runs is not what its file says",
        help=f"import {function.__module__} again: start Python anew, or importlib.reload",
    )


@functools.lru_cache(maxsize=8)  # a file has many functions, and they are decorated one after the other
def _compiled(text: str, file: str, flags: int) -> dict[str, list[types.CodeType]]:
    """The code of all functions of a file, by name; none of a text that is no Python any more."""
    found: dict[str, list[types.CodeType]] = {}
    try:
        module = compile(text, file, "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return found
    for each in inner_code(module):
        found.setdefault(each.co_name, []).append(each)
    return found


def _is_rewritten(function: types.FunctionType, node: FunctionNode) -> bool:
    """True if a test runner has put other code in the place of an `assert`."""
    loader: object = function.__globals__.get("__loader__")
    return type(loader).__module__.startswith("_pytest") and any(
        isinstance(each, ast.Assert) for each in ast.walk(node)
    )
