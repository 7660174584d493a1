"""Special functions: of errors, gamma, Bessel and Airy, orthogonal polynomials, entropies and logarithmic forms."""

from __future__ import annotations

from onnxsmith.algorithms.special import (
    bessel,
    error_functions,
    gamma,
    incomplete_gamma,
    logarithms,
    polynomials,
    zeta,
)
from onnxsmith.algorithms.values import Numeric, as_tensor
from onnxsmith.core.tensor import Tensor
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.elementwise import computed
from onnxsmith.torch.library.registry import by_overload, translates
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType

#: Functions of one or two numbers that are computed in double precision.
FUNCTIONS = by_overload(
    {
        error_functions.erfc: "aten.erfc aten.special_erfc prims.erfc",
        error_functions.erfcx: "aten.special_erfcx prims.erfcx",
        error_functions.erfinv: "aten.erfinv aten.special_erfinv prims.erf_inv",
        error_functions.normal: "aten.special_ndtr",
        error_functions.normal_quantile: "aten.special_ndtri prims.ndtri",
        error_functions.log_of_normal: "aten.special_log_ndtr",
        bessel.i0: "aten.i0 aten.special_i0 aten.special_modified_bessel_i0 prims.bessel_i0",
        bessel.i1: "aten.special_i1 aten.special_modified_bessel_i1 prims.bessel_i1",
        bessel.scaled_i0: "aten.special_i0e prims.bessel_i0e",
        bessel.scaled_i1: "aten.special_i1e prims.bessel_i1e",
        bessel.j0: "aten.special_bessel_j0 prims.bessel_j0",
        bessel.j1: "aten.special_bessel_j1 prims.bessel_j1",
        bessel.spherical_j0: "aten.special_spherical_bessel_j0 prims.spherical_bessel_j0",
        bessel.y0: "aten.special_bessel_y0",
        bessel.y1: "aten.special_bessel_y1",
        bessel.k0: "aten.special_modified_bessel_k0",
        bessel.k1: "aten.special_modified_bessel_k1",
        bessel.scaled_k0: "aten.special_scaled_modified_bessel_k0",
        bessel.scaled_k1: "aten.special_scaled_modified_bessel_k1",
        bessel.airy: "aten.special_airy_ai",
        gamma.lgamma: "aten.lgamma aten.special_gammaln prims.lgamma",
        gamma.digamma: "aten.digamma aten.special_digamma aten.special_psi prims.digamma",
        incomplete_gamma.lower_incomplete: "aten.igamma aten.special_gammainc prims.igamma",
        incomplete_gamma.upper_incomplete: "aten.igammac aten.special_gammaincc prims.igammac",
        zeta.hurwitz_zeta: (
            "aten.special_zeta aten.special_zeta.self_scalar aten.special_zeta.other_scalar prims.zeta"
        ),
    }
)


@translates(*FUNCTIONS)
def special(call: Call, *numbers: Numeric) -> Tensor:
    return FUNCTIONS[call.overload](*[as_tensor(each, DType.DOUBLE) for each in numbers])


#: Those that halves are too short for.
LOGARITHMIC = by_overload(
    {
        logarithms.entropy: "aten.special_entr",
        logarithms.xlogy: "aten.xlogy.Tensor aten.xlogy.Scalar_Self aten.xlogy.Scalar_Other",
        logarithms.xlog1py: (
            "aten.special_xlog1py aten.special_xlog1py.self_scalar aten.special_xlog1py.other_scalar"
        ),
    }
)


@translates(*LOGARITHMIC)
def logarithmic(call: Call, *numbers: Numeric) -> Tensor:
    return LOGARITHMIC[call.overload](*[computed(call, each) for each in numbers])


@translates("aten.mvlgamma.default", "aten.special_multigammaln.default")
def log_gamma_of_several(call: Call, x: Tensor, p: int) -> Tensor:
    return gamma.multivariate_lgamma(cast(x, DType.DOUBLE), p)


@translates("aten.polygamma.default", "aten.special_polygamma.default")
def polygamma(call: Call, n: int, x: Tensor) -> Tensor:
    if n == 0:
        return gamma.digamma(cast(x, DType.DOUBLE))
    if n == 1:
        return zeta.trigamma(x, _single_or_double(call))
    return zeta.polygamma(n, cast(x, DType.DOUBLE))


def _single_or_double(call: Call) -> DType:
    return call.dtype if call.dtype is DType.DOUBLE else DType.FLOAT


#: The family of a polynomial whose degree is a tensor, and whether it is shifted.
POLYNOMIALS: dict[str, tuple[polynomials.Family, bool]] = {
    f"aten.special_{prefix}{family}{suffix}": (family, prefix != "")
    for family in polynomials.FAMILIES
    for prefix in (("", "shifted_") if family.startswith("chebyshev") else ("",))
    for suffix in (".default", ".x_scalar", ".n_scalar")
}


@translates(*POLYNOMIALS)
def polynomial(call: Call, x: Numeric, n: Numeric) -> Tensor:
    family, is_shifted = POLYNOMIALS[call.overload]
    given = (as_tensor(each, _single_or_double(call)) for each in (x, n))
    return polynomials.polynomial(family, *given, is_shifted=is_shifted)
