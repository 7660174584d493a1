"""The content of fitted estimators as JSON: numbers, text, arrays, estimators of the list. Nothing of it ever runs."""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.core.user_values import UserValue
from onnxsmith.runtime.frames import Json
from onnxsmith.sklearn.values import Inner

Numbers: TypeAlias = np.ndarray[Any, np.dtype[Any]]
#: What a fitted estimator holds.
Attribute: TypeAlias = "UserValue | np.dtype[Any] | Inner"
#: How an object is written that is no plain value; None for one that cannot be.
Other: TypeAlias = Callable[[Inner], Json]
#: How such an object is read, by the name that it is written under.
Readers: TypeAlias = Mapping[str, Callable[[Json], Inner]]

#: The largest array that is read, in bytes.
_LARGEST = 2**32
_ODD_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_TYPES: dict[str, type[Any]] = {
    **{
        each.__name__: each
        for each in (
            *(np.float16, np.float32, np.float64),
            *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
        )
    },
    "bool_": np.bool_,  # its own name is that of Python's class since numpy 2
    **{each.__name__: each for each in (int, float, bool, str, object)},
}
_NAMES = {each: name for name, each in _TYPES.items()}


class Unwritable(Exception):
    """A value that JSON cannot hold as it is; says which."""


class Damaged(ValueError):
    """The text is not one that this module writes."""


def written(value: Attribute, other: Other) -> Json:
    """A value as JSON; raises `Unwritable`."""
    if value is None or isinstance(value, bool | str) or type(value) is int:
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.generic):
        return {"scalar": written(value.item(), other), "dtype": value.dtype.str}
    if isinstance(value, np.ndarray):
        return _array(value, other)
    if isinstance(value, np.dtype):
        return {"dtype": value.str}
    if isinstance(value, slice):
        return {"slice": [written(each, other) for each in (value.start, value.stop, value.step)]}
    if type(value) is list:
        return [written(each, other) for each in cast("list[Attribute]", value)]
    if type(value) is tuple:
        return {"tuple": [written(each, other) for each in cast("tuple[Attribute, ...]", value)]}
    if type(value) is dict:
        items = cast("dict[Attribute, Attribute]", value).items()
        return {"dict": [[written(key, other), written(each, other)] for key, each in items]}
    if isinstance(value, type) and value in _NAMES:
        return {"type": _NAMES[value]}
    return other(cast(Inner, value))


def _array(array: Numbers, other: Other) -> Json:
    shape = list(array.shape)
    if array.dtype.kind in "biuf" and array.dtype.itemsize <= 8:
        content = zlib.compress(np.ascontiguousarray(array).tobytes(), 6)
        return {"array": base64.b64encode(content).decode("ascii"), "dtype": array.dtype.str, "shape": shape}
    if array.dtype.kind in "UO":
        elements = [written(each, other) for each in array.ravel().tolist()]
        return {"elements": elements, "dtype": array.dtype.str, "shape": shape}
    raise Unwritable(f"an array of {array.dtype}")


def read(given: Json, readers: Readers) -> Any:
    """The value that is written; raises `Damaged`."""
    if given is None or isinstance(given, bool | int | float | str):
        return given
    if isinstance(given, list):
        return [read(each, readers) for each in given]
    for name, reader in _READERS.items():
        if name in given:
            return reader(given, readers)
    for name, special in readers.items():
        if name in given:
            return special(given[name])
    raise Damaged(f"an entry with {', '.join(sorted(given)) or 'nothing'}, which is no value")


def _list(given: Json, what: str) -> list[Json]:
    if not isinstance(given, list):
        raise Damaged(f"{what} is no list")
    return given


def _read_float(found: dict[str, Json], readers: Readers) -> float:
    name = found["float"]
    if not isinstance(name, str) or name not in _ODD_FLOATS:
        raise Damaged(f"a float {name!r}")
    return _ODD_FLOATS[name]


def _dtype(name: Json) -> np.dtype[Any]:
    try:
        made = np.dtype(name) if isinstance(name, str) else None
    except TypeError:
        made = None
    if made is None or made.kind not in "biufUO" or made.fields is not None or made.subdtype is not None:
        raise Damaged(f"an element type {name!r}")
    return made


def _shape(given: Json) -> tuple[int, ...]:
    sizes = _list(given, "a shape")
    if len(sizes) > 32 or any(type(each) is not int or each < 0 for each in sizes):
        raise Damaged(f"a shape {sizes!r}")
    return tuple(cast("list[int]", sizes))


def _read_scalar(found: dict[str, Json], readers: Readers) -> np.generic[Any]:
    value, dtype = read(found["scalar"], readers), _dtype(found.get("dtype"))
    if not isinstance(value, bool | int | float | str):
        raise Damaged("a number that is none")
    try:
        return cast("np.generic[Any]", np.array(value).astype(dtype)[()])
    except (ValueError, OverflowError) as error:
        raise Damaged(f"a number that is none: {error}") from None


def _read_array(found: dict[str, Json], readers: Readers) -> Numbers:
    dtype, shape, text = _dtype(found.get("dtype")), _shape(found.get("shape")), found["array"]
    size = math.prod(shape) * dtype.itemsize
    if dtype.kind not in "biuf" or not isinstance(text, str) or size > _LARGEST:
        raise Damaged(f"an array of {dtype} with the shape {shape}")
    try:
        unpacking = zlib.decompressobj()
        # No more than the shape has room for: a small text can unpack to very much.
        content = unpacking.decompress(base64.b64decode(text, validate=True), size + 1)
    except (binascii.Error, zlib.error, ValueError) as error:
        raise Damaged(f"an array that cannot be unpacked: {error}") from None
    if len(content) != size or (size and not unpacking.eof):
        raise Damaged(f"an array of {dtype} whose content does not fit its shape {shape}")
    return np.frombuffer(content, dtype).reshape(shape).copy()


def _read_elements(found: dict[str, Json], readers: Readers) -> Numbers:
    elements, shape = _list(found["elements"], "an array"), _shape(found.get("shape"))
    if math.prod(shape) != len(elements):
        raise Damaged(f"an array of {len(elements)} elements with the shape {shape}")
    dtype = _dtype(found.get("dtype"))
    if dtype.kind not in "UO":
        raise Damaged(f"an array of text of {dtype}")
    made = np.empty(len(elements), object)
    for place, each in enumerate(elements):
        made[place] = read(each, readers)
    if dtype.kind == "U":
        if not all(isinstance(each, str) for each in made):
            raise Damaged("an array of text with something else in it")
        return made.astype(np.str_).reshape(shape) if len(made) else np.empty(shape, dtype)
    return made.reshape(shape)


def _read_slice(found: dict[str, Json], readers: Readers) -> slice[Any, Any, Any]:
    parts = [read(each, readers) for each in _list(found["slice"], "a slice")]
    if len(parts) != 3 or any(not isinstance(each, int | str | None) for each in parts):
        raise Damaged("a slice that is none")
    return slice(*parts)


def _read_tuple(found: dict[str, Json], readers: Readers) -> tuple[Any, ...]:
    return tuple(read(each, readers) for each in _list(found["tuple"], "a tuple"))


def _read_dict(found: dict[str, Json], readers: Readers) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for each in _list(found["dict"], "a dict"):
        pair = _list(each, "an entry of a dict")
        if len(pair) != 2:
            raise Damaged("an entry of a dict that is no pair")
        key = read(pair[0], readers)
        if not isinstance(key, str | int | float | bool | np.generic | None):
            raise Damaged("a dict with a key that is neither a number nor text")
        made[key] = read(pair[1], readers)
    return made


def _read_type(found: dict[str, Json], readers: Readers) -> type[Any]:
    name = found["type"]
    made = _TYPES.get(name) if isinstance(name, str) else None
    if made is None:
        raise Damaged(f"a type {name!r}")
    return made


_READERS: dict[str, Callable[[dict[str, Json], Readers], object]] = {
    "float": _read_float,
    "scalar": _read_scalar,
    "array": _read_array,
    "elements": _read_elements,
    "slice": _read_slice,
    "tuple": _read_tuple,
    "dict": _read_dict,
    "type": _read_type,
    # Last: others have an element type, too.
    "dtype": lambda found, readers: _dtype(found["dtype"]),
}
