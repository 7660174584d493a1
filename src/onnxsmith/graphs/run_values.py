"""The values that sessions take and give, and the one function that makes one of what somebody has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.core.value import Value
from onnxsmith.errors import LeakedValueError, OutOfBoundsError
from onnxsmith.schema.foreign_arrays import array_on_device, is_foreign
from onnxsmith.schema.promote import Place, given_array
from onnxsmith.types.dtypes import in_own_byte_order, refuse_masked

#: An array of any element type and shape.
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

#: A tensor, a sequence, a map (whose elements may be plain numbers and text), or an optional that is empty.
RunValue: TypeAlias = "np.ndarray[Any, Any] | np.generic[Any] | list[RunValue] | dict[int | str, RunValue] | int | float | str | None"  # noqa: E501  # checkers read one string, not two

#: From inputs, in order, to outputs.
Run: TypeAlias = Callable[[Sequence[RunValue]], list[RunValue]]

_NUMBERS: dict[type, type[np.generic]] = {bool: np.bool_, int: np.int64, float: np.float64}


def session_value(value: Any, name: str = "a number") -> Any:
    """A value as a session takes it: an array in the machine's byte order, or a list of those; maps stay as they are.

    Every call of a session on values of a caller comes through here: tensors and numbers that lie elsewhere than in
    numpy's arrays are to be met here, and nowhere else. `name` is that of an argument, for errors.

    >>> session_value(3), session_value(np.array([1, 2], ">i4")).dtype.isnative
    (array(3), True)
    """
    kind = value.__class__
    if kind is np.ndarray and value.dtype.isnative:
        return value
    if kind in _NUMBERS:
        try:
            return np.array(value, _NUMBERS[kind])
        except OverflowError:
            raise OutOfBoundsError(
                f"the Python integer in {name} is past the 64 bits that numbers have"
            ) from None
    if isinstance(value, list):
        return [session_value(each, name) for each in cast("list[Any]", value)]
    if isinstance(value, Value) and value.is_symbolic:
        raise LeakedValueError("a tensor of a graph was used where operators run at once")
    if (on_device := array_on_device(value)) is not None:
        return on_device
    if is_foreign(value):
        return given_array(value, None, Place("a session", name))
    refuse_masked(value)
    return in_own_byte_order(np.asarray(value)) if hasattr(value, "__array__") else value
