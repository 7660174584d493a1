"""Reads what stands between the brackets of `x[...]`: each part becomes an item of one kind.

Only kinds and what each part is by itself are checked here; whether they fit a tensor's shape is checked where they
are used. Content that is known now is a number or an array, the rest stays a tensor.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, SupportsIndex, TypeAlias, cast

import numpy as np

from onnxsmith.core.call import stack
from onnxsmith.core.operands import as_tensor, content_of, dtype_of, holds_tensor, is_array, rank_of, shape_of
from onnxsmith.core.target import target_of
from onnxsmith.core.value import Array, Size, TensorOrArray, TensorValue, Value
from onnxsmith.errors import InputTypeError, TensorIndexError, UnknownRankError
from onnxsmith.schema.foreign_arrays import is_foreign
from onnxsmith.schema.promote import Place, given_array
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import Shape, TensorType

#: What may stand between the brackets, by itself or beside others.
IndexPart: TypeAlias = (
    "types.EllipsisType | slice[Any, Any, Any] | SupportsIndex | Value | Array | Sequence[Any] | None"
)
Index: TypeAlias = "IndexPart | tuple[IndexPart, ...]"


@dataclass(frozen=True, slots=True, eq=False)
class Position:
    """One place along a dimension, which goes away."""

    number: Size


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    """A slice: a part of a dimension."""

    start: Size | None = None
    stop: Size | None = None
    step: Size | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Indices:
    """Places along a dimension, as an array of integers or a tensor."""

    value: TensorOrArray

    @property
    def content(self) -> Array | None:
        """The places, when they are known now."""
        return self.value if is_array(self.value) else None


@dataclass(frozen=True, slots=True, eq=False)
class Mask:
    """Truth values over as many dimensions as it has."""

    value: TensorOrArray

    @property
    def content(self) -> Array | None:
        """The truth values, when they are known now."""
        return self.value if is_array(self.value) else None

    @property
    def shape(self) -> Shape:
        """Its dimensions; their number is known."""
        return cast(Shape, shape_of(self.value))


@dataclass(frozen=True, slots=True, eq=False)
class NewAxis:
    """A new dimension of size 1: None."""


@dataclass(frozen=True, slots=True, eq=False)
class Rest:
    """The dimensions that nothing else names: `...`."""


Item: TypeAlias = Position | Range | Indices | Mask | NewAxis | Rest

FULL = Range()

_KINDS = "an index is made of ints, slices, `...`, None, and tensors or lists of integers or bool"
_INT64 = np.iinfo(np.int64)


def parse(index: Index) -> list[Item]:
    """The items of a subscript; TensorIndexError says which part cannot be one, and why."""
    # A Dimensions is a tuple, too, and as an index it means what a tuple means.
    parts = tuple(cast("tuple[IndexPart, ...]", index)) if isinstance(index, tuple) else (index,)
    items = [_parse_part(part) for part in parts]
    if sum(isinstance(each, Rest) for each in items) > 1:
        raise TensorIndexError("an index can have only one '...'")
    return items


def consumed(item: Item) -> int:
    """How many dimensions of the tensor an item takes."""
    if isinstance(item, Mask):
        return len(item.shape)
    return 0 if isinstance(item, NewAxis | Rest) else 1


def _parse_part(part: IndexPart) -> Item:
    if part is None:
        return NewAxis()
    if isinstance(part, types.EllipsisType):
        return Rest()
    if isinstance(part, slice):
        named = ((part.start, "start"), (part.stop, "stop"), (part.step, "step"))
        numbers = [_slice_part(each, name) for each, name in named]
        return FULL if all(each is None for each in numbers) else Range(*numbers)
    if isinstance(part, bool | np.bool_):
        return Mask(np.array(part))
    if isinstance(part, int | np.integer) and not isinstance(part, np.timedelta64):
        return Position(_in_64_bits(int(cast(int, part))))
    if isinstance(part, Value):
        return _parse_tensor(as_tensor(part))
    if is_array(part):
        return _parse_array(part, "an array")
    if isinstance(part, list | tuple | range):
        return _parse_list(cast("Sequence[Any]", part))
    if holds_tensor(part):
        raise InputTypeError(
            "a tensor is indexed as ONNX does, and this index is an array that computes as numpy does",
            help="hand its tensor over: x[i.tensor]; or index an array: xp.asarray(x)[i]",
        )
    if is_foreign(part):
        array = given_array(part, None, Place("a tensor", "an index"))
        if is_array(array):
            return _parse_array(array, "an array")
        raise TensorIndexError(
            "a tensor is indexed with an array of another library that lies on a device",
            help="onnxsmith.tensor(i) is a tensor there: x[tensor(i)]",
        )
    if isinstance(part, SupportsIndex) and not isinstance(part, type):  # a class has the method, too
        return Position(_in_64_bits(part.__index__()))
    # A dict of arrays that a script takes, as functions of parameters do.
    help_text = "a parameter of a script is one tensor: take dicts apart in a plain function that calls it"
    raise TensorIndexError(
        f"a tensor cannot be indexed with {_shown(part)}", help=help_text if isinstance(part, str) else _KINDS
    )


def _in_64_bits(number: int) -> int:
    if not _INT64.min <= number <= _INT64.max:
        raise TensorIndexError(f"index {number} is out of range for any dimension")
    return number


def _slice_part(value: object, name: str) -> Size | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        number = value
    elif isinstance(value, Value) or is_array(value):
        number = _scalar(value, f"the {name} of a slice")
    elif isinstance(value, SupportsIndex) and not isinstance(value, type):
        number = int(value.__index__())
    else:
        raise TensorIndexError(
            f"the {name} of a slice is an int, an integer scalar tensor or None, not {_shown(value)}"
        )
    if name == "step" and isinstance(number, int) and number == 0:
        raise TensorIndexError("the step of a slice cannot be 0")
    return min(max(number, _INT64.min), _INT64.max) if isinstance(number, int) else number


def _scalar(value: Value | Array, what: str) -> Size:
    value = as_tensor(value)
    dtype, rank = dtype_of(value), rank_of(value)
    if (dtype is not None and not dtype.is_integer) or rank not in (0, None):
        raise TensorIndexError(
            f"{what} is an integer scalar, not {TensorType(dtype, shape_of(value)).described}"
        )
    content = content_of(value)
    if content is not None:
        return int(content.item())
    if not isinstance(value, TensorValue):  # the content of an array is known
        raise TensorIndexError(f"{what} is an integer scalar, not a sequence")
    return value


def _parse_tensor(value: Value) -> Item:
    kind = value.known.type
    if not isinstance(value, TensorValue) or not isinstance(kind, TensorType):
        raise TensorIndexError(f"a tensor cannot be indexed with a value of type {kind!r}", help=_KINDS)
    if kind.dtype is None:
        raise TensorIndexError(
            "an index of unknown element type may be places or a mask",
            help="i.astype(INT64), or mask.astype(BOOL)",
        )
    content = content_of(value)
    if content is not None:
        return _parse_array(content, "a tensor")
    if kind.dtype is DType.BOOL:
        if kind.shape is None:
            raise UnknownRankError(
                "a mask says which dimensions it covers by how many it has, and that is not known of this one",
                help='annotate its shape, as in BOOL["N"]',
            )
        return Mask(value)
    if not kind.dtype.is_integer:
        raise TensorIndexError(
            f"an index is of integers or bool, not {kind.dtype.spelling}", help=_index_help(kind)
        )
    return Position(value) if kind.shape == () else Indices(value)


def _index_help(kind: TensorType) -> str | None:
    return "i.astype(INT64)" if kind.dtype is not None and kind.dtype.is_float else None


def _parse_array(array: Array, word: str) -> Item:
    if array.dtype == np.bool_:
        return Mask(array)
    if array.dtype.kind not in "iu":
        dtype = DType.from_numpy(array.dtype)
        shown = array.dtype.name if dtype is None else dtype.spelling
        help_text = _index_help(TensorType(dtype, None)) if word == "a tensor" else None
        raise TensorIndexError(f"an index is of integers or bool, not {word} of {shown}", help=help_text)
    if array.ndim == 0:
        return Position(_in_64_bits(int(array)))
    return Indices(array.astype(np.int64))


def _parse_list(part: Sequence[Any]) -> Item:
    try:
        has_tensor = _holds_tensor(part)
    except RecursionError:
        raise TensorIndexError("a list used as an index holds itself, or is too deep") from None
    if has_tensor:
        target = target_of(_leaves(part))
        if any(isinstance(each, list | tuple) for each in part):
            raise TensorIndexError(
                "a nested list that holds tensors cannot be an index", help="op.Concat them first"
            )
        return _parse_part(stack(part, target))
    try:
        array = np.asarray(part)
    except ValueError:
        raise TensorIndexError("a list used as an index has rows of different lengths") from None
    if array.size == 0 and not isinstance(part, range) and array.dtype.kind == "f":
        array = array.astype(np.int64)  # an empty list has no element type of its own
    if array.dtype.kind not in "iub":
        raise TensorIndexError(f"a tensor cannot be indexed with {_shown(part)}", help=_KINDS)
    return _parse_array(array, "a list")


def _holds_tensor(part: Sequence[Any]) -> bool:
    return any(isinstance(each, Value) for each in _leaves(part))


def _leaves(part: Sequence[Any]) -> list[Any]:
    if isinstance(part, range):
        return []
    return [
        leaf
        for each in part
        for leaf in (_leaves(cast("Sequence[Any]", each)) if isinstance(each, list | tuple) else [each])
    ]


def _shown(part: object) -> str:
    text = repr(part)
    return text if len(text) <= 60 else f"a {type(part).__name__}"
