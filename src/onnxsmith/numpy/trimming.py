"""Elements left out at the ends by their values: `trim_zeros`, and the first coefficients of polynomials."""

from __future__ import annotations

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.errors import AttributeValueError
from onnxsmith.numpy.arguments import ArrayLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import Axes, axes_of
from onnxsmith.numpy.conversions import array_from, array_of, tensors_of
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.sharing import detached
from onnxsmith.types.dtypes import DType

_FAR = np.array([np.iinfo(np.int64).max])


def _places(is_kept: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """The first place along an axis where something is kept, and the one behind the last, as vectors of one."""
    rank = values.rank_of(is_kept)
    others = [k for k in range(rank) if k != axis]
    count = op.Reshape(values.as_tensor(values.size_of(is_kept, axis), DType.INT64), [1])
    marks = values.converted(is_kept, DType.INT64)
    # One more place at the end, where nothing is kept: there is a greatest of the marks across, and a first of none.
    pads = [0] * (2 * rank)
    for axis_across in others:
        pads[rank + axis_across] = 1
    marks = op.Pad(marks, np.array(pads, np.int64), np.int64(0))
    along = op.ReduceMax(marks, others, keepdims=0) if others else marks
    index = values.counted(values.size_of(is_kept, axis))
    is_some = along > 0
    begins = op.ReduceMin(op.Concat(op.Where(is_some, index, count), count, axis=0), [0], keepdims=1)
    after = op.Where(is_some, index + 1, 0)
    ends = op.ReduceMax(op.Concat(after, np.array([0]), axis=0), [0], keepdims=1)
    return begins, ends


@recorded()
def _bounds(x: Array, axes: tuple[int, ...]) -> Array:
    """The first place along each axis where something is kept, and the one behind the last; a row for each."""
    is_kept = tensors_of(x).is_nonzero()
    ends = [op.Concat(*_places(is_kept, axis), axis=0) for axis in axes]
    return array_from(op.Concat(*[op.Unsqueeze(each, [0]) for each in ends], axis=0))


@public("trim_zeros")
def trim_zeros(filt: ArrayLike, trim: str = "fb", axis: Axes = None) -> Array:
    """An array without the zeros at its front (`f`) and its back (`b`), along all axes or some.

    >>> import onnxsmith.numpy as xp
    >>> xp.trim_zeros(xp.asarray([0, 0, 1, 0, 2, 0]))
    Array([1, 0, 2])
    """
    array = array_of(filt)
    which = trim.lower() if isinstance(trim, str) else ""  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
    if which not in ("f", "b", "fb", "bf"):
        raise AttributeValueError(f"trim is 'f', 'b' or 'fb', not {trim!r}", culprit=("attribute", "trim"))
    axes = axes_of(axis, array.ndim)
    if not axes:
        return array[...]
    bounds = _bounds(detached(array), axes)
    parts = [slice(None)] * array.ndim
    for row, each in enumerate(axes):
        # Where nothing is kept, nothing is left, whichever end is trimmed.
        begins = bounds[row, 0] if "f" in which else None
        ends = bounds[row, 1] if "b" in which else None
        parts[each] = slice(begins, ends)
    return array[tuple(parts)]


def without_first(x: Field, is_left_out: Tensor) -> Field:
    """A vector without the first elements of which something holds, the last one excepted."""
    begins, _ = _places(~is_left_out, 0)
    last = op.Shape(x.re) - np.array([1], np.int64)
    start = op.Max(op.Min(begins, last), np.array([0], np.int64))
    return x.map(op.Slice, start, _FAR, [0])


@recorded()
def leading(p: Array) -> Array:
    """The coefficients of a polynomial from the first that is not 0 on; of none, one 0."""
    field = tensors_of(p)
    more = op.Max(op.Sub(np.array([1], np.int64), op.Shape(field.re)), np.array([0], np.int64))
    pads = op.Concat(np.array([0], np.int64), more, axis=0)
    field = field.map(lambda part: op.Pad(part, pads, values.like(0, part)))
    return array_from(without_first(field, ~field.is_nonzero()))
