"""Where the results of universal functions go: into arrays that exist, in part, or along other dimensions."""

# pyright: reportPrivateUsage=false
# How an array holds its elements is the business of this package, and no attribute that users see.

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.algorithms.special.float_parts import chosen
from onnxsmith.errors import ShapeError
from onnxsmith.numpy import sharing
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import axes_of
from onnxsmith.numpy.conversions import array_from, as_type, tensor_of, tensors_of
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.requirements import require_to_fit
from onnxsmith.numpy.reshaping import moveaxis, unsqueezed


def written(result: Array, out: Array | None, where: Array | None) -> Array:
    """A result put into an array, where truth values say so; a new one, zero elsewhere, where there is none."""
    if out is None:
        return result if where is None else _masked(result, where)
    _check_shape(result, out, where)
    is_same = not result.is_symbolic and not out.is_symbolic and result.shape == out.shape
    if where is None and is_same:
        made = as_type(result, out.dtype)
    else:
        made = _placed(result, sharing.detached(out), where)
    sharing.replace(out, made)
    return out


def _check_shape(result: Array, out: Array, where: Array | None) -> None:
    """An array that is written to is never broadcast itself."""
    shapes = [each.shape for each in (result, where) if each is not None and not each.is_symbolic]
    if out.is_symbolic or len(shapes) < 1 + (where is not None):
        if max(result.ndim, 0 if where is None else where.ndim) > out.ndim:
            raise ShapeError("out= has fewer dimensions than the result")
        for each in (result, where):
            sizes = () if each is None else tuple(each.shape)
            for mine, wanted in zip(sizes[::-1], tuple(out.shape)[::-1], strict=False):
                require_to_fit(mine, wanted)
        return
    wanted = np.broadcast_shapes(*shapes)
    try:
        fits = np.broadcast_shapes(wanted, out.shape) == out.shape
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(f"out= has shape {out.shape}, and the result {wanted}")


@recorded()
def _masked(result: Array, where: Array) -> Array:
    mask = tensor_of(where)
    return array_from(tensors_of(result).map(lambda part: chosen(mask, part, values.like(0, part))))


@recorded()
def _placed(result: Array, out: Array, where: Array | None) -> Array:
    """The elements of `out` with the result in their place; they have its shape, or the model fails."""
    new, old = tensors_of(as_type(result, out.dtype)), tensors_of(out)
    shape = op.Shape(old.re)
    mask = None if where is None else tensor_of(where)

    def place(part: Tensor, before: Tensor) -> Tensor:
        made = op.Expand(part, shape) if mask is None else chosen(mask, part, before)
        return op.Reshape(made, shape, allowzero=1)

    if old.im is None:
        return array_from(place(new.re, old.re))
    assert new.im is not None  # it has the same element type
    return array_from(Field(place(new.re, old.re), place(new.im, old.im)))


def with_last(x: Array, axes: Sequence[int]) -> Array:
    """An array with some of its dimensions moved to the end."""
    return moveaxis(x, axes, range(-len(axes), 0)) if axes else x


def with_back(x: Array, axes: Sequence[int], *, are_new: bool) -> Array:
    """A result with its last dimensions at the places asked for, or with new ones of size 1 there."""
    if not axes:
        return x
    if are_new:
        return unsqueezed(x, axes_of(axes, x.ndim + len(axes)))
    return moveaxis(x, range(-len(axes), 0), axes)
