"""Reductions along axes, and running sums and products."""

from __future__ import annotations

import numpy as np

from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Array
from onnxsmith.grad.broadcasting import expanded_to
from onnxsmith.grad.operators import op
from onnxsmith.grad.scaling import chosen, divided, scaled
from onnxsmith.grad.steps import Cotangents, Step, dtype_of, shape_of
from onnxsmith.grad.table import Unary, enter_unary, rule


def _axes(step: Step) -> Tensor | Array | None:
    """The axes of a reduction as they are known now, or as the model knows them; None for all of them."""
    if not step.has(1):
        return None
    known = step.content(1)
    if known is None:
        return step.input(1)
    return None if known.size == 0 else known


def _is_identity(step: Step) -> bool:
    """True if a reduction reduces nothing: it has no axes, and an attribute says that this means none."""
    known = step.content(1)
    is_empty = not step.has(1) or (known is not None and known.size == 0)
    return bool(step.integer("noop_with_empty_axes")) and is_empty


def kept(step: Step, reduced: Tensor) -> Tensor:
    """The result of a reduction, with the axes that it left out as ones of size 1."""
    axes = _axes(step)
    if step.integer("keepdims", 1) or _is_identity(step):
        return reduced
    if axes is not None:
        return op.Unsqueeze(reduced, axes)
    shape = shape_of(step.input())
    if shape is None:
        return reduced  # a scalar, which broadcasts
    return op.Reshape(reduced, np.ones(len(shape), np.int64)) if shape else reduced


def _reduced(name: str, x: Tensor, step: Step) -> Tensor:
    """Another reduction of the same axes, which keeps them."""
    axes = _axes(step)
    if _is_identity(step):
        return x
    return getattr(op, name)(x, keepdims=1) if axes is None else getattr(op, name)(x, axes, keepdims=1)


#: The cotangent of an argument x, of the step, the cotangent g of the result, x and the result y.
_UNARY: dict[str, Unary] = {
    "ReduceSum": lambda step, g, x, y: expanded_to(kept(step, g), x),
    "ReduceMean": lambda step, g, x, y: expanded_to(kept(step, g) / _count(step), x),
    "ReduceSumSquare": lambda step, g, x, y: x * (kept(step, g) * 2.0),
    "ReduceL1": lambda step, g, x, y: op.Sign(x) * kept(step, g),
    "ReduceLogSum": lambda step, g, x, y: expanded_to(
        divided(step, kept(step, g), _reduced("ReduceSum", x, step)), x
    ),
}
enter_unary(_UNARY)


def _count(step: Step) -> Tensor | float:
    """How many elements each result is the mean of."""
    x = step.input()
    shape, axes = shape_of(x), _axes(step)
    if _is_identity(step):
        return 1.0
    if shape is not None and not isinstance(axes, Tensor):
        chosen_axes = range(len(shape)) if axes is None else [int(each) for each in axes.reshape(-1)]
        sizes = [shape[each] for each in chosen_axes]
        if all(isinstance(each, int) for each in sizes):
            return float(np.prod([each for each in sizes if isinstance(each, int)]))
    count = op.Div(op.Size(x), op.Max(op.Size(step.output()), np.int64(1)))
    return op.Cast(count, to=dtype_of(x))


@rule("ReduceL2")
def norm(step: Step, g: Tensor) -> Cotangents:
    x, y = step.input(), kept(step, step.output())
    is_zero = op.Equal(y, 0.0)  # torch's norm is flat there
    return (x * op.Where(is_zero, 0.0, kept(step, g) / op.Where(is_zero, 1.0, y)),)


@rule("ReduceLogSumExp")
def logarithm_of_sum_of_exponentials(step: Step, g: Tensor) -> Cotangents:
    x, y = step.input(), kept(step, step.output())
    # Where all are -inf the difference is not a number; nothing depends on such elements.
    is_finite = op.Less(op.Abs(y), np.inf)
    share = op.Exp(x - op.Where(is_finite, y, 0.0))
    return (scaled(step, share, kept(step, g)),)


@rule("ReduceMax", "ReduceMin")
def extreme_along(step: Step, g: Tensor) -> Cotangents:
    """Equal elements share the cotangent, as torch's amax and amin have it."""
    x = step.input()
    is_extreme = op.Equal(x, kept(step, step.output()))
    count = _reduced("ReduceSum", op.Cast(is_extreme, to=dtype_of(x)), step)
    return (chosen(is_extreme, kept(step, g) / count),)


@rule("ReduceProd")
def product_along(step: Step, g: Tensor) -> Cotangents:
    """The product of all others: by division, and for a zero by the products of the other zeros and of the rest.

    Several zeros make it zero. The product of up to three others, by sums of powers, stays there for further
    derivatives; that of more has infinite ones from the fourth on, and not wrong ones.
    """
    x = step.input()
    is_zero = op.Equal(x, 0.0)
    zeros = _reduced("ReduceSum", op.Cast(is_zero, to=dtype_of(x)), step)
    safe = op.Where(is_zero, 1.0, x)
    rest = _reduced("ReduceProd", safe, step)
    small = op.Where(is_zero, x, 0.0)
    one, squares, cubes = (_reduced("ReduceSum", each, step) - each for each in (small, small**2, small**3))
    three = (one * (one * one - 3.0 * squares) + 2.0 * cubes) / 6.0
    of_zeros = op.Abs(one) ** 3.5
    for count, product in ((4.0, three), (3.0, (one * one - squares) * 0.5), (2.0, one), (1.0, 1.0)):
        of_zeros = op.Where(op.Equal(zeros, count), product, of_zeros)
    others = op.Where(is_zero, rest * of_zeros, _reduced("ReduceProd", x, step) / safe)
    return (others * kept(step, g),)


@rule("CumSum")
def running_sum(step: Step, g: Tensor) -> Cotangents:
    reverse = 1 - step.integer("reverse")
    return (op.CumSum(g, step.input(1), exclusive=step.integer("exclusive"), reverse=reverse),)


@rule("CumProd")
def running_product(step: Step, g: Tensor) -> Cotangents:
    """The sum of the products that a factor is in, over it. At the first zero and the second it is without them.

    At the second it is zero as well, and is there for second derivatives.
    """
    x, axis = step.input(0), step.input(1)
    is_exclusive, is_reverse = step.integer("exclusive"), step.integer("reverse")
    is_zero = op.Equal(x, 0.0)
    count = op.CumSum(op.Cast(is_zero, to=dtype_of(x)), axis, reverse=is_reverse)

    def behind(products: Tensor) -> Tensor:
        return op.CumSum(g * products, axis, exclusive=is_exclusive, reverse=1 - is_reverse)

    found = op.Where(is_zero, 0.0, behind(step.output()) / op.Where(is_zero, 1.0, x))
    for place in (1.0, 2.0):
        is_here = op.And(is_zero, op.Equal(count, place))
        without = op.CumProd(op.Where(is_here, 1.0, x), axis, exclusive=is_exclusive, reverse=is_reverse)
        found = op.Where(is_here, behind(without), found)
    return (found,)
