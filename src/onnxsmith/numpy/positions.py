"""Places counted in a row, and along each dimension: `unravel_index`, `ravel_multi_index`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.errors import AttributeTypeError, AttributeValueError
from onnxsmith.numpy.arguments import ArrayLike, ShapeLike, check_choice
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.choosing import check_mode
from onnxsmith.numpy.conversions import array_from, array_of, tensor_of
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import is_within, require, require_at_least
from onnxsmith.numpy.sharing import detached
from onnxsmith.numpy.sizes import Size, is_known, known, product, shape_of
from onnxsmith.types.dtypes import DType


def _whole(value: object, name: str) -> Array:
    array = array_of(value)
    if array.dtype.kind not in "iu":
        raise AttributeTypeError(f"{name} is of integers, not of {array.dtype.name}")
    return array


@recorded("shape")
def _along_each(index: Array, shape: tuple[Size, ...], order: str) -> tuple[Array, ...]:
    rest = values.converted(tensor_of(index), DType.INT64)
    found: list[Tensor] = []
    for size in shape if order == "F" else shape[::-1]:
        length = values.as_tensor(cast(values.Size, size), DType.INT64)
        found.append(op.Mod(rest, length))
        rest = op.Div(rest, length)
    return tuple(array_from(each) for each in (found if order == "F" else found[::-1]))


@public("unravel_index")
def unravel_index(indices: ArrayLike, shape: ShapeLike, order: str = "C") -> tuple[Array, ...]:
    """Places that are counted in a row, along each dimension of a shape.

    >>> import onnxsmith.numpy as xp
    >>> xp.unravel_index(xp.asarray([3, 5]), (2, 3))
    (Array([1, 1]), Array([0, 2]))
    """
    index, sizes = _whole(indices, "indices"), shape_of(shape)
    check_choice("order", order, "C", "F")
    if is_known(sizes) and not index.is_symbolic:
        count, places = int(np.prod(known(sizes))), np.asarray(index)
        if ((places < 0) | (places >= count)).any():
            raise AttributeValueError(f"an index is out of bounds for {count} elements")
    elif index.is_symbolic or not is_known(sizes):
        require(
            lambda: is_within(index, 0, product(sizes)),
            ValueError("index is out of bounds for array of the size"),
        )
    # numpy's are the columns of one array.
    return tuple(
        detached(each, is_plain=False) if each.ndim else each for each in _along_each(index, sizes, order)
    )


@recorded("dims")
def _in_a_row(indices: list[Array], dims: tuple[Size, ...], modes: tuple[str, ...], order: str) -> Array:
    total: Tensor | None = None
    given = list(zip(indices, dims, modes, strict=True))
    for index, size, mode in given if order == "C" else given[::-1]:
        place = values.converted(tensor_of(index), DType.INT64)
        length = values.as_tensor(cast(values.Size, size), DType.INT64)
        if mode == "wrap":
            place = op.Mod(place, length)
        elif mode == "clip":
            place = op.Min(op.Max(place, np.int64(0)), length - 1)
        total = place if total is None else total * length + place
    assert total is not None  # there is at least one dimension
    return array_from(total)


@public("ravel_multi_index")
def ravel_multi_index(
    multi_index: Sequence[object], dims: ArrayLike, mode: str | tuple[str, ...] = "raise", order: str = "C"
) -> Array:
    """Places along each dimension of a shape, counted in a row.

    >>> import onnxsmith.numpy as xp
    >>> xp.ravel_multi_index((xp.asarray([1, 1]), xp.asarray([0, 2])), (2, 3))
    Array([3, 5])
    """
    given = [_whole(each, "multi_index") for each in multi_index]
    sizes = shape_of(dims, "dims")
    modes = (mode,) * len(sizes) if isinstance(mode, str) else tuple(mode)
    check_choice("order", order, "C", "F")
    for each in modes:
        check_mode(each)
    if not sizes or len(given) != len(sizes) or len(modes) != len(sizes):
        raise AttributeValueError(f"there are {len(sizes)} dimensions", culprit=("attribute", "multi_index"))
    for size in sizes:
        require_at_least(size, 1, ValueError("cannot unravel if shape has zero entries (is empty)."))
    for index, size, each in zip(given, sizes, modes, strict=True):
        if each == "raise" and isinstance(size, int) and not index.is_symbolic:
            places = np.asarray(index)
            if ((places < 0) | (places >= size)).any():
                raise AttributeValueError(f"an index is out of bounds for a dimension of {size}")
        elif each == "raise":
            require(
                lambda index=index, size=size: is_within(index, 0, size),
                ValueError("invalid entry in coordinates array"),
            )
    return _in_a_row(given, sizes, modes, order)
