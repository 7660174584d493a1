"""Reductions: axes counted from the end of nothing, and integers that are added and multiplied as doubles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from onnxsmith.graphs.rewriting.branches import choose, repeat
from onnxsmith.graphs.rewriting.emitter import Emitter
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.graphs.rewriting.terms import Terms
from onnxsmith.runtime.facts.bounds import EXACT_BITS, are_dimensions, bits
from onnxsmith.runtime.facts.empty import may_be_empty
from onnxsmith.runtime.facts.fact import Requirement, check, rewrite
from onnxsmith.runtime.facts.reducing import Reduction, counted_from_the_front
from onnxsmith.types.dtypes import DType

_REDUCTIONS = (
    "ReduceSum",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSumSquare",
)


_LARGEST = 2**63 - 1
_FACTORS = np.array([[3**20, 3**19], [3**40 // 7, 3**20]])
_INTEGERS = (DType.INT32, DType.INT64)
#: The first opset of which ONNX Runtime promises anything; what is emitted here is of it.
_OLDEST = 7
#: Bits of a part of an integer: sums of 2**31 such parts are exact in doubles.
_PART_BITS = 22
#: Bits of a number of elements of 16 bits or less.
_COUNT_BITS = EXACT_BITS - 16


def _is_small_sum(site: Site, most: int) -> bool:
    """True if a sum certainly stays below 2**most."""
    if are_dimensions(site.scope, site.input(0)):
        return most >= EXACT_BITS
    length = bits(site.scope, site.input(0))
    if length is None:
        return False
    shape = site.shape(0)
    is_known = shape is not None and None not in shape
    count = int(np.prod([each or 0 for each in shape or ()])).bit_length() if is_known else _COUNT_BITS
    return (2 * length if site.node.op_type == "ReduceSumSquare" else length) + count <= most


@rewrite(
    ("ReduceSum", "ReduceL1", "ReduceSumSquare"),
    "integers are added as doubles, which lose digits past 2**53 and do not wrap around as in numpy",
    probe="g (int64[N, M] x, int64[K] axes) => (int64[N] y) { y = ReduceSum <keepdims = 0> (x, axes) }",
    given={"x": np.array([[_LARGEST, 5], [2**53, 1]]), "axes": np.array([1])},
    right=[np.array([4 - 2**63, 2**53 + 1])],
    since=_OLDEST,
    dtypes=_INTEGERS,
    first="1.27",
)
def added_as_doubles(site: Site) -> bool:
    dtype, emit, operator = site.dtype(0), site.emit, site.node.op_type
    most = 31 if dtype is DType.INT32 else EXACT_BITS
    if dtype is None or dtype not in _INTEGERS or _is_small_sum(site, most):
        return False
    reduction, value = Reduction(site), site.input(0)
    # Doubles tell whether they are enough: most sums are small, and testing costs less than adding in parts.
    doubles = emit.cast(value, DType.DOUBLE)
    size = emit.reduce("SumSquare" if operator == "ReduceSumSquare" else "L1", doubles)
    fits = emit.op("Less", size, emit.constant(2.0**most, DType.DOUBLE))

    def as_it_is(inner: Emitter, names: Mapping[str, str]) -> None:
        reduction.of(inner, operator, value, into=names[site.output(0)])

    def in_parts(inner: Emitter, names: Mapping[str, str]) -> None:
        terms = inner.cast(value, DType.INT64)
        if operator == "ReduceL1":
            terms = inner.op("Abs", terms)
        elif operator == "ReduceSumSquare":
            terms = inner.op("Mul", terms, terms)
        total = _sum_in_parts(inner, reduction, terms)
        inner.cast(total, dtype, into=names[site.output(0)])

    choose(emit, fits, [site.output(0)], as_it_is, in_parts)
    return True


def _sum_in_parts(emit: Emitter, reduction: Reduction, value: str) -> str:
    """The sum of INT64 from sums of its digits, which doubles hold; put together in INT64, which wraps around."""
    base = emit.constant(1 << _PART_BITS)
    sums: list[str] = []
    for _ in range(64 // _PART_BITS):
        rest = emit.op("Div", value, base)
        digit = emit.op("Sub", value, emit.op("Mul", rest, base))
        sums.append(reduction.of(emit, "ReduceSum", digit))
        value = rest
    total = reduction.of(emit, "ReduceSum", value)
    for each in reversed(sums):
        total = emit.op("Add", emit.op("Mul", total, base), each)
    return total


#: The opset that brought what a loop over axes is made of.
_SCATTER = 11


@rewrite(
    "ReduceProd",
    "integers are multiplied as doubles, which lose digits past 2**53 and do not wrap around as in numpy",
    probe="g (int64[N, M] x, int64[K] axes) => (int64[N] y) { y = ReduceProd <keepdims = 0> (x, axes) }",
    given={"x": _FACTORS, "axes": np.array([1])},
    right=[_FACTORS.prod(axis=1)],
    since=_SCATTER,
    dtypes=_INTEGERS,
    first="1.27",
)
def multiplied_as_doubles(site: Site) -> bool:
    dtype, emit, value = site.dtype(0), site.emit, site.input(0)
    if dtype is None or dtype not in _INTEGERS or are_dimensions(site.scope, value):
        return False
    reduction = Reduction(site)
    product = reduction.of(emit, "ReduceProd", emit.cast(value, DType.DOUBLE))
    # Infinity times 0 is no number, and that is not less than anything.
    most = emit.constant(2.0 ** (31 if dtype is DType.INT32 else EXACT_BITS), DType.DOUBLE)
    fits = emit.op("Less", emit.reduce("L1", product), most)

    def as_it_is(inner: Emitter, names: Mapping[str, str]) -> None:
        inner.cast(product, dtype, into=names[site.output(0)])

    def one_by_one(inner: Emitter, names: Mapping[str, str]) -> None:
        result = _product_one_by_one(inner, value, dtype, reduction.axes(inner, value))
        # What has no elements fits: no dimension here is 0, which would be another's to Reshape.
        inner.op("Reshape", result, inner.op("Shape", product), into=names[site.output(0)])

    choose(emit, fits, [site.output(0)], as_it_is, one_by_one)
    return True


def _product_one_by_one(emit: Emitter, value: str, dtype: DType, axes: str) -> str:
    """The product over axes, which keep a length of 1. As slow as a loop is: for products that are not worth much."""

    def along_axis(inner: Emitter, number: str, tensor: str) -> str:
        axis = inner.op("Gather", axes, inner.unsqueeze(number, [0]))
        shape = inner.op("Shape", tensor)
        short = inner.op("ScatterElements", shape, axis, inner.constant([1]))
        start = inner.op("Expand", inner.constant(1, dtype), short)

        def times(innermost: Emitter, place: str, product: str) -> str:
            first = innermost.unsqueeze(place, [0])
            end = innermost.op("Add", first, innermost.constant([1]))
            return innermost.op("Mul", product, innermost.op("Slice", tensor, first, end, axis))

        length = inner.op("Squeeze", inner.op("Gather", shape, axis))
        return repeat(inner, length, start, dtype, times)

    return repeat(emit, emit.size(axes), value, dtype, along_axis)


@rewrite(
    ("ReduceMax", "ReduceMin"),
    "the greatest and the least of no booleans are refused, which are False and True",
    probe="g (bool[N, M] x, int64[K] axes) => (bool[N] y) { y = ReduceMax <keepdims = 0> (x, axes) }",
    given={"x": np.ones((3, 0), np.bool_), "axes": np.array([1])},
    right=[np.zeros(3, np.bool_)],
    opset=20,
    since=20,
    dtypes=[DType.BOOL],
    first="1.21",  # 1.20 refuses the greatest of nothing for every element type
)
def of_no_booleans(site: Site) -> bool:
    if site.dtype(0) is not DType.BOOL or not may_be_empty(site):
        return False
    emit = site.emit
    # As numbers: the greatest is positive where any is 1; the least of none is the largest number there is.
    numbers = emit.cast(site.input(0), DType.INT32)
    reduced = emit.names.after(site.output(0))
    inputs = [numbers, *site.node.input[1:]]
    if site.has(1):
        inputs[1] = counted_from_the_front(site) or inputs[1]
    site.same_node(inputs, [reduced])
    emit.op("Greater", reduced, emit.constant(0, DType.INT32), into=site.output(0))
    return True


@rewrite(
    _REDUCTIONS,
    "over a negative axis of a tensor without elements, the result keeps that axis with its length of 0",
    probe="g (float[N, M] x, int64[K] axes) => (float[N] y) { y = ReduceSum <keepdims = 0> (x, axes) }",
    given={"x": np.ones((3, 0), np.float32), "axes": np.array([-1])},
    right=[np.zeros(3, np.float32)],
)
def axes_from_the_front(site: Site) -> bool:
    if not may_be_empty(site):
        return False
    rank = site.rank(0)
    if site.has(1):
        counted = counted_from_the_front(site)
        if counted is None:
            return False
        site.same_node([site.input(0), counted])
        return True
    listed = site.integers("axes")
    if rank is None or not any(each < 0 for each in listed):
        return False
    site.same_node([site.input(0)], changed={"axes": [each + rank if each < 0 else each for each in listed]})
    return True


@check(
    _REDUCTIONS,
    "over a negative axis of a tensor without elements, the result keeps that axis with its length of 0",
    until=17,
    # No probe: the one of `axes_from_the_front`; here the axes are an attribute, and nobody knows the rank
)
def axes_that_cannot_be_counted(site: Site) -> Iterator[Requirement]:
    if site.rank(0) is None and any(each < 0 for each in site.integers("axes")):
        reason = "a tensor without elements whose rank only a run tells; count axes from the front"
        yield Requirement(Terms(site).has_elements(0), reason)
