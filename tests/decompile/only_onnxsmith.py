"""Whether the text of a module can do nothing but call onnxsmith: judged by its syntax, before it is run.

The lists say what decompiled modules may hold; whatever is not on them is an offence, harmless or not.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

#: Modules that a decompiled one may import.
MODULES = ("__future__", "onnxsmith", "numpy", "math", "ml_dtypes", "onnx", "typing")

#: What may be taken from numpy: element types, and arrays from literals.
NUMPY = frozenset(
    (
        *(
            "array",
            "asarray",
            "zeros",
            "ones",
            "full",
            "frombuffer",
            "inf",
            "nan",
            "pi",
            "ndarray",
            "dtype",
            "str_",
        ),
        *("float16", "float32", "float64", "complex64", "complex128", "bool_", "bool", "object_", "arange"),
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    )
)

#: Builtins that may be named.
BUILTINS = frozenset(
    (
        "range",
        "float",
        "int",
        "bool",
        "complex",
        "len",
        "tuple",
        "list",
        "str",
        "bytes",
        "abs",
        "min",
        "max",
        "sum",
    )
) | {"dict", "divmod", "round", "slice", "enumerate", "zip", "__file__", "__name__"}

#: Statements and expressions that no decompiled module needs.
REFUSED = (
    *(
        ast.ClassDef,
        ast.AsyncFunctionDef,
        ast.Lambda,
        ast.Try,
        ast.TryStar,
        ast.With,
        ast.AsyncWith,
        ast.Global,
    ),
    *(ast.Nonlocal, ast.Delete, ast.Await, ast.Yield, ast.YieldFrom, ast.JoinedStr, ast.Raise),
)
_CALLABLE = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
#: Builtins so mighty that nothing else may have their name either: who reads a call of one must not have to wonder.
_MIGHTY = frozenset(
    (
        "exec",
        "eval",
        "compile",
        "open",
        "__import__",
        "getattr",
        "setattr",
        "delattr",
        "globals",
        "vars",
        "input",
    )
) | {"locals", "breakpoint", "__builtins__", "__loader__", "__spec__"}
_AT_TOP = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.Assign, ast.AnnAssign)


def offences(text: str, *, is_part: bool = False) -> list[str]:
    """What a module holds that it must not; empty when all is well.

    A part of a module is statements, which may use variables of the reader's: names that mean nothing to Python.
    """
    found = [
        f"line {text.count(chr(10), 0, index) + 1}: the character {character!r} is in the source as it is"
        for index, character in enumerate(text)
        if character != "\n" and not character.isprintable()
    ]
    tree = ast.parse(text)
    bound = _bound_names(tree)
    found += [f"the name {name} is given a meaning" for name in sorted(bound & _MIGHTY)]
    for statement in tree.body:
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not isinstance(statement, _AT_TOP) and not is_text and not is_part:
            found.append(f"line {statement.lineno}: {type(statement).__name__} at the top of the module")
    if is_part:
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        bound |= {name for name in used if not hasattr(builtins, name)}
    for node in ast.walk(tree):
        found.extend(f"line {getattr(node, 'lineno', '?')}: {each}" for each in _offence(node, bound))
    return found


def _bound_names(tree: ast.Module) -> set[str]:
    """Names to which the module itself gives a meaning."""
    bound: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.FunctionDef):
            bound.add(node.name)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).split(".")[0])
    return bound


def _offence(node: ast.AST, bound: set[str]) -> Iterator[str]:
    if isinstance(node, REFUSED):
        yield type(node).__name__
    elif isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name.split(".")[0] not in MODULES:
                yield f"import of {alias.name}"
    elif isinstance(node, ast.ImportFrom):
        root = (node.module or "").split(".")[0]
        if node.level or root not in MODULES or any(alias.name == "*" for alias in node.names):
            yield f"import from {node.module}"
        if root == "numpy" and not {alias.name for alias in node.names} <= NUMPY:
            yield f"import from numpy of {[alias.name for alias in node.names]}"
    elif isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load) and node.id not in bound and node.id not in BUILTINS:
            yield f"the name {node.id}"
    elif isinstance(node, ast.Attribute):
        if node.attr.startswith("__"):
            yield f"the attribute {node.attr}"
        if isinstance(node.value, ast.Name) and node.value.id in ("np", "numpy") and node.attr not in NUMPY:
            yield f"numpy's {node.attr}"
    elif isinstance(node, ast.Call) and not isinstance(node.func, _CALLABLE):
        yield f"a call of {type(node.func).__name__}"
