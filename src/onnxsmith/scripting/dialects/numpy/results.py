"""Results of a function: the outputs of its model, and how the result is put together of them again."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, cast

import numpy as np

from onnxsmith.core.semantics.number import Number
from onnxsmith.core.target import current_graph
from onnxsmith.core.value import Value
from onnxsmith.diagnostics import described_type
from onnxsmith.errors import MissingReturnError
from onnxsmith.numpy import dtypes
from onnxsmith.numpy.array import Array
from onnxsmith.numpy.conversions import array_from, tensors_of
from onnxsmith.numpy.grown_list import GrownList
from onnxsmith.numpy.grown_rows import GrownRows
from onnxsmith.numpy.registry import NUMPYS_TUPLES
from onnxsmith.runtime.tensor import as_tensor
from onnxsmith.schema.foreign_arrays import DeviceArray
from onnxsmith.scripting.staging.merge import NUMBER_DTYPES
from onnxsmith.scripting.staging.script_values import Held
from onnxsmith.scripting.staging.structure import Slot, parts, rebuilt

Elements: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
#: Puts a result together of what the model gave, in order.
Rebuild: TypeAlias = "Callable[[Iterator[Elements]], Any]"

_PYTHON: dict[str, type] = {"int": int, "float": float, "bool": bool}


class Outputs:
    """The outputs of a model, collected from what a function gives."""

    def __init__(self, *, has_known: bool) -> None:
        #: Whether what is known when the model is made is an output, too.
        self._has_known = has_known
        self.tensors: list[Value] = []

    def taken_from(self, result: Held, name: str) -> Rebuild:
        """Enter what a result has of the model; gives who puts it together."""
        if isinstance(result, Array):
            return self._array(result, name)
        if isinstance(result, GrownList):
            stacked = self._array(result.stacked, name)
            if result.kind == "python":
                return lambda given: stacked(given).tolist()
            return lambda given: list(stacked(given))
        if isinstance(result, GrownRows):
            separated = f"{name}_" if name else ""
            columns = [self.taken_from(each, f"{separated}{k}") for k, each in enumerate(result.columns)]
            kind = result.kind
            return lambda given: [kind(row) for row in zip(*[each(given) for each in columns], strict=True)]
        if isinstance(result, Number):
            self._enter(result.as_dtype(NUMBER_DTYPES[result.kind]), name)
            make = _PYTHON[result.kind]
            return lambda given: make(next(given).item())
        if isinstance(result, Value):
            self._enter(result, name)
            return next
        if isinstance(result, np.ndarray | np.generic | bool | int | float | complex):
            return self._known(cast(Any, result), name)
        inner = parts(result)
        if inner is None:
            return self._other(result, name)
        separated = f"{name}_" if name else ""
        items = [self.taken_from(each, f"{separated}{key}") for key, each in inner]
        numpys = NUMPYS_TUPLES.get(type(result))
        if numpys is not None:
            return lambda given: numpys()._make([each(given) for each in items])
        return lambda given: rebuilt(result, [each(given) for each in items])

    def _enter(self, tensor: Value, name: str) -> None:
        if name and not name.isdigit():
            graph = current_graph()
            if any(tensor is each for each in self.tensors) or graph.is_given(tensor):
                tensor = graph.operators.Identity(tensor)  # one that can have the name
            graph.suggest_name(tensor, name)
        self.tensors.append(tensor)

    def _array(self, result: Array, name: str) -> Rebuild:
        is_number, dtype = result.is_number, result.dtype
        if not result.is_symbolic:
            known = _as_numpys(cast(Elements, result.held))
            return self._known(known[()] if is_number else known, name)
        self._enter(result.tensor, name)
        if dtype.kind == "c":
            if is_number:
                return lambda given: _complex(next(given), dtype)[()]
            return lambda given: _complex(next(given), dtype)
        if dtype.kind in "iu" and dtype.itemsize == 8:
            return lambda given: _number(_as_numpys(next(given)), is_number=is_number)
        return (lambda given: _number(next(given))) if is_number else next

    def _known(self, value: np.ndarray[Any, Any] | np.generic | dtypes.PythonScalar, name: str) -> Rebuild:
        if not self._has_known:
            if isinstance(value, np.ndarray):
                return lambda given: cast(Elements, value).copy()
            return lambda given: value
        elements = np.asarray(value)
        if elements.dtype not in dtypes.DTYPES:
            return self._other(value, name)
        made = array_from(tensors_of(Array(elements)))
        return self._array(made.as_number() if isinstance(value, np.generic) else made, name)

    def _other(self, value: Held, name: str) -> Rebuild:
        if self._has_known:
            which = f" as '{name}'" if name else ""
            what = "None" if value is None else described_type(type(value))
            raise MissingReturnError(
                f"the function gives {what}{which}, which is no array, and the outputs of a model are arrays",
                help="return arrays and numbers, in tuples, lists and dicts as you like",
            )
        return lambda given: value


def form_of(result: Held) -> Held:
    """A result with a Slot for each output of its model; rows that a loop has collected have several in one place."""
    positions = itertools.count()

    def form(value: Held) -> Held:
        inner = parts(value)
        if inner is not None:
            return rebuilt(value, [form(each) for _, each in inner])
        if isinstance(value, GrownRows):
            return tuple(form(each) for each in value.columns)
        return Slot(next(positions))

    return form(result)


def _number(elements: Elements, *, is_number: bool = True) -> Any:
    """A number of numpy's of an array without dimensions; what is on a device stays an array."""
    return elements if isinstance(elements, DeviceArray) else elements[() if is_number else ...]


def as_tensors(result: Held) -> Held:
    """A result with tensors for its arrays and numbers of numpy's."""
    if isinstance(result, np.ndarray | np.generic):
        return as_tensor(np.asarray(result))
    if isinstance(result, DeviceArray):
        return as_tensor(result)
    inner = parts(result)
    return result if inner is None else rebuilt(result, [as_tensors(each) for _, each in inner])


def _as_numpys(elements: Elements) -> Elements:
    """Elements in numpy's own integers: C has two of 64 bits on most systems, and ONNX Runtime's may be the other."""
    if isinstance(elements, DeviceArray):
        return elements
    own = {"i": np.int64, "u": np.uint64}.get(elements.dtype.kind)
    return elements.view(own) if own is not None and elements.itemsize == 8 else elements


def _complex(pairs: Elements, dtype: dtypes.NumpyDType) -> Elements:
    """Complex numbers of the pairs that a model gives."""
    if isinstance(pairs, DeviceArray):
        pairs = pairs.numpy()  # no runtime has complex numbers on a device
    return np.ascontiguousarray(pairs).view(dtype)[..., 0]
