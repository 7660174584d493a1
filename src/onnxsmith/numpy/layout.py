"""The memory layout of numpy's arrays: `flags`, `strides`, `view`. Ours have none, and give what numpy's would."""

# pyright: reportPrivateUsage=false
# How an array holds its elements is the business of this package, and no attribute that users see.

from __future__ import annotations

from typing import Any, cast

import numpy as np

from onnxsmith.errors import InputTypeError, TracedValueError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.registry import public


class Flags:
    """`x.flags`: whether elements stand one after the other, and whether they may be written to."""

    def __init__(self, is_plain: bool, ndim: int, writeable: bool) -> None:
        self.c_contiguous = self.contiguous = is_plain
        #: Where numpy's array is not plain, nobody knows whether its first dimension is the fastest.
        self.f_contiguous = is_plain and ndim < 2
        self.fnc = False
        self.forc = self.carray = self.behaved = is_plain
        self.writeable = writeable
        self.aligned = True
        self.owndata = True

    def __getitem__(self, name: str) -> bool:
        short = {"C": "c_contiguous", "F": "f_contiguous", "W": "writeable", "A": "aligned", "O": "owndata"}
        return bool(getattr(self, short.get(name, name.lower())))


@public("_flags")
def flags(x: Array) -> Flags:
    """`x.flags`"""
    return Flags(x._is_plain or x.ndim < 2, x.ndim, x._locked is None)


@public("_strides")
def strides(x: Array) -> tuple[Any, ...]:
    """`x.strides`: how many bytes are between neighbours, where elements stand one after the other."""
    if not x._is_plain:
        raise TracedValueError(
            "how far apart the elements of this array are is known to numpy alone",
            help="make a copy first: np.ascontiguousarray(x)",
        ).locate_at_caller()
    found: list[Any] = []
    step: Any = x.itemsize
    for size in reversed(x.shape):
        found.append(step)
        step = step * size
    return tuple(reversed(found))


@public("_memory_view")
def memory_view(x: Array, dtype: Any = None, kind: Any = None) -> Array:
    """`x.view()`: the same elements, shared. Elements are not read as another type."""
    for each in (dtype, kind):
        if each is None or (isinstance(each, type) and issubclass(np.ndarray, each)):
            continue
        if isinstance(each, type) and issubclass(each, np.ndarray):
            raise InputTypeError(f"an array of ours is no {cast(type, each).__name__}").locate_at_caller()
        if dtypes.read(cast(object, each)) != x.dtype:
            raise InputTypeError(
                f"elements of {x.dtype.name} are not read as {dtypes.read(cast(object, each)).name} without a copy",
                help="convert them with astype",
            ).locate_at_caller()
    return x[...]
