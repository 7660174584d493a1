"""`pad`: an array with more around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.core.semantics.number import Number
from onnxsmith.errors import AttributeTypeError, AttributeValueError
from onnxsmith.numpy.arguments import ArrayLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_from, array_of, as_type, is_plain, stored_as, tensors_of
from onnxsmith.numpy.joining import concat
from onnxsmith.numpy.quantiles import median
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import require_at_least
from onnxsmith.numpy.reshaping import broadcast_to
from onnxsmith.numpy.sharing import detached
from onnxsmith.numpy.sizes import Size, check_not_negative, size_of
from onnxsmith.types.dtypes import DType

#: What continues an array from its own elements.
_CONTINUED = ("edge", "reflect", "symmetric", "wrap")
#: What is computed from all elements along an axis.
_COMPUTED = {"maximum": Array.max, "minimum": Array.min, "mean": Array.mean, "median": median}
_MODES = ("constant", *_CONTINUED, *_COMPUTED, "empty")


def _pairs(widths: object, rank: int, name: str) -> list[tuple[object, object]]:
    """A pair for each axis: of one value, of one pair for all, or as they are given."""
    # Not by numpy: it would ask for the values of sizes that only the model knows.
    if isinstance(widths, np.ndarray) or (isinstance(widths, Array) and not widths.is_symbolic):
        widths = cast(object, np.asarray(cast(object, widths)).tolist())
    rows = _items(widths)
    if rows is None:
        return [(widths, widths)] * rank
    inner = [_items(each) for each in rows]
    if all(each is None for each in inner):
        inner = [rows]
    found = [each for each in inner if each is not None and len(each) in (1, 2)]
    if len(found) != len(inner) or len(found) not in (1, rank):
        raise AttributeTypeError(
            f"{name} is a number, a pair, or a pair for each of {rank} axes", culprit=("attribute", name)
        )
    pairs = [(each[0], each[-1]) for each in found]
    return pairs if len(pairs) == rank else pairs * rank


def _items(value: object) -> list[object] | None:
    """The items of a list, a tuple or a vector; None for a single value."""
    if isinstance(value, list | tuple):
        return list(cast("list[object]", value))
    return list(value) if isinstance(value, Array) and value.ndim else None


@public("pad")
def pad(
    array: ArrayLike,
    pad_width: ArrayLike,
    mode: str = "constant",
    *,
    constant_values: ArrayLike = 0,
    reflect_type: str = "even",
    stat_length: ArrayLike | None = None,
) -> Array:
    """An array with more elements before and behind, along each axis.

    >>> import onnxsmith.numpy as xp
    >>> xp.pad(xp.asarray([1, 2, 3]), (2, 1), mode="reflect")
    Array([3, 2, 1, 2, 3, 2])
    """
    x = array_of(array)
    if mode not in _MODES:
        raise AttributeValueError(
            f"there is no mode {mode!r}", help=f"modes are {', '.join(_MODES)}", culprit=("attribute", "mode")
        )
    if reflect_type != "even" or stat_length is not None:
        raise AttributeValueError("reflect_type and stat_length have only their defaults here")
    widths = [
        (size_of(before, "pad_width"), size_of(behind, "pad_width"))
        for before, behind in _pairs(pad_width, max(x.ndim, 1), "pad_width")
    ]
    for pair in widths:
        check_not_negative(pair, "pad_width")
    widths = widths[: x.ndim]
    if mode in ("constant", "empty"):
        return _with_constants(x, widths, 0 if mode == "empty" else constant_values)
    for axis, (before, behind) in enumerate(widths):
        if isinstance(before, int) and isinstance(behind, int) and before == behind == 0:
            continue
        require_at_least(
            x.shape[axis],
            1,
            ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"),
        )
        if mode in _CONTINUED:
            x = _continued(x, before, behind, axis, mode)
        else:
            x = _with_statistic(x, (before, behind), axis, mode)
    return detached(x)


def _with_constants(x: Array, widths: Sequence[tuple[Size, Size]], constants: object) -> Array:
    for axis, ((before, behind), pair) in enumerate(
        zip(widths, _constant_pairs(constants, x.ndim), strict=True)
    ):
        first, last = (stored_as(each, x.dtype) for each in pair)
        x = _filled_up(x, first, last, before, behind, axis)
    return x if widths else detached(x)


def _constant_pairs(constants: object, rank: int) -> list[tuple[object, object]]:
    """The constants before and behind, for each axis: numbers of numpy's, which makes an array of them first.

    Of more than one pair numpy makes Python's numbers again, which more element types refuse.
    """
    pairs = _pairs(constants, rank, "constant_values")
    if len(set(map(id, pairs))) > 1:
        return pairs
    return [(_numpys(before), _numpys(behind)) for before, behind in pairs]


def _numpys(value: object) -> object:
    if isinstance(value, Number):
        return array_of(value).as_number()
    return cast(object, np.asarray(value)[()]) if is_plain(value) else value


@recorded("before", "behind")
def _filled_up(x: Array, first: Array, last: Array, before: Size, behind: Size, axis: int) -> Array:
    whole, start, end = tensors_of(x), tensors_of(first), tensors_of(last)

    def of_tensors(part: Tensor, low: Tensor, high: Tensor) -> Tensor:
        rank = values.rank_of(part)
        for value, place, count in ((low, axis, before), (high, rank + axis, behind)):
            pads: list[values.Size] = [0] * (2 * rank)
            pads[place] = cast(values.Size, count)
            part = op.Pad(part, values.int64s(pads), value)
        return part

    real = of_tensors(whole.re, start.re, end.re)
    if whole.im is None:
        return array_from(real)
    assert start.im is not None  # of the same element type
    assert end.im is not None
    return array_from(type(whole)(real, of_tensors(whole.im, start.im, end.im)))


@recorded("before", "behind")
def _continued(x: Array, before: Size, behind: Size, axis: int, mode: str) -> Array:
    """Places beyond the ends, folded back: by the edge, by a mirror at or behind it, or round."""

    def of_tensor(part: Tensor) -> Tensor:
        size = values.cast(values.size_of(part, axis), DType.INT64)
        low, high = (values.cast(cast(values.Size, each), DType.INT64) for each in (before, behind))
        place = op.Range(op.Neg(low), op.Add(size, high), np.int64(1))
        one = np.int64(1)
        if mode == "edge":
            index = op.Clip(place, np.int64(0), op.Sub(size, one))
        elif mode == "wrap":
            index = op.Mod(place, size)
        else:
            last = op.Sub(size, one) if mode == "reflect" else size
            period = op.Max(op.Mul(last, np.int64(2)), one)
            turned = op.Mod(place, period)
            back = period - turned if mode == "reflect" else period - turned - one
            index = op.Where(turned < size, turned, back)
        return op.Gather(part, index, axis=axis)

    return array_from(tensors_of(x).map(of_tensor))


def _with_statistic(x: Array, widths: tuple[Size, Size], axis: int, mode: str) -> Array:
    one = _COMPUTED[mode](x, axis=axis, keepdims=True)
    if x.dtype.kind in "iu" and one.dtype.kind == "f":
        one = one.round()
    around: list[Array] = []
    for width in widths:
        shape = [*x.shape]
        shape[axis] = width
        around.append(broadcast_to(as_type(one, x.dtype), tuple(shape)))
    return concat([around[0], x, around[1]], axis=axis)
