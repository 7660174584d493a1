"""`onnxsmith.numpy` where every call is a model: recorded with every size open, saved to bytes, loaded, and run.

`xp` is a namespace for the Array API's conformance suite. What it gives are arrays whose elements are known; each
function, method and operator on them is a model of its own, so that the suite says what recorded models compute.
Conversions to Python's numbers and to dlpack read the elements. It is no way to compute: a call is slow.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import onnx

import onnxsmith.numpy
from onnxsmith import Model, trace
from onnxsmith.algorithms.complex_numbers.pair import Complex
from onnxsmith.core.semantics.number import Number
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.array import Array
from onnxsmith.types.value_types import TensorType

Function = Callable[..., Any]

_OPERATORS = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("and", "or", "xor", "lshift", "rshift"),
)
_PLAIN = ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "getitem")
_READ = ("bool", "int", "float", "complex", "index", "len", "array", "dlpack", "dlpack_device")
_FACTS = ("dtype", "shape", "ndim", "size", "device", "itemsize", "nbytes")


class RecordedArray:
    """An array of the namespace: it holds one whose elements are known."""

    def __init__(self, array: Array) -> None:
        self.array = array

    def __array_namespace__(self, *, api_version: str | None = None) -> Namespace:
        self.array.__array_namespace__(api_version=api_version)
        return xp

    def __setitem__(self, index: Any, value: Any, /) -> None:
        self.array = call(_assigned, (self, index, value), {}).array

    def to_device(self, device: str, /, *, stream: object = None) -> RecordedArray:
        """The array on a device; there is one."""
        return RecordedArray(self.array.to_device(device, stream=stream))

    def __getattr__(self, name: str) -> Any:
        if name in _FACTS or name in ("item", "tolist"):
            return getattr(self.array, name)
        if name in ("T", "mT", "real", "imag"):
            return call(functools.partial(_attribute, name), (self,), {})
        method = getattr(Array, name)
        return lambda *args, **kwargs: call(method, (self, *args), kwargs)

    def __repr__(self) -> str:
        return f"recorded {self.array!r}"

    __hash__ = None  # pyright: ignore[reportAssignmentType]


def _attribute(name: str, x: Array) -> Any:
    return getattr(x, name)


def _assigned(x: Array, index: Any, value: Any) -> Array:
    made = x.copy()
    made[index] = value
    return made


def _changed(name: str, x: Array, other: Any) -> Array:
    """An operator in place: on a copy, since an argument of a model is never written to."""
    return getattr(x.copy(), name)(other)


def _add_operator(name: str) -> None:
    method = getattr(Array, name)

    def operator(self: RecordedArray, *others: Any) -> Any:
        return call(method, (self, *others), {})

    setattr(RecordedArray, name, operator)


def _add_in_place(name: str) -> None:
    function = functools.partial(_changed, name)

    def operator(self: RecordedArray, other: Any) -> RecordedArray:
        self.array = call(function, (self, other), {}).array
        return self

    setattr(RecordedArray, name, operator)


def _add_reading(name: str) -> None:
    def read(self: RecordedArray, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.array, name)(*args, **kwargs)

    setattr(RecordedArray, name, read)


for _name in _OPERATORS:
    _add_operator(f"__{_name}__")
    _add_operator(f"__r{_name}__")
    _add_in_place(f"__i{_name}__")
for _name in _PLAIN:
    _add_operator(f"__{_name}__")
for _name in _READ:
    _add_reading(f"__{_name}__")


# -- the call --------------------------------------------------------------------------------------------

#: Models by function, element types, ranks, and all other arguments; how many tensors make up each result.
_MODELS: dict[Any, tuple[Any, Function]] = {}


def call(function: Function, args: Any, kwargs: Any) -> Any:
    """Record a call as a model, and run that; a call without arrays runs at once."""
    arrays = list(_arrays((args, kwargs)))
    if not arrays:
        return _mapped(function(*args, **kwargs), Array, RecordedArray)
    told = repr(_mapped((args, kwargs), RecordedArray, _form))
    key = (repr(function), told)
    if key not in _MODELS:
        _MODELS[key] = _recorded(function, args, kwargs, arrays)
    run, assemble = _MODELS[key]
    feeds: list[Any] = []
    for array in arrays:
        elements = np.asarray(array.array)
        is_complex = elements.dtype.kind == "c"
        feeds += [elements.real.copy(), elements.imag.copy()] if is_complex else [elements]
    results = run(*feeds)
    return assemble(iter(results if isinstance(results, tuple) else (results,)))


def _recorded(
    function: Function, args: Any, kwargs: Any, arrays: list[RecordedArray]
) -> tuple[Any, Function]:
    types: list[TensorType] = []
    for array in arrays:
        kind = TensorType(dtypes.onnx_type(array.dtype), (None,) * array.ndim)
        types += [kind] * (2 if array.dtype.kind == "c" else 1)
    assemble: Function = iter

    def body(*tensors: Any) -> tuple[Any, ...]:
        nonlocal assemble
        given = iter(tensors)

        def made(array: RecordedArray) -> Array:
            if array.dtype.kind == "c":
                return Array(Complex(next(given), next(given)))
            return onnxsmith.numpy.asarray(next(given))

        own_args, own_kwargs = _mapped((args, kwargs), RecordedArray, made)
        outputs: list[Any] = []
        assemble = _taken_apart(function(*own_args, **own_kwargs), outputs)
        return tuple(outputs) or tensors[:1]

    content = trace(body, *types).proto.SerializeToString()
    return Model.from_proto(onnx.load_model_from_string(content)), assemble


def _taken_apart(result: Any, outputs: list[Any]) -> Function:
    """Put the tensors of a result among the outputs; gives who puts the result together again."""
    if isinstance(result, Array):
        held = result.held
        if isinstance(held, np.ndarray):  # a constant of the model
            return lambda given: RecordedArray(result)
        if isinstance(held, Complex):
            outputs += [held.real, held.imag]
            return lambda given: RecordedArray(_joined(next(given), next(given)))
        outputs.append(held)
        return lambda given: RecordedArray(onnxsmith.numpy.asarray(np.asarray(next(given))))
    if isinstance(result, Number):
        outputs.append(onnxsmith.numpy.asarray(result).held)
        return lambda given: np.asarray(next(given)).item()
    if isinstance(result, tuple | list):
        items = [_taken_apart(each, outputs) for each in result]
        kind: Any = type(result)
        if hasattr(kind, "_fields"):
            return lambda given: kind(*[each(given) for each in items])
        return lambda given: kind([each(given) for each in items])
    return lambda given: result


def _joined(real: Any, imag: Any) -> Array:
    first = np.asarray(real)
    made = first.astype(dtypes.complex_of(first.dtype))
    made.imag = np.asarray(imag)
    return onnxsmith.numpy.asarray(made)


def _form(array: RecordedArray) -> str:
    return f"<{array.dtype}, {array.ndim}>"


def _arrays(value: Any) -> Iterator[RecordedArray]:
    if isinstance(value, RecordedArray):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _arrays(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _arrays(each)
    elif isinstance(value, slice):
        yield from _arrays((value.start, value.stop, value.step))


def _mapped(value: Any, kind: type, change: Function) -> Any:
    if isinstance(value, kind):
        return change(value)
    if isinstance(value, dict):
        return {key: _mapped(each, kind, change) for key, each in value.items()}
    if isinstance(value, list | tuple):
        items = [_mapped(each, kind, change) for each in value]
        make: Any = type(value)
        return make(*items) if hasattr(make, "_fields") else make(items)
    if isinstance(value, slice):
        return slice(*[_mapped(each, kind, change) for each in (value.start, value.stop, value.step)])
    return value


# -- the namespace ---------------------------------------------------------------------------------------


class Namespace:
    """A namespace whose functions record."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self.__name__ = f"recorded {module.__name__}"

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if isinstance(found, ModuleType):
            made: Any = Namespace(found)
        elif name == "from_dlpack":
            made = _from_dlpack
        elif not callable(found) or isinstance(found, type) or name.startswith("__"):
            return found
        else:

            @functools.wraps(found)
            def made(*args: Any, **kwargs: Any) -> Any:
                return call(found, args, kwargs)

        setattr(self, name, made)
        return made

    def __dir__(self) -> list[str]:
        return dir(self._module)


def _from_dlpack(x: Any, /, *, device: object = None, copy: bool | None = None) -> RecordedArray:
    given = x.array if isinstance(x, RecordedArray) else x
    return RecordedArray(onnxsmith.numpy.from_dlpack(given, device=device, copy=copy))


#: What the suite takes for its module.
xp = Namespace(onnxsmith.numpy)
