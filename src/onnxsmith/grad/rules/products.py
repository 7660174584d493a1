"""Matrix products."""

from __future__ import annotations

import functools
import math
import string
from typing import cast

import numpy as np

from onnxsmith.core.target import current_graph
from onnxsmith.core.tensor import Tensor
from onnxsmith.grad.broadcasting import as_type_of, have_same_shape, summed_to
from onnxsmith.grad.operators import op
from onnxsmith.grad.steps import Cotangents, Step, shape_of
from onnxsmith.grad.table import rule

#: Where a tensor remembers itself with the last two axes exchanged.
_SWAPPED = "last axes swapped"
#: Dimensions without letters in the equation of an Einsum.
_DOTS = "..."


def swapped(x: Tensor, rank: int) -> Tensor:
    """The last two axes in each other's place."""
    # A weight is often multiplied with at many places: what is the same is made once where it can be seen.
    known: object = x.memory().get(_SWAPPED)
    if isinstance(known, Tensor) and current_graph().sees(known):
        return known
    made = op.Transpose(x, perm=[*range(rank - 2), rank - 1, rank - 2])
    x.memory()[_SWAPPED] = made
    return made


@rule("MatMul")
def matrix_product(step: Step, g: Tensor) -> Cotangents:
    a, b = step.input(0), step.input(1)
    m, n = step.rank(0), step.rank(1)
    # A vector is a matrix of one row or column, which the result is without.
    rows = op.Unsqueeze(a, [0]) if m == 1 else a
    columns = op.Unsqueeze(b, [1]) if n == 1 else b
    if m == 1 and n == 1:
        g = op.Reshape(g, [1, 1])
    elif m == 1:
        g = op.Unsqueeze(g, [-2])
    elif n == 1:
        g = op.Unsqueeze(g, [-1])
    rank = max(m, n, 2)

    are_matrices = m <= 2 and n <= 2

    def of_a() -> Tensor:
        if are_matrices:
            made = op.Gemm(g, columns, transB=1)
        else:
            made = op.MatMul(g, swapped(columns, max(n, 2)))
        made = made if have_same_shape(made, rows) else summed_to(made, rows)
        return op.Squeeze(made, [0]) if m == 1 else made

    def of_b() -> Tensor:
        if are_matrices:
            made = op.Gemm(rows, g, transA=1)
        elif n <= 2 and rank > 2 and m > 2:
            made = _over_all_rows(rows, g)
        else:
            made = op.MatMul(swapped(rows, max(m, 2)), g)
            made = made if have_same_shape(made, columns) else summed_to(made, columns)
        return op.Squeeze(made, [1]) if n == 1 else made

    return of_a, of_b


def _over_all_rows(a: Tensor, g: Tensor) -> Tensor:
    """The gradient of a matrix that all rows of a larger tensor are multiplied with: one product of two matrices."""
    left, right = _as_matrix(a), _as_matrix(g)
    return op.Gemm(left, right, transA=1)


def _as_matrix(x: Tensor) -> Tensor:
    """All rows of a tensor, one below the other."""
    shape = shape_of(x)
    assert shape is not None  # its rank has been asked for
    last, rows = shape[-1], shape[:-1]
    if all(isinstance(each, int) for each in shape):  # where one is 0, nothing says how many rows there are
        return op.Reshape(x, [math.prod(cast("tuple[int, ...]", rows)), cast(int, last)], allowzero=1)
    if isinstance(last, int) and last > 0:
        return op.Reshape(x, [-1, last])
    count = op.ReduceProd(op.Shape(x, end=-1), keepdims=1)
    return op.Reshape(x, op.Concat(count, op.Shape(x, start=-1), axis=0), allowzero=1)


@rule("Gemm")
def general_product(step: Step, g: Tensor) -> Cotangents:
    a, b = step.input(0), step.input(1)
    alpha, beta = step.number("alpha", 1.0), step.number("beta", 1.0)
    flips_a, flips_b = step.integer("transA"), step.integer("transB")

    def of_a() -> Tensor:
        if flips_a:
            return op.Gemm(b, g, alpha=alpha, transA=flips_b, transB=1)
        return op.Gemm(g, b, alpha=alpha, transB=1 - flips_b)

    def of_b() -> Tensor:
        if flips_b:
            return op.Gemm(g, a, alpha=alpha, transA=1, transB=flips_a)
        return op.Gemm(a, g, alpha=alpha, transA=1 - flips_a)

    def of_c() -> Tensor:
        c = step.input(2)
        made = g if beta == 1.0 else g * beta
        return made if have_same_shape(made, c) else summed_to(made, c)

    return of_a, of_b, of_c


@rule("Einsum")
def einstein_sum(step: Step, g: Tensor) -> Cotangents:
    terms, right = _terms(step)

    def of(position: int) -> Tensor:
        x, mine = step.input(position), terms[position]
        others = [k for k in range(len(terms)) if k != position]
        found = set(right + "".join(terms[k] for k in others))
        plain = "".join(each for each in dict.fromkeys(mine) if each in found)
        given = [right, *(terms[k] for k in others)]
        made = op.Einsum(g, *(step.input(k) for k in others), equation=f"{','.join(given)}->{plain}")
        return _placed(made, x, mine, plain)

    return [(lambda k=k: of(k)) for k in range(len(terms))]


def _terms(step: Step) -> tuple[list[str], str]:
    """The letters of each input and of the result; dots become letters, one for each dimension that they stand for."""
    equation = step.text("equation").replace(" ", "")
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if not arrow:
        letters = [each for each in left if each in string.ascii_letters]
        alone = sorted(each for each in set(letters) if letters.count(each) == 1)
        right = _DOTS * (_DOTS in left) + "".join(alone)
    counts = [step.rank(k) - (len(term) - len(_DOTS)) if _DOTS in term else 0 for k, term in enumerate(terms)]
    free = [each for each in string.ascii_letters if each not in equation]
    names = "".join(free[: max(counts)])
    # Dots are aligned at their ends, as in broadcasting.
    spelled = [
        term.replace(_DOTS, names[len(names) - count :]) for term, count in zip(terms, counts, strict=True)
    ]
    return spelled, right.replace(_DOTS, names)


def _placed(made: Tensor, x: Tensor, mine: str, plain: str) -> Tensor:
    """A cotangent with the axes of its input: one that was summed away is repeated, a diagonal stands in zeros."""
    distinct = list(dict.fromkeys(mine))
    missing = [each for each in distinct if each not in plain]
    if missing:
        made = op.Unsqueeze(made, np.arange(len(missing)))
    current = [*missing, *plain]
    order = [current.index(each) for each in distinct]
    if order != list(range(len(order))):
        made = op.Transpose(made, perm=order)
    if len(distinct) < len(mine):
        made = _on_diagonals(made, x, list(mine), distinct)
    elif missing:
        made = op.Expand(made, op.Shape(x))
    return as_type_of(made if have_same_shape(made, x) else summed_to(made, x), x)


def _on_diagonals(made: Tensor, x: Tensor, axes: list[str], distinct: list[str]) -> Tensor:
    """Put axes that an input has twice where both are equal, and zero elsewhere."""
    rank = len(axes)
    first = [axes.index(each) for each in distinct]
    made = op.Unsqueeze(made, [k for k in range(rank) if k not in first])
    equal: list[Tensor] = []
    for k, name in enumerate(axes):
        if axes.index(name) == k:
            continue
        places = op.Range(np.int64(0), op.Squeeze(op.Shape(x, start=k, end=k + 1), [0]), np.int64(1))
        mine = op.Reshape(places, [-1 if j == k else 1 for j in range(rank)])
        other = op.Reshape(places, [-1 if j == axes.index(name) else 1 for j in range(rank)])
        equal.append(op.Equal(mine, other))
    return op.Expand(op.Where(functools.reduce(op.And, equal), made, 0.0), op.Shape(x))
