"""Losses between a prediction and a target of the same shape."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms import losses
from onnxsmith.algorithms.losses import Reduction
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Numeric, converted, dtype_of
from onnxsmith.core.value import Array
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.dtypes import onnx_dtype
from onnxsmith.torch.library.kinds import Translated
from onnxsmith.torch.library.marks import at_least, stopped, with_formula
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast, common, common_torch_dtype
from onnxsmith.types.dtypes import DType

#: torch's numbers for how the losses of elements become one.
NONE, MEAN, SUM = 0, 1, 2
#: The least p (1 - p) that torch divides by in the gradient of a binary cross-entropy.
_LEAST_VARIANCE = 1e-12
REDUCTIONS: tuple[Reduction, ...] = ("none", "mean", "sum")


def reduced(loss: Tensor, reduction: int) -> Tensor:
    """The losses of elements as they are, or their mean or sum."""
    return losses.reduced(loss, REDUCTIONS[reduction])


def _pair(call: Call, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    dtype = onnx_dtype(common_torch_dtype(call))
    return converted(x, dtype), converted(y, dtype)


@translates("aten.mse_loss.default")
def mse_loss(call: Call, x: Tensor, target: Tensor, reduction: int = MEAN) -> Translated:
    return reduced(losses.squared_error(*_pair(call, x, target)), reduction)


@translates("aten.l1_loss.default")
def l1_loss(call: Call, x: Tensor, target: Tensor, reduction: int = MEAN) -> Translated:
    return reduced(converted(losses.absolute_error(*_pair(call, x, target)), call.dtype), reduction)


@translates("aten.smooth_l1_loss.default")
def smooth_l1_loss(
    call: Call, x: Tensor, target: Tensor, reduction: int = MEAN, beta: float = 1.0
) -> Translated:
    return reduced(losses.smooth_l1(*_pair(call, x, target), beta), reduction)


@translates("aten.huber_loss.default")
def huber_loss(
    call: Call, x: Tensor, target: Tensor, reduction: int = MEAN, delta: float = 1.0
) -> Translated:
    return reduced(losses.huber(*_pair(call, x, target), delta), reduction)


@translates("aten.binary_cross_entropy.default")
def binary_cross_entropy(
    call: Call, x: Tensor, target: Tensor, weight: Tensor | None = None, reduction: int = MEAN
) -> Translated:
    dtype = dtype_of(x)
    weight = None if weight is None else converted(weight, dtype)
    target = converted(target, dtype)
    loss = losses.binary_cross_entropy(stopped(x), stopped(target), weight)

    def slope(cotangent: Tensor) -> list[Tensor]:
        """torch bounds the denominator, so that probabilities of exactly 0 and 1 have finite gradients."""
        scaled = cotangent if weight is None else cotangent * weight
        rest = 1 - x
        of_x = (x - target) / op.Max(rest * x, cast(_LEAST_VARIANCE, dtype))
        of_target = op.Log(rest) - op.Log(x)
        return [cotangent, scaled * of_x, scaled * of_target]

    return reduced(with_formula([loss], [loss, x, target], slope)[0], reduction)


@translates("aten.binary_cross_entropy_with_logits.default")
def binary_cross_entropy_with_logits(
    call: Call,
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = MEAN,
) -> Translated:
    dtype = call.dtype
    weights = [None if each is None else converted(each, dtype) for each in (weight, pos_weight)]
    loss = losses.binary_cross_entropy_with_logits(converted(x, dtype), converted(target, dtype), *weights)
    return reduced(loss, reduction)


@translates("aten.soft_margin_loss.default")
def soft_margin_loss(call: Call, x: Tensor, target: Tensor, reduction: int = MEAN) -> Translated:
    return reduced(losses.soft_margin(*_pair(call, x, target)), reduction)


@translates("aten.hinge_embedding_loss.default")
def hinge_embedding_loss(
    call: Call, x: Tensor, target: Tensor, margin: float = 1.0, reduction: int = MEAN
) -> Translated:
    # torch computes in the element type of `x`; whole numbers without a sign wrap around.
    dtype = dtype_of(x)
    zero = cast(0, dtype)
    apart = at_least(op.Sub(cast(margin, dtype), x), zero)
    apart = op.Where(op.Equal(target, cast(1, dtype_of(target))), zero, apart)
    near = op.Where(op.Equal(target, cast(-1, dtype_of(target))), zero, x)
    return reduced(cast(apart + near, call.dtype), reduction)


@translates("aten.margin_ranking_loss.default")
def margin_ranking_loss(
    call: Call, x: Tensor, y: Numeric, target: Tensor, margin: float = 0.0, reduction: int = MEAN
) -> Translated:
    # Up to the margin torch computes in the element types of the operands; those without a sign wrap around.
    difference = op.Sub(*common(call, x, y))
    sign = 0 - target
    working = common_torch_dtype(call, (0, 1, 2))
    dtype = call.dtype
    loss = cast(op.Mul(cast(sign, working), cast(difference, working)), dtype)
    if margin:
        loss = op.Add(loss, cast(margin, dtype))
    return reduced(at_least(loss, cast(0, dtype)), reduction)


@translates("aten.kl_div.default")
def kl_div(
    call: Call, x: Tensor, target: Tensor, reduction: int = MEAN, *, log_target: bool = False
) -> Translated:
    pair = converted(x, call.dtype), converted(target, call.dtype)
    return reduced(losses.divergence(*pair, is_log_target=log_target), reduction)


@translates("aten.poisson_nll_loss.default")
def poisson_nll_loss(
    call: Call, x: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Translated:
    pair = converted(x, call.dtype), converted(target, call.dtype)
    loss = losses.poisson_likelihood(*pair, is_log=log_input, with_factorial=full, epsilon=eps)
    return reduced(loss, reduction)


@translates("aten.cosine_embedding_loss.default")
def cosine_embedding_loss(
    call: Call, x: Tensor, y: Numeric, target: Tensor, margin: float = 0.0, reduction: int = MEAN
) -> Translated:
    dtype = call.dtype
    zero, one = cast(0, dtype), cast(1, dtype)

    def total(a: Numeric | Array, b: Numeric | Array) -> Tensor:
        # Products are in the element type of the operands, which may wrap around; their sum has 64 bits.
        products = op.Mul(a, b)
        if dtype_of(products).is_integer or dtype_of(products) is DType.BOOL:
            products = cast(products, DType.INT64)
        return cast(op.ReduceSum(products, np.array([-1]), keepdims=0), dtype)

    epsilon = cast(1e-12, dtype)
    lengths = (total(x, x) + epsilon) * (total(y, y) + epsilon)
    cosine = total(*common(call, x, y)) / op.Sqrt(lengths)
    near = op.Where(op.Equal(target, cast(1, dtype_of(target))), op.Sub(one, cosine), zero)
    if dtype_of(target) is DType.BOOL:
        return reduced(near, reduction)  # no truth is -1
    apart = at_least(cosine - cast(margin, dtype), zero)
    apart = op.Where(op.Equal(target, cast(-1, dtype_of(target))), apart, zero)
    return reduced(near + apart, reduction)
