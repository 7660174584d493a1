"""Elements put in and places looked up: `insert`, `fill_diagonal`, `copyto`, `putmask`, `ix_`, `indices`, `einsum`."""

from __future__ import annotations

import functools
import string
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.algorithms import values as sizes_
from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.operators import op
from onnxsmith.core.semantics.number import Number
from onnxsmith.errors import AttributeValueError, InputTypeError, OutOfBoundsError, ShapeError
from onnxsmith.numpy import dtypes, sharing
from onnxsmith.numpy.arguments import ArrayLike, ShapeLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.axes import axis_of
from onnxsmith.numpy.choosing import selected
from onnxsmith.numpy.conversions import array_from, array_of, as_type, constant_of, tensors_of
from onnxsmith.numpy.filling import eye, ones, tril, triu, zeros
from onnxsmith.numpy.indexing import put
from onnxsmith.numpy.joining import concat
from onnxsmith.numpy.ranges import arange
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import require, require_at_least, require_same
from onnxsmith.numpy.reshaping import broadcast_to, moveaxis, reshape, transpose
from onnxsmith.numpy.searching import nonzero
from onnxsmith.numpy.sizes import Size, check_not_negative, is_known, product, shape_of
from onnxsmith.numpy.ufuncs.comparisons import equal, maximum


def _single_place(obj: ArrayLike, rank: int) -> ArrayLike:
    """One place that is given as an array of one: in a vector it is the same."""
    if (
        isinstance(obj, Array)
        and not obj.is_symbolic
        and obj.size == 1
        and rank == 1
        and obj.dtype.kind in "iu"
    ):
        return int(obj.item())
    return obj


@public("insert")
def insert(arr: ArrayLike, obj: ArrayLike, values: ArrayLike, axis: int | None = None) -> Array:
    """An array with values before a place along an axis.

    >>> import onnxsmith.numpy as xp
    >>> xp.insert(xp.asarray([1, 3]), 1, 2)
    Array([1, 2, 3])
    """
    array = array_of(arr)
    if axis is None:
        array, axis = reshape(array, -1), 0
    place = axis_of(axis, array.ndim)
    obj = _single_place(obj, array.ndim)
    if not isinstance(obj, int) or isinstance(obj, bool):
        raise InputTypeError(
            "values are inserted before one place, an int", help="insert one after the other"
        )
    size = array.shape[place]
    if isinstance(size, int) and not -size <= obj <= size:
        raise InputTypeError(f"there is no place {obj} in a dimension of size {size}")
    require_at_least(
        size, obj if obj >= 0 else -obj, IndexError(f"index {obj} is out of bounds for axis {place}")
    )
    given = constant_of(values, array.dtype)
    rows = given.shape[0] if given.ndim > array.ndim else None
    while given.ndim > array.ndim and isinstance(given.shape[0], int) and given.shape[0] == 1:
        given = given[0]
    given = moveaxis(reshape(given, (*[1] * (array.ndim - given.ndim), *tuple(given.shape))), 0, place)
    before = (slice(None),) * place
    count = given.shape[place] if rows is None else rows
    shape = (*tuple(array.shape)[:place], count, *tuple(array.shape)[place + 1 :])
    parts = [
        array[(*before, slice(None, obj))],
        broadcast_to(given, shape),
        array[(*before, slice(obj, None))],
    ]
    return concat(parts, axis=place)


@public("copyto")
def copyto(dst: Array, src: ArrayLike, casting: str = "same_kind", where: ArrayLike = True) -> None:
    """Write elements to an array, all or where a condition holds.

    >>> import onnxsmith.numpy as xp
    >>> x = xp.zeros(3)
    >>> xp.copyto(x, [1.0, 2.0, 3.0], where=[True, False, True])
    >>> x
    Array([1., 0., 3.])
    """
    given = (
        _of_scalar(src, dst, casting)
        if dtypes.is_scalar(src)
        else _of_number(src, dst, casting)
        if isinstance(src, Number)
        else array_of(src)
    )
    if not np.can_cast(given.dtype, dst.dtype, cast(Any, casting)):
        raise InputTypeError(f"{given.dtype.name} does not go into {dst.dtype.name} by the rule {casting!r}")
    typed = as_type(given, dst.dtype)
    if where is True:
        dst[...] = typed
        return
    dst[...] = selected(array_of(where), typed, sharing.detached(dst))


def _of_scalar(value: object, dst: Array, casting: str) -> Array:
    """A Python number in the element type of an array, where numpy casts it so."""
    made = np.zeros((), dst.dtype)
    try:
        np.copyto(made, cast(Any, value), casting=cast(Any, casting))
    except TypeError as error:
        raise InputTypeError(str(error)) from None
    except OverflowError as error:
        raise OutOfBoundsError(str(error)) from None
    return Array(made)


def _of_number(value: Number, dst: Array, casting: str) -> Array:
    """The same of a number of the model, whose kind alone is known."""
    _of_scalar(type(value.sample)(1), dst, casting)
    return constant_of(value, dst.dtype)


def _safely(values: ArrayLike, into: Array) -> Array:
    """Values in the element type of an array that they are put into: an array is cast safely, or refused."""
    is_number = isinstance(values, Array) and values.is_number
    if isinstance(values, Array | np.ndarray) and not is_number and not np.can_cast(values.dtype, into.dtype):
        raise InputTypeError(
            f"values are cast safely here, and {values.dtype.name} does not go into {into.dtype.name} so",
            help="cast them: values.astype(a.dtype)",
        )
    return constant_of(values, into.dtype)


@public("putmask")
def putmask(a: Array, mask: ArrayLike, values: ArrayLike) -> None:
    """Write elements where a condition holds; values repeat, by the place in the array.

    >>> import onnxsmith.numpy as xp
    >>> x = xp.asarray([1, 2, 3])
    >>> xp.putmask(x, x > 1, [10, 20, 30])
    >>> x
    Array([ 1, 20, 30])
    """
    given, where = reshape(_safely(values, a), -1), array_of(mask)
    sizes: tuple[Size, Size] = (a.size, where.size)
    if is_known(sizes) and sizes[0] != sizes[1]:
        raise ShapeError(f"a mask of {sizes[1]} elements does not fit an array of {sizes[0]}")
    require_same(*sizes, ValueError("putmask: mask and data must be the same size"))
    if isinstance(given.shape[0], int) and given.shape[0] == 0:
        return  # as numpy: nothing is written
    index = cast(Array, arange(a.size) % given.shape[0])
    spread = reshape(given[index], tuple(a.shape))
    where = reshape(as_type(where, dtypes.BOOL), tuple(a.shape))
    a[...] = selected(where, spread, sharing.detached(a))


@public("place")
def place(arr: Array, mask: ArrayLike, vals: ArrayLike) -> None:
    """Write elements where a condition holds; values repeat, by how many places there were before.

    >>> import onnxsmith.numpy as xp
    >>> x = xp.asarray([1, 2, 3])
    >>> xp.place(x, x > 1, [9])
    >>> x
    Array([1, 9, 9])
    """
    if not isinstance(arr, Array):  # pyright: ignore[reportUnnecessaryIsInstance]  # users may give anything
        raise InputTypeError(f"only an array of onnxsmith.numpy is written to, not {type(arr).__name__}")
    given, where = reshape(_safely(vals, arr), -1), array_of(mask)
    sizes: tuple[Size, Size] = (arr.size, where.size)
    if is_known(sizes) and sizes[0] != sizes[1]:
        raise ShapeError(f"a mask of {sizes[1]} elements does not fit an array of {sizes[0]}")
    require_same(*sizes, ValueError("place: mask and data must be the same size"))
    is_chosen = reshape(as_type(where, dtypes.BOOL), -1)
    if isinstance(given.shape[0], int) and given.shape[0] == 0:
        if not is_chosen.is_symbolic and bool(is_chosen.any()):
            raise AttributeValueError("there are no values to be written", culprit=("attribute", "vals"))
        require(lambda: ~is_chosen, ValueError("Cannot insert from an empty array!"))
        return
    counts = as_type(is_chosen, dtypes.INT64).cumsum()
    index = (counts - 1) % given.shape[0]
    if not isinstance(given.shape[0], int):
        # Without values nothing is read but the element put behind them; a place that needs one is out of bounds.
        count = array_of(given.shape[0])
        at = (counts - 1) % maximum(count, 1) + as_type(equal(count, 0), dtypes.INT64)
        index = selected(is_chosen, at, count)
        given = concat([given, zeros(1, given.dtype)])
    spread = selected(is_chosen, given[index], reshape(sharing.detached(arr), -1))
    arr[...] = reshape(spread, tuple(arr.shape))


@public("fill_diagonal")
def fill_diagonal(a: Array, val: ArrayLike, wrap: bool = False) -> None:
    """Write to the diagonal of a matrix; values are repeated if they are fewer.

    >>> import onnxsmith.numpy as xp
    >>> x = xp.zeros((2, 2))
    >>> xp.fill_diagonal(x, 5)
    >>> x
    Array([[5., 0.],
           [0., 5.]])
    """
    if a.ndim < 2:
        raise ShapeError("an array has a diagonal if it has two dimensions or more")
    sizes = tuple(a.shape)
    if not is_known(sizes):
        _fill_open_diagonal(a, reshape(constant_of(val, a.dtype), -1), wrap=wrap)
        return
    if a.ndim > 2 and len(set(sizes)) > 1:
        raise ShapeError(f"the dimensions of {sizes} are not all of one size, and it has no diagonal")
    given = reshape(constant_of(val, a.dtype), -1)
    count = min(sizes)
    if wrap and a.ndim == 2:
        # As numpy: below a tall matrix, after a row that is left out, the diagonal begins again.
        places = arange(0, sizes[0] * sizes[1], sizes[1] + 1)
        index = (places // max(sizes[1], 1), places % max(sizes[1], 1))
    else:
        index = (arange(count),) * a.ndim
    length = index[0].shape[0]
    if not length:
        return
    if isinstance(given.shape[0], int) and not given.shape[0]:
        return  # as numpy: nothing is written
    a[index] = given[cast(Array, arange(length) % given.shape[0])]


def _fill_open_diagonal(a: Array, given: Array, *, wrap: bool) -> None:
    """`fill_diagonal` of a matrix whose sizes only the model knows."""
    count = given.shape[0]
    if a.ndim > 2 or wrap or not isinstance(count, int):
        raise ShapeError(
            "how long the diagonal is is known only when the model runs",
            help="a matrix can be filled with values whose number is known: np.fill_diagonal(a, 0)",
        )
    if not count:
        return
    rows, columns = a.shape
    values = given[arange(rows) % count][:, None]
    a[...] = selected(eye(rows, columns, dtype=bool), values, a)


@public("ix_")
def ix_(*args: ArrayLike) -> tuple[Array, ...]:
    """Vectors as an open mesh, to index with.

    >>> import onnxsmith.numpy as xp
    >>> x = xp.asarray([[1, 2, 3], [4, 5, 6]])
    >>> x[xp.ix_([0, 1], [0, 2])]
    Array([[1, 3],
           [4, 6]])
    """
    made: list[Array] = []
    for place, each in enumerate(args):
        vector = array_of(each)
        if vector.ndim != 1:
            raise ShapeError("the parts of a mesh are vectors")
        if not isinstance(each, Array | np.ndarray) and 0 in vector.shape:
            vector = as_type(vector, dtypes.INT64)  # an empty list has no element type of its own
        if vector.dtype.kind == "b":
            vector = nonzero(vector)[0]
        shape = [1] * len(args)
        shape[place] = -1
        made.append(reshape(vector, tuple(shape)))
    return tuple(made)


def _two_dimensions(arr: ArrayLike) -> Array:
    array = array_of(arr)
    if array.ndim != 2:
        raise ShapeError(f"a matrix has two dimensions, and this array {array.ndim}")
    return array


def _places_of(mask: Array) -> tuple[Array, ...]:
    """Where a mask holds, along each dimension: arrays of their own, unlike those of `nonzero`."""
    return tuple(sharing.detached(each, is_plain=True) for each in nonzero(mask))


@public("tril_indices_from")
def tril_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Array, ...]:
    """Where the elements at and below a diagonal are.

    >>> import onnxsmith.numpy as xp
    >>> xp.tril_indices_from(xp.zeros((2, 2)))
    (Array([0, 1, 1]), Array([0, 0, 1]))
    """
    array = _two_dimensions(arr)
    return _places_of(tril(ones(tuple(array.shape), bool), k))


@public("triu_indices_from")
def triu_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Array, ...]:
    """Where the elements at and above a diagonal are.

    >>> import onnxsmith.numpy as xp
    >>> xp.triu_indices_from(xp.zeros((2, 2)))
    (Array([0, 0, 1]), Array([0, 1, 1]))
    """
    array = _two_dimensions(arr)
    return _places_of(triu(ones(tuple(array.shape), bool), k))


@public("diag_indices_from")
def diag_indices_from(arr: ArrayLike) -> tuple[Array, ...]:
    """Where the diagonal of a square array is.

    >>> import onnxsmith.numpy as xp
    >>> xp.diag_indices_from(xp.zeros((2, 2)))
    (Array([0, 1]), Array([0, 1]))
    """
    array = array_of(arr)
    if array.ndim < 2:
        raise ShapeError("an array has a diagonal if it has two dimensions or more")
    first, *others = cast("tuple[Size, ...]", tuple(array.shape))
    for each in others:
        require_same(first, each, ValueError("All dimensions of input must be of equal length"))
    return (arange(first),) * array.ndim


@public("resize")
def resize(a: ArrayLike, new_shape: ShapeLike) -> Array:
    """An array of another size, its elements again and again.

    >>> import onnxsmith.numpy as xp
    >>> xp.resize(xp.asarray([1, 2, 3]), (2, 2))
    Array([[1, 2],
           [3, 1]])
    """
    flat, sizes = reshape(a, -1), shape_of(new_shape, "new_shape")
    check_not_negative(sizes, "new_shape")
    count = cast(Size, flat.shape[0])
    if not isinstance(count, int) or not count:
        # Of no elements zeros are made: the first one that is taken stands behind them.
        flat = concat([flat, zeros(1, flat.dtype)])
        count = cast(Size, sizes_.greatest(cast(sizes_.Size, count), 1))
    places = arange(product(sizes)) % cast(Any, count)
    return reshape(flat[places], sizes)


# -- sums of products by letters -------------------------------------------------------------------------


@public("einsum")
def einsum(subscripts: str, /, *operands: ArrayLike, optimize: ArrayLike = False) -> Array:
    """The sum of products that letters describe.

    >>> import onnxsmith.numpy as xp
    >>> xp.einsum("ij,j->i", xp.asarray([[1, 2], [3, 4]]), xp.asarray([1, 1]))
    Array([3, 7])
    """
    if not isinstance(cast(object, subscripts), str):
        raise InputTypeError("subscripts are a text, such as 'ij,jk->ik'")
    allowed = set(string.ascii_letters + ".,-> ")
    if not set(subscripts) <= allowed:
        raise AttributeValueError(f"{subscripts!r} has characters that are no subscripts")
    arrays = [array_of(each) for each in operands]
    if len(arrays) == 1:
        part = _part_by_letters(arrays[0], subscripts)
        if part is not None:
            return part
    dtype = dtypes.promoted([each.dtype for each in arrays])
    made = as_type(
        _summed([as_type(each, dtypes.INT64 if dtype.kind == "b" else dtype) for each in arrays], subscripts),
        dtype,
    )
    is_plain = made.ndim < 2 or (
        all(sharing.lies_in_order(each) for each in arrays)
        and _is_in_order(subscripts, tuple(each.ndim for each in arrays), bool(optimize))
    )
    return made if is_plain else sharing.detached(made, is_plain=False)


@functools.lru_cache(256)
def _is_in_order(subscripts: str, ranks: tuple[int, ...], optimize: bool) -> bool:
    """True if numpy lays out the elements of the result in order; they lie as those of the operands often do."""
    small = [np.empty((2,) * each) for each in ranks]
    return bool(np.asarray(cast(Any, np.einsum)(subscripts, *small, optimize=optimize)).flags.c_contiguous)


def _part_by_letters(x: Array, subscripts: str) -> Array | None:
    """The view that numpy gives where nothing is added up: dimensions in another order, or diagonals."""
    letters, arrow, result = subscripts.replace(" ", "").partition("->")
    inside = letters.replace("...", "")
    missing = x.ndim - len(inside)
    dots = letters.count("...")
    if dots > 1 or missing < 0 or (missing and not dots) or not inside.isalpha():
        return None
    free = [each for each in string.ascii_letters if each not in inside + result]
    more = "".join(free[:missing])
    if not arrow:
        result = ("..." if missing else "") + "".join(
            sorted(each for each in inside if inside.count(each) == 1)
        )
    letters, result = letters.replace("...", more), result.replace("...", more)
    if set(letters) != set(result) or len(set(result)) != len(result):
        return None
    if len(letters) == len(result):
        return transpose(x, [letters.index(each) for each in result])

    def places(base: Array) -> tuple[Array, ...]:
        """Where the elements stand: along each dimension the index that its letter has in the result."""
        return tuple(
            reshape(arange(size), tuple(-1 if other == each else 1 for other in result))
            for each, size in zip(letters, base.shape, strict=True)
        )

    return sharing.view(
        x,
        lambda base: _summed([base], f"{letters}->{result}"),
        lambda base, part: put(base, places(base), part),
        lambda layout: np.einsum(f"{letters}->{result}", layout),
        is_plain=False,
    )


@recorded()
def _summed(arrays: list[Array], subscripts: str) -> Array:
    fields = [tensors_of(each) for each in arrays]
    text = subscripts.replace(" ", "")

    def call(tensors: Sequence[Any]) -> Any:
        return op.Einsum(*tensors, equation=text)

    if all(each.im is None for each in fields):
        return array_from(call([each.re for each in fields]))
    # A product of sums: every choice of parts, with the sign that i to their number of imaginary ones has.
    real: Any = None
    imaginary: Any = None
    for choice in range(2 ** len(fields)):
        bits = [choice >> k & 1 for k in range(len(fields))]
        parts = [each.im if bit else each.re for each, bit in zip(fields, bits, strict=True)]
        if any(each is None for each in parts):
            continue
        term = call(parts)
        turns = sum(bits) % 4
        term = -term if turns in (2, 3) else term
        if turns % 2:
            imaginary = term if imaginary is None else imaginary + term
        else:
            real = term if real is None else real + term
    return array_from(Field(real, imaginary))
