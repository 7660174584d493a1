"""LDL factors of symmetric matrices that need not be positive."""

from __future__ import annotations

from onnxsmith.algorithms.linalg.ldl import factored, solved
from onnxsmith.algorithms.linalg.matrices import expanded
from onnxsmith.core.tensor import Tensor
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Given, Translated
from onnxsmith.torch.library.linalg.matrices import empty_results, is_empty, matrix
from onnxsmith.torch.library.registry import translates_both

FACTORS = ("aten.linalg_ldl_factor.default", "aten.linalg_ldl_factor_ex.default")


@translates_both(*FACTORS)
def ldl_factor(call: Call, a: Given, *, hermitian: bool = False, check_errors: bool = False) -> Translated:
    if is_empty(a):
        return empty_results(call)
    made, pivots, info = factored(matrix(a), hermitian)
    return [made.as_value(), pivots, info][: len(call.outputs)]


@translates_both("aten.linalg_ldl_solve.default")
def ldl_solve(call: Call, factors: Given, pivots: Tensor, b: Given, *, hermitian: bool = False) -> Translated:
    if is_empty(factors, b):
        return empty_results(call)
    right = expanded(matrix(b), call.output_shape())
    return solved(matrix(factors), pivots, right, hermitian=hermitian).as_value()
