"""The ways in which a line of source can be broken, and the choice of lines by a seed.

A mutation replaces one expression or statement by another text. It knows no tests.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.check_sizes import is_generated, python_files

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
#: From here on a number with a name in capitals is a bound that someone chose. One more of it is no fault that a test
#: could call so: it becomes 1.
LEAST_BOUND = 16
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
}


@dataclass(frozen=True)
class Mutation:
    """One text of a file that is replaced by another. Positions are those of `ast`: lines from 1, columns in bytes."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    after: str

    def _span(self, source: bytes) -> tuple[int, int]:
        starts = [0]
        for text in source.splitlines(keepends=True):
            starts.append(starts[-1] + len(text))
        return starts[self.line - 1] + self.column, starts[self.end_line - 1] + self.end_column

    def before(self, source: bytes) -> str:
        """The text that it replaces."""
        start, end = self._span(source)
        return source[start:end].decode()

    def applied(self, source: bytes) -> bytes:
        """The file with the mutation."""
        start, end = self._span(source)
        return source[:start] + self.after.encode() + source[end:]


def _replaced(node: ast.expr) -> Iterator[ast.expr]:
    """The expressions that can stand for this one."""
    match node:
        case ast.Compare(left, [operator], [right]) if type(operator) in _COMPARISONS:
            yield ast.Compare(left, [_COMPARISONS[type(operator)]()], [right])
        case ast.BoolOp(operator, values):
            yield ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not(), operand):
            yield operand
        case ast.BinOp(left, operator, right) if type(operator) in _ARITHMETIC:
            yield ast.BinOp(left, _ARITHMETIC[type(operator)](), right)
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() | float() as value) if value + 1 != value:
            yield ast.Constant(value + 1)
        case ast.Constant(str() as value) if value.isidentifier():
            yield ast.Constant(value + "_")
        case _:
            return


def _is_bound(node: ast.Assign) -> bool:
    match node:
        case ast.Assign(targets=[ast.Name(name)], value=ast.Constant(int(value))):
            return name.isupper() and value >= LEAST_BOUND
        case _:
            return False


def _mutated(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """What of a node is replaced, and by which text."""
    match node:
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield value, "None"
        case ast.Assign(value=value) if _is_bound(node):
            yield value, "1"
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Continue() | ast.Break() | ast.Delete():
            yield node, "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield node, "pass"
        case ast.If(test=test) | ast.While(test=test) if isinstance(
            test, ast.Name | ast.Attribute | ast.Call
        ):
            yield test, f"not ({ast.unparse(test)})"
        case ast.expr():
            for other in _replaced(node):
                yield node, f"({ast.unparse(other)})"
        case _:
            return


def _is_for_checkers(node: ast.AST) -> bool:
    """True for what is never executed, or says nothing about behaviour: types, documentation, messages."""
    match node:
        case (
            ast.If(test=ast.Name("TYPE_CHECKING"))
            | ast.JoinedStr()
            | ast.Raise()
            | ast.Import()
            | ast.ImportFrom()
        ):
            return True
        case ast.Assign(targets=[ast.Name("__all__" | "__slots__" | "__match_args__")]):
            return True
        case (
            ast.FunctionDef(decorator_list=[ast.Name("overload")]) | ast.Subscript(value=ast.Name("Literal"))
        ):
            return True
        case ast.ClassDef(bases=bases) if any(_is_protocol(each) for each in bases):
            return True
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Call(func=ast.Name("TypeVar" | "ParamSpec" | "NewType")):
            return True
        case _:
            return False


def _is_protocol(base: ast.expr) -> bool:
    """True for `Protocol` and `Protocol[T]`."""
    return ast.unparse(base).partition("[")[0] == "Protocol"


_TYPE_FIELDS = frozenset({"annotation", "returns", "decorator_list", "bases"})


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node, without types."""
    match node:
        case ast.Call(func=ast.Name("cast"), args=[_, value]):
            yield value
        case ast.Call(func=ast.Name("zip"), args=args, keywords=[ast.keyword("strict", ast.Constant(True))]):
            yield from args  # `strict=True` asserts that lengths are equal, and changes no result
        case ast.Call(func=ast.Name("ContextVar"), args=[_, *args], keywords=keywords):
            yield from (*args, *keywords)  # its name is shown by debuggers alone
        case ast.keyword("default_factory", ast.Subscript()):
            return  # the types of what is in a list say nothing when it is made
        case ast.Assign() if _is_bound(node):
            return
        case _:
            for name, value in ast.iter_fields(node):
                if name not in _TYPE_FIELDS:
                    parts = value if isinstance(value, list) else [value]
                    yield from (each for each in parts if isinstance(each, ast.AST))


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    if not _is_for_checkers(node):
        yield node
        for part in _parts(node):
            yield from _executed(part)


def mutations_of(file: str, source: str) -> Iterator[Mutation]:
    """Every mutation of a file that tests could notice."""
    for node in _executed(ast.parse(source)):
        for target, after in _mutated(node):
            assert isinstance(target, ast.expr | ast.stmt)
            assert target.end_lineno is not None
            assert target.end_col_offset is not None
            yield Mutation(
                file,
                target.lineno,
                target.col_offset,
                target.end_lineno,
                target.end_col_offset,
                after,
            )


def drawn(root: Path, seed: int, count: int, only: Sequence[str] = ()) -> list[Mutation]:
    """As many mutations as asked for, each of another line; every line of the package is as likely as every other."""
    lines: dict[tuple[str, int], list[Mutation]] = {}
    for path in python_files(root / "src"):
        file = str(path.relative_to(root))
        if path.suffix != ".py" or is_generated(path) or not file.startswith(tuple(only) or ""):
            continue
        for each in mutations_of(file, path.read_text()):
            lines.setdefault((file, each.line), []).append(each)
    generator = random.Random(seed)
    chosen = generator.sample(sorted(lines), min(count, len(lines)))
    return [generator.choice(lines[key]) for key in chosen]
