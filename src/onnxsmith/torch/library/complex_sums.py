"""Operators on complex tensors that are linear in their data, or in each of two operands, and reductions.

A linear one is its real translation on each part; a product is four real ones.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import cast as typed

import torch

from onnxsmith.algorithms.complex_numbers.field import Field, field, imaginary, where
from onnxsmith.algorithms.complex_numbers.functions import exp, log_of_one_more
from onnxsmith.algorithms.complex_numbers.loops import Step, loop
from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import axis_of, dimensions_of, filled
from onnxsmith.torch.arguments import lifted
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.complex_numbers import nonzero, operand, pair
from onnxsmith.torch.library.kinds import Argument, Given, Term, Translated, schema_of
from onnxsmith.torch.library.reductions import variance_and_mean
from onnxsmith.torch.library.registry import TRANSLATIONS, Translation, translates_complex
from onnxsmith.torch.library.values import cast, is_number

#: Linear in all their tensors: the translation of real tensors on each part.
LINEAR = (
    *("aten.sum.default", "aten.sum.dim_IntList", "aten.mean.default", "aten.mean.dim", "prims.sum.default"),
    *("aten.cumsum.default", "aten.diff.default", "aten.trace.default", "aten.nansum.default"),
    *("aten.trapezoid.x", "aten.trapezoid.dx", "aten.trapz.x", "aten.trapz.dx"),
    *("aten.cumulative_trapezoid.x", "aten.cumulative_trapezoid.dx"),
)


def real_translation(call: Call) -> Translation:
    """The function that translates the same overload for real tensors."""
    found = TRANSLATIONS.get(call.overload)
    if found is None:
        raise call.refuse("no translation of it for real tensors")
    return found


@translates_complex(*LINEAR)
def linear_operator(call: Call, *args: Argument, **kwargs: Argument) -> Translated:
    whole = dataclasses.replace(real_translation(call), lifts=True)
    return lifted(whole, call, args, kwargs)


# -- products -------------------------------------------------------------------------------------------------

#: Linear in each of the first two arguments.
BILINEAR = (
    *("aten.matmul.default", "aten.mm.default", "aten.bmm.default", "aten.mv.default", "aten.dot.default"),
    *("aten.linalg_matmul.default", "aten.inner.default", "aten.outer.default", "aten.ger.default"),
    *("aten.kron.default", "aten.tensordot.default"),
)


def _bilinear(compute: Callable[[Tensor, Tensor], Tensor], x: Given, y: Given) -> Complex:
    """A product of pairs by real products; one of the two is a pair."""
    left, right = field(x), field(y)
    a, b, c, d = left.re, left.im, right.re, right.im
    if b is None:
        return Complex(compute(a, c), compute(a, imaginary(right)))
    if d is None:
        return Complex(compute(a, c), compute(b, c))
    return Complex(compute(a, c) - compute(b, d), compute(a, d) + compute(b, c))


@translates_complex(*BILINEAR)
def product(call: Call, x: Given, y: Given, *args: Argument, **kwargs: Argument) -> Complex:
    function = real_translation(call).function

    def compute(a: Tensor, b: Tensor) -> Tensor:
        result = function(call, a, b, *args, **kwargs)
        assert isinstance(result, Tensor)  # of two tensors
        return result

    return _bilinear(compute, _promoted(call, x), _promoted(call, y))


def _promoted(call: Call, x: Given) -> Given:
    if isinstance(x, Complex):
        return Complex(cast(x.real, call.dtype), cast(x.imag, call.dtype))
    return cast(x, call.dtype)


@translates_complex("aten.linear.default")
def linear(call: Call, x: Given, weight: Given, bias: Given | None = None) -> Complex:
    matrix = operand(weight, call.dtype)
    made = operand(x, call.dtype) @ (matrix.transposed() if matrix.rank == 2 else matrix)
    return pair(made if bias is None else made + operand(bias, call.dtype))


@translates_complex("aten.vdot.default", "aten.linalg_vecdot.default")
def conjugate_dot(call: Call, x: Given, y: Given, *, dim: int = -1) -> Complex:
    terms = operand(x, call.dtype).conj() * operand(y, call.dtype)
    axis = axis_of(dim, terms.rank)
    return pair(terms.map(op.ReduceSum, [axis], keepdims=0))


SUMS = {
    "aten.addmm.default": "matrix",
    "aten.addmv.default": "matrix",
    "aten.baddbmm.default": "matrix",
    "aten.addbmm.default": "batch",
    "aten.addr.default": "outer",
}


@translates_complex(*SUMS)
def sum_of_product(call: Call, x: Given, a: Given, b: Given, *, beta: Term = 1, alpha: Term = 1) -> Complex:
    left, right = operand(a, call.dtype), operand(b, call.dtype)
    if SUMS[call.overload] == "outer":
        column = left.map(op.Unsqueeze, [1])
        made = column * right.map(op.Unsqueeze, [0])
    else:
        made = left @ right
    if SUMS[call.overload] == "batch":
        made = made.map(op.ReduceSum, [0], keepdims=0)
    if not is_number(alpha, 1):
        made = made * operand(alpha, call.dtype)
    if is_number(beta, 0):
        return pair(made)
    added = operand(x, call.dtype)
    return pair((added if is_number(beta, 1) else added * operand(beta, call.dtype)) + made)


# -- products along a dimension -------------------------------------------------------------------------------


def _multiplied(call: Call, z: Field, axis: int, collect: bool) -> Field:
    """The product along an axis; all the products on the way if `collect`."""
    shape = call.shape_of(z.re)
    rest = [each for k, each in enumerate(shape) if k != axis]
    start = Field(filled(rest, 1.0, z.dtype), filled(rest, 0.0, z.dtype))

    def step(k: Tensor, fields: Sequence[Field], _: Sequence[Tensor]) -> Step:
        total = fields[0] * z.map(op.Gather, k, axis=axis)
        return Step([total], collected=total if collect else None)

    ended = loop(shape[axis], [start], [], step, collects=start if collect else False)
    if ended.collected is None:
        return ended.fields[0]
    order = [*range(1, axis + 1), 0, *range(axis + 1, len(shape))]
    return ended.collected.map(op.Transpose, perm=order)


@translates_complex("aten.prod.default")
def prod_all(call: Call, x: Complex, *, dtype: torch.dtype | None = None) -> Complex:
    z = operand(x, call.dtype)
    flat = z.map(op.Reshape, [-1])
    return pair(z if z.rank == 0 else _multiplied(call, flat, 0, False))


@translates_complex("aten.prod.dim_int")
def prod(
    call: Call, x: Complex, dim: int, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Complex:
    z = operand(x, call.dtype)
    if z.rank == 0:
        return pair(z)
    axis = axis_of(dim, z.rank)
    made = _multiplied(call, z, axis, False)
    return pair(made.map(op.Unsqueeze, [axis]) if keepdim else made)


@translates_complex("aten.cumprod.default")
def cumprod(call: Call, x: Complex, dim: int, *, dtype: torch.dtype | None = None) -> Complex:
    z = operand(x, call.dtype)
    if z.rank == 0 or 0 in dimensions_of(z.re):
        return pair(z)
    return pair(_multiplied(call, z, axis_of(dim, z.rank), True))


@translates_complex("aten.logcumsumexp.default")
def logcumsumexp(call: Call, x: Complex, dim: int) -> Complex:
    """The logarithm of the sum so far: the larger of it and the next, and what the smaller adds to it."""
    z = operand(x, call.dtype)
    if z.rank == 0 or 0 in dimensions_of(z.re):
        return pair(z)
    axis = axis_of(dim, z.rank)
    shape = call.shape_of(z.re)
    rest = [each for k, each in enumerate(shape) if k != axis]
    start = Field(filled(rest, float("-inf"), z.dtype), filled(rest, 0.0, z.dtype))

    def step(k: Tensor, fields: Sequence[Field], _: Sequence[Tensor]) -> Step:
        (total,) = fields
        following = z.map(op.Gather, k, axis=axis)
        is_larger = following.re > total.re
        larger, smaller = where(is_larger, following, total), where(is_larger, total, following)
        added = log_of_one_more(exp(smaller - larger))
        total = where(op.IsInf(smaller.re), larger, larger + added)
        return Step([total], collected=total)

    collected = loop(shape[axis], [start], [], step, collects=start).collected
    assert collected is not None  # a total in each step
    order = [*range(1, axis + 1), 0, *range(axis + 1, len(shape))]
    return pair(collected.map(op.Transpose, perm=order))


# -- variance -------------------------------------------------------------------------------------------------

VARIANCES = (
    *("aten.var.correction", "aten.var.dim", "aten.var.default"),
    *("aten.std.correction", "aten.std.dim", "aten.std.default"),
    *("aten.var_mean.correction", "aten.var_mean.dim", "aten.var_mean.default"),
    *("aten.std_mean.correction", "aten.std_mean.dim", "aten.std_mean.default"),
)


@translates_complex(*VARIANCES)
def variance(call: Call, x: Complex, *args: Argument, **kwargs: Argument) -> Translated:
    """The sum of the variances of the parts: the mean square of the distances."""
    schema = schema_of(call.target)
    assert schema is not None  # an operator of ATen has one
    named = dict(zip([each.name for each in schema.arguments[1:]], args, strict=False)) | kwargs
    given = {name: value for name, value in named.items() if value is not None}
    dims = typed("int | Sequence[int] | None", given.get("dim"))
    correction = typed("float", given.get("correction", int(bool(given.get("unbiased", True)))))
    keepdim = bool(given.get("keepdim", False))
    real, imag = (variance_and_mean(call, each, dims, correction, keepdim) for each in (x.real, x.imag))
    spread = real[0] + imag[0]
    spread = op.Sqrt(spread) if ".std" in call.overload else spread
    return [spread, Complex(real[1], imag[1])] if "_mean" in call.overload else spread


# -- truth ----------------------------------------------------------------------------------------------------

TRUTH = (
    *("aten.any.default", "aten.any.dim", "aten.any.dims", "aten.all.default", "aten.all.dim"),
    *("aten.all.dims", "aten.count_nonzero.default", "aten.count_nonzero.dim_IntList"),
)


@translates_complex(*TRUTH)
def truth(call: Call, x: Complex, *args: Argument, **kwargs: Argument) -> Translated:
    return real_translation(call).function(call, nonzero(x), *args, **kwargs)
