"""Normalisation over a layer, a batch or groups of channels."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any
from typing import cast as typed

import numpy as np

from onnxsmith.algorithms import normalisation
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Size, constant, converted, dtype_of, expand, filled
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Translated
from onnxsmith.torch.library.marks import in_training
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType


@translates("aten.layer_norm.default")
def layer_norm(
    call: Call,
    x: Tensor,
    normalized_shape: Sequence[Size],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Translated:
    if not all(isinstance(each, int) and each > 0 for each in normalized_shape):
        # ONNX Runtime's kernel refuses to normalise over no elements.
        made = normalisation.layer_norm(x, len(normalized_shape), weight, bias, float(eps))
        return converted(made.result, call.dtype)
    if weight is None:
        weight = expand(constant(np.ones(1, call.dtype.numpy)), list(normalized_shape))
    given = () if bias is None else (bias,)
    return op.LayerNormalization(
        x, weight, *given, axis=-len(normalized_shape), epsilon=float(eps), outputs=1
    )


@translates("aten.rms_norm.default")
def rms_norm(
    call: Call,
    x: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Translated:
    dtype = call.dtype
    eps = float(np.finfo(dtype.numpy if dtype.is_native else np.float32).eps) if eps is None else eps
    return normalisation.rms_norm(x, len(normalized_shape), weight, eps)


def _is_empty(call: Call, x: Tensor) -> bool:
    return any(isinstance(each, int) and each == 0 for each in call.shape_of(x))


@translates("aten.batch_norm.default")
def batch_norm(
    call: Call,
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Translated:
    if _is_empty(call, x):
        return x
    if training or running_mean is None or running_var is None:
        return normalisation.batch_norm(x, weight, bias, float(eps)).result
    return _batch_norm(call, x, weight, bias, running_mean, running_var, float(eps))


@translates(
    *("aten.native_batch_norm.default", "aten._native_batch_norm_legit.default"),
    *("aten._native_batch_norm_legit.no_stats", "aten._native_batch_norm_legit_no_training.default"),
    "aten._native_batch_norm_legit_functional.default",
    *("aten._batch_norm_with_update.default", "aten._batch_norm_with_update_functional.default"),
    by_name=True,
)
def native_batch_norm(
    call: Call,
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    momentum: float,
    eps: float,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    training: bool = True,
) -> Translated:
    """The result, the mean and the inverse deviation of the batch, and the running ones where they are results."""
    is_in_use = "no_training" in call.overload
    if (is_in_use or not training) and running_mean is not None and running_var is not None:
        result = _batch_norm(call, x, weight, bias, running_mean, running_var, float(eps))
        if is_in_use:
            return [result]
        saved = [filled(call.output_shape(k), 0, DType.FLOAT) for k in (1, 2)]
        return [result, *saved, running_mean, running_var]
    updates = "with_update" in call.overload
    if not updates and "functional" not in call.overload:
        made = normalisation.batch_norm(x, weight, bias, float(eps))
        return [made.result, made.mean, made.inverse]
    assert running_mean is not None  # torch's schema has no None there
    assert running_var is not None
    result, mean, inverse, *running = in_training(
        functools.partial(_with_statistics, momentum=momentum, eps=float(eps)),
        functools.partial(_in_use, call, eps=float(eps)),
        *(x, weight, bias, running_mean, running_var),
    )
    # What torch reserves for its backward pass.
    reserved = [filled(call.output_shape(3), 0, DType.UINT8)] if updates else []
    return [result, mean, inverse, *reserved, *running]


def _with_statistics(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float | Tensor,
    eps: float,
) -> tuple[Tensor, ...]:
    """In training: the result, the mean and the inverse deviation of the batch, and the running statistics after it."""
    made = normalisation.batch_norm(x, weight, bias, eps)
    running = normalisation.running_statistics(x, running_mean, running_var, made, momentum)
    return (made.result, made.mean, made.inverse, *running)


def _in_use(
    call: Call,
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    eps: float,
) -> tuple[Tensor, ...]:
    """The same in use: the running statistics are what the result is normalised by, and stay as they are."""
    result = _batch_norm(call, x, weight, bias, running_mean, running_var, eps)
    wide = running_var if dtype_of(running_var) is DType.DOUBLE else converted(running_var, DType.FLOAT)
    inverse = op.Reciprocal(op.Sqrt(wide + cast(eps, dtype_of(wide))))
    return result, converted(running_mean, dtype_of(wide)), inverse, running_mean, running_var


def _batch_norm(
    call: Call,
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    variance: Any,
    eps: float,
) -> Tensor:
    if _is_empty(call, x):
        return x
    channels = [call.size(mean, 0)]
    weight = filled(channels, 1, dtype_of(mean)) if weight is None else weight
    bias = filled(channels, 0, dtype_of(mean)) if bias is None else bias
    return op.BatchNormalization(x, weight, bias, mean, variance, epsilon=eps, outputs=1)


@translates("aten.native_layer_norm.default")
def native_layer_norm(
    call: Call,
    x: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> Translated:
    """The result, the mean and the inverse deviation."""
    made = normalisation.layer_norm(x, len(normalized_shape), weight, bias, eps)
    return [made.result, made.mean, made.inverse]


@translates("aten.group_norm.default")
def group_norm(
    call: Call,
    x: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Translated:
    if _is_empty(call, x):
        return x
    return normalisation.group_norm(x, num_groups, weight, bias, float(eps))


@translates("onnxsmith_norm.batch_norm.default")
def batch_norm_with_momentum(
    call: Call,
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: Tensor,
    eps: float,
) -> Translated:
    """The result, and the running statistics after it, by a part that is computed."""

    def trained(
        x: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, var: Tensor, part: Tensor
    ) -> tuple[Tensor, ...]:
        made = _with_statistics(x, weight, bias, mean, var, part, float(eps))
        return (made[0], *made[3:])

    def used(
        x: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, var: Tensor, part: Tensor
    ) -> tuple[Tensor, ...]:
        made = _in_use(call, x, weight, bias, mean, var, float(eps))
        return (made[0], *made[3:])

    return list(in_training(trained, used, x, weight, bias, running_mean, running_var, momentum))


@translates("onnxsmith_norm.instance_norm.default")
def instance_norm_with_update(
    call: Call,
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> Translated:
    """The result, and the running statistics after it: of each instance, and then the mean over the batch."""
    if _is_empty(call, x):
        return [x, running_mean, running_var]

    def trained(
        x: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, var: Tensor
    ) -> tuple[Tensor, ...]:
        result = typed(Tensor, instance_norm(call, x, weight, bias, mean, var, True, momentum, eps))
        return (result, *normalisation.running_statistics_of_instances(x, mean, var, momentum))

    def used(
        x: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, var: Tensor
    ) -> tuple[Tensor, ...]:
        return _batch_norm(call, x, weight, bias, mean, var, float(eps)), mean, var

    return list(in_training(trained, used, x, weight, bias, running_mean, running_var))


@translates("aten.instance_norm.default")
def instance_norm(
    call: Call,
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
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
