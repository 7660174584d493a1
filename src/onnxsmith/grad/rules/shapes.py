"""Operators that only move elements: other shapes, orders of axes, joining, cutting, repeating."""

from __future__ import annotations

import numpy as np

from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Array
from onnxsmith.grad.broadcasting import as_type_of, filled_like, have_same_shape, shape_tensor, summed_to
from onnxsmith.grad.operators import op, several
from onnxsmith.grad.steps import Cotangents, Step, shape_of
from onnxsmith.grad.table import rule


def reshaped_like(g: Tensor, x: Tensor) -> Tensor:
    """The elements of a cotangent in the shape of its input."""
    if have_same_shape(g, x):
        return g
    return as_type_of(op.Reshape(g, shape_tensor(x), allowzero=1), x)


@rule("Reshape", "Flatten", "Squeeze", "Unsqueeze")
def reshape(step: Step, g: Tensor) -> Cotangents:
    x = step.input()
    shape, name = shape_of(x), step.name
    is_open = shape is None or not all(isinstance(each, int) for each in shape)
    if is_open and name in ("Squeeze", "Unsqueeze") and step.has(1):
        # The axes say it without asking for sizes.
        inverse = op.Unsqueeze if name == "Squeeze" else op.Squeeze
        return (as_type_of(inverse(g, step.input(1)), x),)
    return (reshaped_like(g, x),)


@rule("Transpose")
def transpose(step: Step, g: Tensor) -> Cotangents:
    order = step.integers("perm")
    if order is None:
        return (op.Transpose(g),)
    return (op.Transpose(g, perm=[int(each) for each in np.argsort(order)]),)


@rule("Expand")
def expand(step: Step, g: Tensor) -> Cotangents:
    x = step.input()
    return (g if have_same_shape(g, x) else summed_to(g, x),)


@rule("Concat")
def concatenate(step: Step, g: Tensor) -> Cotangents:
    axis = step.integer("axis")
    tensors = [step.input(k) for k in range(len(step.inputs))]
    if len(tensors) == 1:
        return (g,)
    shapes = [shape_of(each) for each in tensors]
    sizes = [None if each is None else each[axis] for each in shapes]
    lengths: Tensor | Array
    if all(isinstance(each, int) for each in sizes):
        lengths = np.array(sizes, np.int64)
    else:
        end = None if axis == -1 else axis + 1
        parts = [
            np.array([size], np.int64)
            if isinstance(size, int)
            else (op.Shape(x, start=axis) if end is None else op.Shape(x, start=axis, end=end))
            for x, size in zip(tensors, sizes, strict=True)
        ]
        lengths = op.Concat(*parts, axis=0)
    pieces = several(op.Split(g, lengths, axis=axis, outputs=len(tensors)))
    return [as_type_of(piece, x) for piece, x in zip(pieces, tensors, strict=True)]


@rule("Split")
def split(step: Step, *gs: Tensor | None) -> Cotangents:
    parts = [filled_like(step.output(k), 0.0) if g is None else g for k, g in enumerate(gs)]
    joined = op.Concat(*parts, axis=step.integer("axis")) if len(parts) > 1 else parts[0]
    return (as_type_of(joined, step.input()),)


@rule("Tile")
def tile(step: Step, g: Tensor) -> Cotangents:
    x, rank = step.input(), step.rank()
    if not rank:
        return (g,)
    repeats, shape = step.content(1), shape_of(x)
    # Each axis as its repetitions and itself; the repetitions are summed.
    if repeats is not None and shape is not None and all(isinstance(each, int) for each in shape):
        sizes = np.array([n for pair in zip(repeats, shape, strict=True) for n in pair], np.int64)
    else:
        pairs = op.Concat(op.Unsqueeze(step.input(1), [1]), op.Unsqueeze(op.Shape(x), [1]), axis=1)
        sizes = op.Reshape(pairs, [-1])
    apart = op.Reshape(g, sizes, allowzero=1)
    return (as_type_of(op.ReduceSum(apart, np.arange(0, 2 * rank, 2), keepdims=0), x),)


@rule("Trilu")
def triangle(step: Step, g: Tensor) -> Cotangents:
    return (op.Trilu(g, step.optional(1), upper=step.integer("upper", 1)),)


@rule("ReverseSequence")
def reverse_sequence(step: Step, g: Tensor) -> Cotangents:
    batch, time = step.integer("batch_axis", 1), step.integer("time_axis")
    return (op.ReverseSequence(g, step.input(1), batch_axis=batch, time_axis=time),)


@rule("DepthToSpace")
def depth_to_space(step: Step, g: Tensor) -> Cotangents:
    x, size = step.input(), step.integer("blocksize")
    batch, height, width = (op.Shape(x, start=k, end=k + 1) for k in (0, 2, 3))
    depth, block = op.Shape(g, start=1, end=2), np.array([size])
    # The rows and columns of each block become channels again.
    apart = op.Reshape(g, op.Concat(batch, depth, height, block, width, block, axis=0), allowzero=1)
    order = [0, 1, 3, 5, 2, 4] if step.text("mode", "DCR") == "CRD" else [0, 3, 5, 1, 2, 4]
    return (as_type_of(op.Reshape(op.Transpose(apart, perm=order), op.Shape(x), allowzero=1), x),)


@rule("SpaceToDepth")
def space_to_depth(step: Step, g: Tensor) -> Cotangents:
    x, y, size = step.input(), step.output(), step.integer("blocksize")
    batch, height, width = (op.Shape(y, start=k, end=k + 1) for k in (0, 2, 3))
    depth, block = op.Shape(x, start=1, end=2), np.array([size])
    is_by_column = step.text("mode", "DCR") == "CRD"
    sizes = [depth, block, block] if is_by_column else [block, block, depth]
    apart = op.Reshape(g, op.Concat(batch, *sizes, height, width, axis=0), allowzero=1)
    order = [0, 1, 4, 2, 5, 3] if is_by_column else [0, 3, 4, 1, 5, 2]
    return (as_type_of(op.Reshape(op.Transpose(apart, perm=order), op.Shape(x), allowzero=1), x),)
