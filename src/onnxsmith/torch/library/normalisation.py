# pyright: basic
"""Normalisation over a layer, a batch or groups of channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast, constant, expand, filled, int64s, rank_of, reshape
from onnxsmith.types.dtypes import DType


@translates("aten.layer_norm.default")
def layer_norm(
    call: Call,
    x: Any,
    normalized_shape: Sequence[int],
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Any:
    if weight is None:
        weight = expand(constant(np.ones(1, call.dtype.numpy)), list(normalized_shape))
    given = () if bias is None else (bias,)
    return op.LayerNormalization(
        x, weight, *given, axis=-len(normalized_shape), epsilon=float(eps), outputs=1
    )


@translates("aten.rms_norm.default")
def rms_norm(
    call: Call, x: Any, normalized_shape: Sequence[int], weight: Any = None, eps: float | None = None
) -> Any:
    dtype = call.dtype
    eps = float(np.finfo(dtype.numpy if dtype.is_native else np.float32).eps) if eps is None else eps
    axes = np.arange(-len(normalized_shape), 0)
    mean = op.ReduceMean(op.Mul(x, x), axes, keepdims=1)
    result = op.Mul(x, op.Reciprocal(op.Sqrt(op.Add(mean, cast(eps, dtype)))))
    return result if weight is None else op.Mul(result, weight)


def _is_empty(call: Call, x: Any) -> bool:
    return any(isinstance(each, int) and each == 0 for each in call.shape_of(x))


@translates("aten.batch_norm.default")
def batch_norm(
    call: Call,
    x: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Any:
    if _is_empty(call, x):
        return x
    if training or running_mean is None:
        return _trained(call, x, weight, bias, float(eps))[0]
    return _batch_norm(call, x, weight, bias, running_mean, running_var, float(eps))


@translates("aten._native_batch_norm_legit_no_training.default")
def batch_norm_in_use(
    call: Call, x: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, _: float, eps: float
) -> Any:
    return [_batch_norm(call, x, weight, bias, running_mean, running_var, float(eps))]


@translates(
    *("aten.native_batch_norm.default", "aten._native_batch_norm_legit.default"),
    "aten._native_batch_norm_legit_functional.default",
)
def native_batch_norm(
    call: Call,
    x: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
) -> Any:
    """The result, the mean and the inverse deviation of the batch, and the running ones where they are results."""
    if not training and running_mean is not None:
        result = _batch_norm(call, x, weight, bias, running_mean, running_var, float(eps))
        saved = [filled(call.output_shape(k), 0, DType.FLOAT) for k in (1, 2)]
        return [result, *saved, running_mean, running_var]
    result, mean, variance, inverse = _trained(call, x, weight, bias, float(eps))
    results = [result, mean, inverse]
    if "functional" in call.overload:
        results += _running(call, x, running_mean, running_var, mean, variance, float(momentum))
    return results


@translates("aten._native_batch_norm_legit.no_stats")
def native_batch_norm_of_batch(
    call: Call, x: Any, weight: Any, bias: Any, training: bool, momentum: float, eps: float
) -> Any:
    result, mean, _, inverse = _trained(call, x, weight, bias, float(eps))
    return [result, mean, inverse]


def _trained(call: Call, x: Any, weight: Any, bias: Any, eps: float) -> list[Any]:
    """Normalised by the batch's own mean and variance; and these, and the inverse deviation, for each channel."""
    dtype = x.dtype if x.dtype is DType.DOUBLE else DType.FLOAT
    wide = cast(x, dtype)
    axes = np.array([0, *range(2, rank_of(x))])
    mean = op.ReduceMean(wide, axes, keepdims=1)
    spread = op.Sub(wide, mean)
    variance = op.ReduceMean(op.Mul(spread, spread), axes, keepdims=1)
    inverse = op.Reciprocal(op.Sqrt(op.Add(variance, cast(eps, dtype))))
    result = op.Mul(spread, inverse)
    given = [None if each is None else cast(each, dtype) for each in (weight, bias)]
    result = cast(_scaled(call, result, *given), x.dtype)
    return [result, *(op.Reshape(each, [-1]) for each in (mean, variance, inverse))]


def _running(
    call: Call, x: Any, mean: Any, variance: Any, new: Any, spread: Any, momentum: float
) -> list[Any]:
    """The running mean and variance after this batch; the variance that goes in is divided by the count less one."""
    count: Any = 1
    for k, size in enumerate(call.shape_of(x)):
        count = count if k == 1 else count * size
    dtype = spread.dtype
    spread = op.Mul(spread, op.Div(cast(count, dtype), op.Sub(cast(count, dtype), cast(1, dtype))))
    return [
        cast(
            op.Add(op.Mul(cast(old, dtype), cast(1 - momentum, dtype)), op.Mul(now, cast(momentum, dtype))),
            old.dtype,
        )
        for old, now in ((mean, new), (variance, spread))
    ]


@translates("aten._batch_norm_with_update_functional.default", "aten._batch_norm_with_update.default")
def batch_norm_with_update(
    call: Call,
    x: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    momentum: float,
    eps: float,
) -> Any:
    result, mean, variance, inverse = _trained(call, x, weight, bias, float(eps))
    reserve = filled(call.output_shape(3), 0, DType.UINT8)
    after = _running(call, x, running_mean, running_var, mean, variance, float(momentum))
    return [result, mean, inverse, reserve, *after]


def _batch_norm(call: Call, x: Any, weight: Any, bias: Any, mean: Any, variance: Any, eps: float) -> Any:
    if _is_empty(call, x):
        return x
    channels = [call.size(mean, 0)]
    weight = filled(channels, 1, mean.dtype) if weight is None else weight
    bias = filled(channels, 0, mean.dtype) if bias is None else bias
    return op.BatchNormalization(x, weight, bias, mean, variance, epsilon=eps, outputs=1)


@translates("aten.native_layer_norm.default")
def native_layer_norm(
    call: Call, x: Any, normalized_shape: Sequence[int], weight: Any, bias: Any, eps: float
) -> Any:
    """The result, the mean and the inverse deviation."""
    dtype = x.dtype if x.dtype is DType.DOUBLE else DType.FLOAT
    wide = cast(x, dtype)
    axes = np.arange(-len(normalized_shape), 0)
    mean = op.ReduceMean(wide, axes, keepdims=1)
    spread = op.Sub(wide, mean)
    variance = op.ReduceMean(op.Mul(spread, spread), axes, keepdims=1)
    inverse = op.Reciprocal(op.Sqrt(op.Add(variance, cast(eps, dtype))))
    result = op.Mul(spread, inverse)
    result = result if weight is None else op.Mul(result, cast(weight, dtype))
    result = result if bias is None else op.Add(result, cast(bias, dtype))
    return [result, mean, inverse]


@translates("aten.group_norm.default")
def group_norm(
    call: Call,
    x: Any,
    num_groups: int,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Any:
    if _is_empty(call, x):
        return x
    sizes = call.shape_of(x)
    flat = reshape(x, [sizes[0], num_groups, -1])
    ones, zeros = (constant(np.full(num_groups, each, x.dtype.numpy)) for each in (1, 0))
    normal = op.InstanceNormalization(flat, ones, zeros, epsilon=float(eps))
    return _scaled(call, reshape(normal, sizes), weight, bias)


@translates("aten.instance_norm.default")
def instance_norm(
    call: Call,
    x: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Any:
    if not use_input_stats:
        return _batch_norm(call, x, weight, bias, running_mean, running_var, float(eps))
    if _is_empty(call, x):
        return x
    channels = [call.size(x, 1)]
    weight = filled(channels, 1, x.dtype) if weight is None else weight
    bias = filled(channels, 0, x.dtype) if bias is None else bias
    return op.InstanceNormalization(x, weight, bias, epsilon=float(eps))


def _scaled(call: Call, x: Any, weight: Any, bias: Any) -> Any:
    """Each channel times its weight, plus its bias."""
    shape = int64s([-1] + [1] * (rank_of(x) - 2))
    if weight is not None:
        x = op.Mul(x, op.Reshape(weight, shape))
    return x if bias is None else op.Add(x, op.Reshape(bias, shape))
