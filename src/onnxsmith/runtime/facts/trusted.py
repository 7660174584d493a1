"""Small inputs that kernels take on trust: axes, counts, thresholds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.graphs.rewriting.terms import Terms
from onnxsmith.graphs.run_values import Array as RunArray
from onnxsmith.runtime.facts.bounds import are_int32
from onnxsmith.runtime.facts.empty import may_be_empty
from onnxsmith.runtime.facts.fact import Requirement, check, rewrite
from onnxsmith.types.dtypes import DType

_INT_MAX = 2**31 - 1
_NO_SUCH_AXIS = "the input has no such axis"
_TOO_MANY = "K is larger than any dimension"
#: The default of MeanVarianceNormalization: all but the channels of pictures.
_AXES = (0, 2, 3)


def _axis_is_beyond(attributes: Mapping[str, int], inputs: Sequence[RunArray]) -> str | None:
    """`axis_is_there`, for a call on arrays."""
    x, axis = inputs[0], inputs[1]
    if x.size or axis.size != 1 or -x.ndim <= int(axis.item()) < x.ndim:
        return None
    return _NO_SUCH_AXIS


@check(
    ("CumSum", "CumProd"),
    "the axis is not looked at where there are no elements",
    probe="g (float[N] x, int64 axis) => (float[N] y) { y = CumSum(x, axis) }",
    given={"x": np.ones(0, np.float32), "axis": np.array(7)},
    at_once=_axis_is_beyond,
)
def axis_is_there(site: Site) -> Iterator[Requirement]:
    if not may_be_empty(site):
        return
    axis, rank = site.constant(1), site.rank(0)
    if axis is not None and rank is not None:
        yield Requirement(all(-rank <= int(each) < rank for each in axis.ravel()), _NO_SUCH_AXIS)
        return
    terms, emit = Terms(site), site.emit
    given = emit.cast(site.input(1), DType.INT64)
    count = terms.name(terms.rank(0))
    # From -rank to rank - 1, without a negation that could overflow.
    is_before = emit.op("Less", emit.op("Add", given, count), emit.constant(0))
    is_past = emit.negated(emit.op("Less", given, count))
    yield Requirement(emit.all(emit.negated(emit.either(is_before, is_past))), _NO_SUCH_AXIS)


def _counts_too_far(attributes: Mapping[str, int], inputs: Sequence[RunArray]) -> str | None:
    """`count_is_small`, for a call on arrays."""
    is_counted = len(inputs) > 1 and inputs[1].size == 1
    return _TOO_MANY if is_counted and int(inputs[1].item()) > _INT_MAX else None


@check(
    "TopK",
    "K is cut to 32 bits",
    probe="g (float[N] x, int64[1] k) => (float[M] y, int64[M] i) { y, i = TopK(x, k) }",
    given={"x": np.ones(4, np.float32), "k": np.array([2**40])},
    at_once=_counts_too_far,
    since=10,
)
def count_is_small(site: Site) -> Iterator[Requirement]:
    if are_int32(site.scope, site.input(1)):
        return
    emit = site.emit
    is_large = emit.op("Greater", site.input(1), emit.constant(_INT_MAX))
    yield Requirement(emit.all(emit.negated(is_large)), _TOO_MANY)


def _is_no_scalar(attributes: Mapping[str, int], inputs: Sequence[RunArray]) -> str | None:
    """`one_limit_each`, for a call on arrays."""
    for name, each in zip(_LIMITS, inputs[2:], strict=False):
        if getattr(each, "size", 1) != 1:  # a hole is None
            return f"{name} must have one element"
    return None


_LIMITS = ("max_output_boxes_per_class", "iou_threshold", "score_threshold")


@check(
    "NonMaxSuppression",
    "it reads the first element of its limits, and there may be none",
    probe="g (float[B, N, 4] b, float[B, C, N] s, int64[K] n, float[A] i, float[M] t) => (int64[R, 3] y)"
    " { y = NonMaxSuppression(b, s, n, i, t) }",
    given={
        "b": np.array([[[0, 0, 1, 1]]], np.float32),
        "s": np.array([[[0.9]]], np.float32),
        "n": np.array([3]),
        "i": np.array([0.5], np.float32),
        "t": np.zeros(0, np.float32),
    },
    at_once=_is_no_scalar,
)
def one_limit_each(site: Site) -> Iterator[Requirement]:
    terms = Terms(site)
    for position, name in enumerate(_LIMITS, 2):
        if site.has(position):
            yield Requirement(terms.equal(terms.size(position), 1), f"{name} must have one element")


_NO_LIST = "size must be a list of 4 or 5 numbers"


def _has_no_list(attributes: Mapping[str, int], inputs: Sequence[RunArray]) -> str | None:
    """`size_is_a_list`, for a call on arrays."""
    return None if inputs[1].shape in ((4,), (5,)) else _NO_LIST


@check(
    "AffineGrid",
    "it asks a scalar for its length, and ends the process",
    probe="g (float[N, R, C] theta, int64[] size) => (float[] y) { y = AffineGrid(theta, size) }",
    given={"theta": np.ones((2, 3, 4), np.float32), "size": np.array(2)},
    at_once=_has_no_list,
    since=20,
)
def size_is_a_list(site: Site) -> Iterator[Requirement]:
    terms = Terms(site)
    yield Requirement(terms.equal(terms.rank(1), 1), _NO_LIST)
    yield Requirement(terms.is_one_of(terms.dimension(1, 0), (4, 5)), _NO_LIST)


@check(
    "CenterCropPad",
    "an empty list of axes is taken whatever the sizes are",
    probe="g (float[N, M] x, int64[K] s) => (float[A, B] y) { y = CenterCropPad <axes: ints = []> (x, s) }",
    given={"x": np.ones((2, 3), np.float32), "s": np.array([1])},
    since=18,
)
def one_size_for_each_axis(site: Site) -> Iterator[Requirement]:
    terms = Terms(site)
    if site.has_attribute("axes") and not site.integers("axes"):
        yield Requirement(terms.equal(terms.size(1), 0), "shape has sizes, and there are no axes")


@check(
    "CenterCropPad",
    "sizes that are negative, or past 32 bits, are overlooked",
    probe="g (float[N] x, int64[K] s) => (float[M] y) { y = CenterCropPad(x, s) }",
    given={"x": np.ones(4, np.float32), "s": np.array([-(2**63)])},
    since=18,
)
def sizes_of_a_tensor(site: Site) -> Iterator[Requirement]:
    reason = "shape must have sizes that are not negative, nor huge"
    known = site.constant(1)
    if known is not None:
        yield Requirement(all(0 <= int(each) <= _INT_MAX for each in known.ravel()), reason)
        return
    emit = site.emit
    sizes = emit.cast(site.input(1), DType.INT64)
    is_negative = emit.op("Less", sizes, emit.constant(0))
    wrong = emit.either(is_negative, emit.op("Greater", sizes, emit.constant(_INT_MAX)))
    yield Requirement(emit.negated(emit.any(wrong)), reason)


@check(
    "MeanVarianceNormalization",
    "axes that the input does not have are overlooked",
    probe="g (float[N] x) => (float[N] y) { y = MeanVarianceNormalization(x) }",
    given={"x": np.ones(3, np.float32)},
    opset=13,
    since=9,
)
def axes_are_there(site: Site) -> Iterator[Requirement]:
    axes, terms = site.integers("axes", _AXES), Terms(site)
    least = max([each + 1 if each >= 0 else -each for each in axes], default=0)
    yield Requirement(
        terms.compare("Greater", terms.rank(0), least - 1), f"axes={axes} need {least} dimensions at least"
    )


@rewrite(
    ("SequenceAt", "SequenceErase", "SequenceInsert"),
    "of several numbers for a place the first is taken, and of none whatever lies in memory",
    probe="g (float[N] x, int64[M] p) => (float[K] y) { s = SequenceConstruct(x, x) y = SequenceAt(s, p) }",
    given={"x": np.ones(2, np.float32), "p": np.array([0, 1])},
)
def one_place(site: Site) -> bool:
    last = 2 if site.node.op_type == "SequenceInsert" else 1
    if not site.has(last) or site.shape(last) in ((), (1,)):
        return False
    # What is not one element has no such shape.
    scalar = site.emit.op("Reshape", site.input(last), site.emit.constant(np.zeros(0, np.int64)))
    site.same_node([*site.node.input[:last], scalar])
    return True


_SLOPE_IS_LARGER = "slope must have a shape that spreads over X, and no more dimensions"


def _slope_is_larger(attributes: Mapping[str, int], inputs: Sequence[RunArray]) -> str | None:
    """`slope_spreads`, for a call on arrays."""
    x, slope = inputs[0].shape, inputs[1].shape
    behind = x[len(x) - len(slope) :] if len(slope) <= len(x) else ()
    fits = len(behind) == len(slope) and all(b in (1, a) for a, b in zip(behind, slope, strict=True))
    return None if fits else _SLOPE_IS_LARGER


@check(
    "PRelu",
    "X is spread over slope, too, where only slope may be spread over X",
    probe="g (float[N] x, float[M, N] s) => (float[M, N] y) { y = PRelu(x, s) }",
    given={"x": np.ones(3, np.float32), "s": np.ones((2, 3), np.float32)},
    at_once=_slope_is_larger,
    since=7,
)
def slope_spreads(site: Site) -> Iterator[Requirement]:
    terms, ranks = Terms(site), (site.rank(0), site.rank(1))
    yield Requirement(terms.negated(terms.compare("Less", terms.rank(0), terms.rank(1))), _SLOPE_IS_LARGER)
    for axis in range(-1, -1 - min(each or 0 for each in ranks), -1):
        size = terms.dimension(1, axis)
        holds = terms.any([terms.equal(size, 1), terms.equal(size, terms.dimension(0, axis))])
        yield Requirement(holds, _SLOPE_IS_LARGER)


@check(
    "Scan",
    "over a sequence without elements it gives what memory held for the states",
    probe="g (float[B, N] s, float[B, T, N] x) => (float[B, N] y, float[B, T, N] z) { y, z = Scan (, s, x)"
    " <num_scan_inputs = 1, body = b (float[N] now, float[N] each) => (float[N] next, float[N] out)"
    " { next = Add(now, each) out = Identity(next) }> }",
    given={"s": np.zeros((1, 2), np.float32), "x": np.ones((1, 0, 2), np.float32)},
    opset=8,
    since=8,
    until=8,
)
def something_to_scan(site: Site) -> Iterator[Requirement]:
    terms, count = Terms(site), len(site.node.input)
    for position in range(max(1, count - site.integer("num_scan_inputs", 1)), count):
        some = terms.negated(terms.equal(terms.dimension(position, 1), 0))
        yield Requirement(some, "there is nothing to scan: a sequence has no elements")
