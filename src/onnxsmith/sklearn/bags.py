"""`Bag`: a sparse matrix within a model. For each row features and what they count, never the whole matrix.

A product with weights is one gather and a sum. What needs the matrix asks for `dense`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import DTypeLike

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.numpy import (
    Array,
    asarray,
    concatenate,
    ones_like,
    sqrt,
    take,
)
from onnxsmith.numpy import (
    abs as magnitude,
)
from onnxsmith.numpy import (
    max as largest,
)
from onnxsmith.numpy import (
    sum as total,
)
from onnxsmith.sklearn.arrays import is_equal, where
from onnxsmith.sklearn.values import Part, Structured, array_of

#: How many columns of weights are gathered at once.
_COLUMNS = 16


@dataclass(frozen=True, slots=True)
class Bag(Structured):
    """Rows of features with numbers. A feature is -1 where a row has no more."""

    features: Array
    numbers: Array
    #: How many features there are.
    width: int
    #: Whether no feature comes twice in a row.
    is_merged: bool = False
    #: Whether all numbers are 1, but where there is no feature.
    is_counted_singly: bool = False

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type of the numbers."""
        return self.numbers.dtype

    @property
    def ndim(self) -> int:
        """A matrix has two dimensions."""
        return 2

    @property
    def shape(self) -> tuple[Any, ...]:
        """Rows and features."""
        return (self.features.shape[0], self.width)

    def parts(self) -> Sequence[Part]:
        """The arrays that it is made of."""
        return (self.features, self.numbers)

    def with_parts(self, parts: Sequence[Part]) -> Bag:
        """One of other arrays."""
        features, numbers = cast("tuple[Array, Array]", tuple(parts))
        return replace(self, features=features, numbers=numbers)

    def astype(self, dtype: DTypeLike) -> Bag:
        """With numbers of another element type."""
        return replace(self, numbers=self.numbers.astype(dtype))

    def with_numbers(self, numbers: Array) -> Bag:
        """With other numbers for the same features."""
        return replace(self, numbers=numbers, is_counted_singly=False)

    def dense(self) -> Array:
        """The matrix."""
        rows = op.Shape(self.features.tensor, start=0, end=1)
        shape = op.Concat(rows, np.array([self.width + 1], np.int64), axis=0)
        zero = op.ConstantOfShape(shape, value=np.zeros(1, self.dtype))
        place = where(self.features < 0, self.width, self.features)
        made = op.ScatterElements(zero, place.tensor, self.numbers.tensor, axis=1, reduction="add")
        return array_of(made)[:, : self.width]

    def merged(self) -> Bag:
        """The same with each feature once in a row: their numbers are added."""
        if self.is_merged:
            return self
        count = op.Shape(self.features.tensor, start=1, end=2)
        ranked, order = cast("tuple[Tensor, Tensor]", op.TopK(self.features.tensor, count, axis=1))
        features = array_of(ranked)
        # Runs of one feature, one row after the other.
        is_last = ~is_equal(features, array_of(_without_first_column(ranked)))
        ends = op.Squeeze(op.NonZero(op.Reshape(is_last.tensor, [-1])), [0])
        if self.is_counted_singly:
            # Every number is 1, and their sum the length of the run.
            sums = _differences(ends + 1)
            kind = np.dtype(np.int64)
        else:
            # What is added up to the end of a run, less what was before it.
            wide = self.numbers.astype(np.float64) if self.dtype.kind == "f" else self.numbers
            every = op.Reshape(op.GatherElements(wide.tensor, order, axis=1), [-1])
            sums, kind = _differences(op.Gather(op.CumSum(every, 0), ends)), wide.dtype
        shape = op.Shape(ranked)
        blank = op.ConstantOfShape(op.ReduceProd(shape), value=np.zeros(1, kind))
        flat = op.ScatterElements(blank, ends, sums)
        added = array_of(op.Reshape(flat, shape, allowzero=1))
        kept = where(is_last, features, -1)
        numbers = where(kept < 0, 0, added).astype(self.dtype)
        return replace(self, features=kept, numbers=numbers, is_merged=True, is_counted_singly=False)

    def times(self, factors: np.ndarray[Any, Any]) -> Bag:
        """With the numbers of each feature times a number of its own."""
        padded = np.append(factors, 0).astype(factors.dtype)
        return self.with_numbers(self.numbers * take(asarray(padded), self.features))

    def present(self) -> Bag:
        """With 1 for every feature that a row has."""
        bag = self.merged()
        return bag.with_numbers(where(bag.features < 0, 0, ones_like(bag.numbers)).astype(self.dtype))

    def normalized(self, norm: str) -> Bag:
        """With rows of length one; rows of zeros stay so."""
        bag = self.merged()
        if norm == "l2":
            length = sqrt(total(bag.numbers * bag.numbers, axis=1, keepdims=True))
        elif norm == "l1":
            length = total(magnitude(bag.numbers), axis=1, keepdims=True)
        else:
            padded = concatenate(
                [magnitude(bag.numbers), bag.numbers[:, :0].sum(axis=1, keepdims=True)], axis=1
            )
            length = largest(padded, axis=1, keepdims=True)
        return bag.with_numbers(bag.numbers / where(is_equal(length, 0), 1, length).astype(self.dtype))

    def chosen(self, kept: np.ndarray[Any, Any]) -> Bag:
        """Of the features those at some places alone, in that order."""
        table = np.full(self.width + 1, -1, np.int64)
        table[kept] = np.arange(len(kept))
        features = take(asarray(table), self.features)
        numbers = where(features < 0, 0, self.numbers).astype(self.dtype)
        return replace(self, features=features, numbers=numbers, width=len(kept))

    def __mul__(self, number: float) -> Bag:
        """With every number times another."""
        bag = self if self.dtype.kind == "f" else self.astype(np.float64)
        return bag.with_numbers(bag.numbers * number)

    def __matmul__(self, weights: Array) -> Array:
        """The product with a matrix of one row for each feature, or with one number for each: gathered and added."""
        bag = self if weights.dtype.kind == "f" else self.astype(weights.dtype)
        if weights.ndim == 1:
            return (bag @ weights[:, None])[:, 0]
        count = int(weights.shape[1])
        # Where there is no feature the last weight is read, by -1, and counts 0 times.
        if count == 1:
            read = array_of(op.Gather(weights[:, 0].tensor, bag.features.tensor))
            return total(bag.numbers * read, axis=1)[:, None]
        # Some columns at a time: what is gathered is as large as the features of all rows times the columns.
        kind = np.result_type(bag.dtype, weights.dtype)
        numbers = op.Unsqueeze(bag.astype(kind).numbers.tensor, [1])
        made: list[Array] = []
        for begin in range(0, count, _COLUMNS):
            some = weights[:, begin : begin + _COLUMNS] if count > _COLUMNS else weights
            read = op.Gather(some.astype(kind).tensor, bag.features.tensor)
            made.append(array_of(op.Squeeze(op.MatMul(numbers, read), [1])))
        return made[0] if len(made) == 1 else concatenate(made, axis=1)


def _without_first_column(values: Tensor) -> Tensor:
    """The values each one column further to the left, and -2 in the last."""
    wide = op.Pad(values, np.array([0, 0, 0, 1]), np.array(-2))
    return op.Slice(wide, [1], [np.iinfo(np.int64).max], [1])


def _differences(sums: Tensor) -> Tensor:
    """The difference of each of some sums from the one before."""
    before = op.Slice(op.Concat(op.CastLike([0], sums), sums, axis=0), [0], [-1])
    return sums - before


@dataclass(frozen=True, slots=True)
class SideBySide(Structured):
    """Matrices next to each other, of which some are bags: a product with weights is the sum of their products."""

    matrices: tuple[Bag | Array, ...]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type that all go into."""
        return np.result_type(*[each.dtype for each in self.matrices])

    @property
    def shape(self) -> tuple[Any, ...]:
        """Rows and columns."""
        return (self.matrices[0].shape[0], sum(int(each.shape[1]) for each in self.matrices))

    def parts(self) -> Sequence[Part]:
        """The arrays of all."""
        found: list[Part] = []
        for each in self.matrices:
            found += each.parts() if isinstance(each, Bag) else [each]
        return found

    def with_parts(self, parts: Sequence[Part]) -> SideBySide:
        """One of other arrays."""
        given = iter(parts)
        made: list[Bag | Array] = []
        for each in self.matrices:
            if isinstance(each, Bag):
                made.append(each.with_parts([next(given), next(given)]))
            else:
                made.append(cast(Array, next(given)))
        return SideBySide(tuple(made))

    def dense(self) -> Array:
        """The matrix."""
        kind = self.dtype
        every = [each.dense() if isinstance(each, Bag) else each for each in self.matrices]
        return concatenate([each.astype(kind) for each in every], axis=1)

    def __mul__(self, number: float) -> SideBySide:
        """With every number times another."""
        return SideBySide(tuple(each * number for each in self.matrices))

    def __matmul__(self, weights: Array) -> Array:
        """The product with a matrix of one row for each column."""
        begin, added = 0, None
        for each in self.matrices:
            end = begin + int(each.shape[1])
            part = (each if isinstance(each, Bag) else each.astype(weights.dtype)) @ weights[begin:end]
            added = part if added is None else added + part
            begin = end
        assert added is not None  # there is one matrix at least
        return added


def beside(parts: Sequence[Bag | SideBySide | Array]) -> SideBySide | Array:
    """Matrices next to each other, with bags among them as they are."""
    flat: list[Bag | Array] = []
    for each in parts:
        flat += each.matrices if isinstance(each, SideBySide) else [each]
    if any(isinstance(each, Bag) for each in flat):
        return SideBySide(tuple(flat))
    return concatenate([cast(Array, each) for each in flat], axis=1)
