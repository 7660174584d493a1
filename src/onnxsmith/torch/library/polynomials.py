"""Orthogonal polynomials of a degree that is a tensor."""

from __future__ import annotations

from onnxsmith.algorithms.special.polynomials import FAMILIES, Family
from onnxsmith.algorithms.special.polynomials import polynomial as polynomial_of
from onnxsmith.algorithms.values import Numeric, as_tensor
from onnxsmith.core.tensor import Tensor
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.registry import translates
from onnxsmith.types.dtypes import DType

OVERLOADS: dict[str, tuple[Family, bool]] = {
    f"aten.special_{prefix}{family}{suffix}": (family, prefix != "")
    for family in FAMILIES
    for prefix in (("", "shifted_") if family.startswith("chebyshev") else ("",))
    for suffix in (".default", ".x_scalar", ".n_scalar")
}


@translates(*OVERLOADS)
def polynomial(call: Call, x: Numeric, n: Numeric) -> Tensor:
    family, is_shifted = OVERLOADS[call.overload]
    dtype = call.dtype if call.dtype is DType.DOUBLE else DType.FLOAT
    return polynomial_of(family, as_tensor(x, dtype), as_tensor(n, dtype), is_shifted=is_shifted)
