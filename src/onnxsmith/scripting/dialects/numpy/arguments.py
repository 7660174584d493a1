"""The arguments of a call: what of them is data of the model, and what the model is made for.

Arrays are inputs, wherever they stand in lists, tuples, dicts and dataclasses; so are floats, which keep Python's weak
meaning. All else is part of what a model is made for: truth values, text, None, and whole numbers, which decide axes,
sizes and how often a loop runs. A whole number that changes from call to call is made an input, too (see `jit`).
"""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np

from onnxsmith.core.semantics.number import Number, number
from onnxsmith.core.tensor import Tensor
from onnxsmith.errors import CallError, InputTypeError
from onnxsmith.graphs.identity import value_key
from onnxsmith.graphs.run_values import session_value
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.creation import asarray
from onnxsmith.runtime.tensor import EagerTensor
from onnxsmith.schema.foreign_arrays import DeviceArray, is_foreign
from onnxsmith.scripting.functions.specialised import UNCHANGING, Numbers, refused_class
from onnxsmith.scripting.staging.script_values import Held, Marker
from onnxsmith.scripting.staging.structure import parts, rebuilt
from onnxsmith.types.value_types import Dimension, TensorType

Elements: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
#: How an input is met by the function: as an array, as a number of numpy's, or as one of Python's.
Role: TypeAlias = Literal["array", "scalar", "number"]


class Leaf(NamedTuple):
    """An input of the model: its name, its type, and how the function meets it."""

    name: str
    dtype: dtypes.NumpyDType
    shape: tuple[Dimension, ...]
    role: Role
    #: Whether the elements lie in memory one after the other: it decides what is a view of them.
    is_plain: bool = True

    @property
    def type(self) -> TensorType:
        """The type of the model's input; complex numbers have a last dimension of 2."""
        pair = (2,) if self.dtype.kind == "c" else ()
        return TensorType(dtypes.onnx_type(self.dtype), (*self.shape, *pair))

    def met(self, tensor: Tensor) -> Array | Number:
        """The value that the function gets."""
        if self.role == "number":
            return number(tensor)
        held = asarray(cast(Any, tensor), self.dtype).held if self.dtype.kind == "c" else tensor
        made = Array(held, is_plain=self.is_plain)
        return made.as_number() if self.role == "scalar" else made


@dataclass(frozen=True, slots=True)
class Place(Marker):
    """Stands for an input in the arguments of a call."""

    position: int


class Call:
    """The arguments of one call, taken apart."""

    def __init__(self, numbers: Numbers, *, has_sizes: bool) -> None:
        #: The numbers that are inputs and those that are none, and whether sizes are part of the key.
        self._numbers = numbers
        self._has_sizes = has_sizes
        self.leaves: list[Leaf] = []
        self.feeds: list[Elements] = []
        self.key: list[Hashable] = []
        #: Objects that the model is made for, by name: what they hold may change from call to call.
        self.objects: list[tuple[str, object]] = []
        #: The arrays of the caller that are inputs, by position: a function may write to them.
        self.given: dict[int, Elements] = {}
        #: Whether an input is a tensor, of ours or of another library: then results are tensors.
        self.gives_tensors = False

    def take_apart(self, value: Held, name: str) -> Held:
        """An argument with a `Place` for each input in it."""
        kind = cast(type, value.__class__)
        if kind is np.ndarray:
            array = cast(Elements, value)
            return self._input(name, array, "array", array)
        if isinstance(value, Array):
            return self._array(name, value)
        if isinstance(value, np.ndarray | np.generic):
            return self._numpys(name, cast(Any, value))
        if isinstance(value, EagerTensor) or is_foreign(value):
            self.gives_tensors = True
            return self._input(name, session_value(value, name), "array")
        if self._numbers.is_input(name, value):
            return self._input(name, session_value(value, name), "number")
        inner = parts(value)
        if inner is None:
            self.key.append(value_key(value))
            if not isinstance(value, UNCHANGING):
                self.objects.append((name, value))
            return value
        self.key += (kind, tuple(key for key, _ in inner))
        return rebuilt(value, [self.take_apart(each, f"{name}_{key}") for key, each in inner])

    def _array(self, name: str, value: Array) -> Place:
        if value.is_symbolic:
            raise InputTypeError(
                f"'{name}' is an array that is being recorded, and a function that jit made runs now",
                help="call the function itself, which is recorded with the rest",
            )
        return self._input(name, cast(Elements, value.held), "scalar" if value.is_number else "array")

    def _numpys(self, name: str, value: np.ndarray[Any, Any] | np.generic) -> Place | np.generic:
        if isinstance(value, np.generic):
            if value.dtype in dtypes.DTYPES:
                return self._input(name, np.asarray(value), "scalar")
            self.key.append(value_key(value))
            return value
        raise refused_class(name, value)

    def _input(self, name: str, elements: Elements, role: Role, given: Elements | None = None) -> Place:
        elements = session_value(elements)
        dtype = elements.dtype
        if dtype not in dtypes.DTYPES:
            raise InputTypeError(
                f"'{name}' has elements of {dtype}, and a model computes with numbers",
                help=f"there are {', '.join(each.name for each in dtypes.DTYPES)}",
            )
        shape = elements.shape if self._has_sizes else (None,) * elements.ndim
        is_plain = elements.ndim <= 1 or isinstance(elements, DeviceArray) or elements.flags.c_contiguous
        self.key += (dtype, shape, role, is_plain)
        position = len(self.leaves)
        self.leaves.append(Leaf(name, dtype, shape, role, is_plain))
        self.feeds.append(fed(elements))
        if given is not None:
            self.given[position] = given
        return Place(position)


def fed(elements: Elements) -> Elements:
    """The elements that the model is fed for an array: complex numbers as pairs."""
    if elements.dtype.kind != "c":  # those of a device are none
        return elements
    whole = np.ascontiguousarray(elements).reshape(elements.shape)
    return whole[..., None].view(dtypes.part(elements.dtype))


def put_together(template: Held, inputs: Sequence[Held]) -> Held:
    """An argument as the function gets it: with values in the places of inputs."""
    if isinstance(template, Place):
        return inputs[template.position]
    inner = parts(template)
    if inner is None:
        return template
    return rebuilt(template, [put_together(each, inputs) for _, each in inner])


def bound_arguments(
    signature: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """Arguments by the names of parameters, as Python binds them; CallError, a TypeError, in Python's words."""
    try:
        return dict(signature.bind(*args, **kwargs).arguments)
    except TypeError as error:
        raise CallError(f"{error}", help=f"its parameters are {signature}") from None
