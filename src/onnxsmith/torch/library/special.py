"""Error functions, entropies and logarithmic forms: what is neither arithmetic nor a family of its own."""

from __future__ import annotations

from collections.abc import Callable

from onnxsmith.algorithms.special import error_functions, logarithms
from onnxsmith.algorithms.values import Numeric
from onnxsmith.core.tensor import Tensor
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.elementwise import computed
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType

#: Functions that are computed in double precision.
FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "aten.erfc.default": error_functions.erfc,
    "prims.erfc.default": error_functions.erfc,
    "prims.erfcx.default": error_functions.erfcx,
    "prims.erf_inv.default": error_functions.erfinv,
    "prims.ndtri.default": error_functions.normal_quantile,
    "aten.special_erfc.default": error_functions.erfc,
    "aten.special_erfcx.default": error_functions.erfcx,
    "aten.erfinv.default": error_functions.erfinv,
    "aten.special_erfinv.default": error_functions.erfinv,
    "aten.special_log_ndtr.default": error_functions.log_of_normal,
    "aten.special_ndtr.default": error_functions.normal,
    "aten.special_ndtri.default": error_functions.normal_quantile,
}


@translates(*FUNCTIONS)
def special(call: Call, x: Tensor) -> Tensor:
    return FUNCTIONS[call.overload](cast(x, DType.DOUBLE))


@translates("aten.special_entr.default")
def entropy(call: Call, x: Tensor) -> Tensor:
    return logarithms.entropy(computed(call, x))


@translates("aten.xlogy.Tensor", "aten.xlogy.Scalar_Self", "aten.xlogy.Scalar_Other")
def xlogy(call: Call, x: Numeric, y: Numeric) -> Tensor:
    return logarithms.xlogy(computed(call, x), computed(call, y))


@translates(
    "aten.special_xlog1py.default", "aten.special_xlog1py.self_scalar", "aten.special_xlog1py.other_scalar"
)
def xlog1py(call: Call, x: Numeric, y: Numeric) -> Tensor:
    return logarithms.xlog1py(computed(call, x), computed(call, y))
