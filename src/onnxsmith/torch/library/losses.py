"""Losses between a prediction and a target of the same shape."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.values import Numeric, dtype_of, rank_of
from onnxsmith.core.value import Array, TensorValue
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import Translated, cast, common, common_torch_dtype
from onnxsmith.types.dtypes import DType

#: torch's numbers for how the losses of elements become one.
NONE, MEAN, SUM = 0, 1, 2


def reduced(loss: TensorValue, reduction: int) -> TensorValue:
    """The losses of elements as they are, or their mean or sum."""
    if reduction == NONE or rank_of(loss) == 0:
        return loss
    name = "ReduceMean" if reduction == MEAN else "ReduceSum"
    # The axes are written out: without any, ONNX Runtime takes an empty tensor for one that needs no reduction.
    return getattr(op, name)(loss, np.arange(rank_of(loss)), keepdims=0)


def _pair(call: Call, x: TensorValue, y: TensorValue) -> tuple[TensorValue, TensorValue]:
    dtype = common_torch_dtype(call)
    return cast(x, dtype), cast(y, dtype)


@translates("aten.mse_loss.default")
def mse_loss(call: Call, x: TensorValue, target: TensorValue, reduction: int = MEAN) -> Translated:
    x, target = _pair(call, x, target)
    difference = op.Sub(x, target)
    return reduced(op.Mul(difference, difference), reduction)


@translates("aten.l1_loss.default")
def l1_loss(call: Call, x: TensorValue, target: TensorValue, reduction: int = MEAN) -> Translated:
    x, target = _pair(call, x, target)
    return reduced(cast(op.Abs(op.Sub(x, target)), call.dtype), reduction)


@translates("aten.smooth_l1_loss.default")
def smooth_l1_loss(
    call: Call, x: TensorValue, target: TensorValue, reduction: int = MEAN, beta: float = 1.0
) -> Translated:
    x, target = _pair(call, x, target)
    distance = op.Abs(op.Sub(x, target))
    if beta == 0:
        return reduced(distance, reduction)
    dtype = dtype_of(distance)
    square = op.Mul(op.Mul(distance, distance), cast(0.5 / beta, dtype))
    line = op.Sub(distance, cast(0.5 * beta, dtype))
    return reduced(op.Where(op.Less(distance, cast(beta, dtype)), square, line), reduction)


@translates("aten.huber_loss.default")
def huber_loss(
    call: Call, x: TensorValue, target: TensorValue, reduction: int = MEAN, delta: float = 1.0
) -> Translated:
    x, target = _pair(call, x, target)
    distance = op.Abs(op.Sub(x, target))
    dtype = dtype_of(distance)
    square = op.Mul(op.Mul(distance, distance), cast(0.5, dtype))
    line = op.Mul(op.Sub(distance, cast(0.5 * delta, dtype)), cast(delta, dtype))
    return reduced(op.Where(op.LessOrEqual(distance, cast(delta, dtype)), square, line), reduction)


@translates("aten.binary_cross_entropy.default")
def binary_cross_entropy(
    call: Call, x: TensorValue, target: TensorValue, weight: TensorValue | None = None, reduction: int = MEAN
) -> Translated:
    dtype = dtype_of(x)
    one, floor = cast(1, dtype), cast(-100, dtype)
    yes = op.Max(op.Log(x), floor)
    no = op.Max(op.Log(op.Sub(one, x)), floor)
    target = cast(target, dtype)
    loss = op.Sub(op.Mul(op.Sub(target, one), no), op.Mul(target, yes))
    return reduced(loss if weight is None else op.Mul(loss, cast(weight, dtype)), reduction)


@translates("aten.binary_cross_entropy_with_logits.default")
def binary_cross_entropy_with_logits(
    call: Call,
    x: TensorValue,
    target: TensorValue,
    weight: TensorValue | None = None,
    pos_weight: TensorValue | None = None,
    reduction: int = MEAN,
) -> Translated:
    dtype = call.dtype
    x, target, one = cast(x, dtype), cast(target, dtype), cast(1, dtype)
    # log(sigmoid(x)) is min(x, 0) - log(1 + exp(-|x|)), which never overflows.
    small = op.Log(op.Add(op.Exp(op.Neg(op.Abs(x))), one))
    log_sigmoid = op.Sub(op.Min(x, cast(0, dtype)), small)
    if pos_weight is not None:
        factor = op.Add(op.Mul(op.Sub(cast(pos_weight, dtype), one), target), one)
        log_sigmoid = op.Mul(factor, log_sigmoid)
    loss = op.Sub(op.Mul(op.Sub(one, target), x), log_sigmoid)
    return reduced(loss if weight is None else op.Mul(loss, cast(weight, dtype)), reduction)


@translates("aten.soft_margin_loss.default")
def soft_margin_loss(call: Call, x: TensorValue, target: TensorValue, reduction: int = MEAN) -> Translated:
    x, target = _pair(call, x, target)
    exponent = op.Neg(op.Mul(x, target))
    loss = op.Log(op.Add(op.Exp(exponent), cast(1, dtype_of(x))))
    if dtype_of(x) is DType.FLOAT16:
        # torch's exponential is infinite beyond the type's range; ONNX Runtime's, computed as float, is not.
        overflows = op.Greater(exponent, cast(np.log(65520.0), dtype_of(x)))
        loss = op.Where(overflows, cast(np.inf, dtype_of(x)), loss)
    return reduced(loss, reduction)


@translates("aten.hinge_embedding_loss.default")
def hinge_embedding_loss(
    call: Call, x: TensorValue, target: TensorValue, margin: float = 1.0, reduction: int = MEAN
) -> Translated:
    # torch computes in the element type of `x`; whole numbers without a sign wrap around.
    dtype = dtype_of(x)
    zero = cast(0, dtype)
    apart = op.Max(op.Sub(cast(margin, dtype), x), zero)
    apart = op.Where(op.Equal(target, cast(1, dtype_of(target))), zero, apart)
    near = op.Where(op.Equal(target, cast(-1, dtype_of(target))), zero, x)
    return reduced(cast(op.Add(apart, near), call.dtype), reduction)


@translates("aten.margin_ranking_loss.default")
def margin_ranking_loss(
    call: Call, x: TensorValue, y: Numeric, target: TensorValue, margin: float = 0.0, reduction: int = MEAN
) -> Translated:
    # Up to the margin torch computes in the element types of the operands; those without a sign wrap around.
    difference = op.Sub(*common(call, x, y))
    sign = op.Sub(cast(0, dtype_of(target)), target)
    working = common_torch_dtype(call, (0, 1, 2))
    dtype = call.dtype
    loss = cast(op.Mul(cast(sign, working), cast(difference, working)), dtype)
    if margin:
        loss = op.Add(loss, cast(margin, dtype))
    return reduced(op.Max(loss, cast(0, dtype)), reduction)


@translates("aten.kl_div.default")
def kl_div(
    call: Call, x: TensorValue, target: TensorValue, reduction: int = MEAN, *, log_target: bool = False
) -> Translated:
    dtype = call.dtype
    x, target = cast(x, dtype), cast(target, dtype)
    if log_target:
        return reduced(op.Mul(op.Exp(target), op.Sub(target, x)), reduction)
    # Where the target is zero, so is its logarithm times it.
    entropy = op.Where(op.Equal(target, cast(0, dtype)), cast(0, dtype), op.Mul(target, op.Log(target)))
    return reduced(op.Sub(entropy, op.Mul(target, x)), reduction)


@translates("aten.poisson_nll_loss.default")
def poisson_nll_loss(
    call: Call, x: TensorValue, target: TensorValue, log_input: bool, full: bool, eps: float, reduction: int
) -> Translated:
    dtype = call.dtype
    x, target = cast(x, dtype), cast(target, dtype)
    if log_input:
        loss = op.Sub(op.Exp(x), op.Mul(target, x))
    else:
        loss = op.Sub(x, op.Mul(target, op.Log(op.Add(x, cast(eps, dtype)))))
    if full:
        # Stirling's approximation of log(target!), for targets greater than one.
        circle = op.Log(op.Mul(target, cast(2 * np.pi, dtype)))
        stirling = op.Add(op.Sub(op.Mul(target, op.Log(target)), target), op.Mul(circle, cast(0.5, dtype)))
        stirling = op.Where(op.LessOrEqual(target, cast(1, dtype)), cast(0, dtype), stirling)
        loss = op.Add(loss, stirling)
    return reduced(loss, reduction)


@translates("aten.cosine_embedding_loss.default")
def cosine_embedding_loss(
    call: Call, x: TensorValue, y: Numeric, target: TensorValue, margin: float = 0.0, reduction: int = MEAN
) -> Translated:
    dtype = call.dtype
    zero, one = cast(0, dtype), cast(1, dtype)

    def total(a: Numeric | Array, b: Numeric | Array) -> TensorValue:
        # Products are in the element type of the operands, which may wrap around; their sum has 64 bits.
        products = op.Mul(a, b)
        if dtype_of(products).is_integer or dtype_of(products) is DType.BOOL:
            products = cast(products, DType.INT64)
        return cast(op.ReduceSum(products, np.array([-1]), keepdims=0), dtype)

    epsilon = cast(1e-12, dtype)
    lengths = op.Mul(op.Add(total(x, x), epsilon), op.Add(total(y, y), epsilon))
    cosine = op.Div(total(*common(call, x, y)), op.Sqrt(lengths))
    near = op.Where(op.Equal(target, cast(1, dtype_of(target))), op.Sub(one, cosine), zero)
    if dtype_of(target) is DType.BOOL:
        return reduced(near, reduction)  # no truth is -1
    apart = op.Max(op.Sub(cosine, cast(margin, dtype)), zero)
    apart = op.Where(op.Equal(target, cast(-1, dtype_of(target))), apart, zero)
    return reduced(op.Add(near, apart), reduction)
