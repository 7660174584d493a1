"""QR factors by reflections."""

from __future__ import annotations

from typing import Literal

from onnxsmith.algorithms.linalg.householder import applied, factored, orthonormal, reflected
from onnxsmith.algorithms.linalg.matrices import batch_identity, sizes
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Given, Translated
from onnxsmith.torch.library.linalg.matrices import (
    empty_results,
    empty_tensors,
    empty_with_identities,
    is_empty,
    matrix,
)
from onnxsmith.torch.library.registry import translates_both


@translates_both("aten.geqrf.default")
def geqrf(call: Call, a: Given) -> Translated:
    if is_empty(a):
        return empty_results(call)
    packed, factors = reflected(matrix(a))
    return [packed.as_value(), factors.as_value()]


PRODUCTS = ("aten.linalg_householder_product.default", "aten.orgqr.default")


@translates_both(*PRODUCTS)
def householder_product(call: Call, vectors: Given, factors: Given) -> Translated:
    if is_empty(vectors):
        return empty_results(call)
    v = matrix(vectors)
    if is_empty(factors):
        shape = sizes(v)
        return batch_identity(shape[:-2], shape[-2], shape[-1], v).as_value()
    return orthonormal(v, matrix(factors), call.output_shape()[-1]).as_value()


@translates_both("aten.ormqr.default")
def ormqr(
    call: Call, vectors: Given, factors: Given, other: Given, left: bool = True, transpose: bool = False
) -> Translated:
    if is_empty(vectors, factors, other):
        return empty_results(call) if is_empty(other) else other
    v, tau, c = matrix(vectors), matrix(factors), matrix(other)
    if not left:  # C Q is (Qᴴ Cᴴ)ᴴ
        c, transpose = c.adjoint(), not transpose
    made = applied(v, tau, c, backwards=not transpose, adjoint=transpose)
    return (made if left else made.adjoint()).as_value()


@translates_both("aten.linalg_qr.default")
def qr(call: Call, a: Given, mode: Literal["reduced", "complete", "r"] = "reduced") -> Translated:
    if is_empty(a):
        return empty_with_identities(call, [0])
    q, r = factored(matrix(a), mode)
    return [empty_tensors(call)[0] if q is None else q.as_value(), r.as_value()]


@translates_both("aten.qr.default")
def qr_old(call: Call, a: Given, some: bool = True) -> Translated:
    return qr(call, a, "reduced" if some else "complete")
