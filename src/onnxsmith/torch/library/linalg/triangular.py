"""Systems of equations with a triangular matrix, and Cholesky's factors."""

from __future__ import annotations

from onnxsmith.algorithms.linalg.matrices import expanded
from onnxsmith.algorithms.linalg.triangular import cholesky as factored
from onnxsmith.algorithms.linalg.triangular import cholesky_inverse as inverse_of
from onnxsmith.algorithms.linalg.triangular import cholesky_solved, solved_triangular
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Given, Translated
from onnxsmith.torch.library.linalg.matrices import empty_results, is_empty, matrix
from onnxsmith.torch.library.registry import translates_both


@translates_both("aten.linalg_solve_triangular.default")
def solve_triangular(
    call: Call, a: Given, b: Given, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Translated:
    if is_empty(a, b):
        return empty_results(call)
    shape = call.output_shape()
    coefficients, right = matrix(a), expanded(matrix(b), shape)
    if left:
        return solved_triangular(coefficients, right, upper, unitriangular).as_value()
    x = solved_triangular(coefficients.transposed(), right.transposed(), not upper, unitriangular)
    return x.transposed().as_value()


@translates_both("aten.triangular_solve.default")
def triangular_solve(
    call: Call, b: Given, a: Given, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Translated:
    if is_empty(a, b):
        return empty_results(call)
    shape = call.output_shape()
    coefficients = matrix(a)
    if transpose:
        coefficients, upper = coefficients.transposed(), not upper
    x = solved_triangular(coefficients, expanded(matrix(b), shape), upper, unitriangular)
    copied = expanded(matrix(a), [*shape[:-2], shape[-2], shape[-2]])
    return [x.as_value(), copied.as_value()]


@translates_both("aten.cholesky_solve.default")
def cholesky_solve(call: Call, b: Given, factor: Given, upper: bool = False) -> Translated:
    if is_empty(b, factor):
        return empty_results(call)
    lower = matrix(factor).adjoint() if upper else matrix(factor)
    return cholesky_solved(lower, expanded(matrix(b), call.output_shape())).as_value()


@translates_both("aten.cholesky_inverse.default")
def cholesky_inverse(call: Call, factor: Given, upper: bool = False) -> Translated:
    if is_empty(factor):
        return empty_results(call)
    return inverse_of(matrix(factor), upper).as_value()


CHOLESKY = ("aten.linalg_cholesky.default", "aten.linalg_cholesky_ex.default", "aten.cholesky.default")


@translates_both(*CHOLESKY)
def cholesky(call: Call, a: Given, upper: bool = False, *, check_errors: bool = False) -> Translated:
    if is_empty(a):
        return empty_results(call)
    factor, info = factored(matrix(a).adjoint() if upper else matrix(a))
    factor = factor.adjoint() if upper else factor
    return [factor.as_value(), info] if call.has_several else factor.as_value()
