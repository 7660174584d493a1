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


@translates("aten.batch_norm.default", "aten._native_batch_norm_legit_no_training.default")
def batch_norm(
    call: Call,
    x: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: Any = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Any:
    if call.overload == "aten._native_batch_norm_legit_no_training.default":
        return [_batch_norm(call, x, weight, bias, running_mean, running_var, float(momentum)), x, x]
    if training or running_mean is None:
        raise call.refuse("batch normalisation that is in training")
    return _batch_norm(call, x, weight, bias, running_mean, running_var, float(eps))


def _batch_norm(call: Call, x: Any, weight: Any, bias: Any, mean: Any, variance: Any, eps: float) -> Any:
    channels = [call.size(mean, 0)]
    weight = filled(channels, 1, mean.dtype) if weight is None else weight
    bias = filled(channels, 0, mean.dtype) if bias is None else bias
    return op.BatchNormalization(x, weight, bias, mean, variance, epsilon=eps, outputs=1)


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
