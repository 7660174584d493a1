"""Eigenvalues of any square matrix."""

from __future__ import annotations

from onnxsmith.algorithms.linalg.matrices import diagonal
from onnxsmith.algorithms.linalg.schur import eig as eigen
from onnxsmith.algorithms.linalg.schur import schur
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Given, Translated
from onnxsmith.torch.library.linalg.matrices import empty_results, is_empty, matrix
from onnxsmith.torch.library.registry import translates_both


@translates_both("aten.linalg_eig.default")
def eig(call: Call, a: Given) -> Translated:
    if is_empty(a):
        return empty_results(call)
    return [each.as_value() for each in eigen(matrix(a))]


@translates_both("aten.linalg_eigvals.default", "aten._linalg_eigvals.default")
def eigvals(call: Call, a: Given) -> Translated:
    return empty_results(call) if is_empty(a) else diagonal(schur(matrix(a))[0]).as_value()
