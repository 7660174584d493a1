"""The gamma function's relatives."""

from __future__ import annotations

from onnxsmith.algorithms.special import gamma, incomplete_gamma
from onnxsmith.algorithms.special import zeta as zeta_functions
from onnxsmith.algorithms.values import Numeric, as_tensor
from onnxsmith.core.tensor import Tensor
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType


@translates("aten.lgamma.default", "prims.lgamma.default", "aten.special_gammaln.default")
def log_gamma(call: Call, x: Tensor) -> Tensor:
    return gamma.lgamma(cast(x, DType.DOUBLE))


@translates("aten.mvlgamma.default", "aten.special_multigammaln.default")
def log_gamma_of_several(call: Call, x: Tensor, p: int) -> Tensor:
    return gamma.multivariate_lgamma(cast(x, DType.DOUBLE), p)


@translates(
    "aten.digamma.default",
    "prims.digamma.default",
    "aten.special_digamma.default",
    "aten.special_psi.default",
)
def digamma_of(call: Call, x: Tensor) -> Tensor:
    return gamma.digamma(cast(x, DType.DOUBLE))


@translates(
    "aten.special_zeta.default",
    "prims.zeta.default",
    "aten.special_zeta.self_scalar",
    "aten.special_zeta.other_scalar",
)
def zeta(call: Call, s: Numeric, q: Numeric) -> Tensor:
    return zeta_functions.hurwitz_zeta(as_tensor(s, DType.DOUBLE), as_tensor(q, DType.DOUBLE))


@translates("aten.polygamma.default", "aten.special_polygamma.default")
def polygamma(call: Call, n: int, x: Tensor) -> Tensor:
    if n == 0:
        return gamma.digamma(cast(x, DType.DOUBLE))
    if n == 1:
        precision = call.dtype if call.dtype is DType.DOUBLE else DType.FLOAT
        return zeta_functions.trigamma(x, precision)
    return zeta_functions.polygamma(n, cast(x, DType.DOUBLE))


@translates("aten.igamma.default", "prims.igamma.default", "aten.special_gammainc.default")
def lower_incomplete(call: Call, a: Tensor, x: Tensor) -> Tensor:
    return incomplete_gamma.lower_incomplete(cast(a, DType.DOUBLE), cast(x, DType.DOUBLE))


@translates("aten.igammac.default", "prims.igammac.default", "aten.special_gammaincc.default")
def upper_incomplete(call: Call, a: Tensor, x: Tensor) -> Tensor:
    return incomplete_gamma.upper_incomplete(cast(a, DType.DOUBLE), cast(x, DType.DOUBLE))
