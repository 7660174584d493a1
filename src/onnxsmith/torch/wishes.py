# pyright: basic
"""What the user asks of dimensions: as torch takes it, by flat input, and beside what torch made of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from onnxsmith.errors import ExportError

#: The least and the most that a size may be; None for no end.
Range = tuple[int, "int | None"]


def with_torch_dims(dynamic_shapes: Any) -> Any:
    """What the user said of dimensions as torch takes it: a name in quotes is a dimension that stays open.

    torch refuses a program where it has to narrow a `Dim`, and the questions that its own code asks about the layout of
    memory narrow one. So a name is a range to torch, and what becomes of it is told by us; only where a dimension
    is computed from another, `2 * half`, the names are torch's.
    """
    has_derived = any(getattr(each, "root", None) is not None for each in _leaves(dynamic_shapes))
    return _as_torch(dynamic_shapes, keeps_names=has_derived)


def _leaves(wish: Any) -> Iterator[Any]:
    parts = wish.values() if isinstance(wish, dict) else wish if isinstance(wish, tuple | list) else None
    if parts is None:
        yield wish
    else:
        for each in parts:
            yield from _leaves(each)


def _as_torch(wish: Any, keeps_names: bool) -> Any:
    if isinstance(wish, str):
        return torch.export.Dim.AUTO
    if isinstance(wish, dict):
        return {key: _as_torch(each, keeps_names) for key, each in wish.items()}
    if isinstance(wish, tuple | list):
        return type(wish)(_as_torch(each, keeps_names) for each in wish)
    if isinstance(wish, torch.export.Dim) and not keeps_names and callable(torch.export.Dim.AUTO):
        low, high = asked_range(wish)
        return torch.export.Dim.AUTO(min=low or None, max=high)
    return wish


# -- what is asked of one dimension ------------------------------------------------------------------------


def dim_name(asked: Any) -> str:
    """The user's name for a dimension; empty where there is none."""
    if isinstance(asked, str):
        return asked
    return asked.__name__ if isinstance(asked, torch.export.Dim) else ""


def asked_range(asked: Any) -> Range:
    """The sizes that the user says a dimension has."""
    low, high = getattr(asked, "min", None), getattr(asked, "max", None)
    is_end = isinstance(high, int) and high < 2**62
    return (low if isinstance(low, int) else 0), (high if is_end else None)


def is_open(asked: Any) -> bool:
    """Whether a dimension is asked to stay open."""
    return asked is not None and not isinstance(asked, int) and "STATIC" not in repr(asked)


def by_axis(wish: Any) -> dict[int, Any]:
    """What is asked of one tensor, by axis."""
    if isinstance(wish, dict):
        return {int(key): each for key, each in wish.items()}
    if isinstance(wish, tuple | list):
        return dict(enumerate(wish))
    return {}


# -- what became of it -------------------------------------------------------------------------------------


@dataclass(slots=True)
class Dimensions:
    """The dimensions of a program's inputs beside what the user asked."""

    #: torch's symbol -> the user's name.
    names: dict[str, str] = field(default_factory=dict)
    #: torch's symbol -> the range that the user gave.
    asked: dict[str, Range] = field(default_factory=dict)
    #: torch's symbol -> where it first stands: `dimension 0 of input 'x'`.
    places: dict[str, str] = field(default_factory=dict)
    #: What to say of dimensions that were asked to be open and are not.
    fixed: list[str] = field(default_factory=list)
    #: What to say of dimensions with two names.
    merged: list[str] = field(default_factory=list)
    decided_at: tuple[str, ...] = ()
    _examples: dict[str, tuple[int, str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        fakes: list[tuple[str, Any]],
        dynamic_shapes: Any,
        in_spec: Any,
        decided_at: tuple[str, ...] = (),
    ) -> Dimensions:
        """What became of the flat user inputs, by name; `decided_at` is where the module fixes sizes."""
        made = cls(decided_at=decided_at)
        wishes = [None] * len(fakes)
        if dynamic_shapes is not None:
            wishes = flat_wishes(dynamic_shapes, in_spec, len(fakes))
        for (name, fake), wish in zip(fakes, wishes, strict=False):
            if isinstance(fake, torch.Tensor):
                sizes = dict(enumerate(fake.shape))
                asked = {axis % max(len(sizes), 1): each for axis, each in by_axis(wish).items()}
                for axis, size in sizes.items():
                    made._note(f"dimension {axis} of input '{name}'", size, asked.get(axis))
            elif isinstance(fake, torch.SymInt):
                made._note(f"input '{name}'", fake, wish)
        return made

    def _note(self, place: str, size: Any, asked: Any) -> None:
        if isinstance(size, torch.SymInt) and size.node.expr.is_Integer:
            size = int(size.node.expr)
        called = dim_name(asked)
        if isinstance(size, int):
            if is_open(asked):
                because = "the module's code, or its example of size 0 or 1, fixes it"
                if self.decided_at:
                    because = (
                        f"the module decides by sizes at {', '.join(self.decided_at)}, "
                        "and the model has only the way that the example takes"
                    )
                self.fixed.append(
                    f"{place} was asked to be dynamic{f' as {called!r}' if called else ''}, and is {size} in the "
                    f"model: {because}"
                )
            return
        if not isinstance(size, torch.SymInt):
            return
        expression = size.node.expr
        if not expression.is_Symbol:
            self._name_root(expression, asked)
            return
        symbol = expression.name
        self.places.setdefault(symbol, place)
        low, high = asked_range(asked)
        before = self.asked.get(symbol, (0, None))
        ends = [each for each in (high, before[1]) if each is not None]
        self.asked[symbol] = (max(low, before[0]), min(ends, default=None))
        if not called:
            return
        known = self.names.setdefault(symbol, called)
        self._check_example(called, size.node.hint, place)
        if known != called:
            self.merged.append(
                f"{called!r} ({place}) is one size with {known!r} ({self.places[symbol]}) in the model, and called so: "
                "the module needs them to be equal"
            )

    def _check_example(self, called: str, size: Any, place: str) -> None:
        """One name is one size, in the example, too."""
        if not isinstance(size, int):
            return
        before, where = self._examples.setdefault(called, (size, place))
        if before != size:
            raise ExportError(
                f"{called!r} is {before} as {where} and {size} as {place}",
                help="give dimensions that differ different names, or examples of one size",
            )

    def _name_root(self, expression: Any, asked: Any) -> None:
        """Of a derived dimension, `2 * Dim("half")`, the symbol is the root's."""
        root = getattr(asked, "root", None)
        symbols = list(expression.free_symbols)
        if root is not None and len(symbols) == 1:
            self.names.setdefault(symbols[0].name, root.__name__)
            self.asked.setdefault(symbols[0].name, asked_range(root))


# -- by flat input -----------------------------------------------------------------------------------------


def flat_wishes(dynamic_shapes: Any, in_spec: Any, count: int) -> list[Any]:
    """What is asked of each flat input, by the structure of the arguments."""
    args_spec, kwargs_spec = _children(in_spec)
    parts = [*_children(args_spec), *_children(kwargs_spec)]
    given = list(dynamic_shapes.values()) if isinstance(dynamic_shapes, dict) else list(dynamic_shapes)
    for k, part in enumerate(parts):  # what `*args` takes is one tuple of wishes
        if k < len(given) and not _children(part) and _holds_wishes(given[k]):
            given[k : k + 1] = given[k]
    flat: list[Any] = []
    for part, each in zip(parts, given, strict=False):
        flat += _matched(part, each)
    return flat + [None] * (count - len(flat))


def _holds_wishes(wish: Any) -> bool:
    """Whether a tuple has what is asked of tensors in it, and not of one tensor's dimensions."""
    return isinstance(wish, tuple | list) and any(isinstance(each, dict | tuple | list) for each in wish)


def _children(spec: Any) -> list[Any]:
    children = spec.children() if callable(getattr(spec, "children", None)) else spec.children_specs
    return list(children)


def _matched(spec: Any, wish: Any) -> list[Any]:
    if spec.is_leaf():
        return [wish]
    children = _children(spec)
    if wish is None:
        return [None] * spec.num_leaves
    if isinstance(wish, dict) and spec.type is dict:
        inner = [wish.get(key) for key in spec.context]
    elif isinstance(wish, dict):
        inner = list(wish.values())
    else:
        inner = list(wish) if isinstance(wish, tuple | list) else [None] * len(children)
    return [leaf for child, each in zip(children, inner, strict=False) for leaf in _matched(child, each)]
