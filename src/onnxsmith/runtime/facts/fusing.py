"""Fusions of ONNX Runtime's optimizer that change results."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx

from onnxsmith.graphs.rewriting.site import Array, Site
from onnxsmith.runtime.facts.fact import rewrite
from onnxsmith.types.dtypes import DType

_ONE = np.ones((1, 1))
_REASON = "a product of matrices and a number are fused, and the number is rounded to float32"
_SCALES = ("Mul", "Div")
#: What no transposition is moved through, and how many nodes are looked at behind a product.
_STOPS = ("MatMul", "Gemm", "Conv", "Reshape")
_FAR = 16
#: The numbers with which operators do nothing.
_NEUTRAL = {"Add": 0, "Sub": 0, "Mul": 1, "Div": 1}


# Before what concerns numbers beside products: one rewrite of a node is all, and this one meets both.
@rewrite(
    "MatMul",
    "the transposition of a matrix and its product with a vector are fused, and the product is another one",
    probe="g (float[2, 2] x, float[2] v) => (float[2] y) { t = Transpose(x) y = MatMul(t, v) }",
    given={"x": np.array([[1, 2], [3, 4]], np.float32), "v": np.array([1, 10], np.float32)},
    right=[np.array([31, 42], np.float32)],
    dtypes=[DType.FLOAT, DType.DOUBLE, DType.FLOAT16, DType.BFLOAT16],
    is_ordinary=True,
)
def transposed_times_vector(site: Site) -> bool:
    matrix, vector = site.input(0), site.input(1)
    if site.rank(1) not in (1, None) or not _may_be_transposed(site, matrix):
        return False
    scales = _SCALES if site.dtype(0) in (DType.DOUBLE, None) else ()
    return _replaced(site, [site.emit.op("Max", matrix), _apart(site, vector, scales)])


@rewrite(
    "MatMul",
    "the transposition of a matrix of doubles and a product are fused, for which there is no kernel",
    probe="g (double[2, 2] x, double[2, 2] v) => (double[2, 2] y) { t = Transpose(x) y = MatMul(t, v) }",
    given={"x": np.array([[1.0, 2.0], [3.0, 4.0]]), "v": np.eye(2)},
    right=[np.array([[1.0, 3.0], [2.0, 4.0]])],
    dtypes=[DType.DOUBLE],
    last="1.25",
    is_ordinary=True,
)
def transposed_doubles(site: Site) -> bool:
    inputs = [site.input(k) for k in (0, 1)]
    hidden = [site.emit.op("Max", each) if _may_be_transposed(site, each) else each for each in inputs]
    return _replaced(site, hidden)


@rewrite(
    "MatMul",
    "the transposition of a first dimension and a product are fused, which ends the process where it has no elements",
    probe="g (float[N, 1, 2] x, float[1, 2, 2] v) => (float[1, N, 2] y)"
    " { t = Transpose <perm = [1, 0, 2]> (x) y = MatMul(t, v) }",
    given={"x": np.ones((0, 1, 2), np.float32), "v": np.ones((1, 2, 2), np.float32)},
    right=[np.ones((1, 0, 2), np.float32)],
    dtypes=[DType.FLOAT],
)
def transposed_nothing(site: Site) -> bool:
    inputs = [site.input(k) for k in (0, 1)]
    hidden = [site.emit.op("Max", each) if _may_be_nothing_turned(site, each) else each for each in inputs]
    return _replaced(site, hidden)


def _may_be_nothing_turned(site: Site, name: str) -> bool:
    """True if a transposition of a first dimension that may be 0 is behind a value: the optimizer moves it down."""
    names, seen = [name], set[str]()
    while names and len(seen) < _FAR:
        producer = site.scope.producer(names.pop())
        if producer is None or producer.output[0] in seen or producer.op_type in _STOPS:
            continue
        seen.add(producer.output[0])
        if producer.op_type == "Transpose":
            order = next((list(each.ints) for each in producer.attribute if each.name == "perm"), None)
            is_moved = order is None or (len(order) > 2 and order[0] != 0)
            if is_moved and _may_begin_with_nothing(site.scope.type_of(producer.input[0])):
                return True
        names.extend(each for each in producer.input if each)
    return False


def _may_begin_with_nothing(found: onnx.TypeProto | None) -> bool:
    """True if a tensor may have more than two dimensions, and a first of 0."""
    if found is None or not found.tensor_type.HasField("shape"):
        return True
    dimensions = found.tensor_type.shape.dim
    return len(dimensions) > 2 and not dimensions[0].dim_value


def _may_be_transposed(site: Site, name: str) -> bool:
    """True if the optimizer may see a transposition behind a value; it looks through conversions."""
    producer = _behind(site, name, ("Cast", "Identity"))
    return producer is not None and (
        producer.op_type == "Transpose" or producer.domain not in ("", "ai.onnx")
    )


@rewrite(
    _SCALES,
    _REASON,
    probe="g (double[1, 1] x) => (double[1, 1] y) "
    "{ c = Constant <value = double {0.1}> () t = MatMul(x, x) s = Mul(t, c) y = Sub(s, c) }",
    given={"x": _ONE},
    right=[np.zeros((1, 1))],
    dtypes=[DType.DOUBLE],
    since=7,
    first="1.26",
)
def scaled_product(site: Site) -> bool:
    inputs = [_apart(site, site.input(k), ("MatMul",)) for k in (0, 1)]
    return _replaced(site, inputs) if any(_is_number(site, site.input(k)) for k in (0, 1)) else False


@rewrite(
    "MatMul",
    _REASON,
    probe="g (double[1, 1] x) => (double[1, 1] y) "
    "{ c = Constant <value = double {0.1}> () t = Mul(x, c) s = MatMul(t, x) y = Sub(s, c) }",
    given={"x": _ONE},
    right=[np.zeros((1, 1))],
    dtypes=[DType.DOUBLE],
    since=8,
    first="1.26",
)
def product_of_scaled(site: Site) -> bool:
    return _replaced(site, [_apart(site, site.input(k), _SCALES) for k in (0, 1)])


@rewrite(
    "QuantizeLinear",
    "two quantizations, one after the other, become one with another scale",
    probe="g (float[2] x) => (float[2] y) { s = Constant <value = float {0.1}> ()"
    " t = Constant <value = float {0.25}> () z = Constant <value = uint8 {128}> ()"
    " q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z)"
    " r = QuantizeLinear(d, t, z) y = DequantizeLinear(r, t, z) }",
    given={"x": np.array([12.6, -20], np.float32)},
    right=[np.array([12.5, -12.75], np.float32)],
    is_ordinary=True,
)
def quantized_twice(site: Site) -> bool:
    passing = ("Identity", "Dropout", "Cast", "Expand")
    producer = _behind(site, site.input(0), passing)
    while producer is not None and producer.op_type in _NEUTRAL:
        neutral = [_is_all(site.scope.constant(each), _NEUTRAL[producer.op_type]) for each in producer.input]
        if not any(neutral):
            return False
        producer = _behind(site, producer.input[neutral.index(True) - 1], passing)
    if producer is None or not site.input(2):
        return False
    if producer.domain in ("", "ai.onnx", "com.microsoft"):
        if producer.op_type != "DequantizeLinear" or len(producer.input) < 3:
            return False
        pairs = [[site.scope.constant(each.input[k]) for each in (producer, site.node)] for k in (1, 2)]
        # Lists of scales stay apart, and of two that are equal the first one is the result of both.
        if any(each is not None and each.size > 1 for each in pairs[0]) or all(map(_are_equal, pairs)):
            return False
    return _replaced(site, [site.emit.op("Max", site.input(0)), *site.node.input[1:]])


_PLACES_REASON = (
    "a range of places and the `Gather` of them become a `Slice`, which leaves out places that are not there, and gives"
    " nothing for places that count up to the end or down to the first"
)


@rewrite(
    "Gather",
    _PLACES_REASON,
    probe="g (double[N] x, int64 start) => (double[M] y) "
    "{ e = Constant <value = int64 {-1}> () r = Range(start, e, e) y = Gather(x, r) }",
    given={"x": np.array([1.0, 2.0, 3.0]), "start": np.array(2)},
    right=[np.array([3.0, 2.0, 1.0])],
    is_ordinary=True,
)
def range_around_an_end(site: Site) -> bool:
    producer = _behind(site, site.input(1), ("Identity",))
    if producer is None or producer.domain not in ("", "ai.onnx") or producer.op_type != "Range":
        return False
    start, end, step = (_whole(site, each) for each in producer.input)
    if step is None or (start is not None and end is not None):
        return False  # what is constant is folded
    if step < 0:
        is_around = end is not None and end < 0
    else:
        is_around = end == 0 or (start is not None and start < 0)
    return is_around and _hide_places(site)


def _is_all(content: Array | None, number: int) -> bool:
    return content is not None and bool((content == number).all())


def _are_equal(pair: Sequence[Array | None]) -> bool:
    first, second = pair
    return first is not None and second is not None and np.array_equal(first, second)


def _whole(site: Site, name: str) -> int | None:
    """An integer that is the same in every run."""
    found = site.scope.constant(name)
    return int(found.flat[0]) if found is not None and found.size == 1 and found.dtype.kind in "iu" else None


@rewrite(
    "Gather",
    _PLACES_REASON,
    probe="g (double[N] x, int64 start, int64 end) => (double[M] y) "
    "{ o = Constant <value = int64 {1}> () r = Range(start, end, o) y = Gather(x, r) }",
    given={"x": np.array([1.0, 2.0, 3.0]), "start": np.array(-2), "end": np.array(0)},
    right=[np.array([2.0, 3.0])],
)
def range_of_places(site: Site) -> bool:
    producer = _behind(site, site.input(1), ("Identity",))
    if producer is None or (producer.domain in ("", "ai.onnx") and producer.op_type != "Range"):
        return False
    if producer.op_type == "Range" and _is_within(site, producer.input):
        return False
    return _hide_places(site)


def _hide_places(site: Site) -> bool:
    """Let the optimizer not see that the places of a `Gather` are a range."""
    places = site.input(1)
    # `Max` has integers since opset 12.
    hidden = (
        site.emit.op("Max", places)
        if site.version >= 12
        else site.emit.op("Neg", site.emit.op("Neg", places))
    )
    return _replaced(site, [site.input(0), hidden])


def _is_within(site: Site, ends: Sequence[str]) -> bool:
    """True if a range goes up from a place to the size of what is looked at: then a `Slice` is the same."""
    start, step = (site.scope.constant(ends[k]) for k in (0, 2))
    if start is None or step is None or int(start.flat[0]) < 0 or int(step.flat[0]) <= 0:
        return False
    size = _behind(site, ends[1], ("Identity", "Squeeze", "Reshape"))
    if size is not None and size.op_type == "Gather":
        axis = site.scope.constant(size.input[1])
        size = site.scope.producer(size.input[0])
        is_measured = axis is not None and axis.size == 1 and int(axis.flat[0]) == site.integer("axis", 0)
    else:
        is_measured = site.rank(0) == 1
    if size is None or size.op_type not in ("Shape", "Size") or size.attribute or not is_measured:
        return False
    return size.input[0] == site.input(0) and (size.op_type == "Shape" or site.rank(0) == 1)


def _behind(site: Site, name: str, passing: tuple[str, ...]) -> onnx.NodeProto | None:
    """The node that makes a value, behind operators that hand it on."""
    producer = site.scope.producer(name)
    while producer is not None and producer.op_type in passing:
        producer = site.scope.producer(producer.input[0])
    return producer


def _apart(site: Site, name: str, operators: tuple[str, ...]) -> str:
    """A value that the optimizer does not see through, where one of the operators makes it: the `Max` of it alone."""
    producer = site.scope.producer(name)
    if producer is None:
        return name
    if producer.domain not in ("", "ai.onnx"):
        # A call of a function, which the engine inlines before it optimizes, may end with any of them.
        return site.emit.op("Max", name)
    if producer.op_type not in operators:
        return name
    if producer.op_type != "MatMul" and not any(_is_number(site, each) for each in producer.input):
        return name
    return site.emit.op("Max", name)


def _is_number(site: Site, name: str) -> bool:
    """True if a value is one number that may be known when the model is loaded."""
    known = site.scope.constant(name)
    return site.scope.may_be_fixed(name) if known is None else known.size == 1


def _replaced(site: Site, inputs: list[str]) -> bool:
    if inputs == list(site.node.input):
        return False
    site.same_node(inputs)
    return True
