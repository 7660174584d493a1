"""Weights that take in what follows them: batch normalisation, factors and biases behind convolutions and products.

The tensors that stand for the new weights compute when they are written, so that no second copy of them is held. These
are no rules of two functions for that reason: what a replacement computes of arrays is there at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from onnxsmith.graphs.ir_types import array_to_ir, dimensions_of
from onnxsmith.graphs.notes import WEIGHT_KEY, notes_of
from onnxsmith.passes.editor import Attempt, Outcome
from onnxsmith.passes.fusions.expressions import both_ways
from onnxsmith.passes.values import (
    Array,
    dimensions,
    float_attribute,
    int_attribute,
    is_read,
    only_for,
    rank,
    readers,
)

#: Weights are combined in double precision, and rounded once.
Wide: TypeAlias = NDArray[np.float64]

_FLOATS = (ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.DOUBLE)
#: The axis of a convolution's weight that its channels are along.
_CHANNEL_AXIS = {"Conv": 0, "ConvTranspose": 1}


def normalised_convolution(at: Attempt) -> Outcome:
    """`BatchNormalization` of a convolution: another weight and bias of the convolution."""
    node = at.node
    if int_attribute(node, "training_mode", 0) or (at.version < 7 and not int_attribute(node, "is_test", 0)):
        return None
    if any(is_read(each) for each in node.outputs[1:]) or not int_attribute(node, "spatial", 1):
        return None
    layer = only_for(at.input(0), "Conv", "ConvTranspose", "Gemm")
    tensors = [at.edit.tensor(each) for each in node.inputs[1:5]]
    if layer is None or len(tensors) != 4:
        return None
    scale, shift, mean, variance = tensors
    if scale is None or shift is None or mean is None or variance is None:
        return None
    if any(dimensions_of(each) != (scale.size,) for each in (scale, shift, mean, variance)):
        return None
    epsilon = float_attribute(node, "epsilon", 1e-5)

    def factor() -> Wide:
        return _wide(scale) / np.sqrt(_wide(variance) + epsilon)

    def offset() -> Wide:
        return _wide(shift) - _wide(mean) * factor()

    return _scaled(at, layer, factor, offset, dimensions_of(scale)[0])


def scaled_convolution(at: Attempt) -> Outcome:
    """A convolution times one number for each channel: another weight of the convolution."""
    for value, factor in both_ways(at.node):
        layer = only_for(value, "Conv", "ConvTranspose")
        tensor = at.edit.tensor(factor)
        if layer is None or tensor is None or not _is_by_channel(value, factor):
            continue
        return _scaled(at, layer, _row(tensor), None, tensor.size)
    return None


def shifted_convolution(at: Attempt) -> Outcome:
    """A convolution plus one number for each channel: its bias."""
    for value, bias in both_ways(at.node):
        layer = only_for(value, "Conv", "ConvTranspose")
        tensor = at.edit.tensor(bias)
        if layer is None or tensor is None or not _is_by_channel(value, bias):
            continue
        return _scaled(at, layer, None, _row(tensor), tensor.size)
    return None


def _row(tensor: ir.TensorProtocol) -> Callable[[], Wide]:
    return lambda: _wide(tensor).reshape(-1)


def _is_by_channel(value: ir.Value | None, factor: ir.Value | None) -> bool:
    """True if a constant has one number for each channel of a value, and no other size."""
    size, shape, whole = rank(value), dimensions(factor), dimensions(value)
    if size is None or shape is None or whole is None or size < 3 or len(shape) not in (size - 1, size):
        return False
    channels = len(shape) - (size - 1)
    others = (*shape[:channels], *shape[channels + 1 :])
    return (
        all(each == 1 for each in others) and isinstance(shape[channels], int) and shape[channels] == whole[1]
    )


def _scaled(
    at: Attempt,
    layer: ir.Node,
    factor: Callable[[], Wide] | None,
    offset: Callable[[], Wide] | None,
    channels: int,
) -> Outcome:
    """The layer with its weight times a factor for each channel, and with what is then added to each."""
    edit = at.edit
    weight_value = layer.inputs[1]
    bias_value = layer.inputs[2] if len(layer.inputs) > 2 else None
    weight, bias = edit.tensor(weight_value), edit.tensor(bias_value)
    if weight is None or weight_value is None or weight.dtype not in _FLOATS or readers(weight_value) != 1:
        return None
    if WEIGHT_KEY in notes_of(weight_value) and not edit.folds_weights:
        return None
    if bias_value is not None and (bias is None or dimensions_of(bias) != (channels,)):
        return None
    axis = _weight_axis(layer, weight)
    shape = dimensions_of(weight)
    if axis is None or shape[axis] != channels:
        return None

    def new_weight() -> Array:
        array = weight.numpy()
        if factor is None:
            return array
        result = np.empty_like(array, order="C")
        # One channel at a time: the whole in double precision would be twice the weight.
        for before, after, each in zip(
            np.moveaxis(array, axis, 0), np.moveaxis(result, axis, 0), factor(), strict=True
        ):
            after[...] = before.astype(np.float64) * each
        return result

    def new_bias() -> Array:
        result = np.zeros(channels) if bias is None else _wide(bias)
        if factor is not None:
            result = result * factor()
        if offset is not None:
            result = result + offset()
        return result.astype(weight.dtype.numpy())

    name = weight_value.name or "weight"
    values = [
        weight_value
        if factor is None
        else at.tensor(_lazy(new_weight, weight.dtype, shape), f"{name}_scaled"),
        None
        if bias is None and offset is None
        else at.tensor(_lazy(new_bias, weight.dtype, (channels,)), f"{name}_bias"),
    ]
    for value in values:
        if value is not None:
            notes_of(value)[WEIGHT_KEY] = value.name
    return at.op(layer.op_type, layer.inputs[0], *values, attributes=layer.attributes)


def _weight_axis(layer: ir.Node, weight: ir.TensorProtocol) -> int | None:
    if layer.op_type == "Gemm":
        plain = float_attribute(layer, "alpha", 1.0) == 1 and float_attribute(layer, "beta", 1.0) == 1
        return (0 if int_attribute(layer, "transB", 0) else 1) if plain else None
    if layer.op_type == "ConvTranspose" and int_attribute(layer, "group", 1) != 1:
        return None
    return _CHANNEL_AXIS[layer.op_type]


def _wide(tensor: ir.TensorProtocol) -> Wide:
    return tensor.numpy().astype(np.float64)


def _lazy(function: Callable[[], Array], dtype: ir.DataType, shape: tuple[int, ...]) -> ir.TensorProtocol:
    return ir.LazyTensor(
        lambda: array_to_ir(np.ascontiguousarray(function())), dtype=dtype, shape=ir.Shape(shape), name=None
    )


#: What follows a layer in its weights.
LAYERS = {
    "BatchNormalization": [normalised_convolution],
    "Mul": [scaled_convolution],
    "Add": [shifted_convolution],
}
