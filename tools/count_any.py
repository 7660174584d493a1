"""Counts the parameters and returns whose annotation says nothing, by package, against a table that may only fall.

An annotation says nothing if it is `Any`, a union with `Any`, an alias of one of these, `object`, or missing.
`Any` inside brackets (`dict[str, Any]`) is not counted, nor is `object` where Python's own protocol has it (`__eq__`,
`__exit__`). A file that asks pyright for less than the rest (`# pyright: basic`) is a problem. Reads syntax trees and
comments only.
"""

from __future__ import annotations

import argparse
import ast
import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = "onnxsmith"
DEFAULT_TREE = Path(__file__).resolve().parent.parent / "src" / PACKAGE

#: The greatest share that may say nothing, in percent: of parameters, of returns. Lower an entry when it is beaten.
LIMITS: dict[str, tuple[int, int]] = {
    "algorithms": (1, 1),
    "cli": (5, 6),
    "comparing": (1, 0),
    "core": (4, 4),
    "decompiling": (5, 2),
    "diffing": (1, 0),
    "errors": (0, 0),
    "graphs": (3, 2),
    "inspection": (1, 0),
    "opset": (0, 0),
    "passes": (3, 2),
    "profiling": (2, 0),
    "runtime": (5, 2),
    "schema": (6, 3),
    "scripting": (2, 2),
    "scripting.dialects": (4, 3),
    "sklearn": (1, 2),
    "top": (1, 4),
    "torch": (1, 1),
    "tracing": (0, 0),
    "types": (0, 4),
    "view": (2, 1),
}

#: Where a package is not in the table: new ones begin well.
NEW = (5, 5)
#: So far a package may be below its limits before that is worth a word.
SLACK = 2

#: How a file asks pyright for less.
LAX = re.compile(r"^#\s*pyright:\s*(basic|off)\b", re.MULTILINE)

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Share:
    """How many of how many, and where those are."""

    total: int = 0
    bare: list[str] = field(default_factory=list[str])

    @property
    def percent(self) -> float:
        """The part that says nothing."""
        return 100 * len(self.bare) / self.total if self.total else 0.0


@dataclass
class Count:
    """What was counted in one package."""

    parameters: Share = field(default_factory=Share)
    returns: Share = field(default_factory=Share)


# ---- reading ----


def package_of(relative: Path) -> str:
    """The package that a file belongs to; single modules at the top are one together, and dialects are one, too."""
    if relative.parts[:2] == ("scripting", "dialects"):
        return "scripting.dialects"
    return relative.parts[0] if len(relative.parts) > 1 else "top"


def find_aliases(trees: list[ast.Module]) -> frozenset[str]:
    """The names anywhere in the package that stand for `Any`, such as `Operand` in `Operand: TypeAlias = Any`."""
    names = {"Any"}
    while True:
        found = {
            name
            for tree in trees
            for statement in tree.body
            for name, value in _alias(statement)
            if says_nothing(value, names, is_own_protocol=False)
        }
        if found <= names:
            return frozenset(names)
        names |= found


def _alias(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        if statement.value is not None and "TypeAlias" in ast.unparse(statement.annotation):
            yield statement.target.id, statement.value
    elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name | ast.BinOp):
        for target in statement.targets:
            if isinstance(target, ast.Name):
                yield target.id, statement.value
    elif sys.version_info >= (3, 12) and isinstance(statement, ast.TypeAlias):
        yield statement.name.id, statement.value


def says_nothing(
    annotation: ast.expr | None, names: set[str] | frozenset[str], *, is_own_protocol: bool
) -> bool:
    """Whether an annotation leaves everything open; `is_own_protocol`: Python itself has `object` here."""
    match annotation:
        case None:
            return True
        case ast.Constant(value=str(text)):
            return says_nothing(_parsed(text), names, is_own_protocol=is_own_protocol)
        case ast.Name(id="object"):
            return not is_own_protocol
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in names
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return any(says_nothing(each, names, is_own_protocol=is_own_protocol) for each in (left, right))
        case ast.Subscript(value=ast.Name(id="Optional"), slice=inner):
            return says_nothing(inner, names, is_own_protocol=is_own_protocol)
        case _:
            return False


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def count_function(function: Function, where: str, aliases: frozenset[str], into: Count) -> None:
    """Add what one function has to what its package has."""
    is_own = function.name.startswith("__") and function.name.endswith("__")
    arguments = function.args
    given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    given += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    for position, each in enumerate(given):
        if position == 0 and each.arg in ("self", "cls") and each.annotation is None:
            continue
        into.parameters.total += 1
        if says_nothing(each.annotation, aliases, is_own_protocol=is_own):
            into.parameters.bare.append(f"{where}:{each.lineno}: {function.name}({each.arg})")
    into.returns.total += 1
    if says_nothing(function.returns, aliases, is_own_protocol=is_own):
        into.returns.bare.append(f"{where}:{function.lineno}: {function.name} ->")


def count(tree: Path) -> dict[str, Count]:
    """What every package below a folder has."""
    modules = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(tree.rglob("*.py"))}
    aliases = find_aliases(list(modules.values()))
    counts: dict[str, Count] = {}
    for path, module in modules.items():
        relative = path.relative_to(tree)
        into = counts.setdefault(package_of(relative), Count())
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                count_function(node, relative.as_posix(), aliases, into)
    return counts


def lax_files(tree: Path) -> list[str]:
    """The files that pyright looks at less strictly than at the rest."""
    return [
        path.relative_to(tree).as_posix()
        for path in sorted(tree.rglob("*.py"))
        if LAX.search(path.read_text(encoding="utf-8"))
    ]


# ---- judging ----


def problems(counts: dict[str, Count], limits: dict[str, tuple[int, int]]) -> list[str]:
    """What is above its maximum."""
    found: list[str] = []
    for package, counted in counts.items():
        for noun, share, most in zip(
            ("parameters", "returns"),
            (counted.parameters, counted.returns),
            limits.get(package, NEW),
            strict=True,
        ):
            if share.percent > most:
                found.append(
                    f"{package}: {share.percent:.1f} % of {noun} say nothing, at most {most} % may; "
                    f"see tools/count_any.py --list {package}"
                )
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print the table; return 1 if a package is above its maximum."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", nargs="?", type=Path, default=DEFAULT_TREE, help="the package's folder")
    parser.add_argument("--list", metavar="PACKAGE", help="show where, in one package")
    options = parser.parse_args(arguments)
    counts = count(options.tree)
    if options.list:
        counted = counts[options.list]
        print("\n".join([*counted.parameters.bare, *counted.returns.bare]))
        return 0
    for package, counted in sorted(counts.items()):
        parameters, returns = counted.parameters.percent, counted.returns.percent
        limits = LIMITS.get(package, NEW)
        now = (math.ceil(parameters), math.ceil(returns))
        is_beaten = any(limit > share + SLACK for share, limit in zip(now, limits, strict=True))
        hint = f"; beats its limits, lower them to {now}" if is_beaten else ""
        print(f"{package:12} {parameters:5.1f} % of parameters, {returns:5.1f} % of returns{hint}")
    found = [f"{name}: asks pyright for less" for name in lax_files(options.tree)]
    found += problems(counts, LIMITS)
    for problem in found:
        print(problem)
    print(f"any: {len(counts)} packages, {len(found) or 'no'} problem{'' if len(found) == 1 else 's'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
