"""Special functions of torch, each as it is called: all in one model."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxruntime")

from tests.torch.library.together import agree  # noqa: E402

X = torch.tensor([0.1, 0.4, 0.9, 1.5, 3.2])
Y = torch.tensor([2.0, 1.5, 1.1, 3.0, 2.2])
ONE = (
    *(
        "erfc",
        "erfcx",
        "erfinv",
        "ndtr",
        "ndtri",
        "log_ndtr",
        "i0",
        "i1",
        "i0e",
        "i1e",
        "bessel_j0",
        "bessel_j1",
    ),
    *("bessel_y0", "bessel_y1", "modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0"),
    *("modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "spherical_bessel_j0"),
    *("airy_ai", "gammaln", "digamma", "psi", "entr"),
)
FUNCTIONS: dict[str, Any] = {
    **{name: lambda x, y, f=name: getattr(torch.special, f)(x) for name in ONE},
    **{
        name: lambda x, y, f=name: getattr(torch, f)(x)
        for name in ("erfc", "erfinv", "i0", "lgamma", "digamma")
    },
    **{
        f"{name} of two": lambda x, y, f=name: getattr(torch.special, f)(y, x)
        for name in ("gammainc", "gammaincc")
    },
    "zeta": lambda x, y: torch.special.zeta(y, x),
    "zeta of a number": lambda x, y: torch.special.zeta(2.5, x) + torch.special.zeta(y, 1.5),
    "xlogy": lambda x, y: torch.xlogy(x, y),
    "xlogy of a number": lambda x, y: torch.xlogy(2.0, y) + torch.xlogy(x, 3.0),
    "xlog1py": lambda x, y: torch.special.xlog1py(x, y),
    "xlog1py of a number": lambda x, y: torch.special.xlog1py(2.0, y) + torch.special.xlog1py(x, 3.0),
    "multigammaln": lambda x, y: torch.special.multigammaln(y + 1, 2),
    **{f"polygamma {n}": lambda x, y, n=n: torch.special.polygamma(n, y) for n in (0, 1, 2)},
    **{
        name: lambda x, y, f=name: getattr(torch.special, f)(x / 4, torch.tensor([0.0, 1, 2, 3, 4]))
        for name in (
            *(f"{prefix}chebyshev_polynomial_{kind}" for kind in "tuvw" for prefix in ("", "shifted_")),
            *(
                "hermite_polynomial_h",
                "hermite_polynomial_he",
                "laguerre_polynomial_l",
                "legendre_polynomial_p",
            ),
        )
    },
    "a polynomial of numbers": lambda x, y: (
        torch.special.hermite_polynomial_h(x, 3)
        + torch.special.laguerre_polynomial_l(0.5, torch.tensor([0.0, 1, 2, 3, 4]))
    ),
}


def test_functions_are_those_of_torch() -> None:
    agree(FUNCTIONS, X, Y)
