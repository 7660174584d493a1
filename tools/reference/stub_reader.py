"""Finds where a public name is declared for type checkers, and writes its signature as it stands there."""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
_WIDTH = 88

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Kind = Literal["function", "class", "variable", "property", "method", "module"]


class Undeclared(LookupError):
    """No stub declares the name."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a stub says of a name: the functions of that name, which are more than one where it is overloaded."""

    module: str
    name: str
    kind: Kind
    functions: tuple[Function, ...] = ()
    body: ast.ClassDef | None = None
    annotation: str = ""

    @property
    def stub_docstring(self) -> str:
        """The docstring that stands in the stub."""
        nodes: Sequence[Function | ast.ClassDef] = [self.body] if self.body else self.functions
        return next((text for node in nodes if (text := ast.get_docstring(node))), "")


def stub_path(module: str) -> Path:
    """The file that type checkers read for a module."""
    base = SOURCE.joinpath(*module.split("."))
    for path in (
        base / "__init__.pyi",
        base.with_suffix(".pyi"),
        base / "__init__.py",
        base.with_suffix(".py"),
    ):
        if path.exists():
            return path
    raise Undeclared(module)


def is_module(name: str) -> bool:
    """Whether a dotted name is a module of the package, and no function that is called like one."""
    base = SOURCE.joinpath(*name.split("."))
    return (base / "__init__.py").exists() or base.with_suffix(".pyi").exists()


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def exported(module: str) -> list[str]:
    """The public names of a module: what its stub declares or imports under the same name."""
    found: dict[str, None] = {}
    for node in _statements(_tree(stub_path(module)).body):
        for name in _public_names(node):
            found[name] = None
    return list(found)


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements, with those for type checkers alone."""
    for node in body:
        if isinstance(node, ast.If):
            yield from _statements(node.body)
        else:
            yield node


def _public_names(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.ImportFrom(names=names):
            yield from (
                each.name for each in names if each.asname == each.name and not each.name.startswith("_")
            )
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if not name.startswith("_"):
            yield name
        case ast.AnnAssign(target=ast.Name(id=name)) if not name.startswith("_"):
            yield name
        case ast.Assign(targets=[ast.Name(id=name)]) if not name.startswith("_"):
            yield name
        case _:
            pass


def declaration(module: str, name: str) -> Declaration:
    """Where a name of a module is declared, through all imports."""
    functions: list[Function] = []
    for node in _statements(_tree(stub_path(module)).body):
        match node:
            case ast.ImportFrom(module=str(origin), names=names):
                for each in names:
                    if (each.asname or each.name) == name:
                        if not origin.startswith("onnxsmith"):
                            return Declaration(
                                origin, each.name, "variable", annotation=f"{origin}.{each.name}"
                            )
                        if is_module(f"{origin}.{each.name}"):
                            return Declaration(origin, each.name, "module")
                        return declaration(origin, each.name)
            case ast.FunctionDef(name=found_name) | ast.AsyncFunctionDef(name=found_name) if (
                found_name == name
            ):
                functions.append(node)
            case ast.ClassDef(name=found_name) if found_name == name:
                return Declaration(module, name, "class", body=node)
            case ast.AnnAssign(target=ast.Name(id=found_name), annotation=annotation) if found_name == name:
                return Declaration(module, name, "variable", annotation=ast.unparse(annotation))
            case ast.Assign(targets=[ast.Name(id=found_name)], value=ast.Name(id=other)) if (
                found_name == name
            ):
                return declaration(module, other)
            case ast.Assign(targets=[ast.Name(id=found_name)]) if found_name == name:
                return Declaration(module, name, "variable")
            case _:
                pass
    if functions:
        return Declaration(module, name, "function", tuple(functions))
    raise Undeclared(f"{module} declares no {name}")


def members(declared: Declaration) -> Iterator[Declaration]:
    """The public methods and properties of a class, in the order of the stub."""
    if declared.body is None:
        return
    methods: dict[str, list[Function]] = {}
    fields: dict[str, str] = {}
    for node in declared.body.body:
        if isinstance(node, Function) and not node.name.startswith("_"):
            if not any(
                isinstance(each, ast.Attribute) and each.attr in ("setter", "deleter")
                for each in node.decorator_list
            ):
                methods.setdefault(node.name, []).append(node)
        elif (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and not node.target.id.startswith("_")
        ):
            fields[node.target.id] = ast.unparse(node.annotation)
    for name, annotation in fields.items():
        yield Declaration(declared.module, name, "variable", annotation=annotation)
    for name, functions in methods.items():
        kind: Kind = "property" if _is_property(functions[0]) else "method"
        yield Declaration(declared.module, name, kind, tuple(functions))


def _is_property(node: Function) -> bool:
    names = {ast.unparse(each).split(".")[-1] for each in node.decorator_list}
    return bool(names & {"property", "cached_property"})


def constructor(declared: Declaration) -> tuple[Function, ...]:
    """The declarations of `__init__`."""
    assert declared.body is not None
    return tuple(
        node for node in declared.body.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"
    )


# ---- signatures ----


def signature(node: Function, shown_name: str, *, is_method: bool) -> str:
    """`name(a: int, *, b: str = ...) -> Model`, in as many lines as it takes."""
    parameters = _parameters(node.args)
    decorators = {ast.unparse(each) for each in node.decorator_list}
    if is_method and "staticmethod" not in decorators:
        parameters = [each for each in parameters[1:] if each != "/" or len(parameters) > 2]
        if parameters[:1] == ["/"]:
            parameters = parameters[1:]
    gives = f" -> {ast.unparse(node.returns)}" if node.returns and node.name != "__init__" else ""
    one_line = f"{shown_name}({', '.join(parameters)}){gives}"
    if len(one_line) <= _WIDTH:
        return one_line
    inside = "".join(f"    {each},\n" for each in parameters)
    return f"{shown_name}(\n{inside}){gives}"


def _parameters(arguments: ast.arguments) -> list[str]:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults)) + list(
        arguments.defaults
    )
    shown = [_parameter(one, default) for one, default in zip(positional, defaults, strict=True)]
    if arguments.posonlyargs:
        shown.insert(len(arguments.posonlyargs), "/")
    if arguments.vararg:
        shown.append("*" + _parameter(arguments.vararg, None))
    elif arguments.kwonlyargs:
        shown.append("*")
    shown += [
        _parameter(one, default)
        for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    if arguments.kwarg:
        shown.append("**" + _parameter(arguments.kwarg, None))
    return shown


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    kind = f": {ast.unparse(argument.annotation)}" if argument.annotation else ""
    if default is None:
        return argument.arg + kind
    return f"{argument.arg}{kind}{' = ' if kind else '='}{ast.unparse(default)}"


def annotation(node: ast.expr) -> str:
    """A type as it stands in the stub."""
    return ast.unparse(node)


def is_static(node: Function) -> bool:
    """Whether a method is called on the class."""
    return bool({ast.unparse(each) for each in node.decorator_list} & {"staticmethod", "classmethod"})


def field_comments(cls: type) -> dict[str, str]:
    """What the source of a class of data says of its fields, in comments that begin with `#:` above them."""
    try:
        lines = inspect.getsource(cls).splitlines()
    except (OSError, TypeError):
        return {}
    found: dict[str, str] = {}
    words: list[str] = []
    for line in lines:
        text = line.strip()
        match = re.match(r"(\w+)\s*:", text)
        if text.startswith("#:"):
            words.append(text.removeprefix("#:").strip())
        elif text.startswith("#") and words:
            words.append(text.removeprefix("#").strip())
        else:
            if match and words:
                found[match[1]] = " ".join(words)
            words = []
    return found
