"""Reductions of segments: runs of places along a dimension, given by their lengths or their ends."""

from __future__ import annotations

from onnxsmith.algorithms import segments
from onnxsmith.algorithms.segments import Reduction
from onnxsmith.algorithms.values import axis_of, converted, rank_of
from onnxsmith.core.tensor import Tensor
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.registry import translates
from onnxsmith.types.dtypes import DType


@translates("aten.segment_reduce.default")
def segment_reduce(
    call: Call,
    x: Tensor,
    reduce: Reduction,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Tensor:
    # ONNX Runtime scatters halves, but does not reduce them.
    x = converted(x, DType.FLOAT) if x.dtype in (DType.FLOAT16, DType.BFLOAT16) else x
    axis = axis_of(axis, rank_of(x))
    if lengths is not None:
        ends = segments.offsets_of(lengths)
    elif offsets is not None:
        ends = converted(offsets, DType.INT64)
    else:
        raise call.refuse("segments that are given by indices")
    return segments.reduced(x, ends, axis, call.output_shape()[axis], reduce, initial)
