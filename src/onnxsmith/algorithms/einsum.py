"""Einstein summation: two operands at a time, as products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from onnxsmith.algorithms.diagonals import diagonal
from onnxsmith.algorithms.linalg.matrices import product_of
from onnxsmith.algorithms.named import algorithm
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import (
    Size,
    dimensions_of,
    has_zero,
    product,
    rank_of,
    reshape,
    size_of,
    sizes_of,
)


@dataclass(frozen=True)
class Operand:
    """A tensor with a label for each dimension, none of them twice."""

    tensor: Tensor
    labels: tuple[str, ...]

    def ordered(self, labels: Sequence[str]) -> Operand:
        """The same with its dimensions in another order."""
        if tuple(labels) == self.labels:
            return self
        order = [self.labels.index(each) for each in labels]
        return Operand(op.Transpose(self.tensor, perm=order), tuple(labels))

    def summed(self, unwanted: Sequence[str]) -> Operand:
        """The sums over some dimensions."""
        if not unwanted:
            return self
        axes = [self.labels.index(each) for each in unwanted]
        kept = tuple(each for each in self.labels if each not in unwanted)
        return Operand(op.ReduceSum(self.tensor, axes, keepdims=0), kept)

    def without_ones(self, labels: Sequence[str]) -> Operand:
        """The same without some dimensions, of which each is of size one."""
        if not labels:
            return self
        axes = [self.labels.index(each) for each in labels]
        kept = tuple(each for each in self.labels if each not in labels)
        return Operand(op.Squeeze(self.tensor, axes), kept)


@algorithm(by_size=True)
def einsum(equation: str, tensors: Sequence[Tensor], path: Sequence[int] | None = None) -> Tensor:
    """The sum of products that letters describe, of tensors of one element type.

    Operands are taken from the left, or pair by pair as `path` says, whose products stand behind the others.
    """
    inputs, output = _subscripts(equation, [rank_of(each) for each in tensors])
    operands = [_diagonal(each, labels) for each, labels in zip(tensors, inputs, strict=True)]
    steps = list(path or ())
    while len(operands) > 1:
        first, second = (steps.pop(0), steps.pop(0)) if steps else (0, 1)
        pair = [operands[first], operands[second]]
        rest = [each for k, each in enumerate(operands) if k not in (first, second)]
        needed = {*output, *(label for each in rest for label in each.labels)}
        made = _product(pair[0], pair[1], needed)
        operands = [*rest, made] if path else [made, *rest]
    (result,) = operands
    result = result.summed([each for each in result.labels if each not in output])
    return result.ordered(output).tensor


# -- the equation ----------------------------------------------------------------------------------------


def _subscripts(equation: str, ranks: Sequence[int]) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """A label for each dimension of the operands and of the result; dots are labels with numbers, from the right."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    inputs = [_labels(term, rank) for term, rank in zip(terms, ranks, strict=True)]
    dots = sorted({each for labels in inputs for each in labels if not each.isalpha()}, key=int)
    if arrow:
        before, _, after = right.partition("...")
        return inputs, (*before, *(dots if "..." in right else ()), *after)
    letters = [each for labels in inputs for each in labels if each.isalpha()]
    return inputs, (*dots, *sorted(each for each in letters if letters.count(each) == 1))


def _labels(term: str, rank: int) -> tuple[str, ...]:
    if "..." not in term:
        return tuple(term)
    before, _, after = term.partition("...")
    count = rank - len(before) - len(after)
    return (*before, *(str(-k) for k in range(count, 0, -1)), *after)


def _diagonal(x: Tensor, labels: tuple[str, ...]) -> Operand:
    """An operand of which a letter that stands twice names a diagonal."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            x = diagonal(x, 0, first, second, size_of(x, first))
            labels = (*(each for k, each in enumerate(labels) if k not in (first, second)), label)
    return Operand(x, labels)


# -- one product -----------------------------------------------------------------------------------------


def _product(a: Operand, b: Operand, needed: set[str]) -> Operand:
    """The product of two operands, summed over what nobody needs any more."""
    a, b = _without_shared_ones(a, b), _without_shared_ones(b, a)
    a = a.summed([each for each in a.labels if each not in b.labels and each not in needed])
    b = b.summed([each for each in b.labels if each not in a.labels and each not in needed])
    a, b = _with_dots(a, b), _with_dots(b, a)
    shared = [each for each in a.labels if each in b.labels]
    inner = [each for each in shared if each not in needed]
    batch = [each for each in shared if each in needed]
    rows = [each for each in a.labels if each not in shared]
    columns = [each for each in b.labels if each not in shared]
    if not inner:
        return _outer(a, b, [*batch, *rows, *columns])
    if not batch and len(inner) == 1 and min(len(rows), len(columns)) < 2:
        if len(columns) > 1:
            a, b, rows, columns = b, a, columns, rows
        product = product_of(a.ordered([*rows, *inner]).tensor, b.ordered([*inner, *columns]).tensor)
        return Operand(product, (*rows, *columns))
    return _matrix_product(a, b, (batch, rows, inner, columns))


def _matrix_product(a: Operand, b: Operand, groups: tuple[list[str], ...]) -> Operand:
    """A product of matrices, one for each element of the batch; the groups are batch, rows, inner, columns."""
    batch, rows, inner, columns = groups
    left = _grouped(a, batch, rows, inner)
    right = _grouped(b, batch, inner, columns)
    result = op.MatMul(left, right)
    labels = (*batch, *rows, *columns)
    if len(rows) != 1 or len(columns) != 1:
        result = reshape(result, [_size((a, b), each) for each in labels])
    return Operand(result, labels)


def _size(operands: Sequence[Operand], label: str) -> Size:
    """The size of a label, which an operand may be broadcast along."""
    holders = [each for each in operands if label in each.labels]
    sizes = [size_of(each.tensor, each.labels.index(label)) for each in holders]
    return next((each for each in sizes if not (isinstance(each, int) and each == 1)), 1)


def _without_shared_ones(a: Operand, b: Operand) -> Operand:
    """An operand without dimensions of size one that the other has, too: it is broadcast along those."""
    sizes = dict(zip(b.labels, dimensions_of(b.tensor), strict=True))
    ones = [
        label
        for label, size in zip(a.labels, dimensions_of(a.tensor), strict=True)
        if size == 1 and sizes.get(label, 1) != 1
    ]
    return a.without_ones(ones)


def _with_dots(a: Operand, b: Operand) -> Operand:
    """An operand with the dimensions of the other's dots, too, if both have some: products broadcast along them."""
    if all(each.isalpha() for each in a.labels):
        return a
    added = [each for each in b.labels if not each.isalpha() and each not in a.labels]
    if not added:
        return a
    return Operand(op.Unsqueeze(a.tensor, list(range(len(added)))), (*added, *a.labels))


def _outer(a: Operand, b: Operand, labels: Sequence[str]) -> Operand:
    """A product of which nothing is summed, by broadcasting."""
    first, second = (_aligned(each, labels) for each in (a, b))
    return Operand(first * second, tuple(labels))


def _aligned(operand: Operand, labels: Sequence[str]) -> Tensor:
    present = [each for each in labels if each in operand.labels]
    missing = [k for k, each in enumerate(labels) if each not in present]
    tensor = operand.ordered(present).tensor
    return op.Unsqueeze(tensor, missing) if missing else tensor


def _grouped(x: Operand, batch: list[str], first: list[str], second: list[str]) -> Tensor:
    """An operand as matrices: the batch, then two groups of dimensions, each as one."""
    x = x.ordered([*batch, *first, *second])
    if len(first) == 1 and len(second) == 1:
        return x.tensor
    sizes = sizes_of(x.tensor)
    count = len(batch)
    groups = sizes[count : count + len(first)], sizes[count + len(first) :]
    return reshape(
        x.tensor, [*sizes[:count], *(0 if has_zero(group) else product(group) for group in groups)]
    )
