"""Embeddings: rows of a table by index."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Size, counted, dtype_of, filled
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Translated
from onnxsmith.torch.library.marks import constant_where, is_training, with_formula
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType


@translates("aten.embedding.default")
def embedding(
    call: Call,
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Translated:
    rows = op.Gather(weight, indices, axis=0)
    if padding_idx >= 0:
        is_padding = op.Equal(cast(indices, DType.INT64), np.int64(padding_idx))
        rows = constant_where(op.Unsqueeze(is_padding, [-1]), rows)
    return _scaled_by_frequency(call, rows, indices, weight) if scale_grad_by_freq else rows


def _scaled_by_frequency(call: Call, rows: Tensor, indices: Tensor, weight: Tensor) -> Tensor:
    """Rows whose cotangents are divided by how often each row is asked for."""

    def formula(g: Tensor) -> list[Tensor]:
        flat = op.Reshape(cast(indices, DType.INT64), [-1])
        ones = op.Expand(np.float32(1), op.Shape(flat))
        zeros = filled([call.size(weight, 0)], 0, DType.FLOAT)
        counts = op.ScatterElements(zeros, flat, ones, axis=0, reduction="add")
        of_rows = op.Unsqueeze(op.Gather(counts, cast(indices, DType.INT64), axis=0), [-1])
        return [op.Div(g, cast(of_rows, dtype_of(g)))]

    return with_formula([rows], [rows], formula)[0]


@translates("aten.embedding_renorm.default")
def embedding_renorm(
    call: Call, weight: Tensor, indices: Tensor, max_norm: float, norm_type: float
) -> Translated:
    """The table with the rows that are asked for made shorter where they are too long."""
    dtype = dtype_of(weight)
    rows = call.size(weight, 0)
    flat = op.Reshape(cast(indices, DType.INT64), [-1])
    used = op.ScatterElements(
        filled([rows], 0, DType.INT32), flat, op.Expand(np.int32(1), op.Shape(flat)), axis=0
    )
    lengths = _lengths(weight, float(norm_type))
    limit = cast(max_norm, dtype)
    is_long = (lengths > limit) & op.Unsqueeze(cast(used, DType.BOOL), [1])
    factor = op.Div(limit, lengths + 1e-7)
    return op.Where(is_long, weight * factor, weight)


def _lengths(weight: Tensor, p: float) -> Tensor:
    axes = np.array([1])
    if p in (1.0, 2.0):
        return getattr(op, f"ReduceL{p:.0f}")(weight, axes, keepdims=1)
    absolute = abs(weight)
    if np.isinf(p):
        return op.ReduceMax(absolute, axes, keepdims=1)
    total = op.ReduceSum(op.Pow(absolute, cast(p, dtype_of(weight))), axes, keepdims=1)
    return op.Pow(total, cast(1 / p, dtype_of(weight)))


@translates(
    *("aten.embedding_bag.default", "aten.embedding_bag.padding_idx"),
    *("aten._embedding_bag.default", "aten._embedding_bag_forward_only.default"),
)
def embedding_bag(
    call: Call,
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = -1,
) -> Translated:
    """The sum, mean or maximum (modes 0, 1, 2) of rows, in bags that begin at the offsets."""
    # ONNX Runtime adds up scattered elements of no narrower type.
    dtype = DType.DOUBLE if dtype_of(weight) is DType.DOUBLE else DType.FLOAT
    padding: Size | None = padding_idx
    if padding_idx is not None and padding_idx < 0:
        # What counts from the end in the public operator says in the others that there is none.
        is_public = call.overload == "aten.embedding_bag.padding_idx"
        padding = padding_idx + call.size(weight, 0) if is_public else None
    indices, offsets = cast(indices, DType.INT64), cast(offsets, DType.INT64)
    if include_last_offset:
        offsets = op.Slice(offsets, [0], [-1], [0])
    sizes = call.output_shape()
    # An index belongs to the last bag that begins at or before it.
    begun = op.Unsqueeze(offsets, [0]) <= op.Unsqueeze(counted(call.size(indices, 0)), [1])
    bags = op.ReduceSum(cast(begun, DType.INT64), np.array([1]), keepdims=1) - 1
    rows = cast(op.Gather(weight, indices, axis=0), dtype)
    if scale_grad_by_freq and is_training():
        # torch (2.13) divides by the count of another row than that of the gradient.
        raise call.refuse("scale_grad_by_freq, whose gradient in torch is not that of its documentation")
    if per_sample_weights is not None:
        rows = op.Mul(rows, op.Unsqueeze(cast(per_sample_weights, dtype), [1]))
    start, reduction = (-np.inf, "max") if mode == 2 else (0, "add")
    counts: Tensor | None = None
    if padding is not None:
        is_padding = op.Unsqueeze(op.Equal(indices, cast(padding, DType.INT64)), [1])
        rows = op.Where(is_padding, cast(start, dtype), rows)
        counts = cast(~is_padding, dtype)
    result = op.ScatterND(filled(sizes, start, dtype), bags, rows, reduction=reduction)
    if mode == 0:
        return [result]
    if counts is None:
        counts = cast(bags >= 0, dtype)
    lengths = op.ScatterND(filled([sizes[0], 1], 0, dtype), bags, counts, reduction="add")
    if mode == 1:
        return [op.Div(result, op.Max(lengths, cast(1, dtype)))]
    return [op.Where(op.Equal(lengths, cast(0, dtype)), cast(0, dtype), result)]
