"""`x[index]` and `x[index] = v`, for every index that numpy takes; a basic one gives a view.

How parts are taken from tensors and put back stands in `core.semantics`; here is what numpy makes of the index.
"""

# pyright: reportPrivateUsage=false
# How an array holds its elements is the business of this package, and no attribute that users see.

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import Any, SupportsIndex, TypeAlias, cast

import numpy as np

from onnxsmith.algorithms.complex_numbers.field import Field
from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.algorithms.operators import Tensor, op
from onnxsmith.core.demands import is_noted
from onnxsmith.core.semantics.number import Number
from onnxsmith.core.semantics.updates import Updates
from onnxsmith.core.value import Value
from onnxsmith.errors import InputTypeError, OnnxsmithError, ShapeError, TensorIndexError
from onnxsmith.graphs.identity import slice_parts
from onnxsmith.numpy import index_bounds, reads, sharing
from onnxsmith.numpy.arguments import ArrayLike
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import (
    array_from,
    array_of,
    as_type,
    constant_of,
    holds_array,
    stored_as,
    tensors_of,
)
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.holding import Stacked
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import require, require_same, require_to_fit
from onnxsmith.numpy.sizes import Size, is_surely_same, sized
from onnxsmith.scripting.staging.caught import is_caught
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import scalar_help

#: What may stand between the brackets, read: numbers may be the model's.
Part: TypeAlias = "int | Number | slice[Any, Any, Any] | EllipsisType | Array | None"


#: Past all places.
_FAR = 2**63 - 1


def read_index(index: object) -> tuple[Part, ...]:
    """The parts of an index: lists and numpy's arrays and numbers as ours."""
    parts = cast("tuple[object, ...]", index) if isinstance(index, tuple) else (index,)
    return tuple(_read_part(each) for each in parts)


def _read_part(part: object) -> Part:
    if part is None or isinstance(part, EllipsisType | Number):
        return part
    if isinstance(part, slice):
        return slice(*[_read_bound(each) for each in slice_parts(cast("slice[Any, Any, Any]", part))])
    if isinstance(part, int) and not isinstance(part, bool):
        return part
    if isinstance(part, Array):
        if part.dtype.kind not in "iub":
            raise TensorIndexError(f"an index is of integers or bool, not an array of {part.dtype.name}")
        if part.ndim == 0 and part.dtype.kind != "b" and not part.is_symbolic:
            return int(part)
        return part
    if isinstance(part, Stacked):
        return _read_part(part.stacked)
    if isinstance(part, list) and holds_array(cast(object, part)):
        return _read_part(array_of(cast(object, part)))  # x[[i, j]] of dynamic indices
    if isinstance(part, list | np.ndarray | np.generic | bool | range):
        array = np.asarray(cast(Any, part))
        if array.size == 0 and array.dtype.kind == "f":
            array = array.astype(np.int64)  # an empty list has no element type of its own
        return _read_part(Array(array))
    if isinstance(part, Value):
        raise _tensor_as_index()
    if isinstance(part, SupportsIndex) and not isinstance(part, type):
        return part.__index__()
    raise TensorIndexError(f"an array cannot be indexed with {type(part).__name__}")


def _read_bound(bound: object) -> object:
    if bound is None or isinstance(bound, Number):
        return bound
    if isinstance(bound, int):
        return min(max(bound, -_FAR), _FAR)  # as Python does: what is past all places is at the end
    if isinstance(bound, Array) and bound.is_symbolic:
        return cast(Tensor, bound.held).as_number()
    if isinstance(bound, Value):
        raise _tensor_as_index()
    if isinstance(bound, SupportsIndex):
        return bound.__index__()
    raise TensorIndexError(f"a slice is made of integers, not {type(bound).__name__}")


def _tensor_as_index() -> InputTypeError:
    return InputTypeError(
        "an array is indexed as numpy does, and this index is a tensor, which computes as ONNX does",
        help="cross over with xp.asarray: x[xp.asarray(i)]; or index a tensor: x.tensor[i]",
    )


@public("_getitem")
def get(x: Array, index: ArrayLike) -> Array:
    """`x[index]`"""
    parts = read_index(index)
    _check_places(x, parts)
    if len(parts) == x.ndim and x.ndim and all(isinstance(each, int | Number) for each in parts):
        return reads.marked(take(sharing.detached(x), parts))  # one element is a number
    if any(isinstance(each, Array) for each in parts):
        taken = reads.marked(take(sharing.detached(x), parts))
        if not x.is_symbolic and _is_empty(taken):
            unfitting = _unfitting(x, parts, taken)  # a runtime that takes nothing looks for no place
            if unfitting is not None:
                raise unfitting
        taken._is_plain = taken.ndim <= 1  # numpy puts the elements in the order of the index
        return taken
    if not parts and not x.ndim:
        return sharing.detached(x).as_number()
    found = sharing.view(
        sharing.detached(x) if x.is_number else x,  # of a number x[...] makes an array
        lambda base: take(base, parts),
        lambda base, part: put(base, parts, part),
        lambda layout: layout[cast(Any, parts)],
        is_plain=x._is_plain and _keeps_order(x, parts),
    )
    return reads.marked(found) if any(isinstance(each, int | Number) for each in parts) else found


@public("_setitem")
def set(x: Array, index: ArrayLike, value: ArrayLike) -> None:
    """`x[index] = value`"""
    parts = read_index(index)
    _check_places(x, parts, is_written=True)
    parts = _without_empty_masks(parts)
    is_cast = any(isinstance(each, Array) for each in parts)  # as what an array of places names
    given = constant_of(value, x.dtype) if is_cast else stored_as(value, x.dtype)
    if len(parts) == x.ndim and all(isinstance(each, int | Number) for each in parts):
        _check_element(given, x.dtype)
    arrays = [each for each in parts if isinstance(each, Array)]
    if not x.is_symbolic and any(map(_is_empty, (x, given, *arrays))):
        # Of no elements a runtime takes more shapes for fitting ones.
        unfitting = _unfitting(x, parts, given)
        if unfitting is not None:
            raise unfitting
    if is_noted() and given.ndim and not arrays:
        # A value that is longer than one place would make the array longer.
        place = take(sharing.detached(x), parts)
        for mine, wanted in zip(tuple(given.shape)[::-1], tuple(place.shape)[::-1], strict=False):
            require_to_fit(mine, wanted)
    try:
        made = put(sharing.detached(x), parts, given)
    except OnnxsmithError as error:
        raise _unfitting(x, parts, given) or error from None
    reads.marked(made)
    sharing.replace(x, made)


@public("_fill")
def fill(x: Array, value: ArrayLike) -> None:
    """`x.fill(value)`"""
    _check_element(array_of(value), x.dtype)
    set(x, cast(Any, ...), value)


@functools.cache
def _takes_vectors(kind: str) -> bool:
    """True if the installed numpy makes an element of a vector of one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.zeros(1, kind)[0] = np.ones(1, kind)
    except (TypeError, ValueError):
        return False
    return True


def _check_element(value: Array, dtype: NumpyDType) -> None:
    """Refuse a sequence where one element is written."""
    sizes = [each for each in value.shape if isinstance(each, int)]
    if value.ndim and not (sizes == [1] * len(sizes) and _takes_vectors(dtype.char)):
        raise ShapeError(
            f"an element is one number, and this value has {value.ndim} dimensions",
            help="take the number out of it: x[i] = v[0]",
        )


def _is_empty(x: Array) -> bool:
    """True if an array certainly has no elements."""
    return any(isinstance(size, int) and not size for size in x.shape)


def _without_empty_masks(parts: Sequence[Part]) -> tuple[Part, ...]:
    """A mask without elements as the places that it names, which are none, whatever it covers."""
    found = list[Part]()
    for each in parts:
        if isinstance(each, Array) and each.dtype.kind == "b" and _is_empty(each):
            found += [Array(np.zeros(0, np.int64))] * each.ndim
        else:
            found.append(each)
    return tuple(found)


def _may_take_nothing(parts: Sequence[Part]) -> bool:
    """True if arrays may name no places: then a runtime looks for none of those beside them, as beside a truth."""
    return any(
        (each.is_symbolic or not each.ndim or not np.asarray(each).any())
        if each.dtype.kind == "b"
        else not all(isinstance(size, int) and size for size in each.shape)
        for each in parts
        if isinstance(each, Array)
    )


def _unfitting(x: Array, parts: tuple[Part, ...], value: Array) -> OnnxsmithError | None:
    """The error for an index outside of an array, or a value that does not fit where it is written to."""
    index = tuple(each.held if isinstance(each, Array) else each for each in parts)
    if x.is_symbolic or value.is_symbolic or any(isinstance(each, Tensor | Complex) for each in index):
        return None
    try:
        place = np.empty(x.shape, np.bool_)[cast(Any, index)].shape
    except IndexError as error:  # numpy's own, which names no line of the user's
        return TensorIndexError(f"the index does not fit the array: {error}")
    given: tuple[int, ...] = value.shape
    while len(given) > len(place) and given[0] == 1:
        given = given[1:]
    try:
        if np.broadcast_shapes(given, place) == place:
            return None
    except ValueError:
        pass  # they do not go together at all
    return ShapeError(f"a value of shape {value.shape} does not fit into {place}, the shape of the place")


def _check_places(x: Array, parts: Sequence[Part], *, is_written: bool = False) -> None:
    """Refuse places outside of dimensions that are known; a runtime would name a node that nobody wrote."""
    used = sum(
        (each.ndim if each.dtype.kind == "b" else 1)
        if isinstance(each, Array)
        else each is not None and not isinstance(each, EllipsisType)
        for each in parts
    )
    if sum(isinstance(each, EllipsisType) for each in parts) > 1:
        raise TensorIndexError("an index can have only one '...'")
    if used > x.ndim:
        raise TensorIndexError(
            f"too many indices: the array has {x.ndim} dimensions, and {used} are indexed",
            help=scalar_help(DType.DOUBLE) if x.ndim == 0 and x.is_symbolic else None,
        )
    axis = 0
    shape = x.shape if not x.is_symbolic else ()
    is_unasked = _may_take_nothing(parts)
    for each in parts:
        if isinstance(each, EllipsisType):
            axis += x.ndim - used
        elif isinstance(each, Array) and each.dtype.kind == "b":
            _check_mask(x, each, shape, axis, is_written)
            axis += each.ndim
        elif each is not None:
            is_place = isinstance(each, int | Number) or (isinstance(each, Array) and not each.ndim)
            is_asked = x.is_symbolic and isinstance(each, int | Number | Array)
            if is_asked and (index_bounds.are_noted() or reads.is_noted_read()):
                index_bounds.note_place(x.shape[axis], cast(index_bounds.Place, each), axis)
            elif is_place and (is_unasked or (x.is_symbolic and is_caught(IndexError))):
                _require_place(x.shape[axis], cast(index_bounds.Place, each), axis)
            if shape and isinstance(each, int) and not -shape[axis] <= each < shape[axis]:
                raise TensorIndexError(
                    f"index {each} is out of bounds for dimension {axis}, which has size {shape[axis]}"
                )
            axis += 1


def _require_place(size: Size, place: index_bounds.Place, axis: int) -> None:
    """A place is there. The runtime finds that by itself, but says it to no `try`, and not where it takes nothing."""
    error = IndexError(f"index {place if isinstance(place, int) else ''} is out of bounds for axis {axis}")
    require(lambda: index_bounds.is_there(size, place), error)


def _check_mask(x: Array, mask: Array, shape: Sequence[int], axis: int, is_written: bool) -> None:
    """Refuse a mask that does not have the sizes of what it covers; as numpy, one without elements may have others."""
    if not shape or mask.is_symbolic:
        _require_mask(x, mask, axis, is_written)
        return
    for offset, size in enumerate(mask.shape):
        covered = shape[axis + offset]
        if size not in (covered, 0):
            raise TensorIndexError(
                f"the mask of shape {mask.shape} does not fit: dimension {axis + offset} of the array has size "
                f"{covered}, and the mask's {size}"
            )


def _require_mask(x: Array, mask: Array, axis: int, is_written: bool) -> None:
    """The same where only the model knows the sizes."""
    for offset, given in enumerate(mask.shape):
        covered = x.shape[axis + offset]
        error = IndexError(f"boolean index did not match indexed array along axis {axis + offset}")
        if isinstance(given, int):
            if given:
                require_same(given, covered, error)
            continue
        if is_written:
            require_same(given, covered, error)
        elif not is_surely_same(given, covered):
            require(
                lambda given=given, covered=covered: (
                    op.Equal(sized(given), sized(covered)) | op.Equal(sized(given), np.int64(0))
                ),
                error,
            )


def _keeps_order(x: Array, parts: Sequence[Part]) -> bool:
    """True if a basic index leaves the elements one after the other: single places, then one range, then all."""
    is_open = False
    for each in parts:
        if each is None:
            continue
        if isinstance(each, EllipsisType):
            is_open = True
        elif isinstance(each, slice):
            if is_open and each != slice(None):
                return False
            if each.step not in (None, 1):
                return False
            is_open = True
        elif is_open:
            return False
    return True


@recorded("parts")
def take(x: Array, parts: tuple[Part, ...]) -> Array:
    """The elements that an index names, as an array of its own."""
    index = tuple(_tensor_part(each) for each in parts)
    if index_bounds.are_noted() and x.is_symbolic and not any(isinstance(each, Array) for each in parts):
        asked, shape = _asked(x, parts)
        return _mapped(
            x,
            lambda part: index_bounds.where_there(
                asked,
                lambda: part[index],
                lambda: op.Identity(np.zeros(shape, cast(DType, part.dtype).numpy)),
            ),
        )
    return _mapped(x, lambda part: part[index])


def _asked(x: Array, parts: Sequence[Part]) -> tuple[list[tuple[Size, index_bounds.Place]], list[int]]:
    """The places that a basic index asks for, and a shape that its result may have."""
    used = sum(each is not None and not isinstance(each, EllipsisType) for each in parts)
    asked, shape, axis = list[tuple[Size, index_bounds.Place]](), list[int](), 0

    def whole(axis: int) -> int:
        size = x.shape[axis]
        return size if isinstance(size, int) else 1

    for each in parts:
        if each is None:
            shape.append(1)
        elif isinstance(each, EllipsisType):
            shape += [whole(axis + k) for k in range(x.ndim - used)]
            axis += x.ndim - used
        else:
            if isinstance(each, int | Number):
                asked.append((x.shape[axis], each))
            else:
                shape.append(whole(axis) if each == slice(None) else 1)
            axis += 1
    return asked, shape + [whole(each) for each in range(axis, x.ndim)]


@recorded("parts")
def put(x: Array, parts: tuple[Part, ...], value: Array) -> Array:
    """An array with other elements where an index points."""
    index = tuple(_tensor_part(each) for each in parts)
    whole, given = tensors_of(x), tensors_of(as_type(value, x.dtype))
    is_noted = (
        index_bounds.are_noted() and x.is_symbolic and not any(isinstance(each, Array) for each in parts)
    )
    asked = _asked(x, parts)[0] if is_noted else None

    def written(part: Tensor, new: Tensor) -> Tensor:
        changed = cast("Callable[[], Tensor]", functools.partial(Updates(part)[index].set, new))
        return (
            changed()
            if asked is None
            else index_bounds.where_there(asked, changed, lambda: op.Identity(part))
        )

    real = written(whole.re, given.re)
    # Both have an imaginary part or none: they are of the same element type.
    return array_from(
        real if whole.im is None or given.im is None else Field(real, written(whole.im, given.im))
    )


def _tensor_part(part: Part) -> Any:
    """A part of an index as tensors are indexed."""
    if isinstance(part, Array):
        held = part.held
        assert not isinstance(held, Complex)  # an index has integers or truth values
        return held
    return part


def _mapped(x: Array, function: Callable[[Tensor], Tensor]) -> Array:
    """A function that only moves elements, on the one or two tensors of an array."""
    return array_from(tensors_of(x).map(function))
