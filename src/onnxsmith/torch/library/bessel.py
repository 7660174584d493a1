"""Bessel and Airy functions."""

from __future__ import annotations

from collections.abc import Callable

from onnxsmith.algorithms.special import bessel as functions
from onnxsmith.core.tensor import Tensor
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType

FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "aten.i0.default": functions.i0,
    "prims.bessel_i0.default": functions.i0,
    "prims.bessel_i0e.default": functions.scaled_i0,
    "prims.bessel_i1.default": functions.i1,
    "prims.bessel_i1e.default": functions.scaled_i1,
    "prims.bessel_j0.default": functions.j0,
    "prims.bessel_j1.default": functions.j1,
    "prims.spherical_bessel_j0.default": functions.spherical_j0,
    "aten.special_i0.default": functions.i0,
    "aten.special_i0e.default": functions.scaled_i0,
    "aten.special_i1.default": functions.i1,
    "aten.special_i1e.default": functions.scaled_i1,
    "aten.special_modified_bessel_i0.default": functions.i0,
    "aten.special_modified_bessel_i1.default": functions.i1,
    "aten.special_modified_bessel_k0.default": functions.k0,
    "aten.special_modified_bessel_k1.default": functions.k1,
    "aten.special_scaled_modified_bessel_k0.default": functions.scaled_k0,
    "aten.special_scaled_modified_bessel_k1.default": functions.scaled_k1,
    "aten.special_bessel_j0.default": functions.j0,
    "aten.special_bessel_j1.default": functions.j1,
    "aten.special_bessel_y0.default": functions.y0,
    "aten.special_bessel_y1.default": functions.y1,
    "aten.special_spherical_bessel_j0.default": functions.spherical_j0,
    "aten.special_airy_ai.default": functions.airy,
}


@translates(*FUNCTIONS)
def bessel(call: Call, x: Tensor) -> Tensor:
    return FUNCTIONS[call.overload](cast(x, DType.DOUBLE))
