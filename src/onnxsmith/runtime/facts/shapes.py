"""Shapes and axes: what is taken on trust, or read otherwise than ONNX defines it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from onnxsmith.graphs.rewriting.branches import choose
from onnxsmith.graphs.rewriting.copies import copied_nodes
from onnxsmith.graphs.rewriting.emitter import Emitter
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.graphs.rewriting.terms import Condition, Terms
from onnxsmith.graphs.run_values import Array as RunArray
from onnxsmith.runtime.facts.fact import Requirement, check, refusal, rewrite
from onnxsmith.schema.einsum_equation import read_equation
from onnxsmith.types.dtypes import DType

#: More than any memory holds.
_MOST_ELEMENTS = float(1 << 48)

_INT_MAX = 2**31 - 1
#: No runtime computes a tensor of more dimensions than this, and each one that a shape lists costs memory.
_MOST_DIMENSIONS = 1 << 12
#: Operators that give vectors as short as the rank of a tensor, or a few numbers of one, in all that exporters write.
_SHORT = frozenset({"Shape", "Constant", "Unsqueeze", "Gather"})


@rewrite(
    "Squeeze",
    "an empty list of axes is taken for no list, which means all of them",
    probe="g (float[N, M] x, int64[K] axes) => (float[N, M] y) { y = Squeeze(x, axes) }",
    given={"x": np.ones((1, 2), np.float32), "axes": np.zeros(0, np.int64)},
    right=[np.ones((1, 2), np.float32)],
    since=13,
)
def squeeze_nothing(site: Site) -> bool:
    if not site.has(1):
        return False
    terms, emit = Terms(site), site.emit
    has_axes = terms.has_elements(1)
    if has_axes is True:
        return False
    if has_axes is False:
        emit.op("Identity", site.input(0), into=site.output(0))
        return True

    def squeeze(inner: Emitter, names: Mapping[str, str]) -> None:
        inner.nodes.extend(copied_nodes([site.node], names))

    def leave(inner: Emitter, names: Mapping[str, str]) -> None:
        inner.op("Identity", site.input(0), into=names[site.output(0)])

    choose(emit, has_axes, [site.output(0)], squeeze, leave)
    return True


@rewrite(
    "Slice",
    "with a negative step, an end of INT_MAX or more is taken for the first element, where nothing lies between",
    probe="g (float[N] x, int64[K] s, int64[K] e, int64[K] a, int64[K] t) => (float[M] y) { y = Slice(x, s, e, a, t) }",
    given={
        "x": np.ones(3, np.float32),
        "s": np.array([2]),
        "e": np.array([2**31 - 1]),
        "a": np.array([0]),
        "t": np.array([-1]),
    },
    right=[np.ones(0, np.float32)],
    since=10,
)
def backwards_to_far_away(site: Site) -> bool:
    if not site.has(4):
        return False
    steps, ends = site.constant(4), site.constant(2)
    if steps is not None and not (steps.astype(np.int64) < 0).any():
        return False
    if ends is not None and not (ends.astype(np.int64) >= _INT_MAX).any():
        return False
    emit = site.emit
    dtype = site.dtype(2) or DType.INT64
    limit = emit.constant(_INT_MAX - 1, dtype)
    is_far = emit.op("Greater", site.input(2), limit)
    is_backwards = emit.op("Less", site.input(4), emit.constant(0, dtype))
    end = emit.where(emit.both(is_far, is_backwards), limit, site.input(2))
    inputs = list(site.node.input)
    inputs[2] = end
    site.same_node(inputs)
    return True


def _differ(attributes: Mapping[str, int], inputs: Sequence[RunArray]) -> str | None:
    """`fits_together`, for a call on arrays."""
    axis = attributes.get("axis", 1)
    first = inputs[0].shape
    rank = len(first)
    place = axis + rank if axis < 0 else axis
    for each in inputs:
        shape = each.shape
        if len(shape) != rank or shape[:place] != first[:place] or shape[place + 1 :] != first[place + 1 :]:
            return f"the inputs must have the same dimensions, but for axis {axis}"
    return None


@check(
    ("Softmax", "LogSoftmax", "Hardmax"),
    "an axis is cut to 32 bits",
    probe="g (float[N, M] x) => (float[N, M] y) { y = Softmax <axis = 4294967297> (x) }",
    given={"x": np.ones((2, 2), np.float32)},
)
def axis_is_no_longer_than_32_bits(site: Site) -> Iterator[Requirement]:
    axis = site.integer("axis", 0)
    yield Requirement(-_INT_MAX <= axis <= _INT_MAX, f"there is no axis {axis}")


@check(
    "Concat",
    "shapes are not compared where an input has no elements: it writes past the end, or gives what memory held",
    probe="g (float[A, B] x, float[C, D] y) => (float[E, F] z) { z = Concat <axis = 1> (x, y) }",
    given={"x": np.ones((1, 2), np.float32), "y": np.ones((0, 2), np.float32)},
    at_once=_differ,
)
def fits_together(site: Site) -> Iterator[Requirement]:
    terms = Terms(site)
    axis = site.integer("axis", 1)
    ranks = [site.rank(k) for k in range(len(site.node.input))]
    known = next((each for each in ranks if each is not None), None)
    if len(ranks) < 2 or all(each == 1 for each in ranks):
        return  # a vector has no other dimension to compare
    reason = f"the inputs must have the same dimensions, but for axis {axis}"
    if known is not None and all(each == known for each in ranks):
        if not -known <= axis < known:
            yield Requirement(False, f"axis is {axis}, but the inputs have {known} dimensions")
            return
        others = [each for each in range(known) if each != axis % known]
        same: list[Condition] = [
            _same_dimension(terms, position, each) for position in range(1, len(ranks)) for each in others
        ]
        yield Requirement(terms.all(same), reason)
        return
    yield Requirement(_same_shapes(site, axis), reason)


def _same_dimension(terms: Terms, position: int, axis: int) -> Condition:
    # By their sizes: nobody makes sure that dimensions of one name have one.
    if terms.equal(terms.dimension(0, axis), terms.dimension(position, axis)) is True:
        return True
    # Where inference says that they differ, it may be wrong: the run decides.
    emit = terms.emit
    sizes = [emit.dimension(terms.site.input(each), axis) for each in (0, position)]
    return emit.op("Equal", *sizes)


def _same_shapes(site: Site, axis: int) -> str:
    """True if inputs of unknown rank have the same shape but for one axis."""
    emit = site.emit
    shapes = [emit.op("Shape", name) for name in site.node.input]
    count = emit.rank(site.input(0))
    result: str | None = None
    for name, shape in zip(site.node.input[1:], shapes[1:], strict=True):
        other = emit.rank(name)
        # Both shapes as long as the longer one, so that comparing never fails.
        padding = [emit.op("ConstantOfShape", emit.op("Shape", each)) for each in (shape, shapes[0])]
        first = emit.op("Concat", shapes[0], emit.cast(padding[0], DType.INT64), axis=0)
        second = emit.op("Concat", shape, emit.cast(padding[1], DType.INT64), axis=0)
        places = emit.op("Range", emit.constant(0), emit.op("Add", count, other), emit.constant(1))
        place = emit.constant(axis) if axis >= 0 else emit.op("Add", count, emit.constant(axis))
        same = emit.all(emit.either(emit.op("Equal", first, second), emit.op("Equal", places, place)))
        both = emit.both(same, emit.op("Equal", count, other))
        result = both if result is None else emit.both(result, both)
    assert result is not None, "there are two inputs at least"
    return result


@check(
    "GatherND",
    "it trusts batch_dims, and ends the process",
    probe="g (float[A, B, C] x, int64[D, E, F] i) => (float[G, H] y) { y = GatherND <batch_dims = -100> (x, i) }",
    given={"x": np.ones((2, 2, 2), np.float32), "i": np.zeros((2, 0, 2), np.int64)},
    since=12,
)
def batch_dims_are_there(site: Site) -> Iterator[Requirement]:
    terms, count = Terms(site), site.integer("batch_dims", 0)
    yield Requirement(count >= 0, f"batch_dims is {count}")
    if count:
        for position, name in enumerate(("data", "indices")):
            holds = terms.compare("Greater", terms.rank(position), count)
            yield Requirement(holds, f"batch_dims is {count}, and {name} does not have more dimensions")


@check(
    "ReverseSequence",
    "it trusts its axes, and ends the process",
    probe="g (float[] x, int64[M] n) => (float[] y) { y = ReverseSequence <batch_axis = 0, time_axis = 1> (x, n) }",
    given={"x": np.ones(16, np.float32), "n": np.array([0, 2, 3, 4])},
)
def has_both_axes(site: Site) -> Iterator[Requirement]:
    terms = Terms(site)
    batch, time = site.integer("batch_axis", 1), site.integer("time_axis", 0)
    yield Requirement(sorted((batch, time)) == [0, 1], "batch_axis and time_axis must be 0 and 1")
    yield Requirement(
        terms.compare("Greater", terms.rank(0), 1), "the input must have two dimensions at least"
    )
    if sorted((batch, time)) == [0, 1]:
        one_each = terms.equal(terms.size(1), terms.dimension(0, batch))
        yield Requirement(one_each, f"sequence_lens must have one length for each entry of axis {batch}")


@check(
    "Split",
    "num_outputs is not compared with the number of outputs",
    probe="g (float[N] x) => (float[A] a, float[B] b) { a, b = Split <num_outputs = 3> (x) }",
    given={"x": np.ones(6, np.float32)},
    since=18,
)
def as_many_outputs(site: Site) -> Iterator[Requirement]:
    count = site.integer("num_outputs", len(site.node.output))
    outputs = len(site.node.output)
    yield Requirement(count == outputs, f"num_outputs is {count}, but there are {outputs} outputs")


@check(
    "Split",
    "an empty list of sizes is taken for no list",
    probe="g (float[N] x, int64[K] s) => (float[A] a, float[B] b) { a, b = Split(x, s) }",
    given={"x": np.ones(6, np.float32), "s": np.zeros(0, np.int64)},
    opset=13,
    since=13,
)
def has_sizes(site: Site) -> Iterator[Requirement]:
    if site.has(1):
        yield Requirement(Terms(site).has_elements(1), "split has no sizes")


@check(
    ("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"),
    "only sizes are compared, of some dimensions",
    probe="g (float[N, C, D] x, int64[M, E] t) => (float y) { y = SoftmaxCrossEntropyLoss (x, t) }",
    given={"x": np.ones((3, 5, 2), np.float32), "t": np.zeros((2, 2), np.int64)},
    opset=13,
)
def one_label_for_each(site: Site) -> Iterator[Requirement]:
    rank, terms = site.rank(1), Terms(site)
    yield Requirement(terms.compare("Greater", terms.rank(0), 1), "scores must have a batch and a class axis")
    if site.has(2):
        reason = "weight must have one number for each class"
        yield Requirement(terms.equal(terms.rank(2), 1), reason)
        yield Requirement(terms.equal(terms.dimension(2, 0), terms.dimension(0, 1)), reason)
    if rank is None:
        emit = site.emit
        scores = emit.op("Shape", site.input(0))
        wanted = emit.op("Concat", emit.slice(scores, 0, 1), emit.slice(scores, 2, _INT_MAX), axis=0)
        same = emit.op("Equal", wanted, emit.op("Shape", site.input(1)))
        yield Requirement(emit.all(same), "labels and scores have different sizes")
        return
    for axis in range(rank):
        scores = terms.dimension(0, 0 if axis == 0 else axis + 1)
        yield Requirement(
            terms.equal(scores, terms.dimension(1, axis)), "labels and scores have different sizes"
        )


@check(
    "Einsum",
    "it does not compare the equation with the dimensions of inputs without elements, and ends the process",
    probe='g (double[] x, double[] y) => (double[] z) { z = Einsum <equation = "ij,jk->ik"> (x, y) }',
    given={"x": np.zeros(0), "y": np.ones(15)},
)
def equation_fits(site: Site) -> Iterator[Requirement]:
    terms = Terms(site)
    equation = site.text("equation", "").replace(" ", "")
    read = read_equation(equation)
    if read is None:
        yield Requirement(
            False, f"{equation} is no equation of terms of letters, with one ... at most in each"
        )
        return
    operands = read.inputs
    if len(operands) != len(site.node.input):
        count = len(site.node.input)
        yield Requirement(False, f"the equation {equation} has {len(operands)} terms for {count} inputs")
        return
    seen: dict[str, tuple[int, int]] = {}
    for position, operand in enumerate(operands):
        letters = operand.replace("...", "")
        rank = terms.rank(position)
        if "..." in operand:
            fits = terms.negated(terms.compare("Less", rank, len(letters)))
        else:
            fits = terms.equal(rank, len(letters))
        yield Requirement(fits, f"the term {operand} is for {len(letters)} dimensions")
        if "..." in operand:
            continue
        for axis, letter in enumerate(letters):
            if letter not in seen:
                seen[letter] = (position, axis)
                continue
            first, second = terms.dimension(*seen[letter]), terms.dimension(position, axis)
            same = terms.any([terms.equal(first, second), terms.equal(first, 1), terms.equal(second, 1)])
            yield Requirement(same, f"index {letter} has two different lengths")


@check(
    "Range",
    "a range without end is taken for one without elements",
    probe="g (float a, float b, float c) => (float[N] y) { y = Range(a, b, c) }",
    given={"a": np.array(0, np.float32), "b": np.array(np.inf, np.float32), "c": np.array(1, np.float32)},
    dtypes=[DType.FLOAT, DType.DOUBLE],
    last="1.28",
)
def ends_somewhere(site: Site) -> Iterator[Requirement]:
    emit = site.emit
    start, limit, delta = (emit.cast(site.input(position), DType.DOUBLE) for position in range(3))
    count = emit.op("Div", emit.op("Sub", limit, start), delta)
    # A NaN is not less than anything. One that goes the other way is empty, whatever its length.
    is_short = emit.op("Less", count, emit.constant(_MOST_ELEMENTS, DType.DOUBLE))
    yield Requirement(is_short, "the range has no end that can be reached")


@refusal(
    ("ConstantOfShape", "Expand", "Reshape"),
    "a shape of millions of sizes is listed, size by size, wherever the graph is copied, which takes minutes",
    # No probe: it comes to an end, and refuses the shape when it runs
)
def shape_without_measure(site: Site) -> str | None:
    position = int(site.node.op_type != "ConstantOfShape")
    # To infer types costs every model; most shapes are put together of sizes one by one.
    if not _may_be_long(site, site.input(position), is_whole=True):
        return None
    length = (site.shape(position) or (None,))[0]
    return None if (length or 0) <= _MOST_DIMENSIONS else f"a tensor of {length:,} dimensions"


def _may_be_long(site: Site, name: str, *, is_whole: bool) -> bool:
    made = site.scope.producer(name)
    if made is None or made.op_type in _SHORT:
        return False
    is_joined = made.op_type == "Concat" and is_whole
    return not is_joined or any(_may_be_long(site, each, is_whole=False) for each in made.input)
