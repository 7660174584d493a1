"""Pooling: over windows, and over whole images."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.values import int64s, sizes_of
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.grad.broadcasting import as_type_of, expanded_to, filled_like, shape_tensor
from onnxsmith.grad.operators import op, several
from onnxsmith.grad.steps import Cotangents, Step, dtype_of, numpy_of, shape_of
from onnxsmith.grad.table import rule
from onnxsmith.grad.windows import Window, window_of
from onnxsmith.types.dtypes import DType


def _window(step: Step) -> Window:
    step.rank()
    kernel = step.integers("kernel_shape")
    assert kernel is not None  # the operators require it
    return window_of(step, step.input(), step.output(), kernel)


@rule("AveragePool")
def mean_over_windows(step: Step, g: Tensor) -> Cotangents:
    x, window = step.input(), _window(step)
    return (as_type_of(window.cut(window.spread(g / _counts(step, window, x))), x),)


def _counts(step: Step, window: Window, x: Tensor) -> Tensor | float:
    """How many elements each mean is of: those of the image, or with the pads that were asked for."""
    if window.is_exact:
        return float(np.prod(window.kernel))
    rank = window.rank
    spatial = sizes_of(x)[2:]
    if not step.integer("count_include_pad"):
        element = np.ones((1, 1, *(1,) * rank), numpy_of(x))
        counted = window.padded(op.Expand(element, int64s([1, 1, *spatial])))
    else:
        # What a last window has beyond the pads, where sizes are rounded up, does not count.
        pads = step.integers("pads") if step.text("auto_pad", "NOTSET") == "NOTSET" else None
        if pads is None and step.text("auto_pad", "NOTSET") != "NOTSET":
            return float(np.prod(window.kernel))
        pads = pads or (0,) * (2 * rank)
        whole = [size + (pads[k] + pads[k + rank]) for k, size in enumerate(spatial)]
        element = np.ones((1, 1, *(1,) * rank), numpy_of(x))
        behind = tuple(window.behind[k] - pads[k + rank] for k in range(rank))
        rest = Window(window.kernel, window.strides, window.dilations, (0,) * rank, behind)
        counted = rest.padded(op.Expand(element, int64s([1, 1, *whole])))
    ones = np.ones((1, 1, *window.kernel), numpy_of(x))
    return op.Conv(counted, ones, strides=window.strides, dilations=window.dilations)


@rule("LpPool")
def norm_over_windows(step: Step, g: Tensor) -> Cotangents:
    x, window = step.input(), _window(step)
    p = step.integer("p", 2)
    return (_of_norm(x, window.cut(window.spread(_share_of_norm(step, g, p))), p),)


@rule("GlobalLpPool")
def norm_over_image(step: Step, g: Tensor) -> Cotangents:
    p = step.integer("p", 2)
    return (_of_norm(step.input(), _share_of_norm(step, g, p), p),)


def _share_of_norm(step: Step, g: Tensor, p: int) -> Tensor:
    """The cotangent over the norm to the power of p - 1; a norm of zero has no slope."""
    y = step.output()
    if p == 1:
        return g
    is_zero = op.Equal(y, 0.0)
    return op.Where(is_zero, 0.0, g / op.Pow(op.Where(is_zero, 1.0, y), float(p - 1)))


def _of_norm(x: Tensor, share: Tensor, p: int) -> Tensor:
    if p == 2:
        return x * share
    slope = op.Sign(x) if p == 1 else op.Sign(x) * op.Pow(op.Abs(x), float(p - 1))
    return slope * share


#: A window of more elements is gone back over by its indices: each element costs a comparison.
_MOST_COMPARED = 9


def _without_indices(step: Step) -> tuple[Value, ...] | None:
    """The values of windows that are blocks side by side: ONNX Runtime finds them 20 times as fast without indices."""
    x = step.input()
    kernel, shape = step.integers("kernel_shape"), shape_of(x)
    if len(step.node.outputs) > 1 or kernel is None or shape is None or step.integer("storage_order"):
        return None
    sizes = [each if isinstance(each, int) else 0 for each in shape[2:]]
    is_block = len(kernel) == 2 and len(set(kernel)) == 1 and step.integers("strides") == kernel
    is_plain = not any(step.integers("pads") or ()) and set(step.integers("dilations") or (1,)) == {1}
    is_whole = all(size > 0 and size % each == 0 for size, each in zip(sizes, kernel, strict=True))
    if not (is_block and is_plain and is_whole) or kernel[0] ** 2 > _MOST_COMPARED:
        return None
    if dtype_of(x) not in (DType.FLOAT, DType.DOUBLE):  # ONNX Runtime has no other SpaceToDepth
        return None
    step.kept = kernel[0]
    return (op.MaxPool(x, kernel_shape=kernel, strides=kernel, outputs=1),)


def _to_the_first(x: Tensor, y: Tensor, g: Tensor, block: int) -> Tensor:
    """The cotangent of each block goes to the first of its elements that is the greatest, as indices would have it."""
    elements = several(
        op.Split(op.SpaceToDepth(x, blocksize=block), axis=1, num_outputs=block**2, outputs=block**2)
    )
    parts: list[Tensor] = []
    is_free: Tensor | None = None
    for each in elements:
        is_greatest = op.Equal(each, y)
        is_chosen = is_greatest if is_free is None else op.And(is_greatest, is_free)
        parts.append(op.Where(is_chosen, g, 0.0))
        is_free = op.Not(is_greatest) if is_free is None else op.And(is_free, op.Not(is_greatest))
    return op.DepthToSpace(op.Concat(*parts, axis=1), blocksize=block)


@rule("MaxPool", outputs=2, kept=_without_indices)
def greatest_of_windows(step: Step, g: Tensor | None, _: Tensor | None = None) -> Cotangents:
    x = step.input()
    if g is None:
        return ()
    if isinstance(step.kept, int):
        return (as_type_of(_to_the_first(x, step.output(), g, step.kept), x),)
    window = _window(step)
    indices = step.output(1)
    if step.integer("storage_order"):
        _, indices = several(op.MaxPool(x, **_attributes(step), outputs=2))
    if window.is_apart and window.is_exact:
        # It knows no dilations: of its kernel it reads only how large the image is.
        made = op.MaxUnpool(g, indices, kernel_shape=window.extents, strides=window.strides)
        return (as_type_of(made, x),)
    flat = filled_like(op.Reshape(x, [-1]), 0.0)
    places = op.Reshape(indices, [-1, 1])
    made = op.ScatterND(flat, places, op.Reshape(g, [-1]), reduction="add")
    return (as_type_of(op.Reshape(made, shape_tensor(x), allowzero=1), x),)


def _attributes(step: Step) -> dict[str, int | str | tuple[int, ...]]:
    """Those of a MaxPool whose indices count rows first."""
    found: dict[str, int | str | tuple[int, ...]] = {"ceil_mode": step.integer("ceil_mode")}
    found["auto_pad"] = step.text("auto_pad", "NOTSET")
    for name in ("kernel_shape", "strides", "pads", "dilations"):
        given = step.integers(name)
        if given is not None:
            found[name] = given
    return found


@rule("MaxUnpool")
def put_back(step: Step, g: Tensor) -> Cotangents:
    """The indices count within the image that fits the windows; the output may be larger than that."""
    x, indices = step.input(0), step.input(1)
    kernel = step.integers("kernel_shape")
    assert kernel is not None  # the operator requires it
    if step.has(2):
        rank = len(kernel)
        strides, pads = step.integers("strides") or (1,) * rank, step.integers("pads") or (0,) * (2 * rank)
        sizes = sizes_of(x)[2:]
        ends = [(sizes[k] - 1) * strides[k] + kernel[k] - pads[k] - pads[k + rank] for k in range(rank)]
        g = op.Slice(g, np.zeros(rank, np.int64), int64s(ends), np.arange(2, 2 + rank))
    return (as_type_of(op.Gather(op.Reshape(g, [-1]), indices), x),)


@rule("GlobalAveragePool")
def mean_over_image(step: Step, g: Tensor) -> Cotangents:
    x = step.input()
    shape = shape_of(x)
    sizes = () if shape is None else shape[2:]
    if shape is not None and all(isinstance(each, int) for each in sizes):
        count: Tensor | float = float(np.prod([each for each in sizes if isinstance(each, int)]))
    else:
        count = op.Cast(op.ReduceProd(op.Shape(x, start=2), keepdims=0), to=dtype_of(x))
    return (expanded_to(g / count, x),)


@rule("GlobalMaxPool")
def greatest_of_image(step: Step, g: Tensor) -> Cotangents:
    """The first of several that are equal, as torch has it."""
    x = step.input()
    rows = op.Reshape(x, op.Concat(op.Shape(x, end=2), np.array([-1]), axis=0))
    places = op.ArgMax(rows, axis=2)
    ends = op.Reshape(g, op.Concat(op.Shape(x, end=2), np.array([1]), axis=0))
    made = op.ScatterElements(filled_like(rows, 0.0), places, ends, axis=2)
    return (as_type_of(op.Reshape(made, op.Shape(x), allowzero=1), x),)
