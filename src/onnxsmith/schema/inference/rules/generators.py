"""Operators that make tensors from little or nothing: constants, ranges, random numbers."""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from onnxsmith.errors import GivenCulprit
from onnxsmith.schema.definition import AttributeReference
from onnxsmith.schema.inference import symbolic
from onnxsmith.schema.inference.call import LARGEST_CONTENT, Array, Call, Result, rule, tensor
from onnxsmith.schema.inference.content import from_array
from onnxsmith.schema.inference.known import Data, Known
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Dimension, Shape, TensorType

_SCALARS = {"value_float": np.float32, "value_int": np.int64, "value_string": object}
_VECTORS = {"value_floats": np.float32, "value_ints": np.int64, "value_strings": object}


@rule("Constant")
def constant(call: Call) -> Result:
    for name, given in call.attributes.items():
        if isinstance(given, AttributeReference) and name in _SCALARS:
            return (tensor(DType.from_numpy(np.dtype(_SCALARS[name])), ()),)
        if isinstance(given, AttributeReference) and name in _VECTORS:
            return (tensor(DType.from_numpy(np.dtype(_VECTORS[name])), (None,)),)
        value = call.attribute(name)
        if name in _SCALARS or name in _VECTORS:
            value = np.array(value, (_SCALARS | _VECTORS)[name])
        if isinstance(value, np.ndarray):
            array = cast(Array, value)
            return (Known(TensorType(DType.from_numpy(array.dtype), array.shape), array),)
        if name == "sparse_value":
            return (tensor(DType(value.values.data_type), tuple(value.dims)),)
    return None


@rule("ConstantOfShape")
def constant_of_shape(call: Call) -> Result:
    value = call.attribute("value")
    dtype = DType.FLOAT if value is None else DType.from_numpy(value.dtype)
    entries, given = call.entries(0), call.shape(0)
    if given is not None and len(given) != 1:
        raise call.shape_error(f"needs a list of sizes, not {call.described(0)}", 0)
    if entries is None:
        rank = call.length(0)
        return (tensor(dtype, None if rank is None else (None,) * rank),)
    shape = checked_shape(call, entries, 0)
    return (Known(TensorType(dtype, shape), _filled(shape, value)),)


def checked_shape(call: Call, entries: tuple[Dimension, ...], culprit: GivenCulprit) -> Shape:
    """Entries that become a shape."""
    for each in entries:
        if isinstance(each, int) and each < 0:
            raise call.shape_error(f"cannot make a tensor with a dimension of {each}", culprit)
    return entries


def _filled(shape: Shape, value: Array | None) -> Data:
    sizes = [each for each in shape if isinstance(each, int)]
    if len(sizes) < len(shape) or math.prod(sizes) > LARGEST_CONTENT:
        return None
    if max(sizes, default=0) > LARGEST_CONTENT:  # without elements, and still more than numpy takes
        return None
    if value is None:
        return np.zeros(sizes, np.float32)
    return from_array(np.full(sizes, value.reshape(-1)[0], value.dtype)) if value.size else None


@rule("Range")
@rule("Range", domain="com.microsoft")
def range_(call: Call) -> Result:
    dtype = call.dtype(0, 1, 2)
    if (
        "stash_type" in call.attributes
    ):  # runtimes take vectors of one number in the kernels that do not have it
        for position in range(3):
            if call.shape(position):
                raise call.shape_error(f"needs scalars, not {call.described(position)}", position)
    if dtype is not None and dtype in (DType.INT64, DType.INT32, DType.INT16):
        return (_integer_range(call, dtype),)
    start, limit, delta = (call.array(position) for position in range(3))
    if start is None or limit is None or delta is None or dtype not in (DType.FLOAT, DType.DOUBLE):
        return (tensor(dtype, (None,)),)
    if start.size != 1 or limit.size != 1 or delta.size != 1 or not delta.item():
        return (tensor(dtype, (None,)),)
    return (tensor(dtype, (_float_range_length(start, limit, delta),)),)


def _float_range_length(start: Array, limit: Array, delta: Array) -> Dimension:
    """The length, where computing in the element type, in double precision and in part of each agree on it."""
    with np.errstate(all="ignore"):
        distance = limit - start
        exact = (float(limit.item()) - float(start.item())) / float(delta.item())
        counts = [(distance / delta).item(), float(distance.item()) / float(delta.item()), exact]
    if not all(map(math.isfinite, counts)):
        return None
    lengths = {max(0, math.ceil(each)) for each in counts}
    return lengths.pop() if len(lengths) == 1 else None


def _integer_range(call: Call, dtype: DType) -> Known:
    start, limit, delta = call.entry(0), call.entry(1), call.entry(2)
    if call.input(2) is None:
        delta = 1
    if delta == 0:
        raise call.shape_error("cannot step by 0", 2)
    if isinstance(start, int) and isinstance(limit, int) and isinstance(delta, int):
        numbers = range(start, limit, delta)
        data = tuple(numbers) if len(numbers) <= LARGEST_CONTENT else None
        return Known(TensorType(dtype, (len(numbers),)), data)
    distance = symbolic.sub(limit, start)
    length: Dimension = None
    if isinstance(delta, int):
        if delta < 0:
            distance, delta = symbolic.sub(0, distance), -delta
        length = symbolic.maximum(0, symbolic.ceildiv(distance, delta))
    return tensor(dtype, (length,))


@rule("RandomNormal", "RandomUniform")
def random_of_shape(call: Call) -> Result:
    dtype = call.given_dtype("dtype") or DType.FLOAT
    shape = call.integers("shape")
    return (tensor(dtype, None if shape is None else checked_shape(call, shape, "shape")),)


@rule("RandomNormalLike", "RandomUniformLike", "Bernoulli", "EyeLike")
def like_input(call: Call) -> Result:
    shape = call.shape(0)
    if call.op.name == "EyeLike" and shape is not None and len(shape) != 2:
        raise call.shape_error(f"needs a matrix, not {call.described(0)}", 0)
    return (tensor(call.given_dtype("dtype") or call.dtype(0), shape),)


@rule("Multinomial")
def multinomial(call: Call) -> Result:
    shape = call.shape(0)
    if shape is not None and len(shape) != 2:
        raise call.shape_error(f"needs a matrix of log-probabilities, not {call.described(0)}", 0)
    dtype = call.given_dtype("dtype") or DType.INT32
    return (tensor(dtype, (shape[0] if shape else None, call.integer("sample_size", 1))),)
