"""Losses whose target says which class is right."""

from __future__ import annotations

from onnxsmith.algorithms import class_losses
from onnxsmith.algorithms.losses import Reduction
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Numeric, converted, dtype_of, like, rank_of
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Translated
from onnxsmith.torch.library.losses import MEAN, NONE, REDUCTIONS, SUM, reduced
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import is_number


@translates("aten.nll_loss_nd.default", "aten.nll_loss.default", "aten.nll_loss2d.default")
def nll_loss(
    call: Call,
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
) -> Translated:
    loss, weights = class_losses.likelihood(x, target, weight, ignore_index)
    return class_losses.settled(loss, weights, REDUCTIONS[reduction])


@translates("aten.nll_loss_forward.default", "aten.nll_loss2d_forward.default")
def nll_loss_forward(
    call: Call, x: Tensor, target: Tensor, weight: Tensor, reduction: int, ignore_index: int
) -> Translated:
    loss, weights = class_losses.likelihood(x, target, weight, ignore_index)
    total = like(0, x) if reduction == NONE else reduced(weights, SUM)
    return [class_losses.settled(loss, weights, REDUCTIONS[reduction]), total]


@translates("aten.cross_entropy_loss.default")
def cross_entropy_loss(
    call: Call,
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Tensor:
    x = converted(x, call.dtype)
    how = REDUCTIONS[reduction]
    return class_losses.cross_entropy(x, target, weight, how, ignore_index, label_smoothing)


@translates("torch_nn._linear_cross_entropy_batch_chunked.default")
def linear_cross_entropy(
    call: Call,
    x: Tensor,
    matrix: Tensor,
    target: Tensor,
    bias: Tensor | None,
    weight: Tensor | None,
    reduction: Reduction,
    ignore_index: int,
    label_smoothing: float,
    *_: object,
) -> list[Tensor]:
    """The cross entropy of a linear layer. torch computes it in parts; the other results are gradients."""
    logits = op.MatMul(x, op.Transpose(matrix, perm=[1, 0]))
    logits = converted(logits if bias is None else logits + bias, call.dtype)
    return [class_losses.cross_entropy(logits, target, weight, reduction, ignore_index, label_smoothing)]


@translates("torch_nn._linear_cross_entropy_batch_chunked_no_reduction.default")
def linear_cross_entropy_of_each(
    call: Call,
    x: Tensor,
    matrix: Tensor,
    target: Tensor,
    bias: Tensor | None,
    weight: Tensor | None,
    ignore_index: int,
    *_: object,
) -> Translated:
    return linear_cross_entropy(call, x, matrix, target, bias, weight, "none", ignore_index, 0.0)[0]


@translates("aten.multi_margin_loss.default")
def multi_margin_loss(
    call: Call,
    x: Tensor,
    target: Tensor,
    p: Numeric = 1,
    margin: Numeric = 1,
    weight: Tensor | None = None,
    reduction: int = MEAN,
) -> Translated:
    loss = class_losses.multi_margin(x, target, weight, margin=margin, is_squared=is_number(p, 2))
    return op.Squeeze(loss, [0]) if reduction == NONE and rank_of(target) == 0 else reduced(loss, reduction)


@translates("aten.multilabel_margin_loss.default", "aten.multilabel_margin_loss_forward.default")
def multilabel_margin_loss(call: Call, x: Tensor, target: Tensor, reduction: int = MEAN) -> Translated:
    loss, flags = class_losses.multilabel_margin(x, target)
    result = op.Squeeze(loss, [0]) if rank_of(target) < 2 and reduction == NONE else reduced(loss, reduction)
    if not call.overload.endswith("forward.default"):
        return result
    flags = converted(flags, dtype_of(x))
    return [result, flags if rank_of(target) == 2 else op.Reshape(flags, [-1][: rank_of(target)])]
