# pyright: basic
"""Orthogonal polynomials of a degree that is a tensor."""

from __future__ import annotations

from typing import Any

from onnxsmith.algorithms.special.polynomials import FAMILIES, Family
from onnxsmith.algorithms.special.polynomials import polynomial as polynomial_of
from onnxsmith.core.value import TensorValue, Value
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast, constant
from onnxsmith.types.dtypes import DType

OVERLOADS: dict[str, tuple[Family, bool]] = {
    f"aten.special_{prefix}{family}{suffix}": (family, prefix != "")
    for family in FAMILIES
    for prefix in (("", "shifted_") if family.startswith("chebyshev") else ("",))
    for suffix in (".default", ".x_scalar", ".n_scalar")
}


@translates(*OVERLOADS)
def polynomial(call: Call, x: Any, n: Any) -> TensorValue:
    family, is_shifted = OVERLOADS[call.overload]
    dtype = call.dtype if call.dtype is DType.DOUBLE else DType.FLOAT
    x, n = (each if isinstance(each, Value) else constant(each) for each in (cast(x, dtype), cast(n, dtype)))
    return polynomial_of(family, x, n, is_shifted=is_shifted)
