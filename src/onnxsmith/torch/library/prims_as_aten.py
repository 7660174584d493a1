"""torch's primitives that say what an ATen operator says: its translation is theirs."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Size, dtype_of
from onnxsmith.torch.library import fft
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Argument, Arguments, Keywords, Translated
from onnxsmith.torch.library.random import normal, uniform
from onnxsmith.torch.library.reductions import variance_and_mean
from onnxsmith.torch.library.registry import (
    COMPLEX,
    TRANSLATIONS,
    Translation,
    translates,
    translates_complex,
)
from onnxsmith.torch.library.values import cast

SAME = {
    "prims.as_strided_scatter.default": "aten.as_strided_scatter.default",
    "prims.copy_strided.default": "aten.clone.default",
    "prims.empty.default": "aten.empty.memory_format",
    "prims.empty_permuted.default": "aten.empty_permuted.default",
    "prims.empty_strided.default": "aten.empty_strided.default",
    "prims.fill.default": "aten.fill.Scalar",
    "prims.full.default": "aten.full.default",
    "prims.full_like.default": "aten.full_like.default",
    "prims.item.default": "aten.item.default",
    "prims.real.default": "aten.real.default",
    "prims.rev.default": "aten.flip.default",
    "prims.scalar_tensor.default": "aten.scalar_tensor.default",
    "prims.svd.default": "aten.linalg_svd.default",
}


@translates(*SAME, lifts=True)
def same(call: Call, *args: Argument, **options: Argument) -> Translated:
    return _as_aten(call, TRANSLATIONS.get(SAME[call.overload]), args, options)


@translates_complex(
    *("prims.empty.default", "prims.empty_permuted.default", "prims.empty_strided.default"),
    *("prims.fill.default", "prims.full.default", "prims.full_like.default"),
    "prims.svd.default",
)
def same_of_complex(call: Call, *args: Argument, **options: Argument) -> Translated:
    return _as_aten(call, COMPLEX.get(SAME[call.overload]), args, options)


def _as_aten(call: Call, found: Translation | None, args: Arguments, options: Keywords) -> Translated:
    if found is None:
        raise call.refuse("")
    own = {
        name: each for name, each in options.items() if name in found.parameters or found.takes_any_keyword
    }
    as_aten = Call(SAME[call.overload], call.target, call.output, call.sizes, call.node)
    return found.function(as_aten, *args, **own)


@translates("prims.cbrt.default")
def cbrt(call: Call, x: Tensor) -> Translated:
    return op.Sign(x) * op.Pow(abs(x), cast(1 / 3, dtype_of(x)))


@translates("prims.var.default")
def var(
    call: Call,
    x: Tensor,
    dims: Sequence[int] | None,
    correction: float | None = 1,
    *,
    output_dtype: torch.dtype | None = None,
) -> Translated:
    return variance_and_mean(call, x, dims, correction, False)[0]


@translates("prims.normal.default")
def normal_of(call: Call, shape: Sequence[Size], *, mean: float, std: float, **_: Argument) -> Translated:
    return normal(call, mean, std)


@translates("prims.uniform.default")
def uniform_of(call: Call, shape: Sequence[Size], *, low: float, high: float, **_: Argument) -> Translated:
    return uniform(call, None, low, high)


@translates("prims.maximum_value.default", "prims.minimum_value.default")
def extreme_value(call: Call, dtype: torch.dtype) -> Translated:
    is_greatest = call.overload == "prims.maximum_value.default"
    if dtype is torch.bool:
        return is_greatest
    limits = torch.finfo(dtype) if dtype.is_floating_point else torch.iinfo(dtype)
    return limits.max if is_greatest else limits.min


@translates_complex("prims.fft_c2c.default")
def fft_c2c(call: Call, x: Complex, *, dim: Sequence[int], forward: bool) -> Translated:
    return fft.fft_c2c(call, x, dim, 0, forward)


@translates("prims.fft_r2c.default")
def fft_r2c(call: Call, x: Tensor, *, dim: Sequence[int], onesided: bool) -> Translated:
    return fft.fft_r2c(call, x, dim, 0, onesided)


@translates_complex("prims.fft_c2r.default")
def fft_c2r(call: Call, x: Complex, *, dim: Sequence[int], last_dim_size: Size) -> Translated:
    return fft.fft_c2r(call, x, dim, 0, last_dim_size)
