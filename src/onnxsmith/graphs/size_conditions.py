"""Conditions on sizes in a model's metadata: written when a model is made, checked before it runs.

The metadata of a model is data: a condition is arithmetic on the names of dimensions, and read as nothing else.
"""

from __future__ import annotations

import ast
import json
import keyword
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from onnxsmith.errors import ModelInputError
from onnxsmith.source import parse_expression

#: A list of `{"condition": "batch <= 4", "because": "model.py:12"}` as JSON.
SIZES_KEY = "onnxsmith.sizes"
#: A condition is a line that a person can read; what is longer is no work of ours.
_LONGEST = 1000

_ARITHMETIC: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: lambda a, b: a // b,  # floordiv has no types
    ast.Mod: operator.mod,
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTIONS: Mapping[str, Callable[[Sequence[int]], int]] = {"max": max, "min": min}


@dataclass(frozen=True, slots=True)
class SizeCondition:
    """One comparison that sizes have to pass: `batch <= 4`, `width % 2 == 0`."""

    text: str
    #: What made it so, for people: a place in a program, or what was asked for.
    because: str = ""

    def holds(self, sizes: Mapping[str, int]) -> bool | None:
        """True if sizes pass; None where that cannot be said, as one of them is not known."""
        try:
            tree = parse_expression(self.text)
            return _compared(tree, sizes) if isinstance(tree, ast.Compare) else None
        except ZeroDivisionError:
            return False  # a comparison without a value is not one that sizes pass
        except (SyntaxError, KeyError, ValueError, RecursionError, MemoryError):
            return None

    @property
    def names(self) -> frozenset[str]:
        """The dimensions that it is about; none where it has no meaning."""
        try:
            tree = parse_expression(self.text)
            return frozenset(_names(tree)) if isinstance(tree, ast.Compare) else frozenset()
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return frozenset()

    def with_sizes(self, sizes: Mapping[str, int | str]) -> SizeCondition:
        """The same condition where its dimensions have other names, or sizes that are known."""
        tree = _Renaming(sizes).visit(parse_expression(self.text))
        return SizeCondition(ast.unparse(tree), self.because)


def spelled(name: str) -> str:
    """The name of a dimension as a condition has it."""
    return name if name.isidentifier() and not keyword.iskeyword(name) else repr(name)


def written(conditions: Sequence[SizeCondition]) -> str:
    """Conditions as the metadata has them."""
    return json.dumps([{"condition": each.text, "because": each.because} for each in conditions])


def read(metadata: Mapping[str, str]) -> tuple[SizeCondition, ...]:
    """The conditions that a model's metadata has; what is not of the form is passed over."""
    text = metadata.get(SIZES_KEY)
    if not text:
        return ()
    try:
        entries: object = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    found: list[SizeCondition] = []
    for entry in cast("list[object]", entries) if isinstance(entries, list) else []:
        fields = cast("dict[object, object]", entry) if isinstance(entry, dict) else {}
        condition, because = fields.get("condition"), fields.get("because", "")
        if isinstance(condition, str) and isinstance(because, str) and len(condition) <= _LONGEST:
            found.append(SizeCondition(condition, because[:_LONGEST]))
    return tuple(found)


def check(conditions: Sequence[SizeCondition], sizes: Mapping[str, int]) -> None:
    """Raise ModelInputError where sizes are not those that a model is for."""
    for each in conditions:
        if each.holds(sizes) is False:
            raise ModelInputError(
                f"the model is for {each.text}, and was given {_given(each.text, sizes)}",
                help=f"it was made so: {each.because}" if each.because else None,
            )


def _given(text: str, sizes: Mapping[str, int]) -> str:
    names = set(_names(parse_expression(text)))
    return ", ".join(f"{name} = {sizes[name]}" for name in sorted(names & sizes.keys()))


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        name = _name(node)
        if name is not None and name not in _FUNCTIONS:
            yield name


def _name(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


class _Renaming(ast.NodeTransformer):
    """Puts other names, or numbers, in the place of names."""

    def __init__(self, sizes: Mapping[str, int | str]) -> None:
        self._sizes = sizes

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._renamed(node, node.id)

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return self._renamed(node, node.value) if isinstance(node.value, str) else node

    def _renamed(self, node: ast.expr, name: str) -> ast.expr:
        size = self._sizes.get(name)
        if size is None or name in _FUNCTIONS:
            return node
        if isinstance(size, int):
            return ast.Constant(size)
        return parse_expression(spelled(size))


def _compared(tree: ast.Compare, sizes: Mapping[str, int]) -> bool:
    left = _number(tree.left, sizes)
    for kind, right in zip(tree.ops, tree.comparators, strict=True):
        value = _number(right, sizes)
        if not _COMPARISONS[type(kind)](left, value):
            return False
        left = value
    return True


def _number(tree: ast.expr, sizes: Mapping[str, int]) -> int:
    """The value of an expression; a KeyError or ValueError for one that has no meaning here."""
    if isinstance(tree, ast.Constant) and type(tree.value) is int:
        return tree.value
    if isinstance(tree, ast.Name):
        return sizes[tree.id]
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        return sizes[tree.value]  # a name that is no identifier
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return -_number(tree.operand, sizes)
    if isinstance(tree, ast.BinOp):
        return _ARITHMETIC[type(tree.op)](_number(tree.left, sizes), _number(tree.right, sizes))
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.keywords:
        return _FUNCTIONS[tree.func.id]([_number(each, sizes) for each in tree.args])
    raise ValueError(ast.dump(tree))
