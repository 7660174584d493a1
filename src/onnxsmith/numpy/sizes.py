"""Shapes as users write them: ints, numbers of the model, arrays that hold one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex, TypeAlias, cast

import numpy as np

from onnxsmith.core.demands import demand
from onnxsmith.core.semantics.dimensions import Dimensions
from onnxsmith.core.semantics.number import Number, is_natural
from onnxsmith.core.tensor import Tensor
from onnxsmith.errors import AttributeTypeError, ShapeError
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import index_of
from onnxsmith.types.dtypes import DType

#: One size: known now, or a number of the model.
Size: TypeAlias = int | Number
#: One size as it is given.
SizeLike: TypeAlias = int | np.integer[Any] | Number | Array
#: A shape as it is given: one size, or several.
ShapeLike: TypeAlias = SizeLike | Sequence[SizeLike] | np.ndarray[Any, np.dtype[Any]]


def size_of(value: object, name: str = "shape") -> Size:
    """One size."""
    if isinstance(value, Number):
        if value.kind == "float":
            raise AttributeTypeError(f"{name} is made of integers, not floats", culprit=("attribute", name))
        return value
    if isinstance(value, Array) and value.is_symbolic and value.ndim == 0 and value.dtype.kind in "iu":
        return cast(Number, cast(Tensor, value.held).as_number())
    number = index_of(value)
    if number is not None:
        return number
    raise AttributeTypeError(
        f"{name} is made of integers, not {type(value).__name__}", culprit=("attribute", name)
    )


def shape_of(shape: object, name: str = "shape") -> tuple[Size, ...]:
    """A shape: one size, or several."""
    if isinstance(shape, Dimensions):
        return tuple(size_of(each, name) for each in shape)
    if isinstance(shape, Array) and shape.ndim == 1:
        return tuple(size_of(each, name) for each in shape)
    if isinstance(shape, SupportsIndex):
        return (size_of(shape, name),)
    if not isinstance(shape, Iterable):
        raise AttributeTypeError(
            f"{name} is an int or a tuple of ints, not {type(shape).__name__}", culprit=("attribute", name)
        )
    return tuple(size_of(each, name) for each in cast("Iterable[object]", shape))


def is_known(shape: Iterable[Size]) -> bool:
    """True if all sizes are known now."""
    return all(isinstance(each, int) for each in shape)


def known(shape: Iterable[Size]) -> tuple[int, ...]:
    """Sizes that are known now; who calls this has looked."""
    return tuple(cast(int, each) for each in shape)


def product(shape: Iterable[Size]) -> Size:
    """How many elements a shape has."""
    total: Size = 1
    for each in shape:
        total = cast(Size, total * each)
    return total


def check_broadcast(what: str, *arrays: Array) -> None:
    """Refuse arrays that do not broadcast together, as far as sizes are known."""
    shapes = [tuple(each.shape) for each in arrays]
    if not all(is_known(each) for each in shapes):
        return
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        named = " and ".join(str(each) for each in shapes)
        raise ShapeError(f"{what} of shapes {named} do not broadcast together") from None


def check_not_negative(shape: Iterable[Size], name: str = "shape") -> None:
    """Refuse sizes below 0."""
    for each in shape:
        if isinstance(each, int) and each < 0:
            raise ShapeError(f"a dimension cannot be {each}", culprit=("attribute", name))
        if isinstance(each, Number) and not is_natural(each):
            demand(
                lambda each=each: cast(Number, each >= 0).tensor,
                ValueError("negative dimensions are not allowed"),
            )


def sized(value: Size) -> Any:
    """A size as an operand."""
    return value.as_dtype(DType.INT64) if isinstance(value, Number) else np.int64(value)


def is_surely_same(first: Size, second: Size) -> bool:
    """True if two sizes are known to be the same: equal numbers, or the same name."""
    if first is second:
        return True
    if isinstance(first, int) or isinstance(second, int):
        return isinstance(first, int) and isinstance(second, int) and first == second
    mine, theirs = first.known.data, second.known.data
    return mine is not None and not isinstance(mine, np.ndarray | tuple) and mine == theirs
