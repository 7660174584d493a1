"""Conditions on sizes in a model's metadata: written when a model is made, checked before it runs.

Those of a called model are checked at the call, as far as the types of the arguments decide. The others are carried
into the metadata of the model that is being made.

Ranges of dimensions that annotations declare become such conditions. The metadata of a model is data: a condition is
arithmetic on the names of dimensions, and read as nothing else.
"""

from __future__ import annotations

import ast
import contextlib
import json
import keyword
import operator
import re
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from onnxsmith.errors import ModelInputError
from onnxsmith.errors.user_warnings import tell
from onnxsmith.graphs.records import ModelRecord, named_dimensions
from onnxsmith.schema.inference.bounds import Ranges
from onnxsmith.source import Span, caller_span, parse_expression
from onnxsmith.types.value_types import Dim, Dimension, RangedName, TensorType, ValueType

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
_CONDITIONS = (ast.Compare, ast.BoolOp)


@dataclass(frozen=True, slots=True)
class SizeCondition:
    """One comparison that sizes have to pass, or several: `batch <= 4`, `width % 2 == 0 or width < 4`."""

    text: str
    #: What made it so, for people: a place in a program, or what was asked for.
    because: str = ""

    def holds(self, sizes: Mapping[str, int]) -> bool | None:
        """True if sizes pass; None where that cannot be said, as one of them is not known."""
        try:
            return _truth(parse_expression(self.text), sizes)
        except ZeroDivisionError:
            return False  # a comparison without a value is not one that sizes pass
        except (SyntaxError, KeyError, ValueError, RecursionError, MemoryError):
            return None

    @property
    def names(self) -> frozenset[str]:
        """The dimensions that it is about; none where it has no meaning."""
        try:
            tree = parse_expression(self.text)
            return frozenset(_names(tree)) if isinstance(tree, _CONDITIONS) else frozenset()
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


def _truth(tree: ast.expr, sizes: Mapping[str, int]) -> bool:
    """True if sizes pass; a KeyError or ValueError for what is no condition."""
    if isinstance(tree, ast.BoolOp):
        parts = (_truth(each, sizes) for each in tree.values)
        return any(parts) if isinstance(tree.op, ast.Or) else all(parts)
    if isinstance(tree, ast.Compare):
        return _compared(tree, sizes)
    raise ValueError(ast.dump(tree))


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


# -- The sizes that types declare for dimensions, `Dim("N", min=1)`: what they decide, and what a model
# checks --

#: How many answers of one dimension are listed.
_SHOWN = 12


def declared_in(types: Iterable[ValueType | None]) -> list[Dim]:
    """The dimensions with declared sizes, each name once: where types declare several, all of them hold."""
    found: dict[str, Dim] = {}
    for each in types:
        for size in (each.shape or ()) if isinstance(each, TensorType) else ():
            if isinstance(size, RangedName):
                found[str(size)] = _both(found.get(str(size)), size.declared)
    return list(found.values())


def _both(before: Dim | None, given: Dim) -> Dim:
    if before is None:
        return given
    limits = [each.max for each in (before, given) if each.max is not None]
    return Dim(given.name, max(before.min, given.min), min(limits, default=None))


def ranges_of(declared: Sequence[Dim]) -> Ranges | None:
    """The ranges of the declared sizes."""
    return Ranges(tuple((each.name, each.min, each.max) for each in declared)) if declared else None


def conditions_of(declared: Sequence[Dim], ranges: Ranges | None) -> list[SizeCondition]:
    """The conditions of a model on the sizes that it is run with, and the decisions that followed while it was made."""
    found: list[SizeCondition] = []
    for each in declared:
        name = spelled(each.name)
        because = repr(each) + _decided(each.name, ranges)
        if each.min:
            found.append(SizeCondition(f"{name} >= {each.min}", because))
        if each.max is not None:
            found.append(SizeCondition(f"{name} <= {each.max}", because))
    return found


def _decided(name: str, ranges: Ranges | None) -> str:
    """The comparisons with a name that its declared sizes have decided, and where they stand."""
    answers = [
        text + (f" ({place})" if place else "")
        for text, place in (ranges.answers.items() if ranges is not None else ())
        if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
    ]
    more = len(answers) - _SHOWN
    shown = [*answers[:_SHOWN], *([f"and {more} more"] if more > 0 else [])]
    return f", which decides: {', '.join(shown)}" if shown else ""


#: Under which the conditions stand in what a program shares.
_SHARED = "size conditions"


@dataclass(frozen=True, slots=True)
class _Noted:
    #: In the names of the graph that the call was made in, and the names that these are; None where one has no name.
    condition: SizeCondition
    names: frozenset[str] | None
    span: Span | None
    #: Whether the call is certain to be one of the model, and its dimensions those of the model.
    is_certain: bool


@dataclass(slots=True)
class _Carried:
    noted: list[_Noted] = field(default_factory=list[_Noted])
    is_certain: bool = True


def carry(
    shared: dict[Hashable, Any], conditions: Sequence[SizeCondition], sizes: Mapping[str, Dimension]
) -> None:
    """Take over the conditions of a called model, whose dimensions are of these sizes in the graph being made.

    Raises ModelInputError where sizes that are known break one.
    """
    known = {name: size for name, size in sizes.items() if isinstance(size, int)}
    check(conditions, known)
    given = {name: size for name, size in sizes.items() if size is not None}
    carried = _carried(shared)
    for each in conditions:
        if not each.names or each.holds(known) is not None:
            continue
        inside = each.with_sizes(given) if each.names <= given.keys() else None
        names = None if inside is None else inside.names
        carried.noted.append(_Noted(inside or each, names, caller_span(), carried.is_certain))


@contextlib.contextmanager
def uncertain(shared: dict[Hashable, Any]) -> Generator[None]:
    """In this block a body is made for any types: it is made again for those that it is called with."""
    carried = _carried(shared)
    before, carried.is_certain = carried.is_certain, False
    try:
        yield
    finally:
        carried.is_certain = before


def put_into(model: ModelRecord, shared: dict[Hashable, Any]) -> None:
    """Put what was carried into the metadata of the finished model; warn of what its inputs do not decide."""
    named = {name for value in model.graph.inputs for name in named_dimensions(value)}
    kept: dict[str, SizeCondition] = {}
    lost: dict[str, _Noted] = {}
    for each in _carried(shared).noted:
        if each.names is not None and each.names <= named:
            kept.setdefault(each.condition.text, each.condition)
        elif each.is_certain:
            lost.setdefault(each.condition.text, each)
    if kept:
        model.metadata_props[SIZES_KEY] = written(list(kept.values()))
    for text, each in lost.items():
        tell(
            f"a model that is called here is for {text}, and nothing will check that: its sizes are not those of "
            f"dimensions that the inputs of '{model.graph.name}' name",
            each.span,
        )


def _carried(shared: dict[Hashable, Any]) -> _Carried:
    return shared.setdefault(_SHARED, _Carried())
