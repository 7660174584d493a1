"""Tensors without elements: reductions that get the wrong shape, operators that end the process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from onnxsmith.graphs.rewriting.branches import choose
from onnxsmith.graphs.rewriting.copies import copied_nodes
from onnxsmith.graphs.rewriting.emitter import Emitter
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.graphs.rewriting.terms import Terms
from onnxsmith.runtime.facts.fact import Requirement, check, refusal, rewrite
from onnxsmith.runtime.facts.gating import hide_fixed
from onnxsmith.runtime.facts.integers import index_summed_in_doubles
from onnxsmith.schema.einsum_equation import EinsumEquation, read_equation
from onnxsmith.types.dtypes import DType

#: The end of a slice that goes to the last element.
_END = 2**31 - 1
#: The opset that brought CastLike, for types that nobody knows.
_CAST_LIKE = 15


def may_be_empty(site: Site, position: int = 0) -> bool:
    """True if an input may have no elements."""
    shape = site.shape(position)
    return shape is None or 0 in shape or None in shape


@rewrite(
    ("ArgMax", "ArgMin"),
    "over a negative axis of a tensor without elements, the result has a wrong shape",
    probe="g (float[N, M] x) => (int64[N, K] y) { y = ArgMax <axis = -1> (x) }",
    given={"x": np.ones((0, 2), np.float32)},
    right=[np.zeros((0, 1), np.int64)],
)
def axis_from_the_front(site: Site) -> bool:
    axis, rank = site.integer("axis", 0), site.rank(0)
    if axis >= 0 or rank is None or axis < -rank or not may_be_empty(site):
        return False
    site.same_node(list(site.node.input), changed={"axis": axis + rank})
    return True


@check(
    ("ArgMax", "ArgMin"),
    "an axis of length 0 has no smallest element, and counted from the end it gives a wrong shape",
    probe="g (float[] x) => (int64[] y) { y = ArgMax <axis = -1> (x) }",
    given={"x": np.ones((2, 0), np.float32)},
)
def axis_has_elements(site: Site) -> Iterator[Requirement]:
    axis = site.integer("axis", 0)
    if axis >= 0 or site.rank(0) is not None:
        return  # ONNX Runtime says so itself
    terms = Terms(site)
    length = terms.dimension(0, axis)
    yield Requirement(terms.negated(terms.equal(length, 0)), f"axis {axis} has no elements")
    reason = f"a tensor without elements whose rank only a run tells; count axis {axis} from the front"
    yield Requirement(terms.has_elements(0), reason)


@rewrite(
    "Unique",
    "it ends the process on a tensor without elements",
    probe="g (float[N, M] x) => (float[K, M] y) { y = Unique <axis = 0> (x) }",
    given={"x": np.ones((3, 0), np.float32)},
    right=[np.ones((1, 0), np.float32)],
)
def unique_of_nothing(site: Site) -> bool:
    if not may_be_empty(site):
        return False
    dtype = site.dtype(0)
    if dtype is None and site.emit.version < _CAST_LIKE:
        return False
    emit, hidden = site.emit, hide_fixed(site)

    def as_it_is(inner: Emitter, names: Mapping[str, str]) -> None:
        inner.nodes.extend(copied_nodes([site.node], {**names, **hidden}))

    def of_nothing(inner: Emitter, names: Mapping[str, str]) -> None:
        values, *positions = [names.get(each, "") for each in site.node.output]
        if site.has_attribute("axis"):
            axis = site.integer("axis", 0)
            # All slices along the axis are the same: they are empty. The first one stands for them.
            length = inner.unsqueeze(inner.dimension(site.input(0), axis), [0])
            some = inner.cast(inner.op("Greater", length, inner.constant([0])), DType.INT64)
            first = (inner.constant([0]), inner.constant([1]), inner.constant([axis]))
            inner.op("Slice", site.input(0), *first, into=values or None)
        else:
            length = some = inner.constant([0])
            nothing = inner.op("ConstantOfShape", length)
            if dtype is not None:
                inner.cast(nothing, dtype, into=values or None)
            else:
                inner.op("CastLike", nothing, site.input(0), into=values or None)
        zeros = inner.cast(inner.op("ConstantOfShape", some), DType.INT64)
        counts = inner.op("Add", zeros, length)
        each_zero = inner.cast(inner.op("ConstantOfShape", length), DType.INT64)
        for name, content in zip(positions, (zeros, each_zero, counts), strict=False):
            if name:
                inner.op("Identity", content, into=name)

    has_some = emit.op("Greater", emit.size(site.input(0)), emit.constant(0))
    choose(emit, has_some, list(site.node.output), as_it_is, of_nothing)
    return True


@rewrite(
    "Einsum",
    "it ends the process on some tensors without elements",
    probe='g (double[N] x, double[M, N] y) => (double z) { z = Einsum <equation = "j,ij->"> (x, y) }',
    given={"x": np.zeros(0), "y": np.zeros((2, 0))},
    right=[np.zeros(())],
    since=12,
)
def products_of_nothing(site: Site) -> bool:
    read, terms = read_equation(site.text("equation", "")), Terms(site)
    count, dtype = len(site.node.input), site.dtype(0)
    if read is None or len(read.inputs) != count or not all(site.node.input):
        return False  # the checks say so
    if _is_matrix_product(site, read):
        return False
    have_elements = terms.all([terms.has_elements(position) for position in range(count)])
    if have_elements is True or (dtype is None and site.emit.version < _CAST_LIKE):
        return False
    hidden = hide_fixed(site)
    if not index_summed_in_doubles(site):
        site.same_node(list(site.node.input))
    node = site.emit.nodes.pop()

    def as_it_is(inner: Emitter, names: Mapping[str, str]) -> None:
        inner.nodes.extend(copied_nodes([node], {**names, **hidden}))

    def of_nothing(inner: Emitter, names: Mapping[str, str]) -> None:
        zeros = inner.op("ConstantOfShape", _shape_of_product(site.node.input, inner, read))
        result = site.node.output[0]
        inner.op("Identity", inner.cast_like(zeros, site.input(0), dtype), into=names.get(result, result))

    if have_elements is False:
        of_nothing(site.emit, {})
    else:
        choose(site.emit, have_elements, list(site.node.output), as_it_is, of_nothing)
    return True


def _is_matrix_product(site: Site, equation: EinsumEquation) -> bool:
    """True for a product of two matrices whose summed sizes are known not to be 0: no layout of these ends the process.

    Of 230 drawn equations with empty inputs, those with a third letter in a term did.
    """
    if len(equation.inputs) != 2 or any(
        len(term) > 2 or len({*term}) < len(term) for term in equation.inputs
    ):
        return False
    first, second = equation.inputs
    shared = {*first} & {*second}
    shape = site.shape(0)
    return (
        "." not in first + second
        and not shared & {*equation.result}
        and shape is not None
        and len(shape) == len(first)
        and all(size for letter, size in zip(first, shape, strict=True) if letter in shared)
    )


def _shape_of_product(inputs: Sequence[str], emit: Emitter, equation: EinsumEquation) -> str:
    """The shape of the result of an equation, as a vector. Sizes of one are broadcast."""
    lengths: dict[str, str] = {}
    for name, term in zip(inputs, equation.inputs, strict=True):
        shape = emit.op("Shape", name)
        before, dots, behind = term.partition("...")
        parts = [(letter, emit.slice(shape, axis, axis + 1)) for axis, letter in enumerate(before)]
        for axis, letter in enumerate(behind, -len(behind)):
            parts.append((letter, emit.slice(shape, axis, axis + 1 or _END)))
        if dots:
            parts.append((dots, emit.slice(shape, len(before), -len(behind) or _END)))
        for part, own in parts:
            known = lengths.get(part)
            # The sizes that two tensors have in common are those that one has when it is expanded to the other.
            both = known and emit.op("Expand", emit.op("ConstantOfShape", known), own)
            lengths[part] = emit.op("Shape", both) if both else own
    before, dots, behind = equation.result.partition("...")
    empty = emit.constant([])
    return emit.op("Concat", empty, *(lengths.get(each, empty) for each in (*before, dots, *behind)), axis=0)


@check(
    "ConvTranspose",
    "it ends the process where there is nothing to convolve",
    probe="g (float[N, C, D, H, W] x, float[C, M, A, B, E] w) => (float[N, M, F, G, I] y) { y = ConvTranspose(x, w) }",
    given={"x": np.ones((1, 1, 0, 4, 5), np.float32), "w": np.ones((1, 2, 3, 3, 3), np.float32)},
)
def something_to_convolve(site: Site) -> Iterator[Requirement]:
    terms = Terms(site)
    no_batch = terms.equal(terms.dimension(0, 0), 0)
    some = terms.any([terms.has_elements(0), no_batch])
    yield Requirement(some, "there is nothing to convolve: X has no elements")
    yield Requirement(terms.has_elements(1), "there is nothing to convolve with: W has no elements")


@check(
    "InstanceNormalization",
    "it ends the process where instances have no elements",
    probe="g (float[N, C, L] x, float[C] s) => (float[N, C, L] z)"
    " { y = Neg(x) z = InstanceNormalization(y, s, s) }",
    given={"x": np.ones((1, 3, 0), np.float32), "s": np.ones(3, np.float32)},
)
def something_to_normalize(site: Site) -> Iterator[Requirement]:
    terms = Terms(site)
    nobody = [terms.equal(terms.dimension(0, axis), 0) for axis in (0, 1)]
    some = terms.any([terms.has_elements(0), *nobody])
    yield Requirement(some, "there is nothing to normalize: instances of the input have no elements")


@check(
    ("GRU", "LSTM", "RNN"),
    "it ends the process where there is nothing to go through, and trusts sequence_lens",
    probe="g (float[S, B, I] x, float[D, G, I] w, float[D, G, H] r) => (float[S, D, B, H] y)"
    " { y = GRU <hidden_size = 3> (x, w, r) }",
    given={
        "x": np.ones((1, 0, 2), np.float32),
        "w": np.ones((1, 9, 2), np.float32),
        "r": np.ones((1, 9, 3), np.float32),
    },
)
def something_to_go_through(site: Site) -> Iterator[Requirement]:
    if site.integer("layout", 0) == 1:
        return  # there is no such kernel
    terms, emit = Terms(site), site.emit
    yield Requirement(terms.has_elements(0), "there is nothing to go through: X has no elements")
    yield Requirement(terms.has_elements(2), "R has no elements")
    if site.has_attribute("hidden_size"):
        size = site.integer("hidden_size", 1)
        yield Requirement(
            0 < size < 1 << 31, f"hidden_size is {size}"
        )  # else not even the kernel can be made
        yield Requirement(
            terms.equal(terms.dimension(2, 2), size), f"hidden_size is {size}, but R has another"
        )
    if site.has(4):
        steps = terms.name(terms.dimension(0, 0))
        lengths = emit.cast(site.input(4), DType.DOUBLE)
        is_negative = emit.op("Less", lengths, emit.constant(0.0, DType.DOUBLE))
        is_beyond = emit.op("Greater", lengths, emit.cast(steps, DType.DOUBLE))
        wrong = emit.any(emit.either(is_negative, is_beyond))
        yield Requirement(
            emit.negated(wrong),
            "sequence_lens has a length that is negative, or larger than the number of steps",
        )


@refusal(
    "CausalConvWithState",
    "there is no kernel, and without elements its function body ends in a Conv that refuses it, or ends the"
    " process",
    since=27,
    # No probe: the operator is newer than the runtime
)
def convolution_of_no_length(site: Site) -> str | None:
    return (
        "a tensor without elements" if any(0 in (site.shape(position) or ()) for position in (0, 1)) else None
    )
