"""The user's wishes for dimensions: as torch takes them, by flat input, and beside what torch made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import torch
from torch.export.graph_signature import InputKind
from torch.utils._pytree import TreeSpec

from onnxsmith.core.user_values import Opaque
from onnxsmith.errors import ExportError
from onnxsmith.torch.library.kinds import Fake, TorchSize, sizes_in
from onnxsmith.torch.symbols import Expression, Range, example_of, expression_of, integer, is_symbol

#: What is asked of one dimension: a name, a `Dim` of torch's or a hint of its (`Dim.AUTO`), a size; None for nothing.
DimensionWish: TypeAlias = str | int | torch.export.Dim | Opaque | None
#: What is asked of all dimensions, by tensor and axis, in containers as the arguments are.
Wish: TypeAlias = "DimensionWish | Mapping[str | int, Wish] | Sequence[Wish]"


#: The same as users give it and torch.export takes it.
DynamicShapes: TypeAlias = "Mapping[str, Any] | Sequence[Any] | None"


def as_wish(dynamic_shapes: DynamicShapes) -> Wish:
    """The argument of the user as a wish, which is checked later."""
    return cast("Wish", dynamic_shapes)


def by_key(wish: Wish) -> dict[str | int, Wish] | None:
    """The wishes for parts that have names or axes; None for a wish of another form."""
    return wish if isinstance(wish, dict) else None


def by_place(wish: Wish) -> tuple[Wish, ...] | list[Wish] | None:
    """The wishes for parts that stand in a row; None for a wish of another form."""
    return wish if isinstance(wish, tuple | list) else None


def like(container: Sequence[Any], parts: Sequence[Wish]) -> Wish:
    """Wishes for parts in a container of the class of another one: a list, a tuple, a NamedTuple."""
    kind = cast("Callable[..., Wish]", type(container))
    return kind(*parts) if hasattr(container, "_fields") else kind(parts)


def with_torch_dims(dynamic_shapes: Wish) -> Wish:
    """The user's dimensions as torch takes them: a name in quotes is a dimension that stays open.

    torch refuses a program where it has to narrow a `Dim`, and the questions that its own code asks about the layout of
    memory narrow one. So a name is a range to torch, and what becomes of it is told by us; only where a dimension
    is computed from another, `2 * half`, the names are torch's.
    """
    has_derived = any(root_of(each) is not None for each in _leaves(dynamic_shapes))
    return _as_torch(dynamic_shapes, keeps_names=has_derived)


def _leaves(wish: Wish) -> Iterator[Wish]:
    named = by_key(wish)
    parts = by_place(wish) if named is None else named.values()
    if parts is None:
        yield wish
    else:
        for each in parts:
            yield from _leaves(each)


def _as_torch(wish: Wish, keeps_names: bool) -> Wish:
    if isinstance(wish, str):
        return cast("Opaque", torch.export.Dim.AUTO)
    named, placed = by_key(wish), by_place(wish)
    if named is not None:
        return {key: _as_torch(each, keeps_names) for key, each in named.items()}
    if placed is not None:
        return like(placed, [_as_torch(each, keeps_names) for each in placed])
    if isinstance(wish, torch.export.Dim) and not keeps_names and callable(torch.export.Dim.AUTO):
        low, high = asked_range(wish)
        return cast("Opaque", torch.export.Dim.AUTO(min=low or None, max=high))
    return wish


# -- what is asked of one dimension ------------------------------------------------------------------------


def dim_name(asked: Wish) -> str:
    """The user's name for a dimension; empty where there is none."""
    if isinstance(asked, str):
        return asked
    return asked.__name__ if isinstance(asked, torch.export.Dim) else ""


def root_of(asked: Wish) -> torch.export.Dim | None:
    """The dimension that a derived one, `2 * Dim("half")`, is computed from."""
    return getattr(asked, "root", None)


def asked_range(asked: Wish) -> Range:
    """The sizes that the user says a dimension has."""
    low, high = getattr(asked, "min", None), getattr(asked, "max", None)
    is_end = isinstance(high, int) and high < 2**62
    return (low if isinstance(low, int) else 0), (high if is_end else None)


def is_open(asked: Wish) -> bool:
    """True if a dimension is asked to stay open."""
    return asked is not None and not isinstance(asked, int) and "STATIC" not in repr(asked)


def by_axis(wish: Wish) -> dict[int, Wish]:
    """The wishes for one tensor, by axis."""
    named = by_key(wish)
    if named is not None:
        return {int(key): each for key, each in named.items()}
    return dict(enumerate(by_place(wish) or ()))


# -- what became of it -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FixedDimension:
    """A dimension that was asked to be open and is one size."""

    #: The place of the input among all, its name, and the axis.
    position: int
    input: str
    axis: int
    size: int
    #: The user's name for it; empty where there is none.
    called: str
    #: What to say of it.
    text: str


@dataclass(slots=True)
class Dimensions:
    """The dimensions of a program's inputs beside what the user asked."""

    #: torch's symbol -> the user's name.
    names: dict[str, str] = field(default_factory=dict[str, str])
    #: torch's symbol -> the range that the user gave.
    asked: dict[str, Range] = field(default_factory=dict[str, Range])
    #: torch's symbol -> where it first stands: `dimension 0 of input 'x'`.
    places: dict[str, str] = field(default_factory=dict[str, str])
    #: Dimensions that were asked to be open and are not.
    fixed: list[FixedDimension] = field(default_factory=list[FixedDimension])
    #: What to say of dimensions with two names.
    merged: list[str] = field(default_factory=list[str])
    decided_at: tuple[str, ...] = ()
    _examples: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])

    @classmethod
    def of_program(
        cls, program: torch.export.ExportedProgram, dynamic_shapes: Wish, decided_at: tuple[str, ...] = ()
    ) -> Dimensions:
        """The dimensions of the inputs that a program takes from its caller."""
        values = {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}
        specs = program.graph_signature.input_specs
        names = [each.arg.name for each in specs if each.kind == InputKind.USER_INPUT]
        fakes = [(name, values.get(name)) for name in names]
        return cls.of(fakes, dynamic_shapes, program.call_spec.in_spec, decided_at)

    @classmethod
    def of(
        cls,
        fakes: Sequence[tuple[str, Fake]],
        dynamic_shapes: Wish,
        in_spec: TreeSpec | None,
        decided_at: tuple[str, ...] = (),
    ) -> Dimensions:
        """The dimensions of the flat user inputs, by name; `decided_at` is where the module fixes sizes."""
        made = cls(decided_at=decided_at)
        wishes: list[Wish] = [None] * len(fakes)
        if dynamic_shapes is not None and in_spec is not None:
            wishes = flat_wishes(dynamic_shapes, in_spec, len(fakes))
        for position, ((name, fake), wish) in enumerate(zip(fakes, wishes, strict=False)):
            if isinstance(fake, torch.Tensor):
                sizes = sizes_in(fake)
                asked = {axis % max(len(sizes), 1): each for axis, each in by_axis(wish).items()}
                for axis, size in enumerate(sizes):
                    made._note(f"dimension {axis} of input '{name}'", size, asked.get(axis))
                    expression = integer(size) if isinstance(size, int) else expression_of(size)
                    if expression.is_Integer and is_open(asked.get(axis)):
                        made._note_fixed(position, name, axis, int(expression), asked.get(axis))
            elif isinstance(fake, torch.SymInt):
                made._note(f"input '{name}'", fake, wish)
        return made

    def _note(self, place: str, size: TorchSize, asked: Wish) -> None:
        if isinstance(size, int):
            return
        expression = expression_of(size)
        if is_symbol(expression):
            self._note_symbol(place, expression.name, example_of(size), asked)
        else:
            self._name_root(expression, asked)
            if expression.free_symbols and dim_name(asked) and root_of(asked) is None:
                self.merged.append(
                    f"{dim_name(asked)!r} ({place}) is computed from other sizes in the model: "
                    "the module needs them to fit together"
                )

    def _note_fixed(self, position: int, name: str, axis: int, size: int, asked: Wish) -> None:
        because = "the module's code, or its example of size 0 or 1, fixes it"
        if self.decided_at:
            because = (
                f"the module decides by sizes at {', '.join(self.decided_at)}, "
                "and the model has only the way that the example takes"
            )
        if size < 2:
            larger = "two rows" if not axis else f"2 in dimension {axis}"
            because += f"; give an example with {larger} if the module takes it"
        called = dim_name(asked)
        text = (
            f"dimension {axis} of input '{name}' was asked to be dynamic{f' as {called!r}' if called else ''}, "
            f"and is {size} in the model: {because}"
        )
        self.fixed.append(FixedDimension(position, name, axis, size, called, text))

    def _note_symbol(self, place: str, symbol: str, example: int | None, asked: Wish) -> None:
        self.places.setdefault(symbol, place)
        low, high = asked_range(asked)
        before = self.asked.get(symbol, (0, None))
        ends = [each for each in (high, before[1]) if each is not None]
        self.asked[symbol] = (max(low, before[0]), min(ends, default=None))
        called = dim_name(asked)
        if not called:
            return
        known = self.names.setdefault(symbol, called)
        self._check_example(called, example, place)
        if known != called:
            self.merged.append(
                f"{called!r} ({place}) is one size with {known!r} ({self.places[symbol]}) in the model, and called so: "
                "the module needs them to be equal"
            )

    def _check_example(self, called: str, size: int | None, place: str) -> None:
        """One name is one size, in the example, too."""
        if size is None:
            return
        before, where = self._examples.setdefault(called, (size, place))
        if before != size:
            raise ExportError(
                f"{called!r} is {before} as {where} and {size} as {place}",
                help="give dimensions that differ different names, or examples of one size",
            )

    def _name_root(self, expression: Expression, asked: Wish) -> None:
        """Of a derived dimension, `2 * Dim("half")`, the symbol is the root's."""
        root = root_of(asked)
        symbols = list(expression.free_symbols)
        if root is not None and len(symbols) == 1:
            self.names.setdefault(symbols[0].name, root.__name__)
            self.asked.setdefault(symbols[0].name, asked_range(root))


# -- by flat input -----------------------------------------------------------------------------------------


def flat_wishes(dynamic_shapes: Wish, in_spec: TreeSpec, count: int) -> list[Wish]:
    """The wish for each flat input, by the structure of the arguments."""
    args_spec, kwargs_spec = _children(in_spec)
    parts = [*_children(args_spec), *_children(kwargs_spec)]
    named = by_key(dynamic_shapes)
    given = list(named.values() if named is not None else by_place(dynamic_shapes) or ())
    for k, part in enumerate(parts):  # what `*args` takes is one tuple of wishes
        if k < len(given) and not _fits(part, given[k]):
            given[k : k + 1] = by_place(given[k]) or ()
    flat: list[Wish] = []
    for part, each in zip(parts, given, strict=False):
        flat += _matched(part, each)
    return flat + [None] * (count - len(flat))


def _holds_wishes(wish: Wish) -> bool:
    """True if a tuple has what is asked of tensors in it, and not of one tensor's dimensions."""
    return any(isinstance(each, dict | tuple | list) for each in by_place(wish) or ())


def _fits(spec: TreeSpec, wish: Wish) -> bool:
    """True if a wish has the structure of an argument."""
    if spec.is_leaf():
        return not _holds_wishes(wish)
    parts = _parts(spec, wish)
    children = _children(spec)
    return parts is None or (len(parts) == len(children) and all(map(_fits, children, parts)))


def _children(spec: TreeSpec) -> list[TreeSpec]:
    # A method in newer versions of torch, a list in older ones.
    children: Callable[[], Sequence[TreeSpec]] | None = getattr(spec, "children", None)
    return list(getattr(spec, "children_specs") if children is None else children())  # noqa: B009  # deprecated


def _matched(spec: TreeSpec, wish: Wish) -> list[Wish]:
    if spec.is_leaf():
        return [wish]
    children, parts = _children(spec), _parts(spec, wish)
    if parts is None:
        return [None] * spec.num_leaves
    return [leaf for child, each in zip(children, parts, strict=False) for leaf in _matched(child, each)]


def _parts(spec: TreeSpec, wish: Wish) -> list[Wish] | None:
    """The wishes for the parts of an argument; None where there is one for all of it, or none."""
    named, placed = by_key(wish), by_place(wish)
    if named is not None:
        return [named.get(key) for key in spec.context] if spec.type is dict else list(named.values())
    return None if placed is None else list(placed)
