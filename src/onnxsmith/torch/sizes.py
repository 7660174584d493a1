# pyright: basic
"""Dimensions: how torch's symbolic sizes are called in the model, and the numbers in the graph that hold them.

A size is an int where torch knows it. Elsewhere it is a `Number`, which is read off a tensor's shape once per graph
and used wherever the same expression stands.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import sympy
import torch
from torch.utils._sympy import functions as torch_functions

from onnxsmith.core.semantics.dimensions import dimension
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.target import ACTIVE
from onnxsmith.graphs.value import SymbolicTensor
from onnxsmith.schema.inference.known import Known
from onnxsmith.torch.library.operators import op
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension

_WORD = re.compile(r"\w+")
_SYMBOLIC = (torch.SymInt, torch.SymFloat, torch.SymBool)


class Sizes:
    """The symbolic sizes of one program."""

    def __init__(self, names: dict[str, str]) -> None:
        #: torch's symbol -> the user's name for it.
        self.names = names
        self._texts: dict[sympy.Expr, Dimension] = {}
        #: (id of the graph, text) -> the number; the graph is held so that its id stays its own.
        self._numbers: dict[tuple[int, str], tuple[Any, Number]] = {}
        #: (id of the graph, text) -> the tensor and axis that it can be read off; the tensor holds its graph.
        self._sources: dict[tuple[int, str], tuple[Any, int]] = {}
        #: A symbol -> a dimension of an input that is `factor * symbol + offset`, and those two.
        self._solutions: dict[Any, tuple[Any, int, int]] = {}

    # -- what they are called --------------------------------------------------------------------------

    def dimension(self, size: Any) -> Dimension:
        """A size of torch's as inference writes it: an int, an expression as text, None."""
        if isinstance(size, int):
            return size
        return self.text(size.node.expr)

    def shape(self, fake: torch.Tensor) -> tuple[Dimension, ...]:
        """The shape of a fake tensor as inference writes it."""
        return tuple([each if type(each) is int else self.dimension(each) for each in fake.shape])

    def text(self, expression: sympy.Expr) -> Dimension:
        """An expression with the user's names; None for what inference has no words for."""
        try:
            return self._texts[expression]
        except KeyError:
            found = self._texts[expression] = _text(expression, self.names)
            return found

    # -- what they are ---------------------------------------------------------------------------------

    def announce(self, tensor: Any, fake: torch.Tensor) -> None:
        """Say that a tensor's dimensions can be read off it; of several that have one, the first is asked."""
        for axis, size in enumerate(fake.shape):
            if not isinstance(size, int):
                text = self.text(size.node.expr)
                if isinstance(text, str) and self._source(text) is None:
                    self._sources[id(tensor.scope), text] = (tensor, axis)
                    self._solve(size.node.expr)

    def _solve(self, expression: Any) -> None:
        """Take note of how a symbol follows from a dimension that is computed from it: `2 * half`, say."""
        symbols = expression.free_symbols
        if expression.is_Symbol or len(symbols) != 1:
            return
        (symbol,) = symbols
        factor = expression.coeff(symbol)
        offset = sympy.expand(expression - factor * symbol)
        if factor.is_Integer and offset.is_Integer and factor != 0:
            self._solutions.setdefault(symbol, (expression, int(factor), int(offset)))

    @contextlib.contextmanager
    def rebound(self, fakes: Iterable[Any]) -> Iterator[None]:
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

    def of(self, tensor: Any) -> list[Any]:
        """The shape of a tensor: ints and numbers."""
        shape = tensor.type.shape
        return [
            each if isinstance(each, int) else self._read(each, tensor, axis)
            for axis, each in enumerate(shape)
        ]

    def axis(self, tensor: Any, axis: int) -> Any:
        """One dimension of a tensor: an int or a number."""
        size = tensor.type.shape[axis]
        return size if isinstance(size, int) else self._read(size, tensor, axis % len(tensor.type.shape))

    def of_fake(self, fake: torch.Tensor) -> list[Any]:
        """The shape of a fake tensor: ints and numbers."""
        return [self.value(each) for each in fake.shape]

    def value(self, size: Any) -> Any:
        """One of torch's symbolic numbers: an int, or a number that the graph computes."""
        if not isinstance(size, _SYMBOLIC):
            return size
        return self._evaluate(size.node.expr)

    def remember(self, size: Any, value: Any) -> Any:
        """Take note of a number that the graph computed, under torch's expression for it."""
        if not isinstance(size, torch.SymInt) or not isinstance(value, Number):
            return value
        text = self.text(size.node.expr)
        if not isinstance(text, str):
            return int(text) if isinstance(text, int) else value
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

    def _source(self, text: str) -> tuple[Any, int] | None:
        return _visible(self._sources, text)

    def _read(self, text: Dimension, tensor: Any, axis: int) -> Any:
        if not isinstance(text, str):
            return dimension(tensor, axis)
        found = self._find(text)
        if found is None:
            tensor, axis = self._source(text) or (tensor, axis)
            found = dimension(tensor, axis)
            if isinstance(found, Number):
                scope = found.scope
                self._numbers[id(scope), text] = (scope, found)
        return found

    def _evaluate(self, expression: Any) -> Any:
        """The number that an expression stands for, computed from the symbols in it."""
        if expression.is_Integer:
            return int(expression)
        if expression.is_number and expression.is_real:
            return float(expression)
        text = self.text(expression)
        if isinstance(text, str):
            found = self._find(text)
            source = self._source(text) if found is None else None
            found = self._read(text, *source) if source is not None else found
            if found is not None:
                return found
        if expression in self._solutions:
            whole, factor, offset = self._solutions[expression]
            return (self._evaluate(whole) - offset) // factor
        if isinstance(expression, sympy.Symbol):
            raise KeyError(f"nothing in the graph has the size {expression}")
        value = _computed(expression, [self._evaluate(each) for each in expression.args])
        if isinstance(text, str) and isinstance(value, Number) and value.kind == "int":
            value = with_content(value, text)
            self._numbers[id(value.scope), text] = (value.scope, value)
        return value


def _unbacked(fake: Any) -> Iterator[str]:
    """The symbols in what torch knows of a value whose size the data decides."""
    parts = fake.shape if isinstance(fake, torch.Tensor) else [fake]
    for each in parts:
        if isinstance(each, _SYMBOLIC):
            yield from (symbol.name for symbol in each.node.expr.free_symbols if symbol.name[0] == "u")


def _mentions(text: str, names: set[str]) -> bool:
    return not names.isdisjoint(_WORD.findall(text))


def _visible(entries: dict[tuple[int, str], Any], text: str) -> Any:
    """What is noted under a text in the graph that is active or in one around it."""
    here: Any = ACTIVE.get()
    while here is not None:
        found = entries.get((id(here), text))
        if found is not None:
            return found
        here = here.parent
    return None


def with_content(value: Number, text: str) -> Number:
    """The same number, of which inference knows its expression."""
    tensor = value.tensor
    if value.kind != "int" or tensor.known.data is not None or not isinstance(tensor, SymbolicTensor):
        return value
    known = Known(tensor.known.type, text)
    return Number(SymbolicTensor(tensor.record, known, tensor.scope, tensor.place), "int")


def least(a: Any, b: Any) -> Any:
    """The smaller of two sizes."""
    return _extreme("Min", min, a, b)


def greatest(a: Any, b: Any) -> Any:
    """The greater of two sizes."""
    return _extreme("Max", max, a, b)


def _extreme(name: str, python: Any, a: Any, b: Any) -> Any:
    if not isinstance(a, Number) and not isinstance(b, Number):
        return python(a, b)
    is_float = any(isinstance(each, float) or getattr(each, "kind", "") == "float" for each in (a, b))
    dtype = DType.DOUBLE if is_float else DType.INT64
    return getattr(op, name)(scalar(a, dtype), scalar(b, dtype)).as_number()


def scalar(value: Any, dtype: DType) -> Any:
    """A number, known or not, as a scalar tensor (or array) of an element type."""
    return value.as_dtype(dtype) if isinstance(value, Number) else np.array(value, dtype.numpy)


def _fold(function: Any, values: list[Any]) -> Any:
    result = values[0]
    for each in values[1:]:
        result = function(result, each)
    return result


def _computed(expression: sympy.Expr, arguments: list[Any]) -> Any:
    for kinds, meaning in _MEANINGS:
        if isinstance(expression, kinds):
            return meaning(arguments)
    raise KeyError(f"the size {expression} cannot be computed in the graph")


def _power(values: list[Any]) -> Any:
    base, exponent = values
    if isinstance(exponent, int) and 0 <= exponent <= 8:
        return _fold(lambda a, b: a * b, [base] * exponent) if exponent else 1
    return base**exponent


def _ceiling(value: Any) -> Any:
    return Number(op.Cast(op.Ceil(value.as_dtype(DType.DOUBLE)), to=DType.INT64), "int")


def _truncated(value: Any) -> Any:
    return Number(op.Cast(value.as_dtype(DType.DOUBLE), to=DType.INT64), "int")


_MEANINGS: tuple[tuple[Any, Any], ...] = (
    (sympy.Add, lambda values: _fold(lambda a, b: a + b, values)),
    (sympy.Mul, lambda values: _fold(lambda a, b: a * b, values)),
    ((sympy.Pow, torch_functions.PowByNatural), _power),
    (torch_functions.FloorDiv, lambda values: values[0] // values[1]),
    ((torch_functions.Mod, torch_functions.PythonMod), lambda values: values[0] % values[1]),
    ((sympy.Max, torch_functions.Max), lambda values: _fold(greatest, values)),
    ((sympy.Min, torch_functions.Min), lambda values: _fold(least, values)),
    (torch_functions.ToFloat, lambda values: values[0] * 1.0),
    (
        (torch_functions.IntTrueDiv, torch_functions.FloatTrueDiv),
        lambda values: values[0] / values[1],
    ),
    (torch_functions.CeilToInt, lambda values: _ceiling(values[0])),
    (torch_functions.TruncToInt, lambda values: _truncated(values[0])),
)


def _text(expression: Any, names: dict[str, str]) -> Dimension:
    if expression.is_Integer:
        return int(expression)
    if isinstance(expression, sympy.Symbol):
        return names.get(expression.name, expression.name)
    arguments = [_text(each, names) for each in expression.args]
    if any(each is None for each in arguments):
        return None
    if isinstance(expression, sympy.Add):
        return "+".join(f"({each})" if str(each).startswith("-") else str(each) for each in arguments)
    if isinstance(expression, sympy.Mul):
        return "*".join(_factor(each) for each in arguments)
    if isinstance(expression, sympy.Pow | torch_functions.PowByNatural):
        count = arguments[1]
        is_small = isinstance(count, int) and 1 <= count <= 8
        return "*".join([_factor(arguments[0])] * count) if is_small else None  # type: ignore[operator]
    if isinstance(expression, torch_functions.FloorDiv):
        return f"{_factor(arguments[0])}//{_factor(arguments[1])}"
    if isinstance(expression, sympy.Max | torch_functions.Max):
        return f"max({','.join(map(str, arguments))})"
    if isinstance(expression, sympy.Min | torch_functions.Min):
        return f"min({','.join(map(str, arguments))})"
    return None


def _factor(text: Dimension) -> str:
    return str(text) if str(text).isidentifier() or str(text).isdigit() else f"({text})"
