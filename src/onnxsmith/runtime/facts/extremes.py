"""Greatest and least of INT64: the kernels take the low halves of two numbers for signed where the high ones agree.

Comparing is right, and so are the numbers of INT32. A position of the greatest (ArgMax, TopK) is found right, too.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from onnxsmith.graphs.rewriting.branches import choose
from onnxsmith.graphs.rewriting.emitter import Emitter
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.runtime.facts.bounds import EXACT_BITS, are_int32
from onnxsmith.runtime.facts.fact import rewrite
from onnxsmith.runtime.facts.reducing import Reduction
from onnxsmith.types.dtypes import DType

#: The first version of ONNX Runtime that compares so.
_FIRST = "1.21"
_REASON = "the low halves of 64-bit integers are compared as if they were signed"
#: The opsets that brought integers to operators.
_MAX_OF_INTEGERS = 12
_COMPARED_INTEGERS = 9
_RELU_OF_INTEGERS = 14
#: The first opset of which ONNX Runtime promises anything; what is emitted here is of it.
_OLDEST = 7
_NUMBERS = np.array([1, 3, 2**32 - 1, 2, -(2**63), -(2**32), 2**62, 2**62 + 2**31])
_OTHERS = np.array([2**31, 2**32 - 2, 3, 2, -(2**63) + 2**31, -1, 2**62 + 2**31, 2**62])


def _concerns(site: Site) -> bool:
    """True if inputs are of INT64, and a number in them may be too large for INT32."""
    given = [each for each in site.node.input if each]
    return site.dtype(0) is DType.INT64 and not all(are_int32(site.scope, each) for each in given)


@rewrite(
    ("Max", "Min"),
    _REASON,
    probe="g (int64[N] a, int64[N] b) => (int64[N] y) { y = Max(a, b) }",
    given={"a": _NUMBERS, "b": _OTHERS},
    right=[np.maximum(_NUMBERS, _OTHERS)],
    first=_FIRST,
    since=_MAX_OF_INTEGERS,
    dtypes=[DType.INT64],
)
def low_halves_between_tensors(site: Site) -> bool:
    found, *others = site.node.input
    if not others or not _concerns(site):
        return False
    emit, is_better = site.emit, "Greater" if site.node.op_type == "Max" else "Less"
    for number, other in enumerate(others, start=1):
        into = site.output(0) if number == len(others) else None
        found = emit.where(emit.op(is_better, found, other), found, other, into=into)
    return True


@rewrite(
    "Clip",
    _REASON,
    probe="g (int64[N] x, int64 low, int64 high) => (int64[N] y) { y = Clip(x, low, high) }",
    given={"x": _NUMBERS, "low": np.array(2), "high": np.array(2**33)},
    right=[_NUMBERS.clip(2, 2**33)],
    first=_FIRST,
    since=_MAX_OF_INTEGERS,
    dtypes=[DType.INT64],
)
def low_halves_against_bounds(site: Site) -> bool:
    bounds = [(test, place) for test, place in (("Less", 1), ("Greater", 2)) if site.has(place)]
    # A bound that is no scalar is refused by the kernel.
    if not bounds or any(site.rank(place) not in (0, None) for _, place in bounds) or not _concerns(site):
        return False
    emit, value = site.emit, site.input(0)
    for test, place in bounds:
        bound, into = site.input(place), site.output(0) if place == bounds[-1][1] else None
        if site.rank(place) is None:
            bound = emit.op("Reshape", bound, emit.constant(np.zeros(0, np.int64)))
        value = emit.where(emit.op(test, value, bound), bound, value, into=into)
    return True


@rewrite(
    "Relu",
    _REASON + "; there is no kernel, and the function body asks for the greater",
    probe="g (int64[N] x) => (int64[N] y) { y = Relu(x) }",
    given={"x": _NUMBERS},
    right=[_NUMBERS.clip(0)],
    first=_FIRST,
    since=_RELU_OF_INTEGERS,
    dtypes=[DType.INT64],
)
def low_halves_in_a_body(site: Site) -> bool:
    if not _concerns(site):
        return False
    emit, value, zero = site.emit, site.input(0), site.emit.constant(0)
    emit.where(emit.op("Greater", value, zero), value, zero, into=site.output(0))
    return True


@rewrite(
    "Sign",
    _REASON,
    probe="g (int64[N] x) => (int64[N] y) { y = Sign(x) }",
    given={"x": _NUMBERS},
    right=[np.sign(_NUMBERS)],
    first=_FIRST,
    since=_COMPARED_INTEGERS,
    dtypes=[DType.INT64],
)
def low_halves_against_zero(site: Site) -> bool:
    if not _concerns(site):
        return False
    emit, zero = site.emit, site.emit.constant(0)
    is_above, is_below = (emit.op(test, site.input(0), zero) for test in ("Greater", "Less"))
    emit.op("Sub", emit.cast(is_above, DType.INT64), emit.cast(is_below, DType.INT64), into=site.output(0))
    return True


@rewrite(
    ("ReduceMax", "ReduceMin"),
    _REASON,
    probe="g (int64[N, M] x, int64[K] axes) => (int64[N] y) { y = ReduceMax <keepdims = 0> (x, axes) }",
    given={"x": np.stack([_NUMBERS[:4], 2**62 + _NUMBERS[:4]]), "axes": np.array([1])},
    right=[np.array([2**32 - 1, 2**62 + 2**32 - 1])],
    first=_FIRST,
    since=_OLDEST,
    dtypes=[DType.INT64],
)
def low_halves_in_a_tensor(site: Site) -> bool:
    value, operator, emit = site.input(0), site.node.op_type, site.emit
    if site.dtype(0) is not DType.INT64 or are_int32(site.scope, value):
        return False
    reduction = Reduction(site)
    # Rounding to a double keeps the order. Results that doubles hold are not rounded; most are so.
    doubles = emit.cast(value, DType.DOUBLE)
    rounded = reduction.of(emit, operator, doubles)
    fits = emit.op("Less", emit.reduce("L1", rounded), emit.constant(2.0**EXACT_BITS, DType.DOUBLE))

    def as_it_is(inner: Emitter, names: Mapping[str, str]) -> None:
        inner.cast(rounded, DType.INT64, into=names[site.output(0)])

    def exactly(inner: Emitter, names: Mapping[str, str]) -> None:
        found = _exact_extreme(inner, reduction, operator, value, doubles)
        # What has no elements fits: no dimension here is 0, which would be another's to Reshape.
        inner.op("Reshape", found, inner.op("Shape", rounded), into=names[site.output(0)])

    choose(emit, fits, [site.output(0)], as_it_is, exactly)
    return True


def _exact_extreme(emit: Emitter, reduction: Reduction, operator: str, value: str, doubles: str) -> str:
    """The greatest or least, its axes kept: among those that round to the greatest or least double.

    They are close to that double: their distances are numbers of INT32, for which the kernel is right.
    """
    rounded = reduction.of(emit, operator, doubles, keeps_axes=True)
    # Half of it, because 2**63 is a double but no INT64; twice that may wrap around, and is added again in the end.
    half = emit.cast(emit.op("Mul", rounded, emit.constant(0.5, DType.DOUBLE)), DType.INT64)
    # Of no elements the greatest is what the kernel says, and a double that is infinite.
    has_some = emit.cast(emit.cast(emit.size(value), DType.BOOL), DType.INT64)
    near = emit.op("Mul", half, emit.op("Add", has_some, has_some))
    is_less, last = ("Less", -(2**31)) if operator == "ReduceMax" else ("Greater", 2**31 - 1)
    is_among = emit.cast(emit.negated(emit.op(is_less, doubles, rounded)), DType.INT64)
    # Arithmetic, because Where came with opset 9.
    above_last = emit.op("Sub", emit.op("Sub", value, near), emit.constant(last))
    distances = emit.op("Add", emit.op("Mul", above_last, is_among), emit.constant(last))
    return emit.op("Add", reduction.of(emit, operator, distances, keeps_axes=True), near)
