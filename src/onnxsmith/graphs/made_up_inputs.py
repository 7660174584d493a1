"""Inputs for a model that nobody gave any, or not all: small integers, ones for masks, normally distributed floats.

Dimensions that are open get one size, the same for all, unless an input that was given says it. A single integer is 2,
since it may be how often a loop runs; where nothing runs with that it is 0, since it may be an index. Whether a model
runs on them is for others to find out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.model_inputs import Port
from onnxsmith.graphs.run_values import Array, RunValue
from onnxsmith.graphs.tensor_sizes import MOST_DIMENSIONS
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import SequenceType, TensorType

#: Sizes that open dimensions are tried with, one after the other.
_SIZES = (2, 1, 8, 3, 16)
#: What a single integer is, one after the other.
_SINGLES = (2, 0)
#: Larger inputs are not made up.
_MOST_ELEMENTS = 1 << 28


def made_up_inputs(
    ports: Sequence[Port], given: Mapping[str, RunValue] | None = None
) -> Iterator[Mapping[str, RunValue]]:
    """Inputs by name, for one size of open dimensions after the other; none where an input cannot be made up.

    Those that are given are as they are, and so are the named sizes that they have.
    """
    known = given or {}
    named = _named_sizes(ports, known)
    missing = [port for port in ports if port.name not in known]
    sizes = _SIZES if any(_is_open(port, named) for port in missing) else _SIZES[:1]
    for single in _SINGLES if any(_is_integer(port) for port in missing) else _SINGLES[:1]:
        for size in sizes:
            generator = np.random.default_rng(0)
            made = {port.name: _made_up(port, named, size, single, generator) for port in missing}
            inputs = {name: value for name, value in made.items() if value is not None}
            if len(inputs) == len(made):
                yield {**known, **inputs}


def can_be_made_up(shape: Sequence[int]) -> bool:
    """True if an array of a shape is small enough: a stranger's model may ask for any size."""
    sizes_fit = len(shape) <= MOST_DIMENSIONS and min(shape, default=0) >= 0
    return sizes_fit and math.prod(shape) <= _MOST_ELEMENTS


def _named_sizes(ports: Sequence[Port], given: Mapping[str, RunValue]) -> dict[str, int]:
    """The sizes that names of dimensions have in given arrays."""
    found: dict[str, int] = {}
    for port in ports:
        value = given.get(port.name)
        shape = port.type.shape if isinstance(port.type, TensorType) else None
        if isinstance(value, np.ndarray) and shape is not None and len(shape) == value.ndim:
            found.update(
                (name, size) for name, size in zip(shape, value.shape, strict=True) if isinstance(name, str)
            )
    return found


def _is_open(port: Port, named: Mapping[str, int]) -> bool:
    shape = port.type.shape if isinstance(port.type, TensorType) else ()
    return shape is None or not all(isinstance(each, int) or each in named for each in shape)


def _is_integer(port: Port) -> bool:
    return isinstance(port.type, TensorType) and port.type.dtype is not None and port.type.dtype.is_integer


def _made_up(
    port: Port, named: Mapping[str, int], size: int, single: int, generator: np.random.Generator
) -> RunValue | None:
    if not isinstance(port.type, TensorType):
        return [] if isinstance(port.type, SequenceType) else None
    shape = [
        each if isinstance(each, int) else size if each is None else named.get(each, size)
        for each in port.type.shape or ()
    ]
    if not can_be_made_up(shape):
        return None
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
