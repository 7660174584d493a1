"""Einstein summation."""

from __future__ import annotations

from collections.abc import Sequence

from onnxsmith.algorithms import einsum as algorithm
from onnxsmith.algorithms.values import converted
from onnxsmith.core.tensor import Tensor
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.registry import translates


@translates("aten.einsum.default")
def einsum(
    call: Call, equation: str, tensors: Sequence[Tensor], *, path: Sequence[int] | None = None
) -> Tensor:
    return algorithm.einsum(equation, [converted(each, call.dtype) for each in tensors], path)
