"""Functions of the user's along axes: `apply_along_axis`, `apply_over_axes`."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, cast

from onnxsmith.errors import ShapeError
from onnxsmith.numpy.arguments import ArrayLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import axis_of
from onnxsmith.numpy.conversions import array_of
from onnxsmith.numpy.joining import stack
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.reshaping import expand_dims, moveaxis, reshape
from onnxsmith.numpy.sizes import Size, is_known, known


@public("apply_over_axes")
def apply_over_axes(func: Callable[[Array, int], ArrayLike], a: ArrayLike, axes: ArrayLike) -> Array:
    """A function of an array and an axis, along one axis after the other; axes that it leaves out are kept as 1.

    >>> import onnxsmith.numpy as xp
    >>> xp.apply_over_axes(xp.sum, xp.asarray([[1, 2], [3, 4]]), [0, 1])
    Array([[10]])
    """
    made = array_of(a)
    given = cast("list[object]", axes) if isinstance(axes, list | tuple) else [axes]
    for each in given:
        axis = axis_of(each, array_of(a).ndim)
        found = array_of(func(made, axis))
        if found.ndim == made.ndim - 1:
            found = expand_dims(found, axis)
        if found.ndim != made.ndim:
            raise ShapeError("the function gives an array of as many dimensions, or of one less")
        made = found
    return made


@public("apply_along_axis")
def apply_along_axis(
    func1d: Callable[..., ArrayLike], axis: int, arr: ArrayLike, *args: Any, **kwargs: Any
) -> Array:
    """A function of vectors on all vectors along an axis. It is called for each: the other sizes are to be known.

    >>> import onnxsmith.numpy as xp
    >>> xp.apply_along_axis(lambda v: v[0] + v[-1], 0, xp.asarray([[1, 2], [3, 4]]))
    Array([4, 6])
    """
    array = array_of(arr)
    along = axis_of(axis, array.ndim)
    moved = moveaxis(array, along, -1)
    others = cast("tuple[Size, ...]", tuple(moved.shape)[:-1])
    if not is_known(others):
        raise ShapeError(
            "a Python function is called for each vector, and how many there are is known only when the model runs",
            help="declare the other sizes, or write the function for all vectors at once",
        )
    sizes = known(others)
    if 0 in sizes:
        raise ShapeError("a function of vectors cannot be applied where there are none")
    results = [
        array_of(func1d(moved[place], *args, **kwargs))
        for place in itertools.product(*(range(size) for size in sizes))
    ]
    if any(each.ndim != results[0].ndim for each in results):
        raise ShapeError("the function gives results of one shape")
    inside = tuple(results[0].shape)
    dtype = results[0].dtype  # as numpy: that of the first
    whole = reshape(stack(results, dtype=dtype, casting="unsafe"), (*sizes, *inside), copy=True)
    # What a vector has become stands in its place.
    rank = len(inside)
    sources = tuple(range(len(sizes), len(sizes) + rank))
    return moveaxis(whole, sources, tuple(range(along, along + rank))) if rank else whole
