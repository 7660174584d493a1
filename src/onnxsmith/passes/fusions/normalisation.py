"""Normalisations that models spell out, as rules: LayerNormalization and RMSNormalization over the last dimension.

The quotient becomes one operator with a scale of ones. What is then multiplied with or added to it becomes scale and
bias, which may be missing, or come later.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from onnxsmith.core.tensor import Tensor
from onnxsmith.passes.fusions.operators import RuleOperators, older_op, op
from onnxsmith.passes.rules.match import Match
from onnxsmith.passes.rules.parameters import Constant
from onnxsmith.passes.rules.recording import either
from onnxsmith.passes.rules.rule import Rule
from onnxsmith.passes.values import Array
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

_FLOATS = (DType.FLOAT, DType.DOUBLE)
#: A row of ones is made for each: what a model claims of a size may be anything.
_WIDEST = 1 << 24


#: The mean over some axes.
_Mean: TypeAlias = Callable[[Tensor, list[int]], Tensor]
_Pattern: TypeAlias = Callable[..., Tensor]


def _spelled_out(op: RuleOperators, mean: _Mean) -> tuple[_Pattern, _Pattern]:
    """Both normalisations without scale and bias, in an opset that has a mean over axes."""

    def divided_by_root(x: Tensor, square: Tensor) -> Tensor:
        inverse = either(op.Reciprocal(op.Sqrt(square)), 1.0 / op.Sqrt(square), square**-0.5)
        return either(x / op.Sqrt(square), x * inverse)

    def squared(x: Tensor) -> Tensor:
        return either(x * x, x**2)

    def layer_normalisation(x: Tensor, *, axes: list[int], epsilon: float) -> Tensor:
        # Written twice, it is found where a model computes the difference twice, and where it does so once.
        variance = mean(squared(x - mean(x, axes)), axes)
        return divided_by_root(x - mean(x, axes), op.Add(variance, epsilon))

    def rms_normalisation(x: Tensor, *, axes: list[int], epsilon: float) -> Tensor:
        return divided_by_root(x, op.Add(mean(squared(x), axes), epsilon))

    return layer_normalisation, rms_normalisation


def _is_over_last(match: Match) -> bool:
    x, axes = match.tensor("x"), match["axes"]
    if (
        x.dtype not in _FLOATS
        or not x.shape
        or not isinstance(x.shape[-1], int)
        or not 0 < x.shape[-1] <= _WIDEST
    ):
        return False
    return axes in ([-1], [len(x.shape) - 1])


def _ones(x: Tensor) -> Array:
    """A scale that changes nothing."""
    kind = x.known.type
    # The condition has seen to all of it.
    assert isinstance(kind, TensorType)
    assert kind.dtype is not None
    assert kind.shape is not None
    width = kind.shape[-1]
    assert isinstance(width, int)
    return np.ones(width, kind.dtype.numpy)


def _layer(x: Tensor, *, axes: list[int], epsilon: float) -> Tensor:
    return op.LayerNormalization(x, _ones(x), axis=-1, epsilon=epsilon)


def _rms(x: Tensor, *, axes: list[int], epsilon: float) -> Tensor:
    return op.RMSNormalization(x, _ones(x), axis=-1, epsilon=epsilon)


# -- scale and bias ------------------------------------------------------------------------------------------


def scaled_layer(x: Tensor, ones: Constant, scale: Tensor, *, axis: int, epsilon: float) -> Tensor:
    """A LayerNormalization without a scale of its own, times a row."""
    return op.LayerNormalization(x, ones, axis=axis, epsilon=epsilon) * scale


def scaled_rms(x: Tensor, ones: Constant, scale: Tensor, *, axis: int, epsilon: float) -> Tensor:
    """The same for an RMSNormalization."""
    return op.RMSNormalization(x, ones, axis=axis, epsilon=epsilon) * scale


def shifted_layer(x: Tensor, scale: Tensor, bias: Tensor, *, axis: int, epsilon: float) -> Tensor:
    """A LayerNormalization without a bias, plus a row."""
    return op.LayerNormalization(x, scale, axis=axis, epsilon=epsilon) + bias


def _scaled_layer(x: Tensor, ones: Constant, scale: Tensor, *, axis: int, epsilon: float) -> Tensor:
    return op.LayerNormalization(x, scale, axis=axis, epsilon=epsilon)


def _scaled_rms(x: Tensor, ones: Constant, scale: Tensor, *, axis: int, epsilon: float) -> Tensor:
    return op.RMSNormalization(x, scale, axis=axis, epsilon=epsilon)


def _shifted_layer(x: Tensor, scale: Tensor, bias: Tensor, *, axis: int, epsilon: float) -> Tensor:
    return op.LayerNormalization(x, scale, bias, axis=axis, epsilon=epsilon)


def _is_row(match: Match, name: str) -> bool:
    """True if a weight is a row of the last dimension of `x`, which is the one that is normalised."""
    x, row = match.tensor("x"), match.tensor(name)
    if x.dtype not in _FLOATS or row.dtype is not x.dtype or not x.shape or row.shape is None:
        return False
    is_last = match["axis"] in (-1, len(x.shape) - 1)
    return is_last and isinstance(x.shape[-1], int) and row.shape == x.shape[-1:]


def _is_scale(match: Match) -> bool:
    return _is_row(match, "scale") and bool((match.array("ones") == 1).all())


def _is_bias(match: Match) -> bool:
    return _is_row(match, "bias")


def _mean(x: Tensor, axes: list[int]) -> Tensor:
    return op.ReduceMean(x, axes)


def _older_mean(x: Tensor, axes: list[int]) -> Tensor:
    return older_op.ReduceMean(x, axes=axes)


@functools.cache
def normalisations() -> tuple[Rule, ...]:
    """The rules, made when they are first needed."""
    layer, rms = _spelled_out(op, _mean)
    older_layer, _ = _spelled_out(older_op, _older_mean)  # RMSNormalization came with an opset after that
    return (
        Rule(scaled_layer, _scaled_layer, _is_scale, "scaled normalisation"),
        Rule(scaled_rms, _scaled_rms, _is_scale, "scaled normalisation"),
        Rule(shifted_layer, _shifted_layer, _is_bias, "shifted normalisation"),
        Rule([layer, older_layer], _layer, _is_over_last, "layer normalisation"),
        Rule(rms, _rms, _is_over_last, "rms normalisation"),
    )
