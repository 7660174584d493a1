"""What a function gives: the outputs of its model, and how the result is put together of them again."""

from __future__ import annotations

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
from onnxsmith.numpy.grown import GrownList
from onnxsmith.scripting.staging.merge import NUMBER_DTYPES
from onnxsmith.scripting.staging.script_values import Held
from onnxsmith.scripting.staging.structure import parts, rebuilt

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
            return lambda given: list(stacked(given))
        if isinstance(result, Number):
            self._enter(result.as_dtype(NUMBER_DTYPES[result.kind]), name)
            make = _PYTHON[result.kind]
            return lambda given: make(next(given))
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
            known = cast(Elements, result.held)
            return self._known(known[()] if is_number else known, name)
        self._enter(result.tensor, name)
        if dtype.kind == "c":
            if is_number:
                return lambda given: _complex(next(given), dtype)[()]
            return lambda given: _complex(next(given), dtype)
        if dtype.kind in "iu" and dtype.itemsize == 8:
            # C has two integers of 64 bits on most systems, and that of ONNX Runtime's need not be numpy's own.
            return lambda given: next(given).view(dtype.type)[() if is_number else ...]
        return (lambda given: next(given)[()]) if is_number else next

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


def _complex(pairs: Elements, dtype: dtypes.NumpyDType) -> Elements:
    """Complex numbers of the pairs that a model gives."""
    return np.ascontiguousarray(pairs).view(dtype)[..., 0]
