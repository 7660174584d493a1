"""Images: resizing, regions, pooling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from onnxsmith.graphs.rewriting.branches import choose
from onnxsmith.graphs.rewriting.copies import copied_nodes
from onnxsmith.graphs.rewriting.emitter import Emitter
from onnxsmith.graphs.rewriting.site import Site
from onnxsmith.graphs.rewriting.terms import Terms
from onnxsmith.runtime.facts.fact import Requirement, check, rewrite
from onnxsmith.types.dtypes import DType

#: Larger than any picture.
_FAR = 1 << 20
_MOST_SAMPLES = 1 << 10
#: How many times as far as X reaches a region may.
_MOST_SIDES = 4


@rewrite(
    "Resize",
    "align_corners divides by the resized length less one, and that length may be a fraction with scales;"
    " the kernel rounds it down",
    probe='g (float[N, C, W] x, float[K] s) => (float[N, C, V] y) { y = Resize <mode = "linear",'
    ' coordinate_transformation_mode = "align_corners"> (x, , s) }',
    given={"x": np.array([[[0.0, 1.0, 2.0]]], np.float32), "s": np.array([1, 1, 1.5], np.float32)},
    right=[np.array([[[0.0, 2 / 3.5, 4 / 3.5, 6 / 3.5]]], np.float32)],
    since=19,
    is_ordinary=True,
)
def aligned_corners(site: Site) -> bool:
    if site.text("coordinate_transformation_mode", "half_pixel") != "align_corners" or not site.has(2):
        return False
    shape, scales = site.shape(0), site.constant(2)
    if scales is not None and scales.size == 0:
        return False
    emit = site.emit
    axes = site.integers("axes")
    if shape is not None and scales is not None and None not in shape:
        lengths = [shape[each] for each in axes] if axes else list(shape)
        wanted = np.array(lengths, np.float64) * scales.astype(np.float64)
        if (wanted == np.floor(wanted)).all():
            return False
    # tf_crop_and_resize with a region from 0 to (length - 1) / (fraction - 1) has the same samples.
    sizes = emit.op("Shape", site.input(0))
    if axes:
        sizes = emit.op("Gather", sizes, emit.constant(axes))
    one = emit.constant(1.0, DType.DOUBLE)
    fraction = emit.op("Mul", emit.cast(sizes, DType.DOUBLE), emit.cast(site.input(2), DType.DOUBLE))
    length = emit.op("Floor", fraction)
    is_single = emit.op("Equal", fraction, one)
    # A length of one has no second corner; anything but 0 will do to divide by.
    span = emit.where(is_single, one, emit.op("Sub", fraction, one))
    ends = emit.op("Div", emit.op("Sub", length, one), span)
    dtype = site.dtype(1) if site.has(1) else DType.FLOAT
    ends = emit.cast(ends, dtype or DType.FLOAT)
    starts = emit.op("Mul", ends, emit.constant(0, dtype or DType.FLOAT))
    region = emit.op("Concat", starts, ends, axis=0)
    inputs = [site.input(0), region, *list(site.node.input)[2:]]
    site.same_node(inputs, changed={"coordinate_transformation_mode": "tf_crop_and_resize"})
    return True


@rewrite(
    "Resize",
    "sizes of a length that is known by a run only are taken for none, and the model is refused",
    probe="g (float[A, B, C, D] x, int64[K] s) => (float[A, B, E, F] y) { y = Resize <axes = [2, 3]> (x, , , s) }",
    given={"x": np.ones((1, 1, 4, 4), np.float32), "s": np.array([2, 3])},
    right=[np.ones((1, 1, 2, 3), np.float32)],
    since=11,
)
def as_many_sizes(site: Site) -> bool:
    if not site.has(3) or site.shape(3) != (None,):
        return False
    count = len(site.integers("axes")) or site.rank(0)
    if count is None:
        return False
    # What is not so many has no such shape.
    sizes = site.emit.op("Reshape", site.input(3), site.emit.constant([count]))
    site.same_node([*site.node.input[:3], sizes])
    return True


@check(
    "Resize",
    "scales of two dimensions are taken for a list",
    probe="g (float[A, B, C, D] x, float[K, L] s) => (float[E, F, G, H] y) { y = Resize (x, , s) }",
    given={"x": np.ones((1, 1, 2, 2), np.float32), "s": np.ones((1, 4), np.float32)},
    since=11,
)
def scales_are_a_list(site: Site) -> Iterator[Requirement]:
    terms = Terms(site)
    if (
        site.has(2) and site.rank(2) is not None
    ):  # where nobody knows the rank, it is a list in all that people write
        yield Requirement(terms.equal(terms.rank(2), 1), "scales must be a list")


@check(
    "RoiAlign",
    "it takes memory for as many samples as a region is large or sampling_ratio says, and ends the process",
    probe="g (float[N, C, H, W] x, float[R, K] r, int64[R] i) => (float[R, C, A, B] y)"
    " { y = RoiAlign <sampling_ratio = 4294967296> (x, r, i) }",
    given={
        "x": np.ones((1, 1, 4, 4), np.float32),
        "r": np.array([[0, 0, 2, 2]], np.float32),
        "i": np.array([0]),
    },
)
def regions_of_the_picture(site: Site) -> Iterator[Requirement]:
    terms, emit = Terms(site), site.emit
    sizes = [site.integer(name, 1) for name in ("output_height", "output_width")]
    yield Requirement(
        all(1 <= each <= _FAR for each in sizes),
        "output_height and output_width must be positive, and not huge",
    )
    samples = site.integer("sampling_ratio", 0)
    yield Requirement(0 <= samples <= _MOST_SAMPLES, "sampling_ratio must be 0 or a small positive number")
    yield Requirement(terms.equal(terms.rank(1), 2), "rois must have two dimensions")
    yield Requirement(terms.equal(terms.dimension(1, 1), 4), "rois must have four columns")
    if samples == 0:
        sides = [emit.cast(terms.name(terms.dimension(0, axis)), DType.FLOAT) for axis in (2, 3)]
        limit = emit.op("Mul", emit.op("Add", *sides), emit.constant(_MOST_SIDES, DType.FLOAT))
        scale = abs(site.number("spatial_scale", 1.0))
        places = emit.op("Mul", emit.cast(site.input(1), DType.FLOAT), emit.constant(scale, DType.FLOAT))
        # A NaN is not less than anything, so that it does not pass either.
        is_near = emit.op("Less", emit.op("Abs", places), limit)
        yield Requirement(emit.all(is_near), "rois must be finite and of the size of X")


@check(
    "RoiAlign",
    "batch_indices are not looked at, and memory is read that is none of X",
    probe="g (float[N, C, H, W] x, float[R, K] r, int64[R] i) => (float[R, C, A, B] y) { y = RoiAlign (x, r, i) }",
    given={
        "x": np.ones((1, 1, 4, 4), np.float32),
        "r": np.array([[0, 0, 2, 2]], np.float32),
        "i": np.array([1]),
    },
    last="1.23",
)
def regions_of_pictures_that_are_there(site: Site) -> Iterator[Requirement]:
    terms, emit = Terms(site), site.emit
    count = terms.name(terms.dimension(0, 0))
    is_past = emit.op("Not", emit.op("Less", site.input(2), count))
    is_before = emit.op("Less", site.input(2), emit.constant(0))
    yield Requirement(
        emit.all(emit.negated(emit.either(is_past, is_before))), "batch_indices must be places in X"
    )


@rewrite(
    ("GlobalAveragePool", "GlobalMaxPool"),
    "with more than three spatial dimensions, the result is wrong",
    probe="g (float[N, C, A, B, D, E] x) => (float[N, C, F, G, H, I] y) { y = GlobalAveragePool(x) }",
    given={"x": np.arange(32, dtype=np.float32).reshape(1, 2, 2, 2, 2, 2)},
    right=[np.array([7.5, 23.5], np.float32).reshape(1, 2, 1, 1, 1, 1)],
    is_ordinary=True,
)
def many_dimensions(site: Site) -> bool:
    rank = site.rank(0)
    kind = "Mean" if site.node.op_type == "GlobalAveragePool" else "Max"
    if rank is not None:
        if rank <= 5:
            return False
        site.emit.reduce(kind, site.input(0), range(2, rank), keepdims=True, into=site.output(0))
        return True
    emit = site.emit
    if emit.version < 18:
        return False  # axes that only the model knows are no attribute

    def as_it_is(inner: Emitter, names: Mapping[str, str]) -> None:
        inner.nodes.extend(copied_nodes([site.node], names))

    def reduced(inner: Emitter, names: Mapping[str, str]) -> None:
        axes = inner.op("Range", inner.constant(2), inner.rank(site.input(0)), inner.constant(1))
        inner.op(f"Reduce{kind}", site.input(0), axes, into=names[site.output(0)], keepdims=1)

    few = emit.op("Less", emit.rank(site.input(0)), emit.constant(6))
    choose(emit, few, [site.output(0)], as_it_is, reduced)
    return True


@rewrite(
    "MaxUnpool",
    "with output_shape, indices still refer to the shape without it; the kernel takes them into output_shape",
    probe="g (float[N, C, H, W] x, int64[N, C, H, W] i, int64[K] s) => (float[A, B, D, E] y)"
    " { y = MaxUnpool <kernel_shape = [2, 2], strides = [2, 2]> (x, i, s) }",
    given={
        "x": np.array([[[[1, 2], [3, 4]]]], np.float32),
        "i": np.array([[[[5, 7], [13, 15]]]]),
        "s": np.array([1, 1, 5, 5]),
    },
    right=[
        np.array(
            [[0, 0, 0, 0, 0], [0, 1, 0, 2, 0], [0, 0, 0, 0, 0], [0, 3, 0, 4, 0], [0, 0, 0, 0, 0]],
            np.float32,
        ).reshape(1, 1, 5, 5)
    ],
    since=11,
    is_ordinary=True,
)
def unpooled_into_a_shape(site: Site) -> bool:
    if not site.has(2):
        return False
    emit = site.emit
    small = emit.names.after(site.output(0))
    site.same_node(list(site.node.input)[:2], [small])
    missing = emit.op("Sub", site.input(2), emit.op("Shape", small))
    before = emit.op("Sub", missing, missing)
    emit.op("Pad", small, emit.op("Concat", before, missing, axis=0), into=site.output(0))
    return True


@rewrite(
    "MaxPool",
    "zeros that are put around an input before it are made its own padding, which is less than any number",
    probe="g (float[N, C, H, W] x) => (float[A, B, D, E] y)"
    " { p = Constant <value = int64[8] {0, 0, 1, 1, 0, 0, 1, 1}> () a = Pad (x, p)"
    " y = MaxPool <kernel_shape = [3, 3], strides = [2, 2]> (a) }",
    given={"x": -np.ones((1, 1, 2, 2), np.float32)},
    right=[np.zeros((1, 1, 1, 1), np.float32)],
    opset=18,
    is_ordinary=True,
)
def padding_that_counts(site: Site) -> bool:
    source = site.scope.producer(site.input(0))
    if source is None or source.op_type != "Pad" or source.domain:
        return False
    # The maximum of one tensor is the tensor; nothing is fused across it.
    site.same_node([site.emit.op("Max", site.input(0)), *list(site.node.input)[1:]])
    return True


@check(
    ("AveragePool", "LpPool", "MaxPool"),
    "it goes through every place of the kernel, however large",
    # No probe: a kernel that takes longer than anybody waits
)
def kernel_of_the_picture(site: Site) -> Iterator[Requirement]:
    sizes = (*site.integers("kernel_shape"), *site.integers("dilations"))
    yield Requirement(all(each <= _FAR for each in sizes), "the kernel is larger than any input")


@check(
    ("AveragePool", "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool", "LpPool", "MaxPool"),
    "a picture without elements is refused when it comes, and a model that says so itself is not loaded",
    # No probe: both are refusals
)
def something_to_pool(site: Site) -> Iterator[Requirement]:
    batch, *inner = site.shape(0) or (None,)
    if batch == 0:
        return  # then nothing is computed
    if site.node.op_type.startswith("Global") and len(inner) > 4:
        return  # a reduction stands in its place
    if site.dtype(0) is DType.DOUBLE and site.node.op_type != "MaxPool":
        return  # there is no such kernel, and who runs it gives the mean of nothing
    yield Requirement(0 not in inner, "there is nothing to pool: X has no elements")


@check(
    ("ConvTranspose", "AveragePool", "Conv", "LpPool", "MaxPool"),
    "it divides by strides of 0, which ends the process, and takes dilations of 0",
    probe="g (float[N, C, H, W] x, float[M, C, A, B] w) => (float[D, E, F, G] y)"
    " { y = ConvTranspose <strides = [0, 0]> (x, w) }",
    given={"x": np.ones((1, 1, 5, 5), np.float32), "w": np.ones((1, 1, 3, 3), np.float32)},
    last="1.25",
)
def positive_steps(site: Site) -> Iterator[Requirement]:
    for name in ("strides", "dilations"):
        yield Requirement(all(each > 0 for each in site.integers(name)), f"{name} must be positive")
