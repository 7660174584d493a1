"""Runs a model in double precision, quantised ones too: what its exact results are, for errors to be measured against.

Weights, scales and constants stay what they are, in a wider type; what is rounded to integers is rounded there too.
onnx's reference evaluator computes, with operators of our own for those that would fall back to float32.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

Array = NDArray[Any]
_NARROW = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16)


def in_double(proto: onnx.ModelProto, **inputs: Array) -> list[Array]:
    """The results of a model, with every float of it as float64."""
    wide = onnx.ModelProto()
    wide.CopyFrom(proto)
    _widen(wide.graph)
    evaluator = ReferenceEvaluator(wide, new_ops=[*_OPERATORS])
    given = {
        name: each.astype(np.float64) if each.dtype.kind == "f" else each for name, each in inputs.items()
    }
    return [np.asarray(each) for each in evaluator.run(None, given)]


def _widen(graph: onnx.GraphProto) -> None:
    for each in graph.initializer:
        _widen_tensor(each)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.name in ("to", "output_dtype") and attribute.i in _NARROW:
                attribute.i = TensorProto.DOUBLE
            if attribute.HasField("t"):
                _widen_tensor(attribute.t)
            if attribute.HasField("g"):
                _widen(attribute.g)
    for port in (*graph.input, *graph.output, *graph.value_info):
        if port.type.tensor_type.elem_type in _NARROW:
            port.type.tensor_type.elem_type = TensorProto.DOUBLE


def _widen_tensor(tensor: onnx.TensorProto) -> None:
    if tensor.data_type in _NARROW:
        tensor.CopyFrom(
            numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name)
        )


def _spread(values: Array, like: Array, axis: int, block: int) -> Array:
    """One number for the whole, for each slice along an axis, or for each block, for each element."""
    if values.ndim == 0 or values.size == 1:
        return values.reshape(())
    if block:
        taken = np.arange(like.shape[axis]) // block
        return np.take(values, taken, axis=axis)
    shape = [1] * like.ndim
    shape[axis] = -1
    return values.reshape(shape)


def _wide(values: Array | None) -> Array:
    return np.float64(0) if values is None else np.asarray(values).astype(np.float64)


def _rounded(numbers: Array, zero: Array, kind: Any) -> Array:
    low, high = _LIMITS[np.dtype(kind).name]
    return np.clip(np.rint(numbers) + zero, low, high).astype(kind)


_LIMITS = {
    "uint8": (0, 255),
    "int8": (-128, 127),
    "uint16": (0, 65535),
    "int16": (-32768, 32767),
    "int32": (-(2**31), 2**31 - 1),
}


class DequantizeLinear(OpRun):
    """Numbers from integers."""

    op_domain = ""

    def _run(self, x: Array, scale: Array, zero: Array | None = None, **how: Any) -> tuple[Array]:
        axis, block = int(how.get("axis", 1) or 0), int(how.get("block_size", 0) or 0)
        moved = x.astype(np.float64) - _spread(_wide(zero), x, axis, block)
        return (moved * _spread(_wide(scale), x, axis, block),)


class QuantizeLinear(OpRun):
    """Integers from numbers."""

    op_domain = ""

    def _run(self, x: Array, scale: Array, zero: Array | None = None, **how: Any) -> tuple[Array]:
        axis, block = int(how.get("axis", 1) or 0), int(how.get("block_size", 0) or 0)
        kind = np.uint8 if zero is None else zero.dtype
        parts = x.astype(np.float64) / _spread(_wide(scale), x, axis, block)
        return (_rounded(parts, _spread(_wide(zero), x, axis, block), kind),)


class DynamicQuantizeLinear(OpRun):
    """Integers from numbers, with the scale that the numbers ask for."""

    op_domain = ""

    def _run(self, x: Array) -> tuple[Array, Array, Array]:
        low, high = min(0.0, float(x.min())), max(0.0, float(x.max()))
        scale = np.float64((high - low) / 255 or 1.0)
        zero = np.clip(np.rint(-low / scale), 0, 255)
        return _rounded(x / scale, zero, np.uint8), np.asarray(scale), np.asarray(zero.astype(np.uint8))


def _numbers(
    left: Array, left_scale: Array, left_zero: Array, right: Array, right_scale: Array, right_zero: Array
) -> tuple[Array, Array]:
    """What two tensors of integers stand for."""
    one = (_wide(left) - _wide(left_zero)) * _wide(left_scale)
    return one, (_wide(right) - _wide(right_zero)) * _wide(right_scale)


class QLinearAdd(OpRun):
    """ONNX Runtime's sum of integers that stand for numbers."""

    op_domain = "com.microsoft"

    def _run(self, *inputs: Array, **_: Any) -> tuple[Array]:
        one, other = _numbers(*inputs[:6])
        scale, zero = inputs[6:]
        return (_rounded((one + other) / _wide(scale), _wide(zero), zero.dtype),)


class QLinearMul(OpRun):
    """ONNX Runtime's product of integers that stand for numbers."""

    op_domain = "com.microsoft"

    def _run(self, *inputs: Array, **_: Any) -> tuple[Array]:
        one, other = _numbers(*inputs[:6])
        scale, zero = inputs[6:]
        return (_rounded(one * other / _wide(scale), _wide(zero), zero.dtype),)


_OPERATORS: Iterable[type[OpRun]] = (
    DequantizeLinear,
    QuantizeLinear,
    DynamicQuantizeLinear,
    QLinearAdd,
    QLinearMul,
)
