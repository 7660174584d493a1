# pyright: basic
"""Pools: the greatest or the mean of windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.convolution import repeated
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast, rank_of


def _batched(x: Any, spatial: int) -> tuple[Any, bool]:
    """A single sample as a batch of one."""
    is_single = rank_of(x) == spatial + 1
    return (op.Unsqueeze(x, [0]) if is_single else x), is_single


def _spatial(call: Call) -> int:
    return next(n for n in (1, 2, 3) if f"{n}d" in call.overload)


@translates("aten.max_pool1d.default", "aten.max_pool2d.default", "aten.max_pool3d.default")
def max_pool(
    call: Call,
    x: Any,
    kernel: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> Any:
    spatial = _spatial(call)
    x, is_single = _batched(x, spatial)
    kernel = repeated(kernel, spatial)
    result = op.MaxPool(
        x,
        kernel_shape=kernel,
        strides=repeated(stride, spatial) if stride else kernel,
        pads=repeated(padding, spatial) * 2,
        dilations=repeated(dilation, spatial),
        ceil_mode=int(ceil_mode),
        outputs=1,
    )
    return op.Squeeze(result, [0]) if is_single else result


@translates("aten.avg_pool1d.default", "aten.avg_pool2d.default", "aten.avg_pool3d.default")
def avg_pool(
    call: Call,
    x: Any,
    kernel: Any,
    stride: Any = (),
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    spatial = _spatial(call)
    x, is_single = _batched(x, spatial)
    kernel = repeated(kernel, spatial)
    result = op.AveragePool(
        x,
        kernel_shape=kernel,
        strides=repeated(stride, spatial) if stride else kernel,
        pads=repeated(padding, spatial) * 2,
        ceil_mode=int(ceil_mode),
        count_include_pad=int(count_include_pad or divisor_override is not None),
    )
    if divisor_override is not None:
        if ceil_mode:
            raise call.refuse("divisor_override with ceil_mode")
        result = op.Mul(result, cast(float(np.prod(kernel)) / divisor_override, call.dtype))
    return op.Squeeze(result, [0]) if is_single else result


@translates(
    *(
        "aten.adaptive_avg_pool1d.default",
        "aten.adaptive_avg_pool2d.default",
        "aten.adaptive_avg_pool3d.default",
    ),
)
def adaptive_avg_pool(call: Call, x: Any, output_size: Any) -> Any:
    spatial = _spatial(call)
    sizes = [call.size(x, -spatial + k) for k in range(spatial)]
    if all(each == 1 for each in output_size):
        return op.ReduceMean(x, np.arange(-spatial, 0), keepdims=1)
    if not all(isinstance(a, int) and a % b == 0 for a, b in zip(sizes, output_size, strict=True)):
        raise call.refuse("an adaptive pool whose windows differ in size")
    kernel = [a // b for a, b in zip(sizes, output_size, strict=True)]
    x, is_single = _batched(x, spatial)
    result = op.AveragePool(x, kernel_shape=kernel, strides=kernel)
    return op.Squeeze(result, [0]) if is_single else result
