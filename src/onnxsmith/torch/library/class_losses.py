"""Losses whose target says which class is right."""

from __future__ import annotations

import functools

import numpy as np

from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.values import Numeric, counted, dtype_of, rank_of
from onnxsmith.core.value import TensorValue
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Argument
from onnxsmith.torch.library.losses import MEAN, NONE, SUM, reduced
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import Translated, cast, is_number
from onnxsmith.types.dtypes import DType


def _classes(x: TensorValue) -> int:
    """The dimension of the classes."""
    return 0 if rank_of(x) == 1 else 1


def _likelihood(
    x: TensorValue, target: TensorValue, weight: TensorValue | None, ignored: int
) -> tuple[TensorValue, TensorValue]:
    """For each target: minus the weighted entry of its class, and its weight; both zero where it is ignored."""
    dtype = dtype_of(x)
    axis = _classes(x)
    target = cast(target, DType.INT64)
    counts = op.Not(op.Equal(target, np.int64(ignored)))
    safe = op.Where(counts, target, np.int64(0))
    picked = op.GatherElements(x, op.Unsqueeze(safe, [axis]), axis=axis)
    loss = op.Neg(op.Squeeze(picked, [axis]))
    zero = cast(0, dtype)
    if weight is None:
        return op.Where(counts, loss, zero), cast(counts, dtype)
    weights = op.Where(counts, op.Gather(cast(weight, dtype), safe, axis=0), zero)
    return op.Where(counts, op.Mul(loss, weights), zero), weights


def _settled(loss: TensorValue, weights: TensorValue, reduction: int) -> TensorValue:
    """The loss of all targets; the mean counts each with its weight."""
    if reduction == NONE:
        return loss
    total = reduced(loss, SUM)
    return total if reduction == SUM else op.Div(total, reduced(weights, SUM))


@translates("aten.nll_loss_nd.default", "aten.nll_loss.default", "aten.nll_loss2d.default")
def nll_loss(
    call: Call,
    x: TensorValue,
    target: TensorValue,
    weight: TensorValue | None = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
) -> Translated:
    loss, weights = _likelihood(x, target, weight, ignore_index)
    return _settled(loss, weights, reduction)


@translates("aten.nll_loss_forward.default", "aten.nll_loss2d_forward.default")
def nll_loss_forward(
    call: Call, x: TensorValue, target: TensorValue, weight: TensorValue, reduction: int, ignore_index: int
) -> Translated:
    loss, weights = _likelihood(x, target, weight, ignore_index)
    total = cast(0, dtype_of(x)) if reduction == NONE else reduced(weights, SUM)
    return [_settled(loss, weights, reduction), total]


@translates("aten.cross_entropy_loss.default")
def cross_entropy_loss(
    call: Call,
    x: TensorValue,
    target: TensorValue,
    weight: TensorValue | None = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> TensorValue:
    dtype = call.dtype
    axis = _classes(x)
    logarithms = op.LogSoftmax(cast(x, dtype), axis=axis)
    classes = call.size(x, axis)
    if dtype_of(target).is_float:
        return _against_probabilities(
            call, logarithms, cast(target, dtype), weight, reduction, label_smoothing
        )
    loss, weights = _likelihood(logarithms, target, weight, ignore_index)
    result = _settled(loss, weights, reduction)
    if not label_smoothing:
        return result
    weighted = logarithms if weight is None else op.Mul(logarithms, _beside(weight, logarithms))
    smooth = op.Neg(op.ReduceSum(weighted, np.array([axis]), keepdims=0))
    counts = op.Not(op.Equal(cast(target, DType.INT64), np.int64(ignore_index)))
    smooth = op.Where(counts, smooth, cast(0, dtype))
    share = op.Div(cast(label_smoothing, dtype), cast(classes, dtype))
    return op.Add(
        op.Mul(result, cast(1 - label_smoothing, dtype)),
        op.Mul(_settled(smooth, weights, reduction), share),
    )


@translates("torch_nn._linear_cross_entropy_batch_chunked.default")
def linear_cross_entropy(
    call: Call,
    x: TensorValue,
    matrix: TensorValue,
    target: TensorValue,
    bias: TensorValue | None,
    weight: TensorValue | None,
    reduction: str,
    ignore_index: int,
    label_smoothing: float,
    *_: Argument,
) -> list[TensorValue]:
    """The cross entropy of a linear layer. torch computes it in parts; the other results are gradients."""
    logits = op.MatMul(x, op.Transpose(matrix, perm=[1, 0]))
    logits = logits if bias is None else op.Add(logits, bias)
    number = {"none": NONE, "mean": MEAN, "sum": SUM}[reduction]
    return [cross_entropy_loss(call, logits, target, weight, number, ignore_index, label_smoothing)]


@translates("torch_nn._linear_cross_entropy_batch_chunked_no_reduction.default")
def linear_cross_entropy_of_each(
    call: Call,
    x: TensorValue,
    matrix: TensorValue,
    target: TensorValue,
    bias: TensorValue | None,
    weight: TensorValue | None,
    ignore_index: int,
    *_: Argument,
) -> Translated:
    return linear_cross_entropy(call, x, matrix, target, bias, weight, "none", ignore_index, 0.0)[0]


def _beside(weight: TensorValue, x: TensorValue) -> TensorValue:
    """The weights of classes, shaped to stand beside a tensor."""
    weight = cast(weight, dtype_of(x))
    return weight if rank_of(x) <= 2 else op.Reshape(weight, [-1] + [1] * (rank_of(x) - 2))


def _against_probabilities(
    call: Call,
    logarithms: TensorValue,
    target: TensorValue,
    weight: TensorValue | None,
    reduction: int,
    smoothing: float,
) -> TensorValue:
    """The target holds a probability for each class."""
    dtype = dtype_of(logarithms)
    axis = _classes(logarithms)
    classes = call.size(logarithms, axis)
    if smoothing:
        share = op.Div(cast(smoothing, dtype), cast(classes, dtype))
        target = op.Add(op.Mul(target, cast(1 - smoothing, dtype)), share)
    products = op.Mul(logarithms, target)
    if weight is not None:
        products = op.Mul(products, _beside(weight, products))
    if reduction == NONE:
        return op.Neg(op.ReduceSum(products, np.array([axis]), keepdims=0))
    total = op.Neg(reduced(products, SUM))
    if reduction == SUM:
        return total
    others = [size for k, size in enumerate(call.shape_of(logarithms)) if k != axis]
    count = functools.reduce(lambda a, b: a * b, others, 1)
    return op.Div(total, cast(count, dtype))


def _rows(x: TensorValue) -> TensorValue:
    """(sample, class), whatever the number of dimensions."""
    return x if rank_of(x) == 2 else op.Reshape(x, [1, -1])


@translates("aten.multi_margin_loss.default")
def multi_margin_loss(
    call: Call,
    x: TensorValue,
    target: TensorValue,
    p: Numeric = 1,
    margin: Numeric = 1,
    weight: TensorValue | None = None,
    reduction: int = MEAN,
) -> Translated:
    dtype = call.dtype
    rows = _rows(x)
    targets = op.Reshape(target, [-1, 1])
    picked = op.GatherElements(rows, targets, axis=1)
    loss = op.Max(op.Add(op.Sub(cast(margin, dtype), picked), rows), cast(0, dtype))
    if is_number(p, 2):
        loss = op.Mul(loss, loss)
    if weight is not None:
        loss = op.Mul(loss, op.Gather(weight, targets, axis=0))
    is_target = op.Equal(counted(call.size(rows, 1)), targets)
    # The mean takes in the right class, with a loss of zero.
    loss = op.ReduceMean(op.Where(is_target, cast(0, dtype), loss), np.array([1]), keepdims=0)
    return _as_given(loss, target, reduction)


def _as_given(loss: TensorValue, target: TensorValue, reduction: int) -> TensorValue:
    if reduction == NONE and rank_of(target) == 0:
        return op.Squeeze(loss, [0])
    return reduced(loss, reduction)


@translates("aten.multilabel_margin_loss.default", "aten.multilabel_margin_loss_forward.default")
def multilabel_margin_loss(
    call: Call, x: TensorValue, target: TensorValue, reduction: int = MEAN
) -> Translated:
    """Each row of targets lists classes, up to the first negative one."""
    dtype = call.dtype
    rows, targets = _rows(x), _rows(target)
    is_end = cast(op.Less(targets, np.int64(0)), DType.INT64)
    counts = op.Equal(op.CumSum(is_end, np.int64(1)), np.int64(0))
    safe = op.Where(counts, targets, np.int64(0))
    classes = call.size(rows, 1)
    # (sample, listed class, class)
    is_it = op.And(op.Equal(op.Unsqueeze(safe, [2]), counted(classes)), op.Unsqueeze(counts, [2]))
    is_target = op.ReduceMax(cast(is_it, dtype), np.array([1]), keepdims=1)
    picked = op.Unsqueeze(op.GatherElements(rows, safe, axis=1), [2])
    loss = op.Max(op.Add(op.Sub(cast(1, dtype), picked), op.Unsqueeze(rows, [1])), cast(0, dtype))
    matters = op.And(op.Unsqueeze(counts, [2]), op.Equal(is_target, cast(0, dtype)))
    loss = op.ReduceSum(op.Where(matters, loss, cast(0, dtype)), np.array([1, 2]), keepdims=0)
    loss = op.Div(loss, cast(classes, dtype))
    result = op.Squeeze(loss, [0]) if rank_of(target) < 2 and reduction == NONE else reduced(loss, reduction)
    if not call.overload.endswith("forward.default"):
        return result
    flags = op.Squeeze(is_target, [1])
    return [result, flags if rank_of(target) == 2 else op.Reshape(flags, [-1][: rank_of(target)])]
