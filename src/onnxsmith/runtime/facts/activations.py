"""Activations: exponentials that lose their digits near 1."""

from __future__ import annotations

import math

import numpy as np

from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.runtime.facts.fact import rewrite
from onnxsmith.types.dtypes import DType

#: The kernel is off by alpha times a rounding of 1: up to here, by less than 4 last places of numbers about 1.
_KERNEL_ALPHA = 4.0
#: The version that takes other element types than float32.
_MANY_TYPES = 28
#: The opset that brought Where.
_WHERE = 9


@rewrite(
    "Celu",
    "exp(x / alpha) - 1 loses the digits of x where alpha is large: all of them at 1e8",
    probe="g (float[N] x) => (float[N] y) { y = Celu <alpha = 1e30> (x) }",
    given={"x": np.array([-3, 0, 3], np.float32)},
    right=[np.array([-3, 0, 3], np.float32)],
    since=12,
)
def small_exponents(site: Site) -> bool:
    alpha = site.number("alpha", 1.0)
    dtype = DType.FLOAT if site.version < _MANY_TYPES else site.dtype(0)
    if not math.isfinite(alpha) or abs(alpha) <= _KERNEL_ALPHA:
        return False
    emit = site.emit
    # Doubles hold every quotient of two floats; e**z - 1 = tanh(z / 2) * (e**z + 1) takes nothing away from 1.
    x = emit.cast(site.input(0), DType.DOUBLE)
    scale, zero = emit.constant(alpha, DType.DOUBLE), emit.constant(0.0, DType.DOUBLE)
    z = emit.op("Div", x, scale)
    half = emit.op("Tanh", emit.op("Mul", z, emit.constant(0.5, DType.DOUBLE)))
    grown = emit.op("Mul", half, emit.op("Add", emit.op("Exp", z), emit.constant(1.0, DType.DOUBLE)))
    below = emit.op("Min", emit.op("Mul", grown, scale), zero)
    y = emit.op("Add", emit.op("Max", x, zero), below)
    if dtype is None:
        emit.op("CastLike", y, site.input(0), into=site.output(0))
    else:
        emit.cast(y, dtype, into=site.output(0))
    return True


@rewrite(
    "Softplus",
    "the kernel is for float32 alone, and the definition, log(exp(x) + 1), overflows where x is large",
    probe="g (double[N] x) => (double[N] y) { y = Softplus(x) }",
    given={"x": np.array([-1e3, 0, 1e3])},
    right=[np.array([0, math.log(2), 1e3])],
    opset=22,
    since=9,
    first="1.21",
    dtypes=[DType.DOUBLE],
)
def logarithm_of_a_small_exponential(site: Site) -> bool:
    emit, x = site.emit, site.input(0)
    if site.dtype(0) is not DType.DOUBLE or emit.version < _WHERE:
        return False
    zero, one = emit.constant(0.0, DType.DOUBLE), emit.constant(1.0, DType.DOUBLE)
    small = emit.op("Exp", emit.op("Neg", emit.op("Abs", x)))
    # log(1 + e) is log(w) / (w - 1) of e, with w as 1 + e is rounded: the two roundings cancel.
    rounded = emit.op("Add", small, one)
    above = emit.op("Sub", rounded, one)
    is_lost = emit.op("Equal", above, zero)
    slope = emit.op("Div", emit.op("Log", rounded), emit.where(is_lost, one, above))
    logarithm = emit.op("Mul", small, emit.where(is_lost, one, slope))
    emit.op("Add", emit.op("Max", x, zero), logarithm, into=site.output(0))
    return True
