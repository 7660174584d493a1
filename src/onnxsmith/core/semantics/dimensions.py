"""The value of `x.shape`: a tuple whose unknown entries become tensors when they are looked at, and not before.

Where everything is known, `x.shape` is a plain tuple of ints; where the rank is not, the 1-D tensor `op.Shape(x)`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, SupportsIndex, TypeAlias, TypeVar, cast, overload

import numpy as np

from onnxsmith.core import portable
from onnxsmith.core.operands import is_static, operators_for, shape_of
from onnxsmith.core.shown_text import shown_text
from onnxsmith.core.target import target_of
from onnxsmith.core.value import NumberValue, Size, TensorValue, Value
from onnxsmith.diagnostics import shown_as
from onnxsmith.errors import TracedValueError
from onnxsmith.schema.inference import symbolic
from onnxsmith.types.value_types import Dimension

T = TypeVar("T")


def shape(x: TensorValue) -> tuple[Size, ...] | TensorValue:
    """`x.shape`"""
    dimensions = shape_of(x)
    if dimensions is None:
        return _remembered(x, "shape", lambda: operators_for(x).Shape(x)).as_shape()
    if is_static(dimensions):
        return dimensions
    entries = (
        each if isinstance(each, int) else OpenDimension(x, axis) for axis, each in enumerate(dimensions)
    )
    return Dimensions(entries)


def dimension(x: TensorValue, axis: int) -> Size:
    """One dimension of a tensor of known rank: an int, or a scalar INT64 tensor made once per graph."""
    dimensions = shape_of(x)
    assert dimensions is not None, "the caller knows the rank"
    size = dimensions[axis]
    return size if isinstance(size, int) else OpenDimension(x, axis % len(dimensions)).value()


class OpenDimension:
    """A dimension that the model decides; no node is made for it until `value` is called."""

    __slots__ = ("axis", "source")

    def __init__(self, source: TensorValue, axis: int) -> None:
        self.source = source
        self.axis = axis

    @property
    def name(self) -> Dimension:
        """Its symbolic size, or None."""
        dimensions = shape_of(self.source)
        return None if dimensions is None else dimensions[self.axis]

    def value(self) -> Size:
        """The dimension as a number that the model knows. All those of one tensor read the same `Shape` node."""

        def make() -> Size:
            op = operators_for(self.source)
            whole = _remembered(self.source, "shape", lambda: op.Shape(self.source))
            taken = op.Gather(whole, np.array(self.axis, np.int64))
            taken.memory()[portable.TAKEN_FROM] = (whole, self.axis)
            number = taken.as_number()
            assert isinstance(number, int | TensorValue)  # a Shape holds integers
            if isinstance(number, NumberValue):
                number.is_natural = True
            return number

        return _remembered(self.source, self.axis, make)

    def __index__(self) -> int:
        """Called when the tuple goes to code that needs numbers, such as `np.zeros(x.shape)`."""
        return self.value().__index__()

    def __repr__(self) -> str:
        return shown_text(self.described)

    @property
    def described(self) -> str:
        """Its symbolic size as messages name it."""
        return "?" if self.name is None else repr(self.name)


#: What a shape holds, before it is looked at.
Entry: TypeAlias = Size | OpenDimension


@shown_as("shape")
class Dimensions(tuple[Any, ...]):
    """The shape of a tensor whose rank is known, and some of whose dimensions only the model knows.

    Behaves as the tuple of ints and scalar tensors that it stands for.
    """

    __slots__ = ()

    def __new__(cls, entries: Iterable[Entry]) -> Dimensions:
        return super().__new__(cls, entries)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries, without making nodes: ints, tensors and `OpenDimension`s."""
        return tuple(super().__iter__())

    def __iter__(self) -> Iterator[Size]:
        return iter([_value(each) for each in super().__iter__()])

    @overload
    def __getitem__(self, index: SupportsIndex) -> Size: ...
    @overload
    def __getitem__(self, index: slice) -> Dimensions: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Dimensions | Size:
        _speaks_for_callee = True  # to a 'try' of numpy code: a tuple says so, x.shape[1]
        found: Any = super().__getitem__(index)
        return Dimensions(found) if isinstance(index, slice) else _value(found)

    def __add__(self, other: object) -> Dimensions:  # pyright: ignore[reportIncompatibleMethodOverride]
        if not isinstance(other, tuple):
            return NotImplemented
        return Dimensions(self.entries + _entries(cast("tuple[Any, ...]", other)))

    def __radd__(self, other: object) -> Dimensions:
        if not isinstance(other, tuple):
            return NotImplemented
        return Dimensions(_entries(cast("tuple[Any, ...]", other)) + self.entries)

    def __mul__(self, count: SupportsIndex) -> Dimensions:
        return Dimensions(self.entries * count)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """True if both are equal: a truth value that the model knows where it is not known yet."""
        if not isinstance(other, tuple):
            return NotImplemented
        theirs = _entries(cast("tuple[Any, ...]", other))
        if len(theirs) != len(self):
            return False
        verdicts = [_is_same(a, b) for a, b in zip(self.entries, theirs, strict=True)]
        if False in verdicts:
            return False
        result: Any = True
        for verdict, mine, given in zip(verdicts, self.entries, theirs, strict=True):
            if verdict is None:
                same: Any = _value(mine) == _value(given)
                result = same if result is True else result & same
        return result

    def __ne__(self, other: object) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        equal: Any = self.__eq__(other)
        if equal is NotImplemented or isinstance(equal, bool):
            return equal if equal is NotImplemented else not equal
        return equal == False  # noqa: E712  # a truth value of the model has no `not` here

    def __hash__(self) -> int:
        """Equal shapes may be written in different ways, so that no hash would agree with ==."""
        raise TracedValueError(
            "a set or dict looks for a shape that is known only when the model runs",
            help="compare shapes: a.shape == b.shape",
        ).locate_at_caller()

    def __contains__(self, item: object) -> bool:
        verdicts = [_is_same(each, item) for each in self.entries]
        if True not in verdicts and None in verdicts:
            raise TracedValueError(
                f"whether {item!r} is among the dimensions {self!r} is known only when the model runs"
            ).locate_at_caller()
        return True in verdicts

    def index(self, value: Size, start: SupportsIndex = 0, stop: SupportsIndex = sys.maxsize, /) -> int:
        return tuple(self).index(value, start, stop)

    def count(self, value: Size, /) -> int:
        return tuple(self).count(value)

    def __repr__(self) -> str:
        inner = ", ".join(map(_described, self.entries))
        text = f"({inner},)" if len(self) == 1 else f"({inner})"
        return text if is_static(self.entries) else shown_text(text)

    def __format__(self, spec: str) -> str:
        return repr(self)


def symbolic_size(entry: object) -> Dimension:
    """A shape's entry as inference writes it: a size, a name, None."""
    if isinstance(entry, OpenDimension):
        return entry.name
    if isinstance(entry, Value):
        data = entry.known.data
        if isinstance(data, np.ndarray):
            return int(data.item()) if data.size == 1 else None
        return None if isinstance(data, tuple) else data
    return int(cast(int, entry)) if isinstance(entry, int | np.integer) else None


def _described(entry: Entry) -> str:
    if isinstance(entry, OpenDimension):
        return entry.described
    return "…" if isinstance(entry, Value) else repr(entry)


def _value(entry: Entry) -> Size:
    return entry.value() if isinstance(entry, OpenDimension) else entry


def _entries(shape: tuple[Entry, ...]) -> tuple[Entry, ...]:
    return shape.entries if isinstance(shape, Dimensions) else shape


def _is_same(left: object, right: object) -> bool | None:
    """True if two entries are equal, or None when that is not known yet."""
    a, b = symbolic_size(left), symbolic_size(right)
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    if symbolic.is_same(a, b):
        return True
    if isinstance(left, OpenDimension) and isinstance(right, OpenDimension):
        if left.source is right.source and left.axis == right.axis:
            return True
    elif not isinstance(left, Value | OpenDimension | int) or not isinstance(
        right, Value | OpenDimension | int
    ):
        return False
    return None


def _remembered(x: TensorValue, key: Hashable, make: Callable[[], T]) -> T:
    """The result of `make` for this tensor in this graph: the one from before, or a new one.

    Kept on the tensor: a node made in the tensor's own graph is seen wherever the tensor is; one made in a subgraph
    only there.
    """
    target = target_of((x,))
    memory = x.memory()
    for place in (target, x.target):
        found = memory.get((id(place), key))
        if found is not None:
            return found[1]
    result = make()
    memory[id(target), key] = (target, result)  # the target is held, so that its id stays its own
    return result
