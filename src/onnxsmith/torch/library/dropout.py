"""Dropout, in training and in use. ONNX Runtime draws other random numbers than torch does."""

from __future__ import annotations

import math
from collections.abc import Sequence

from onnxsmith.algorithms.dropout import dropped
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.values import Size, dtype_of, filled
from onnxsmith.torch.library.call import Call
from onnxsmith.torch.library.kinds import Translated
from onnxsmith.torch.library.marks import in_training
from onnxsmith.torch.library.random import drawn_uniform
from onnxsmith.torch.library.registry import translates
from onnxsmith.torch.library.values import cast
from onnxsmith.types.dtypes import DType

_ALPHA = 1.7580993408473766


@translates("aten.dropout.default")
def dropout(call: Call, x: Tensor, p: float, train: bool) -> Translated:
    if not train or not p:
        return x
    # One of all is no `Dropout`, by which other models say what they are in use.
    return in_training(_zeros, _unchanged, x) if p == 1 else dropped(x, p)[0]


@translates("aten.native_dropout.default")
def native_dropout(call: Call, x: Tensor, p: float, train: bool | None) -> Translated:
    if train is False or not p:
        return [x, filled(call.shape_of(x), True, DType.BOOL)]
    return list(dropped(x, p))


def _kept(call: Call, sizes: Sequence[Size], p: float) -> Tensor:
    """The mask of the elements of a shape that stay."""
    return drawn_uniform(sizes, DType.FLOAT) >= cast(p, DType.FLOAT)


def _feature_sizes(call: Call, x: Tensor) -> list[Size]:
    sizes = call.shape_of(x)
    return [*sizes[:2], *([1] * (len(sizes) - 2))]


@translates("aten.feature_dropout.default")
def feature_dropout(call: Call, x: Tensor, p: float, train: bool) -> Translated:
    """Whole channels stay or go."""
    if not train or not p:
        return x
    if p == 1:
        return in_training(_zeros, _unchanged, x)

    def thinned(x: Tensor) -> Tensor:
        kept = cast(_kept(call, _feature_sizes(call, x), p), dtype_of(x))
        return x * op.Mul(kept, cast(1 / (1 - p), dtype_of(x)))

    return in_training(thinned, _unchanged, x)


def _unchanged(x: Tensor) -> Tensor:
    return op.Identity(x)


@translates("aten.alpha_dropout.default", "aten.feature_alpha_dropout.default")
def alpha_dropout(call: Call, x: Tensor, p: float, train: bool) -> Translated:
    """Elements (or channels) go to a negative value, and all are scaled so that mean and variance stay."""
    if not train or not p:
        return x
    dtype = dtype_of(x)
    if p == 1:
        return in_training(_zeros, _unchanged, x)

    def thinned(x: Tensor) -> Tensor:
        sizes = _feature_sizes(call, x) if "feature" in call.overload else call.shape_of(x)
        kept = cast(_kept(call, sizes, p), dtype)
        scale = 1 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
        shift = op.Sub(kept, cast(1, dtype)) * cast(_ALPHA * scale, dtype)
        shift = shift + cast(_ALPHA * scale * p, dtype)
        return x * op.Mul(kept, cast(scale, dtype)) + shift

    return in_training(thinned, _unchanged, x)


def _zeros(x: Tensor) -> Tensor:
    return x * 0
