"""Dimensions: how torch's symbolic sizes are called in the model, and the numbers in the graph that hold them.

A size is an int where torch knows it. Elsewhere it is a `Number`, which is read off a tensor's shape once per graph
and used wherever the same expression stands.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import TypeVar

import torch

from onnxsmith.algorithms.values import Size, dimensions_of
from onnxsmith.core.semantics.dimensions import dimension
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.target import ACTIVE, Target
from onnxsmith.core.tensor import Tensor
from onnxsmith.graphs.builder import GraphTarget
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.schema.inference.known import Known
from onnxsmith.torch.library.kinds import SYMBOLIC_NUMBERS, Fake, SymbolicNumber, TorchSize, sizes_in
from onnxsmith.torch.size_arithmetic import AnyNumber, computed, written
from onnxsmith.torch.symbols import Expression, expression_of, is_symbol
from onnxsmith.types.value_types import Dimension

_WORD = re.compile(r"\w+")
#: The values that are noted under one text.
_Noted = TypeVar("_Noted")


class Sizes:
    """The symbolic sizes of one program."""

    def __init__(self, names: dict[str, str]) -> None:
        #: torch's symbol -> the user's name for it.
        self.names = names
        self._texts: dict[Expression, Dimension] = {}
        #: (id of the graph, text) -> the number; the graph is held so that its id stays its own.
        self._numbers: dict[tuple[int, str], tuple[Target, Number]] = {}
        #: (id of the graph, text) -> the tensor and axis that it can be read off; the tensor holds its graph.
        self._sources: dict[tuple[int, str], tuple[Tensor, int]] = {}
        #: A symbol -> a dimension of an input that is `factor * symbol + offset`, and those two.
        self._solutions: dict[Expression, tuple[Expression, int, int]] = {}

    # -- what they are called --------------------------------------------------------------------------

    def dimension(self, size: TorchSize) -> Dimension:
        """A size of torch's as inference writes it: an int, an expression as text, None."""
        if isinstance(size, int):
            return size
        return self.text(expression_of(size))

    def shape(self, fake: torch.Tensor) -> tuple[Dimension, ...]:
        """The shape of a fake tensor as inference writes it."""
        return tuple([each if type(each) is int else self.dimension(each) for each in fake.shape])

    def text(self, expression: Expression) -> Dimension:
        """An expression with the user's names; None for what inference has no words for."""
        try:
            return self._texts[expression]
        except KeyError:
            found = self._texts[expression] = _text(expression, self.names)
            return found

    # -- what they are ---------------------------------------------------------------------------------

    def announce(self, tensor: SymbolicTensor, fake: torch.Tensor) -> None:
        """Say that a tensor's dimensions can be read off it; of several that have one, the first is asked."""
        for axis, size in enumerate(sizes_in(fake)):
            if not isinstance(size, int):
                expression = expression_of(size)
                text = self.text(expression)
                if isinstance(text, str) and self._source(text) is None:
                    self._sources[id(tensor.scope), text] = (tensor, axis)
                    self._solve(expression)

    def _solve(self, expression: Expression) -> None:
        """Take note of how a symbol follows from a dimension that is computed from it: `2 * half`, say."""
        symbols = expression.free_symbols
        if expression.is_Symbol or len(symbols) != 1:
            return
        (symbol,) = symbols
        factor = expression.coeff(symbol)
        offset = (expression - factor * symbol).expand()
        if factor.is_Integer and offset.is_Integer and int(factor):
            self._solutions.setdefault(symbol, (expression, int(factor), int(offset)))

    @contextlib.contextmanager
    def rebound(self, fakes: Iterable[Fake]) -> Generator[None]:
        """For a subgraph with these parameters: sizes that the data decides may be others there than outside.

        The condition and the body of a loop, for one, have the same symbols for what they are given.
        """
        names = {name for each in fakes for name in _unbacked(each)}
        if not names:
            yield
            return
        numbers, sources = self._numbers, self._sources
        self._numbers = {key: each for key, each in numbers.items() if not _mentions(key[1], names)}
        self._sources = {key: each for key, each in sources.items() if not _mentions(key[1], names)}
        try:
            yield
        finally:
            self._numbers, self._sources = numbers, sources

    def of(self, tensor: Tensor) -> list[Size]:
        """The shape of a tensor: ints and numbers."""
        return [
            each if isinstance(each, int) else self._read(each, tensor, axis)
            for axis, each in enumerate(dimensions_of(tensor))
        ]

    def axis(self, tensor: Tensor, axis: int) -> Size:
        """One dimension of a tensor: an int or a number."""
        shape = dimensions_of(tensor)
        size = shape[axis]
        return size if isinstance(size, int) else self._read(size, tensor, axis % len(shape))

    def of_fake(self, fake: torch.Tensor) -> list[Size]:
        """The shape of a fake tensor: ints and numbers."""
        return [self.size(each) for each in sizes_in(fake)]

    def size(self, size: TorchSize) -> Size:
        """One of torch's sizes: an int, or a number that the graph computes."""
        if isinstance(size, int):
            return size
        found = self._evaluate(expression_of(size))
        assert not isinstance(found, float), "a size is a whole number"
        return found

    def value(self, number: SymbolicNumber | float) -> AnyNumber:
        """One of torch's numbers: a Python number, or one that the graph computes."""
        if not isinstance(number, SYMBOLIC_NUMBERS):
            return number
        return self._evaluate(expression_of(number))

    def remember(self, size: Fake, value: Number) -> AnyNumber:
        """Take note of a number that the graph computed, under torch's expression for it."""
        if not isinstance(size, torch.SymInt):
            return value
        text = self.text(expression_of(size))
        if not isinstance(text, str):
            return value if text is None else text
        held = self._find(text)
        if held is not None:
            return held
        named = with_content(value, text)
        scope = named.scope
        self._numbers[id(scope), text] = (scope, named)
        return named

    def _find(self, text: str) -> Number | None:
        found = _visible(self._numbers, text)
        return None if found is None else found[1]

    def _source(self, text: str) -> tuple[Tensor, int] | None:
        return _visible(self._sources, text)

    def _read(self, text: Dimension, tensor: Tensor, axis: int) -> Size:
        if not isinstance(text, str):
            return _dimension(tensor, axis)
        held = self._find(text)
        if held is not None:
            return held
        tensor, axis = self._source(text) or (tensor, axis)
        found = _dimension(tensor, axis)
        if isinstance(found, Number):
            scope = found.scope
            self._numbers[id(scope), text] = (scope, found)
        return found

    def _evaluate(self, expression: Expression) -> AnyNumber:
        """The number that an expression stands for, computed from the symbols in it."""
        if expression.is_Integer:
            return int(expression)
        if expression.is_number and expression.is_real:
            return float(expression)
        text = self.text(expression)
        if isinstance(text, str):
            held = self._find(text)
            if held is not None:
                return held
            source = self._source(text)
            if source is not None:
                return self._read(text, *source)
        if expression in self._solutions:
            whole, factor, offset = self._solutions[expression]
            return (self._evaluate(whole) - offset) // factor
        if is_symbol(expression):
            raise KeyError(f"nothing in the graph has the size {expression}")
        value = computed(expression, [self._evaluate(each) for each in expression.args])
        if isinstance(text, str) and isinstance(value, Number) and value.kind == "int":
            value = with_content(value, text)
            self._numbers[id(value.scope), text] = (value.scope, value)
        return value


def _dimension(tensor: Tensor, axis: int) -> Size:
    found = dimension(tensor, axis)
    assert isinstance(found, int | Tensor)  # what a model computes with
    return found


def _unbacked(fake: Fake) -> Iterator[str]:
    """The symbols in what torch knows of a value whose size the data decides."""
    for each in sizes_in(fake) if isinstance(fake, torch.Tensor) else [fake]:
        if isinstance(each, SYMBOLIC_NUMBERS):
            yield from (symbol.name for symbol in expression_of(each).free_symbols if symbol.name[0] == "u")


def _mentions(text: str, names: set[str]) -> bool:
    return not names.isdisjoint(_WORD.findall(text))


def _visible(entries: Mapping[tuple[int, str], _Noted], text: str) -> _Noted | None:
    """The note under a text in the graph that is active or in one around it."""
    here = ACTIVE.get()
    while isinstance(here, GraphTarget):
        found = entries.get((id(here), text))
        if found is not None:
            return found
        here = here.parent or getattr(here, "around", None)  # of the body of a formula
    return None


def with_content(value: Number, text: str) -> Number:
    """The same number, of which inference knows its expression."""
    tensor = value.tensor
    if value.kind != "int" or tensor.known.data is not None or not isinstance(tensor, SymbolicTensor):
        return value
    known = Known(tensor.known.type, text)
    return Number(SymbolicTensor(tensor.record, known, tensor.scope, tensor.place), "int")


def _text(expression: Expression, names: Mapping[str, str]) -> Dimension:
    if expression.is_Integer:
        return int(expression)
    if is_symbol(expression):
        return names.get(expression.name, expression.name)
    return written(expression, [_text(each, names) for each in expression.args])
