# pyright: basic
"""Error functions, entropies and logarithmic forms: what is neither arithmetic nor a family of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onnxsmith.torch.library import precise
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType

#: Functions that are computed in double precision.
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "aten.erfc.default": precise.erfc,
    "prims.erfc.default": precise.erfc,
    "prims.erfcx.default": precise.erfcx,
    "prims.erf_inv.default": precise.erfinv,
    "prims.ndtri.default": precise.normal_quantile,
    "aten.special_erfc.default": precise.erfc,
    "aten.special_erfcx.default": precise.erfcx,
    "aten.erfinv.default": precise.erfinv,
    "aten.special_erfinv.default": precise.erfinv,
    "aten.special_log_ndtr.default": precise.log_of_normal,
    "aten.special_ndtr.default": precise.normal,
    "aten.special_ndtri.default": precise.normal_quantile,
}


@translates(*FUNCTIONS)
def special(call: Call, x: Any) -> Any:
    return FUNCTIONS[call.overload](cast(x, DType.DOUBLE))
