"""`np.r_[…]`, `np.c_[…]`, `np.mgrid[…]` and `np.ogrid[…]` where only the model knows: indices that make arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.core.semantics.number import Number
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.user_values import UserValue
from onnxsmith.errors import AttributeValueError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_of, as_type
from onnxsmith.numpy.registry import FUNCTIONS
from onnxsmith.scripting.dialects.numpy.callees import as_ours, holds_open

#: Numbers that count for the element type as those do which the model has.
_WEAK: dict[str, bool | int | float] = {"bool": False, "int": 0, "float": 0.0}
_NAMES = {id(np.r_): "r_", id(np.c_): "c_"}


class Joining:
    """Stands for `np.r_` or `np.c_` where arrays are recorded."""

    __slots__ = ("_name", "_numpys")

    def __init__(self, numpys: Any, name: str) -> None:
        self._numpys = numpys
        self._name = name

    def __getitem__(self, key: UserValue) -> UserValue:
        parts: Sequence[UserValue] = key if isinstance(key, tuple) else (key,)
        if not any(map(holds_open, parts)):
            return as_ours(self._numpys[key])
        if isinstance(parts[0], str):
            raise AttributeValueError(
                f"np.{self._name}[{parts[0]!r}, …] is not there for arrays that record",
                help="np.concatenate joins along an axis, np.stack along a new one",
            )
        made = [_part(each) for each in parts]
        typed = [_WEAK[each.kind] if isinstance(each, Number) else each for each in made]
        dtype = cast(dtypes.NumpyDType, FUNCTIONS["result_type"](*typed))
        arrays = [_typed(each, dtype) for each in made]
        if self._name == "r_":
            return cast(Array, FUNCTIONS["concatenate"](arrays, axis=0))
        columns = [each.reshape((-1, 1)) if each.ndim == 1 else each for each in arrays]
        return cast(Array, FUNCTIONS["concatenate"](columns, axis=-1))


class Grid:
    """Stands for `np.mgrid` or `np.ogrid` where bounds may be the model's."""

    __slots__ = ("_is_open_grid", "_numpys")

    def __init__(self, numpys: Any, *, is_open_grid: bool) -> None:
        self._numpys = numpys
        self._is_open_grid = is_open_grid

    def __getitem__(self, key: UserValue) -> UserValue:
        parts: Sequence[UserValue] = key if isinstance(key, tuple) else (key,)
        if not any(map(holds_open, parts)):
            return as_ours(self._numpys[key])
        vectors = [cast(Array, _part(each)) for each in parts]
        if not isinstance(key, tuple):
            return vectors[0]
        dtype = cast(dtypes.NumpyDType, FUNCTIONS["result_type"](*vectors))
        typed = [as_type(each, dtype) for each in vectors]
        made = FUNCTIONS["meshgrid"](*typed, indexing="ij", sparse=self._is_open_grid)
        grids = cast("Sequence[Array]", made)
        return tuple(grids) if self._is_open_grid else cast(Array, FUNCTIONS["stack"](grids))


def joining(value: object) -> Joining | Grid | None:
    """The object that is indexed in the place of one of numpy's; None for all other values."""
    if value is np.mgrid or value is np.ogrid:
        return Grid(value, is_open_grid=value is np.ogrid)
    name = _NAMES.get(id(value))
    return None if name is None else Joining(value, name)


def _part(value: UserValue) -> UserValue:
    if not isinstance(value, slice):
        return value
    start, step = 0 if value.start is None else value.start, 1 if value.step is None else value.step
    if isinstance(step, complex):
        return cast(Array, FUNCTIONS["linspace"](start, value.stop, int(abs(step))))
    return cast(Array, FUNCTIONS["arange"](start, value.stop, step))


def _typed(value: UserValue, dtype: dtypes.NumpyDType) -> Array:
    """A part as an array with dimensions; numbers take the element type of the others."""
    if isinstance(value, Number):
        made = Array(cast(Tensor, value.as_dtype(dtypes.onnx_type(dtype))))
    else:
        made = as_type(array_of(value), dtype)
    return made if made.ndim else made.reshape((1,))
