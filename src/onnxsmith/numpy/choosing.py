"""Elements that are chosen by a condition: `where`, `compress`, `extract`, `choose`, `select`, `piecewise`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.complex_numbers.field import where as chosen
from onnxsmith.algorithms.operators import op
from onnxsmith.core.semantics.number import Number
from onnxsmith.errors import AttributeValueError, InputTypeError, ShapeError, TensorIndexError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.arguments import ArrayLike, check_choice
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.cached_calls import cached_call
from onnxsmith.numpy.conversions import array_from, array_of, as_type, constant_of, tensor_of, tensors_of
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.outputs import of_places
from onnxsmith.numpy.recorded import recorded
from onnxsmith.numpy.registry import public
from onnxsmith.numpy.requirements import is_within, require, require_same
from onnxsmith.numpy.searching import nonzero
from onnxsmith.numpy.sharing import detached
from onnxsmith.numpy.sorting import flattened
from onnxsmith.types.dtypes import DType


def common(items: Sequence[object]) -> tuple[list[Array], NumpyDType]:
    """Values as arrays of the element type that all go into; Python's numbers have none of their own."""
    weak = [dtypes.is_scalar(each) or isinstance(each, Number) for each in items]
    arrays = [each if is_weak else array_of(each) for each, is_weak in zip(items, weak, strict=True)]
    typed = [cast(Array, each).dtype for each, is_weak in zip(arrays, weak, strict=True) if not is_weak]
    scalars = [
        type(each.sample) if isinstance(each, Number) else type(each)
        for each, is_weak in zip(items, weak, strict=True)
        if is_weak
    ]
    dtype = dtypes.promoted(typed, scalars)
    return [
        as_type(each, dtype) if isinstance(each, Array) else constant_of(each, dtype) for each in arrays
    ], dtype


@recorded()
def _where(condition: Array, x: Array, y: Array) -> Array:
    test = tensor_of(condition) if condition.dtype.kind == "b" else tensors_of(condition).is_nonzero()
    return array_from(chosen(test, tensors_of(x), tensors_of(y)))


@public("where")
@cached_call(3)
def where(
    condition: ArrayLike, x: ArrayLike | None = None, y: ArrayLike | None = None, /
) -> Array | tuple[Array, ...]:
    """Elements of `x` where a condition holds, else of `y`; without them, where it holds.

    >>> import onnxsmith.numpy as xp
    >>> xp.where(xp.asarray([True, False]), xp.asarray([1, 2]), 0.5)
    Array([1. , 0.5])
    """
    test = array_of(condition)
    if x is None and y is None:
        return nonzero(test)
    if x is None or y is None:
        raise AttributeValueError("either both x and y are given, or none")
    return selected(test, x, y)


def selected(test: Array, x: ArrayLike, y: ArrayLike) -> Array:
    """Elements of `x` where a condition holds, else of `y`, in an element type that holds both."""
    (first, second), _ = common([x, y])
    return detached(_where(test, first, second))


# -- by a vector of truth values -------------------------------------------------------------------------


@recorded()
def _compressed(x: Array, condition: Array, axis: int) -> Array:
    test = tensor_of(condition) if condition.dtype.kind == "b" else tensors_of(condition).is_nonzero()
    # A condition may be longer than the axis, if the rest of it is False.
    places = op.Reshape(op.NonZero(test), [-1])
    return array_from(tensors_of(x).map(op.Gather, places, axis=axis))


def row_or_axis(x: Array, axis: object) -> tuple[Array, int]:
    """An array and one of its axes; all elements in a row for None. A scalar counts as a row of one element."""
    return flattened(x, None if not x.ndim and axis in (0, -1) else axis)


@public("compress")
def compress(condition: ArrayLike, a: ArrayLike, axis: int | None = None, out: Array | None = None) -> Array:
    """The slices along an axis where a vector is true.

    >>> import onnxsmith.numpy as xp
    >>> xp.compress(xp.asarray([False, True]), xp.asarray([[1, 2], [3, 4]]), axis=0)
    Array([[3, 4]])
    """
    test = array_of(condition)
    if test.ndim != 1:
        raise ShapeError(f"a condition has one dimension, not {test.ndim}")
    x, along = row_or_axis(array_of(a), axis)
    if not test.is_symbolic and not x.is_symbolic:
        last = np.flatnonzero(np.asarray(test))
        if last.size and last[-1] >= x.shape[along]:
            raise TensorIndexError(
                f"the condition is true at {last[-1]}, and the axis has {x.shape[along]} elements"
            )
    return of_places(_compressed(x, test, along), out)


@public("extract")
def extract(condition: ArrayLike, arr: ArrayLike) -> Array:
    """The elements where a condition of the same shape is true, in a row.

    >>> import onnxsmith.numpy as xp
    >>> x = xp.asarray([1, 2, 3])
    >>> xp.extract(x > 1, x)
    Array([2, 3])
    """
    test, x = flattened(array_of(condition), None)[0], flattened(array_of(arr), None)[0]
    return compress(test, x, 0)


# -- one of several --------------------------------------------------------------------------------------


@recorded()
def _chosen(index: Array, choices: list[Array], mode: str) -> Array:
    count = len(choices)
    place = values.converted(tensor_of(index), DType.INT64)
    if mode == "wrap":
        place = op.Mod(place, np.int64(count))
    found = tensors_of(choices[-1])
    for k in range(count - 2, -1, -1):
        test = place <= k if mode == "clip" else op.Equal(place, np.int64(k))
        found = chosen(test, tensors_of(choices[k]), found)
    shape = op.Shape(place)
    return array_from(found.map(op.Expand, shape))


@public("choose")
def choose(a: ArrayLike, choices: ArrayLike, out: Array | None = None, mode: str = "raise") -> Array:
    """Elements of several arrays, as an array of indices says.

    >>> import onnxsmith.numpy as xp
    >>> xp.choose(xp.asarray([0, 1]), [xp.asarray([1, 2]), xp.asarray([3, 4])])
    Array([1, 4])
    """
    index = array_of(a)
    if index.dtype.kind not in "iub":
        raise InputTypeError(f"an index is of integers, not of {index.dtype.name}")
    check_mode(mode)
    items = (
        cast("Sequence[object]", choices) if isinstance(choices, list | tuple) else list(array_of(choices))
    )
    if not items:
        raise AttributeValueError("there is nothing to choose from", culprit=("attribute", "choices"))
    given, _ = common(items)
    if mode == "raise" and not index.is_symbolic:
        known = np.asarray(index)
        if ((known < 0) | (known >= len(given))).any():
            raise AttributeValueError(
                f"an index is not among 0 … {len(given) - 1}", culprit=("attribute", "a")
            )
    elif mode == "raise":
        require(lambda: is_within(index, 0, len(given)), ValueError("invalid entry in choice array"))
    return of_places(_chosen(index, given, mode), out)


def check_mode(mode: str) -> None:
    """Refuse what is no way of treating indices out of bounds."""
    check_choice("mode", mode, "raise", "wrap", "clip")


@recorded()
def _selected(conditions: list[Array], choices: list[Array], default: Array) -> Array:
    found = tensors_of(default)
    for test, choice in zip(conditions[::-1], choices[::-1], strict=True):
        found = chosen(tensor_of(test), tensors_of(choice), found)
    return array_from(found)


@public("select")
def select(condlist: Sequence[object], choicelist: Sequence[object], default: ArrayLike = 0) -> Array:
    """Elements of the array that belongs to the first condition that holds, or the default.

    >>> import onnxsmith.numpy as xp
    >>> x = xp.arange(4)
    >>> xp.select([x < 1, x > 2], [x, x * 10], 7)
    Array([ 0,  7,  7, 30])
    """
    if len(condlist) != len(choicelist):
        raise AttributeValueError(
            "there are as many conditions as choices", culprit=("attribute", "condlist")
        )
    if not condlist:
        raise AttributeValueError("there is no condition", culprit=("attribute", "condlist"))
    tests = [array_of(each) for each in condlist]
    if any(each.dtype.kind != "b" for each in tests):
        raise InputTypeError("conditions are arrays of bool")
    *given, other = common([*choicelist, default])[0]
    return detached(_selected(tests, given, other))


@public("piecewise")
def piecewise(
    x: ArrayLike, condlist: ArrayLike, funclist: Sequence[object], *args: Any, **kwargs: Any
) -> Array:
    """Functions of an array, each where its condition holds; one more is for where none does.

    The functions are called on the whole array.

    >>> import onnxsmith.numpy as xp
    >>> x = xp.asarray([-2.0, 3.0])
    >>> xp.piecewise(x, [x < 0, x >= 0], [-1, lambda x: x * 2])
    Array([-1.,  6.])
    """
    array = array_of(x)
    tests = [_covering(array, each) for each in _conditions(array, condlist)]
    if len(funclist) not in (len(tests), len(tests) + 1):
        raise AttributeValueError(
            f"{len(tests)} conditions go with {len(tests)} or {len(tests) + 1} functions",
            culprit=("attribute", "funclist"),
        )
    found = [_called(each, array, args, kwargs) for each in funclist]
    other = found.pop() if len(found) > len(tests) else constant_of(0, array.dtype)
    # Where several conditions hold, the last one counts.
    shape = constant_of(0, array.dtype)
    return detached(_selected([*tests[::-1], _true(array)], [*found[::-1], other], shape))


@recorded()
def _true(x: Array) -> Array:
    part = tensors_of(x).re
    return array_from(op.Expand(np.array(True), op.Shape(part)))


def _covering(x: Array, test: Array) -> Array:
    """A condition over the first dimensions of an array, as a mask is, with those of size 1 behind that it lacks."""
    if test.ndim > x.ndim:
        raise TensorIndexError(f"a condition has {test.ndim} dimensions, and the array {x.ndim}")
    said = "boolean index did not match indexed array along axis"
    for axis, (mine, theirs) in enumerate(zip(test.shape, x.shape, strict=False)):
        require_same(mine, theirs, IndexError(f"{said} {axis}"))
    return test[(..., *(None,) * (x.ndim - test.ndim))]


def _conditions(x: Array, condlist: object) -> list[Array]:
    if isinstance(condlist, list | tuple):
        items = cast("Sequence[object]", condlist)
        if items and (x.ndim == 0 or not dtypes.is_scalar(items[0])):
            return [as_type(array_of(each), dtypes.BOOL) for each in items]
        return [as_type(array_of(items), dtypes.BOOL)]
    given = as_type(array_of(condlist), dtypes.BOOL)
    return [given] if given.ndim <= x.ndim else list(given)


def _called(function: object, x: Array, args: Sequence[Any], kwargs: dict[str, Any]) -> Array:
    made = function(x, *args, **kwargs) if callable(function) else function
    return constant_of(made, x.dtype)
