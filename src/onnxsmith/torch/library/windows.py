# pyright: basic
"""Windows that slide along dimensions, as tensors: for what ONNX Runtime has no kernel of its own for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.operators import op
from onnxsmith.torch.library.values import cast, constant, int64s, is_static, rank_of
from onnxsmith.types.dtypes import DType


def product(sizes: Any) -> Any:
    """The product of ints and numbers of the model."""
    result: Any = 1
    for each in sizes:
        result = each if isinstance(result, int) and result == 1 else result * each
    return result


def counted(output: Any) -> Any:
    """The numbers from 0 up to an int or a number of the model."""
    if isinstance(output, int):
        return constant(np.arange(output))
    return op.Range(np.int64(0), cast(output, DType.INT64), np.int64(1))


def window_places(width: Any, output: Any, stride: int, dilation: int) -> Any:
    """Where the elements of each window stand: (element, window)."""
    if isinstance(width, int) and isinstance(output, int):
        return constant((np.arange(width) * dilation).reshape(-1, 1) + np.arange(output) * stride)
    within = op.Unsqueeze(_multiples(width, dilation), [1])
    return op.Add(within, _multiples(output, stride))


def _multiples(count: Any, step: int) -> Any:
    return counted(count) if step == 1 else op.Mul(counted(count), np.int64(step))


def sliding(x: Any, axis: int, width: Any, output: Any, stride: int, dilation: int) -> Any:
    """One dimension as two: (element of the window, window)."""
    return op.Gather(x, window_places(width, output, stride, dilation), axis=axis)


def padded(x: Any, before: Sequence[Any], after: Sequence[Any], value: Any = 0) -> Any:
    """The last dimensions with elements around; negative numbers crop."""
    if is_static([*before, *after]) and not any([*before, *after]):
        return x
    lead = [0] * (rank_of(x) - len(before))
    fill = () if value == 0 else (cast(value, x.dtype),)
    return op.Pad(x, int64s([*lead, *before, *lead, *after]), *fill)


def unfolded(
    call: Call,
    x: Any,
    kernel: Sequence[Any],
    outputs: Sequence[Any],
    stride: Sequence[int],
    dilation: Sequence[int],
) -> Any:
    """A batch (batch, channel, …) as (batch, channel, elements of a window in each dimension, windows in each)."""
    spatial = len(kernel)
    for k in reversed(range(spatial)):
        x = sliding(x, 2 + k, kernel[k], outputs[k], stride[k], dilation[k])
    order = [0, 1, *(2 + 2 * k for k in range(spatial)), *(3 + 2 * k for k in range(spatial))]
    return x if spatial == 1 else op.Transpose(x, perm=order)


def is_exact_only(dtype: DType) -> bool:
    """Whether ONNX Runtime's kernels for windows, which are for float and less, would lose digits of the type."""
    return dtype is DType.DOUBLE or dtype.is_integer
