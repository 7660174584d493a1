"""Conversion of values to arrays: their element type, and their tensors in a graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.algorithms import values
from onnxsmith.algorithms.complex_numbers.field import Field, joined
from onnxsmith.algorithms.complex_numbers.pair import Complex, packed, zeros_like
from onnxsmith.algorithms.operators import op
from onnxsmith.core.semantics.number import Number, number
from onnxsmith.core.tensor import Tensor
from onnxsmith.core.value import Value
from onnxsmith.errors import (
    AttributeValueError,
    InputTypeError,
    OutOfBoundsError,
    ShapeError,
    TracedValueError,
)
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.dtypes import NumpyDType
from onnxsmith.numpy.fitting import (
    check_number,
    require_fitting,
    require_number,
    require_numbers,
    require_signed,
)
from onnxsmith.numpy.holding import Stacked
from onnxsmith.numpy.recorded import recorded, tensor_given
from onnxsmith.numpy.registry import public
from onnxsmith.runtime.tensor import EagerTensor
from onnxsmith.schema.promote import DEEPEST
from onnxsmith.types.dtypes import in_own_byte_order, refuse_masked
from onnxsmith.types.value_types import sizes_differ


def array_of(value: object) -> Array:
    """An array of anything that numpy takes for one: an array of ours or of numpy's, a number, a list."""
    if value.__class__ is Array:
        return cast(Array, value)
    if isinstance(value, Number):
        return Array(cast(Tensor, value.as_dtype(dtypes.onnx_type(dtypes.default_of(type(value.sample))))))
    if isinstance(value, Value):
        raise tensor_given(value)
    if isinstance(value, Stacked):
        return cast(Array, value.stacked)
    given: Any = value
    refuse_masked(given)
    try:
        is_stacked = holds_array(given)
        made = None if is_stacked else np.array(given)
    except (RuntimeError, TypeError, ValueError) as error:
        # A list that holds itself, or lists of several lengths; a tensor of PyTorch with a gradient.
        why = "it holds itself, or is too deep" if isinstance(error, RecursionError) else f"{error}"
        raise InputTypeError(f"this {type(given).__name__} is no array: {why}") from error
    if made is None:
        return stacked([array_of(each) for each in given])
    if made.dtype == object:
        raise _not_numbers(made, given)
    dtypes.check(made.dtype)
    return Array(in_own_byte_order(made))


def _not_numbers(made: np.ndarray[Any, Any], given: object) -> InputTypeError | OutOfBoundsError:
    strange = [each for each in made.reshape(-1) if not dtypes.is_scalar(each)]
    if made.size and not strange:
        large = [each for each in made.reshape(-1) if isinstance(each, int) and not -(2**63) <= each < 2**64]
        if large:
            most = max(large, key=abs)
            return OutOfBoundsError(f"the Python integer {most} is past the 64 bits that elements have")
        return InputTypeError(
            "the elements of this array are Python objects (its dtype is object)", help="x.astype(float)"
        )
    what = strange[0] if strange else given
    return InputTypeError(f"an array is made of numbers, not of {type(what).__name__}")


def holds_array(values_: object, depth: int = DEEPEST) -> bool:
    """True if a value is one of ours or of the model's, or a list that has one, not too deep inside."""
    if isinstance(values_, list | tuple):
        return depth > 0 and any(holds_array(each, depth - 1) for each in cast("list[Any]", values_))
    return isinstance(values_, Array | Number)


def stacked(arrays: Sequence[Array], axis: int = 0) -> Array:
    """Arrays of one shape along a new axis, in an element type that holds them all."""
    if any(each.ndim != arrays[0].ndim for each in arrays):
        raise ShapeError("arrays that are stacked have one shape")
    check_sizes(arrays, None)
    dtype = dtypes.promoted([each.dtype for each in arrays])
    return _stacked([as_type(each, dtype) for each in arrays], axis)


@recorded()
def _stacked(arrays: list[Array], axis: int) -> Array:
    wide = [tensors_of(each).map(lambda part: op.Unsqueeze(part, np.array([axis]))) for each in arrays]
    return array_from(wide[0] if len(wide) == 1 else joined(wide, axis))


def check_sizes(arrays: Sequence[Array], axis: int | None) -> None:
    """Refuse arrays whose sizes differ in another dimension than one."""
    first = tuple(arrays[0].shape)
    for position, each in enumerate(arrays):
        for k, (a, b) in enumerate(zip(first, tuple(each.shape), strict=True)):
            if k != axis and sizes_differ(a, b):
                raise ShapeError(f"dimension {k} of array 0 has size {a}, and of array {position} size {b}")


def constant_of(value: object, dtype: NumpyDType) -> Array:
    """A value that is assigned to elements of a type: Python numbers take it, arrays are converted as numpy does."""
    if is_plain(value):
        return Array(elements_of(value, dtype))
    check_fitting(value, dtype)
    return as_type(array_of(value), dtype)


def stored_as(value: object, dtype: NumpyDType) -> Array:
    """A value that is assigned to places of an array: a number of numpy's is converted as Python's are."""
    _check_number(value, dtype)
    return constant_of(value, dtype)


def check_fitting(value: object, dtype: NumpyDType) -> None:
    """Refuse numbers that cannot become elements of a type, as numpy does: Python's, and its own in a list."""
    if isinstance(value, Number):
        require_fitting(value, dtype)
    elif isinstance(value, list | tuple):
        for each in cast("list[object]", value):
            _check_number(each, dtype)
            check_fitting(each, dtype)
    elif isinstance(value, Stacked) and value.kind in ("python", "number"):
        items = cast(Array, value.stacked)
        require_numbers(tensors_of(items).re, items.dtype, dtype, is_python=value.kind == "python")


def _check_number(value: object, dtype: NumpyDType) -> None:
    if isinstance(value, np.generic):
        check_number(cast("np.generic[Any]", value), dtype)
    elif isinstance(value, Array) and value.is_number:
        held = value.held
        if isinstance(held, np.ndarray):
            check_number(cast("np.generic[Any]", held[()]), dtype)
        else:
            require_number(held.real if isinstance(held, Complex) else held, value.dtype, dtype)


def is_plain(value: object) -> bool:
    """True if a value is made of Python numbers alone, in lists or not."""
    if isinstance(value, list | tuple):
        return all(is_plain(each) for each in cast("list[object]", value))
    return dtypes.is_scalar(value)


def elements_of(
    value: object, dtype: NumpyDType, make: Callable[[Any, NumpyDType], np.ndarray[Any, Any]] = np.array
) -> np.ndarray[Any, Any]:
    """Python numbers in an element type; refused, as numpy does, where the type does not hold them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # as an older numpy says it
            return make(value, dtype)
    except (OverflowError, DeprecationWarning) as error:
        raise OutOfBoundsError(
            f"a Python number is out of bounds for {dtype.name}: {error}",
            help="convert the array to a type that holds it: x.astype(xp.int64)",
        ) from None
    except ValueError as error:
        raise AttributeValueError(f"these numbers are no elements of {dtype.name}: {error}") from None
    except TypeError as error:
        raise InputTypeError(f"these numbers are no elements of {dtype.name}: {error}") from None


@recorded()
def _converted(x: Array, dtype: NumpyDType) -> Array:
    held = tensors_of(x)
    kind = dtypes.onnx_type(dtype)
    if dtype.kind == "c":
        real = values.converted(held.re, kind)
        return Array(Complex(real, zeros_like(real) if held.im is None else values.converted(held.im, kind)))
    if dtype.kind == "b" and held.im is not None:
        return Array(held.is_nonzero())
    return Array(values.converted(held.re, kind))


def as_type(x: Array, dtype: NumpyDType) -> Array:
    """An array in an element type; itself where it has it."""
    return x if x.dtype == dtype else _converted(x, dtype)


def tensors_of(x: Array) -> Field:
    """The tensors of an array in the graph that is being recorded; elements that are known are constants."""
    held = x.held
    if isinstance(held, Complex):
        return Field(held.real, held.imag)
    if isinstance(held, np.ndarray):
        if held.dtype.kind == "c":
            return Field(values.constant(np.real(held).copy()), values.constant(np.imag(held).copy()))
        return Field(values.constant(held))
    return Field(held)


def tensor_of(x: Array) -> Tensor:
    """The tensor of a real array in the graph that is being recorded."""
    field = tensors_of(x)
    if field.im is not None:
        raise InputTypeError(
            f"real numbers are needed here, and these are {x.dtype}; give their .real or abs()"
        )
    return field.re


def array_from(field: Field | Tensor) -> Array:
    """An array of tensors of the graph that is being recorded."""
    if not isinstance(field, Field):
        return Array(field)
    if field.im is None:
        return Array(field.re)
    return Array(Complex(field.re, field.im))


@public("_item")
def item(x: Array, place: tuple[Any, ...]) -> object:
    """`x.item()`: one element as a Python number, now or in the model."""
    if not x.is_symbolic:
        return cast("np.ndarray[Any, Any]", x.held).item(*place)
    if place:
        chosen = cast("tuple[Any, ...]", place[0]) if isinstance(place[0], tuple) else place
        return item(x[chosen] if len(chosen) == x.ndim else x.reshape((-1,))[chosen[0]], ())
    if x.dtype.kind == "c":
        raise TracedValueError(
            "a complex number that only the model knows is no number of Python's",
            help="compute with the array itself, which may have no dimensions: x[0]",
        )
    if any(isinstance(each, int) and each != 1 for each in x.shape):
        raise AttributeValueError("can only convert an array of size 1 to a Python scalar")
    return python_number(x.reshape(()) if x.ndim else x)


def python_number(element: Array) -> Number:
    """A real element as a Python number of the model."""
    return number(tensor_of(python_numbers(element)))


def python_numbers(x: Array) -> Array:
    """Real elements as Python numbers of the model, which have 64 bits: an integer of 2**63 or more is refused."""
    if x.dtype == np.uint64:
        require_signed(tensor_of(x))
    return as_type(x, {"f": dtypes.FLOAT64, "i": dtypes.INT64, "u": dtypes.INT64}.get(x.dtype.kind, x.dtype))


@public("_as_tensor")
def as_tensor(x: Array) -> Tensor:
    """The tensor that an array holds, for `op` and scripts; complex numbers have a last dimension of 2."""
    held = x.held
    if isinstance(held, np.ndarray):
        if held.dtype.kind == "c":
            held = np.stack([np.real(held), np.imag(held)], -1)
        shown = held.view()
        shown.flags.writeable = False
        return EagerTensor(shown)
    return packed(held) if isinstance(held, Complex) else held
