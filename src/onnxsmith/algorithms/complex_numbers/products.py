"""Products of many complex numbers, and running ones.

Finite numbers are multiplied by halves, in as many rounds as the logarithm of their number. Where one is infinite or
NaN, the order decides which parts become NaN: there they are multiplied one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.cumulative import running
from onnxsmith.algorithms.loops import loop, several
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import converted, like, rank_of
from onnxsmith.types.dtypes import DType


def product_along(x: Field, axis: int) -> Field:
    """The product of complex numbers along an axis, which has some, and goes."""
    return _either(x, lambda: _by_halves(x, axis), lambda: _one_by_one(x, axis)[0])


def running_product(x: Field, axis: int) -> Field:
    """The product of all complex numbers up to each along an axis."""

    def by_halves() -> Field:
        found = running(x.parts(), axis, lambda before, last: (Field(*before) * Field(*last)).parts())
        return Field(*found)

    return _either(x, by_halves, lambda: _one_by_one(x, axis)[1])


def _either(x: Field, finite: Callable[[], Field], other: Callable[[], Field]) -> Field:
    """The result of one function where all parts are finite, and else of another."""
    # Zero times what is not finite is NaN.
    zeros = [each * 0 for each in x.parts()]
    holes = op.IsNaN(zeros[0]) | op.IsNaN(zeros[1])
    count = op.ReduceSum(converted(holes, DType.INT32), keepdims=0)
    branches: dict[str, Any] = {  # a function is an attribute only where it is called
        "then_branch": lambda: tuple(op.Identity(each) for each in finite().parts()),
        "else_branch": lambda: tuple(op.Identity(each) for each in other().parts()),
    }
    return Field(*several(op.If, op.Equal(count, np.int32(0)), outputs=2, **branches))


def _by_halves(x: Field, axis: int) -> Field:
    def body(i: Tensor, keep: Tensor, *state: Tensor) -> tuple[Tensor, ...]:
        length = op.Shape(state[0], start=axis, end=axis + 1)
        half = op.Div(length, np.array([2]))
        twice = half + half
        first = Field(*[op.Slice(each, [0], half, [axis]) for each in state])
        second = Field(*[op.Slice(each, half, twice, [axis]) for each in state])
        rest = [op.Slice(each, twice, length, [axis]) for each in state]
        products = (first * second).parts()
        after = [op.Concat(*pair, axis=axis) for pair in zip(products, rest, strict=True)]
        more = op.Shape(after[0], start=axis, end=axis + 1) > np.array([1])
        return op.Squeeze(more, [0]), *after

    folded = loop(np.int64(64), x.parts(), body)
    return Field(*[op.Squeeze(each, [axis]) for each in folded])


def _one_by_one(x: Field, axis: int) -> tuple[Field, Field]:
    """The product along an axis, which goes, and that of all up to each."""
    rank = rank_of(x.re)
    order = [axis, *(k for k in range(rank) if k != axis)]
    rows = x.map(op.Transpose, perm=order)
    shape = op.Shape(rows.re, start=1)
    one = [op.Expand(like(value, x.re), shape) for value in (1, 0)]

    def body(i: Tensor, keep: Tensor, *state: Tensor) -> tuple[Tensor, ...]:
        here = rows.map(op.Gather, i, axis=0)
        is_first = op.Equal(i, 0)
        product = Field(*state) * here
        after = [op.Where(is_first, a, b) for a, b in zip(here.parts(), product.parts(), strict=True)]
        return op.Identity(keep), *after, *[op.Identity(each) for each in after]

    re, im, all_re, all_im = loop(op.Squeeze(op.Shape(rows.re, start=0, end=1), [0]), one, body, collected=2)
    back = [order.index(k) for k in range(rank)]
    return Field(re, im), Field(all_re, all_im).map(op.Transpose, perm=back)
