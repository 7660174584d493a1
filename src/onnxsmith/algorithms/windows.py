"""Windows that slide along dimensions, as tensors: for what ONNX Runtime has no kernel of its own for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import (
    Numeric,
    Size,
    cast,
    constant,
    counted,
    dtype_of,
    int64s,
    is_static,
    rank_of,
)
from onnxsmith.types.dtypes import DType


def window_places(width: Size, output: Size, stride: int, dilation: int) -> Tensor:
    """Where the elements of each window stand: (element, window)."""
    if isinstance(width, int) and isinstance(output, int):
        return constant((np.arange(width) * dilation).reshape(-1, 1) + np.arange(output) * stride)
    within = op.Unsqueeze(_multiples(width, dilation), [1])
    return within + _multiples(output, stride)


def _multiples(count: Size, step: int) -> Tensor:
    return counted(count) if step == 1 else counted(count) * step


def sliding(x: Tensor, axis: int, width: Size, output: Size, stride: int, dilation: int) -> Tensor:
    """One dimension as two: (element of the window, window)."""
    return op.Gather(x, window_places(width, output, stride, dilation), axis=axis)


def padded(x: Tensor, before: Sequence[Size], after: Sequence[Size], value: Numeric = 0) -> Tensor:
    """The last dimensions with elements around; negative numbers crop."""
    if is_static([*before, *after]) and not any([*before, *after]):
        return x
    lead = [0] * (rank_of(x) - len(before))
    fill = () if isinstance(value, int | float) and value == 0 else (cast(value, dtype_of(x)),)
    return op.Pad(x, int64s([*lead, *before, *lead, *after]), *fill)


def unfolded(
    x: Tensor,
    kernel: Sequence[Size],
    outputs: Sequence[Size],
    stride: Sequence[int],
    dilation: Sequence[int],
) -> Tensor:
    """A batch (batch, channel, …) as (batch, channel, elements of a window in each dimension, windows in each)."""
    spatial = len(kernel)
    for k in reversed(range(spatial)):
        x = sliding(x, 2 + k, kernel[k], outputs[k], stride[k], dilation[k])
    order = [0, 1, *(2 + 2 * k for k in range(spatial)), *(3 + 2 * k for k in range(spatial))]
    return x if spatial == 1 else op.Transpose(x, perm=order)


def is_exact_only(dtype: DType) -> bool:
    """True if ONNX Runtime's kernels for windows, which are for float and less, would lose digits of the type."""
    return dtype is DType.DOUBLE or dtype.is_integer
