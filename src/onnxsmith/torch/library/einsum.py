"""Einstein summation."""

from __future__ import annotations

from collections.abc import Sequence

from onnxsmith.algorithms import einsum as algorithm
from onnxsmith.algorithms.values import converted
from onnxsmith.core.value import TensorValue
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.registry import translates


@translates("aten.einsum.default")
def einsum(
    call: Call, equation: str, tensors: Sequence[TensorValue], *, path: Sequence[int] | None = None
) -> TensorValue:
    return algorithm.einsum(equation, [converted(each, call.dtype) for each in tensors], path)
