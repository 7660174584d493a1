"""Normalisation over a layer, a batch or groups of channels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.operators import op
from onnxsmith.algorithms.values import constant, dtype_of, expand, filled, int64s, product, rank_of, reshape
from onnxsmith.core.value import TensorValue
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import Translated, cast
from onnxsmith.types.dtypes import DType


@translates("aten.layer_norm.default")
def layer_norm(
    call: Call,
    x: TensorValue,
    normalized_shape: Sequence[int],
    weight: TensorValue | None = None,
    bias: TensorValue | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Translated:
    if weight is None:
        weight = expand(constant(np.ones(1, call.dtype.numpy)), list(normalized_shape))
    given = () if bias is None else (bias,)
    return op.LayerNormalization(
        x, weight, *given, axis=-len(normalized_shape), epsilon=float(eps), outputs=1
    )


@translates("aten.rms_norm.default")
def rms_norm(
    call: Call,
    x: TensorValue,
    normalized_shape: Sequence[int],
    weight: TensorValue | None = None,
    eps: float | None = None,
) -> Translated:
    dtype = call.dtype
    eps = float(np.finfo(dtype.numpy if dtype.is_native else np.float32).eps) if eps is None else eps
    axes = np.arange(-len(normalized_shape), 0)
    mean = op.ReduceMean(op.Mul(x, x), axes, keepdims=1)
    result = op.Mul(x, op.Reciprocal(op.Sqrt(op.Add(mean, cast(eps, dtype)))))
    return result if weight is None else op.Mul(result, weight)


def _is_empty(call: Call, x: TensorValue) -> bool:
    return any(isinstance(each, int) and each == 0 for each in call.shape_of(x))


@translates("aten.batch_norm.default")
def batch_norm(
    call: Call,
    x: TensorValue,
    weight: TensorValue | None,
    bias: TensorValue | None,
    running_mean: TensorValue | None,
    running_var: TensorValue | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Translated:
    if _is_empty(call, x):
        return x
    if training or running_mean is None or running_var is None:
        return _trained(call, x, weight, bias, float(eps))[0]
    return _batch_norm(call, x, weight, bias, running_mean, running_var, float(eps))


@translates("aten._native_batch_norm_legit_no_training.default")
def batch_norm_in_use(
    call: Call,
    x: TensorValue,
    weight: TensorValue | None,
    bias: TensorValue | None,
    running_mean: TensorValue,
    running_var: TensorValue,
    _: float,
    eps: float,
) -> Translated:
    return [_batch_norm(call, x, weight, bias, running_mean, running_var, float(eps))]


@translates(
    *("aten.native_batch_norm.default", "aten._native_batch_norm_legit.default"),
    "aten._native_batch_norm_legit_functional.default",
)
def native_batch_norm(
    call: Call,
    x: TensorValue,
    weight: TensorValue | None,
    bias: TensorValue | None,
    running_mean: TensorValue | None,
    running_var: TensorValue | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Translated:
    """The result, the mean and the inverse deviation of the batch, and the running ones where they are results."""
    if not training and running_mean is not None and running_var is not None:
        result = _batch_norm(call, x, weight, bias, running_mean, running_var, float(eps))
        saved = [filled(call.output_shape(k), 0, DType.FLOAT) for k in (1, 2)]
        return [result, *saved, running_mean, running_var]
    result, mean, variance, inverse = _trained(call, x, weight, bias, float(eps))
    results = [result, mean, inverse]
    if "functional" in call.overload:
        assert running_mean is not None  # torch's schema has no None there
        assert running_var is not None
        results += _running(call, x, running_mean, running_var, mean, variance, float(momentum))
    return results


@translates("aten._native_batch_norm_legit.no_stats")
def native_batch_norm_of_batch(
    call: Call,
    x: TensorValue,
    weight: TensorValue | None,
    bias: TensorValue | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Translated:
    result, mean, _, inverse = _trained(call, x, weight, bias, float(eps))
    return [result, mean, inverse]


def _trained(
    call: Call, x: TensorValue, weight: TensorValue | None, bias: TensorValue | None, eps: float
) -> list[TensorValue]:
    """Normalised by the batch's own mean and variance; and these, and the inverse deviation, for each channel."""
    dtype = dtype_of(x) if dtype_of(x) is DType.DOUBLE else DType.FLOAT
    wide = cast(x, dtype)
    axes = np.array([0, *range(2, rank_of(x))])
    mean = op.ReduceMean(wide, axes, keepdims=1)
    spread = op.Sub(wide, mean)
    variance = op.ReduceMean(op.Mul(spread, spread), axes, keepdims=1)
    inverse = op.Reciprocal(op.Sqrt(op.Add(variance, cast(eps, dtype))))
    result = op.Mul(spread, inverse)
    given = [None if each is None else cast(each, dtype) for each in (weight, bias)]
    result = cast(_scaled(call, result, *given), dtype_of(x))
    return [result, *(op.Reshape(each, [-1]) for each in (mean, variance, inverse))]


def _running(
    call: Call,
    x: TensorValue,
    mean: TensorValue,
    variance: TensorValue,
    new: TensorValue,
    spread: TensorValue,
    momentum: float,
) -> list[TensorValue]:
    """The running mean and variance after this batch; the variance that goes in is divided by the count less one."""
    count = product([size for k, size in enumerate(call.shape_of(x)) if k != 1])
    dtype = dtype_of(spread)
    spread = op.Mul(spread, op.Div(cast(count, dtype), op.Sub(cast(count, dtype), cast(1, dtype))))
    return [
        cast(
            op.Add(op.Mul(cast(old, dtype), cast(1 - momentum, dtype)), op.Mul(now, cast(momentum, dtype))),
            dtype_of(old),
        )
        for old, now in ((mean, new), (variance, spread))
    ]


@translates("aten._batch_norm_with_update_functional.default", "aten._batch_norm_with_update.default")
def batch_norm_with_update(
    call: Call,
    x: TensorValue,
    weight: TensorValue | None,
    bias: TensorValue | None,
    running_mean: TensorValue,
    running_var: TensorValue,
    momentum: float,
    eps: float,
) -> Translated:
    result, mean, variance, inverse = _trained(call, x, weight, bias, float(eps))
    reserve = filled(call.output_shape(3), 0, DType.UINT8)
    after = _running(call, x, running_mean, running_var, mean, variance, float(momentum))
    return [result, mean, inverse, reserve, *after]


def _batch_norm(
    call: Call,
    x: TensorValue,
    weight: TensorValue | None,
    bias: TensorValue | None,
    mean: TensorValue,
    variance: TensorValue,
    eps: float,
) -> TensorValue:
    if _is_empty(call, x):
        return x
    channels = [call.size(mean, 0)]
    weight = filled(channels, 1, dtype_of(mean)) if weight is None else weight
    bias = filled(channels, 0, dtype_of(mean)) if bias is None else bias
    return op.BatchNormalization(x, weight, bias, mean, variance, epsilon=eps, outputs=1)


@translates("aten.native_layer_norm.default")
def native_layer_norm(
    call: Call,
    x: TensorValue,
    normalized_shape: Sequence[int],
    weight: TensorValue | None,
    bias: TensorValue | None,
    eps: float,
) -> Translated:
    """The result, the mean and the inverse deviation."""
    dtype = dtype_of(x) if dtype_of(x) is DType.DOUBLE else DType.FLOAT
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
    x: TensorValue,
    num_groups: int,
    weight: TensorValue | None = None,
    bias: TensorValue | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Translated:
    if _is_empty(call, x):
        return x
    sizes = call.shape_of(x)
    flat = reshape(x, [sizes[0], num_groups, -1])
    ones, zeros = (constant(np.full(num_groups, each, dtype_of(x).numpy)) for each in (1, 0))
    normal = op.InstanceNormalization(flat, ones, zeros, epsilon=float(eps))
    return _scaled(call, reshape(normal, sizes), weight, bias)


@translates("aten.instance_norm.default")
def instance_norm(
    call: Call,
    x: TensorValue,
    weight: TensorValue | None,
    bias: TensorValue | None,
    running_mean: TensorValue,
    running_var: TensorValue,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Translated:
    if not use_input_stats:
        return _batch_norm(call, x, weight, bias, running_mean, running_var, float(eps))
    if _is_empty(call, x):
        return x
    channels = [call.size(x, 1)]
    weight = filled(channels, 1, dtype_of(x)) if weight is None else weight
    bias = filled(channels, 0, dtype_of(x)) if bias is None else bias
    return op.InstanceNormalization(x, weight, bias, epsilon=float(eps))


def _scaled(call: Call, x: TensorValue, weight: TensorValue | None, bias: TensorValue | None) -> TensorValue:
    """Each channel times its weight, plus its bias."""
    shape = int64s([-1] + [1] * (rank_of(x) - 2))
    if weight is not None:
        x = op.Mul(x, op.Reshape(weight, shape))
    return x if bias is None else op.Add(x, op.Reshape(bias, shape))
