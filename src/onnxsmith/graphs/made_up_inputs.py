"""Inputs for a model that nobody gave any: small integers, ones for masks, normally distributed floats.

Dimensions that are open get one size, the same for all. A single integer is 2, since it may be how often a loop runs;
where nothing runs with that it is 0, since it may be an index. Whether a model runs on them is for others to find out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.model_inputs import Port
from onnxsmith.graphs.run_values import Array, RunValue
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import SequenceType, TensorType

#: Sizes that open dimensions are tried with, one after the other.
_SIZES = (2, 1, 8, 3, 16)
#: What a single integer is, one after the other.
_SINGLES = (2, 0)
#: Larger inputs are not made up.
_MOST_ELEMENTS = 1 << 28


def made_up_inputs(ports: Sequence[Port]) -> Iterator[Mapping[str, RunValue]]:
    """Inputs by name, for one size of open dimensions after the other; none where an input cannot be made up."""
    sizes = _SIZES if any(_is_open(port) for port in ports) else _SIZES[:1]
    for single in _SINGLES if any(_is_integer(port) for port in ports) else _SINGLES[:1]:
        for size in sizes:
            generator = np.random.default_rng(0)
            made = {port.name: _made_up(port, size, single, generator) for port in ports}
            inputs = {name: value for name, value in made.items() if value is not None}
            if len(inputs) == len(made):
                yield inputs


def _is_open(port: Port) -> bool:
    shape = port.type.shape if isinstance(port.type, TensorType) else ()
    return shape is None or not all(isinstance(each, int) for each in shape)


def _is_integer(port: Port) -> bool:
    return isinstance(port.type, TensorType) and port.type.dtype is not None and port.type.dtype.is_integer


def _made_up(port: Port, size: int, single: int, generator: np.random.Generator) -> RunValue | None:
    if not isinstance(port.type, TensorType):
        return [] if isinstance(port.type, SequenceType) else None
    shape = [each if isinstance(each, int) else size for each in port.type.shape or ()]
    if math.prod(shape) > _MOST_ELEMENTS or min(shape, default=0) < 0:
        return None  # a stranger's model may ask for any size
    return _array(port.name, port.type.dtype or DType.FLOAT, shape, single, generator)


def _array(
    name: str, dtype: DType, shape: Sequence[int], single: int, generator: np.random.Generator
) -> Array:
    if dtype is DType.STRING:
        return np.full(shape, "a", object)
    if dtype is DType.BOOL or "mask" in name.lower():
        return np.ones(shape, dtype.numpy)
    kind = ir.DataType(int(dtype))
    if kind.is_floating_point() or dtype in (DType.COMPLEX64, DType.COMPLEX128):
        return generator.standard_normal(shape).astype(dtype.numpy)
    if math.prod(shape) == 1:
        return np.full(shape, single).astype(dtype.numpy)
    return generator.integers(0, 4, shape).astype(dtype.numpy)
