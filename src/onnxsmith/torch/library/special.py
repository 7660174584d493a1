"""Error functions, entropies and logarithmic forms: what is neither arithmetic nor a family of its own."""

from __future__ import annotations

from collections.abc import Callable

from onnxsmith.algorithms.special import error_functions
from onnxsmith.core.value import TensorValue
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType

#: Functions that are computed in double precision.
FUNCTIONS: dict[str, Callable[[TensorValue], TensorValue]] = {
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
def special(call: Call, x: TensorValue) -> TensorValue:
    return FUNCTIONS[call.overload](cast(x, DType.DOUBLE))
