"""Arrays put together and taken apart: `concat`, `stack`, `split`, `tile`, `repeat`."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.complex_numbers.field import joined
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.core.semantics.number import Number
from onnxsmith.errors import AttributeValueError, CallError, InputTypeError, ShapeError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike, DTypeLike, ShapeLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import axis_of
from onnxsmith.numpy.conversions import (
    array_from,
    array_of,
    as_type,
    check_sizes,
    stacked,
    tensor_of,
    tensors_of,
)
from onnxsmith.numpy.holding import Stacked
from onnxsmith.numpy.outputs import written
from onnxsmith.numpy.ranges import counted
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import require, require_some, require_to_fit
from onnxsmith.numpy.reshaping import atleast_1d, atleast_2d, atleast_3d, expand_dims, moveaxis, reshape
from onnxsmith.numpy.sharing import detached, lies_in_order
from onnxsmith.numpy.sizes import Size, check_not_negative, shape_of, size_of
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import sizes_differ

#: How many parts `array_split` makes at most: each is an array of its own.
_MOST_PARTS = 1 << 20
#: numpy's rules for conversions.
CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")

Arrays = Sequence[ArrayLike] | Array | Stacked


def _given(arrays: Arrays) -> list[Array]:
    """Arrays in a list, a tuple, or along the first dimension of one."""
    given = [array_of(each) for each in arrays]
    if not given:
        raise InputTypeError("at least one array is needed")
    return given


def _elements(arrays: Stacked, what: str = "concatenate") -> Array:
    """The elements of a list that only the model knows the length of, along the first axis; there is one, at least."""
    whole = cast(Array, arrays.stacked)
    require_some(whole, [0], ValueError(f"need at least one array to {what}"))
    return whole


def _one_after_the_other(arrays: Stacked, axis: int | None) -> Array:
    """The elements of a list that only the model knows the length of, joined along their first axis."""
    whole = _elements(arrays)
    if whole.ndim == 1:
        raise ShapeError("numbers have no dimension to be joined along", help="use xp.stack")
    if axis is None:
        return whole.reshape(-1)
    if axis_of(axis, whole.ndim - 1):
        raise ShapeError(
            "the arrays of a list that only the model knows the length of are joined along their first axis alone",
            help="use xp.stack(arrays, axis=…), and reshape",
        )
    return whole.reshape((-1, *whole.shape[2:]))


def _common(arrays: Sequence[Array], dtype: DTypeLike | None, casting: str) -> list[Array]:
    wanted = dtypes.promoted([each.dtype for each in arrays]) if dtype is None else dtypes.read(dtype)
    if casting not in CASTINGS:
        raise AttributeValueError(
            f"casting is one of {', '.join(CASTINGS)}, not {casting!r}", culprit=("attribute", "casting")
        )
    for each in arrays:
        if not np.can_cast(each.dtype, wanted, cast(Any, casting)):
            raise InputTypeError(
                f"{each.dtype.name} does not become {wanted.name} by the rule {casting!r}",
                help='say casting="unsafe"',
            )
    return [as_type(each, wanted) for each in arrays]


@recorded()
def _joined(arrays: list[Array], axis: int) -> Array:
    return array_from(joined([tensors_of(each) for each in arrays], axis))


def _check_type_of(out: Array | None, dtype: DTypeLike | None) -> None:
    if out is not None and dtype is not None:
        raise CallError("out= has an element type of its own, and dtype= is another", help="leave dtype= out")


@public("concat")
@public("concatenate")
def concat(
    arrays: Arrays,
    /,
    axis: int | None = 0,
    out: Array | None = None,
    *,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """Arrays one after the other along an axis; all flat when it is None.

    >>> import onnxsmith.numpy as xp
    >>> xp.concat([xp.asarray([1, 2]), xp.asarray([0.5])])
    Array([1. , 2. , 0.5])
    """
    _check_type_of(out, dtype)
    given = _given([_one_after_the_other(arrays, axis)] if isinstance(arrays, Stacked) else arrays)
    if axis is None:
        given = [reshape(each, -1) for each in given]
        axis = 0
    rank = given[0].ndim
    if not rank:
        raise ShapeError("arrays without dimensions have none to be joined along", help="use xp.stack")
    place = axis_of(axis, rank)
    for position, each in enumerate(given):
        if each.ndim != rank:
            raise ShapeError(f"array 0 has {rank} dimensions, and array {position} has {each.ndim}")
    check_sizes(given, place)
    typed = _common(given, dtype, casting)
    return written(detached(typed[0]) if len(typed) == 1 else _joined(typed, place), out)


@public("stack")
def stack(
    arrays: Arrays,
    /,
    axis: int = 0,
    out: Array | None = None,
    *,
    dtype: DTypeLike | None = None,
    casting: str = "same_kind",
) -> Array:
    """Arrays of one shape along a new axis.

    >>> import onnxsmith.numpy as xp
    >>> xp.stack([xp.asarray([1, 2]), xp.asarray([3, 4])])
    Array([[1, 2],
           [3, 4]])
    """
    _check_type_of(out, dtype)
    if isinstance(arrays, Stacked):
        whole = _elements(arrays, "stack")
        return concat([moveaxis(whole, 0, axis)], axis=0, out=out, dtype=dtype, casting=casting)
    given = _given(arrays)
    place = axis_of(axis, given[0].ndim + 1)
    return written(stacked(_common(given, dtype, casting), place), out)


@public("vstack")
def vstack(arrays: Arrays, *, dtype: DTypeLike | None = None, casting: str = "same_kind") -> Array:
    """Arrays below each other; vectors are rows.

    >>> import onnxsmith.numpy as xp
    >>> xp.vstack([xp.asarray([1, 2]), xp.asarray([3, 4])])
    Array([[1, 2],
           [3, 4]])
    """
    if isinstance(arrays, Stacked):
        whole = _elements(arrays)
        whole = whole.reshape((-1, 1)) if whole.ndim == 1 else whole
        rows_of_all = whole if whole.ndim == 2 else whole.reshape((-1, *whole.shape[2:]))
        return concat([rows_of_all], dtype=dtype, casting=casting)
    rows = [cast(Array, atleast_2d(each)) for each in arrays]
    return concat(rows, axis=0, dtype=dtype, casting=casting)


@public("hstack")
def hstack(arrays: Arrays, *, dtype: DTypeLike | None = None, casting: str = "same_kind") -> Array:
    """Arrays beside each other: along the second axis, vectors along the first.

    >>> import onnxsmith.numpy as xp
    >>> xp.hstack([xp.asarray([1, 2]), xp.asarray([3])])
    Array([1, 2, 3])
    """
    if isinstance(arrays, Stacked):
        whole = _elements(arrays)
        if whole.ndim <= 2:
            return concat([whole.reshape(-1)], dtype=dtype, casting=casting)
        return concat(arrays, axis=1, dtype=dtype, casting=casting)
    given = [cast(Array, atleast_1d(each)) for each in arrays]
    return concat(given, axis=0 if given and given[0].ndim == 1 else 1, dtype=dtype, casting=casting)


@public("dstack")
def dstack(arrays: Arrays) -> Array:
    """Arrays along the third axis.

    >>> import onnxsmith.numpy as xp
    >>> xp.dstack([xp.asarray([1, 2]), xp.asarray([3, 4])])
    Array([[[1, 3],
            [2, 4]]])
    """
    return concat([cast(Array, atleast_3d(each)) for each in arrays], axis=2)


@public("column_stack")
def column_stack(arrays: Arrays) -> Array:
    """Vectors as the columns of a matrix.

    >>> import onnxsmith.numpy as xp
    >>> xp.column_stack([xp.asarray([1, 2]), xp.asarray([3, 4])])
    Array([[1, 3],
           [2, 4]])
    """
    given = [array_of(each) for each in arrays]
    return concat(
        [expand_dims(cast(Array, atleast_1d(each)), 1) if each.ndim < 2 else each for each in given], axis=1
    )


@public("append")
def append(x: ArrayLike, values: ArrayLike, axis: int | None = None) -> Array:
    """Arrays one after the other; all flat when no axis is given.

    >>> import onnxsmith.numpy as xp
    >>> xp.append(xp.asarray([1, 2]), [3, 4])
    Array([1, 2, 3, 4])
    """
    return concat([x, values], axis=axis)


@public("block")
def block(arrays: ArrayLike) -> Array:
    """An array of blocks, in nested lists as they lie.

    >>> import onnxsmith.numpy as xp
    >>> xp.block([[xp.ones((1, 1)), xp.zeros((1, 2))]])
    Array([[1., 0., 0.]])
    """
    depth = _depth(arrays)
    rank = max([depth, *(each.ndim for each in _leaves(arrays))])
    made = _block(arrays, depth, rank, 1)
    is_plain = all(
        lies_in_order(each) for each in _leaves(arrays)
    )  # numpy keeps the order of what it is given
    return made if is_plain or made.ndim < 2 else detached(made, is_plain=False)


def _depth(arrays: object) -> int:
    if not isinstance(arrays, list):
        return 0
    depths = {_depth(each) for each in cast("list[object]", arrays)}
    if len(depths) != 1:
        raise ShapeError("the lists of blocks are nested to one depth, and none is empty")
    return 1 + depths.pop()


def _leaves(arrays: object) -> list[Array]:
    if isinstance(arrays, list):
        return [leaf for each in cast("list[object]", arrays) for leaf in _leaves(each)]
    return [array_of(arrays)]


def _block(arrays: object, depth: int, rank: int, level: int) -> Array:
    if not isinstance(arrays, list):
        array = array_of(arrays)
        return (
            array.copy()
            if array.ndim == rank
            else reshape(array, (*[1] * (rank - array.ndim), *tuple(array.shape)), copy=True)
        )
    parts = [_block(each, depth, rank, level + 1) for each in cast("list[object]", arrays)]
    return concat(parts, axis=level - 1 - depth)


# -- apart -----------------------------------------------------------------------------------------------


@public("unstack")
def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The parts along an axis, without it: views.

    >>> import onnxsmith.numpy as xp
    >>> xp.unstack(xp.asarray([[1, 2], [3, 4]]))
    (Array([1, 2]), Array([3, 4]))
    """
    array = array_of(x)
    place = axis_of(axis, array.ndim)
    count = array.shape[place]
    if not isinstance(count, int):
        raise ShapeError(
            "how many parts there are is known only when the model runs",
            help="declare the size of the dimension, or go through it in a loop",
        )
    before = (slice(None),) * place
    return tuple(array[(*before, k)] for k in range(count))


@public("array_split")
def array_split(x: ArrayLike, indices_or_sections: ArrayLike, axis: int = 0) -> list[Array]:
    """Parts along an axis, as even as they can be: views.

    >>> import onnxsmith.numpy as xp
    >>> xp.array_split(xp.arange(5), 2)
    [Array([0, 1, 2]), Array([3, 4])]
    """
    array = array_of(x)
    place = axis_of(axis, array.ndim)
    if isinstance(indices_or_sections, list | tuple | np.ndarray | Array):
        cuts: list[Size] = [
            size_of(each, "indices") for each in cast("Sequence[object]", indices_or_sections)
        ]
    else:
        sections = size_of(indices_or_sections, "sections")
        if not isinstance(sections, int):
            raise AttributeValueError(
                "how many parts an array is split into is dynamic",
                help="equal parts are rows: x.reshape(k, -1)",
            )
        if not 1 <= sections <= _MOST_PARTS:
            raise AttributeValueError(f"an array is split into 1 to {_MOST_PARTS} parts, not {sections}")
        size = cast(Size, array.shape[place])
        each, extra = size // sections, size % sections
        cuts = [
            cast(
                Size,
                k * each
                + (min(k, extra) if isinstance(extra, int) else values.least(cast(values.Size, extra), k)),
            )
            for k in range(1, sections)
        ]
    ends: list[Size | None] = [0, *cuts, None]
    before = (slice(None),) * place
    return [array[(*before, slice(a, b))] for a, b in itertools.pairwise(ends)]


@public("split")
def split(x: ArrayLike, indices_or_sections: ArrayLike, axis: int = 0) -> list[Array]:
    """Even parts along an axis, or those between indices: views.

    >>> import onnxsmith.numpy as xp
    >>> xp.split(xp.arange(4), 2)
    [Array([0, 1]), Array([2, 3])]
    """
    array = array_of(x)
    size = array.shape[axis_of(axis, array.ndim)]
    if isinstance(indices_or_sections, int) and isinstance(size, int) and size % max(indices_or_sections, 1):
        raise ShapeError(f"a dimension of size {size} has no {indices_or_sections} equal parts")
    if isinstance(indices_or_sections, int) and isinstance(size, Number) and indices_or_sections > 0:
        require(
            lambda: size % indices_or_sections == 0,
            ValueError("array split does not result in an equal division"),
        )
    return array_split(array, indices_or_sections, axis)


@public("hsplit")
def hsplit(x: ArrayLike, indices_or_sections: ArrayLike) -> list[Array]:
    """Parts along the second axis, of a vector along the first.

    >>> import onnxsmith.numpy as xp
    >>> xp.hsplit(xp.arange(4), 2)
    [Array([0, 1]), Array([2, 3])]
    """
    array = array_of(x)
    return split(array, indices_or_sections, axis=1 if array.ndim > 1 else 0)


@public("vsplit")
def vsplit(x: ArrayLike, indices_or_sections: ArrayLike) -> list[Array]:
    """Parts along the first axis.

    >>> import onnxsmith.numpy as xp
    >>> [part.shape for part in xp.vsplit(xp.zeros((4, 2)), 2)]
    [(2, 2), (2, 2)]
    """
    array = array_of(x)
    if array.ndim < 2:
        raise ShapeError(f"the array has {array.ndim} dimensions, and 2 are needed")
    return split(array, indices_or_sections, axis=0)


@public("dsplit")
def dsplit(x: ArrayLike, indices_or_sections: ArrayLike) -> list[Array]:
    """Parts along the third axis.

    >>> import onnxsmith.numpy as xp
    >>> [part.shape for part in xp.dsplit(xp.zeros((1, 2, 4)), 2)]
    [(1, 2, 2), (1, 2, 2)]
    """
    return split(x, indices_or_sections, axis=2)


# -- again and again -------------------------------------------------------------------------------------


@recorded("repetitions")
def _tiled(x: Array, repetitions: tuple[Size, ...]) -> Array:
    counts = values.int64s(cast("Sequence[values.Size]", repetitions))
    return array_from(tensors_of(x).map(op.Tile, counts))


@public("tile")
def tile(x: ArrayLike, reps: ShapeLike, /) -> Array:
    """An array repeated along its dimensions, and along new ones before them.

    >>> import onnxsmith.numpy as xp
    >>> xp.tile(xp.asarray([1, 2]), 2)
    Array([1, 2, 1, 2])
    """
    array = array_of(x)
    counts = shape_of(reps, "reps")
    check_not_negative(counts, "reps")
    rank = max(array.ndim, len(counts))
    whole = reshape(array, (*[1] * (rank - array.ndim), *tuple(array.shape)), copy=True)
    counts = (*[1] * (rank - len(counts)), *counts)
    return _tiled(whole, counts) if counts else whole


@public("repeat")
def repeat(x: ArrayLike, repeats: ArrayLike, /, axis: int | None = None) -> Array:
    """Elements repeated, each as often as is said for all or for each, along an axis or flat.

    >>> import onnxsmith.numpy as xp
    >>> xp.repeat(xp.asarray([1, 2]), 2)
    Array([1, 1, 2, 2])
    """
    array = array_of(x)
    if axis is None or (not array.ndim and axis in (0, -1)):
        array, axis = reshape(array, -1), 0
    place = axis_of(axis, array.ndim)
    counts = array_of(repeats)
    if counts.dtype.kind not in "iub":
        raise InputTypeError(f"repeats are integers, not {counts.dtype.name}")
    if counts.ndim > 1:
        raise ShapeError(f"repeats are one number or a vector, not of {counts.ndim} dimensions")
    if not counts.is_symbolic and (np.asarray(counts) < 0).any():
        raise AttributeValueError("repeats are not negative", culprit=("attribute", "repeats"))
    if counts.is_symbolic and counts.dtype.kind == "i":
        require(lambda: counts >= 0, ValueError("repeats may not contain negative values."))
    given = counts.shape[0] if counts.ndim else 1
    if isinstance(given, int) and given == 1:
        return _repeated(array, reshape(counts, ()), place)
    size = array.shape[place]
    if sizes_differ(size, given):
        raise ShapeError(f"{given} repeats for {size} elements along dimension {place}")
    require_to_fit(given, size)
    return _repeated_each(array, as_type(counts, dtypes.INT64), place)


@recorded()
def _repeated(x: Array, count: Array, axis: int) -> Array:
    times = values.converted(tensor_of(count), DType.INT64)

    def of_tensor(part: Tensor) -> Tensor:
        size = values.cast(values.size_of(part, axis), DType.INT64)
        copies = counted(cast(Size, op.Mul(size, times).as_number()))
        # Of no copies there is none to divide by their number.
        return op.Gather(part, op.Div(copies, op.Max(times, np.int64(1))), axis=axis)

    return array_from(tensors_of(x).map(of_tensor))


@recorded()
def _repeated_each(x: Array, counts: Array, axis: int) -> Array:
    """A mark where the copies of an element end: the marks up to a place say which element it is from."""
    sizes = op.Unsqueeze(values.cast(values.size_of(tensors_of(x).re, axis), DType.INT64), [0])
    # One count is for all elements; where there are others, their number is that of the elements, or the model says so.
    times = op.Reshape(op.Expand(tensor_of(counts), sizes), sizes, allowzero=1)
    ends = op.CumSum(times, np.int64(0))
    total = values.converted(op.ReduceSum(times, keepdims=0), DType.INT64)
    behind = op.Unsqueeze(total + 1, [0])
    marks = op.ScatterElements(
        op.Expand(np.array([0], np.int64), behind),
        ends,
        op.Expand(np.array([1], np.int64), op.Shape(ends)),
        reduction="add",
    )
    source = op.Slice(op.CumSum(marks, np.int64(0)), np.array([0], np.int64), op.Unsqueeze(total, [0]))
    return array_from(tensors_of(x).map(op.Gather, source, axis=axis))
