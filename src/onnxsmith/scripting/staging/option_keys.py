"""The keys of options: what a model is made for besides the types of its inputs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Protocol, cast

import numpy as np

from onnxsmith.core.captures import AnyArray
from onnxsmith.graphs.identity import Itself


class _Message(Protocol):
    """A message of protobuf, such as a TensorProto."""

    def SerializeToString(self) -> bytes: ...


def attributes_key(values: Mapping[str, object]) -> Hashable:
    """The key of the values of attributes, by name."""
    return tuple((name, type(values[name]), option_key(values[name])) for name in sorted(values))


def option_key(value: object) -> Hashable:
    """The key of an option: what it is, the content of an array or message, or an object itself that has no hash.

    Of equal values with different meanings (`1`, `1.0`, `True`; `0.0`, `-0.0`) each has a key of its own.
    """
    if isinstance(value, float | complex):
        return repr(value)
    if isinstance(value, list | tuple):
        return tuple((type(each), option_key(each)) for each in cast("Sequence[object]", value))
    array = cast("AnyArray", value)
    if (
        np.ndarray in type(value).__mro__ and not array.dtype.hasobject
    ):  # not `isinstance`, after which less is known
        return array.dtype, array.shape, array.tobytes()
    if hasattr(value, "SerializeToString"):
        return cast(_Message, value).SerializeToString()
    if isinstance(value, slice):  # has a hash from Python 3.12 on
        return option_key(bounds_of(cast("slice[object, object, object]", value)))
    try:
        hash(value)
    except (TypeError, ValueError):  # numpy's timedelta64 without a unit raises the second
        return Itself(value)
    return cast(Hashable, value)


def bounds_of(part: slice[object, object, object]) -> tuple[object, object, object]:
    """The three parts of a slice."""
    return part.start, part.stop, part.step
