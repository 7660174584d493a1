"""What one model or function under construction shares between its graph and all subgraphs.

Names, opset versions, initializers and called functions; the nodes themselves are in each `GraphTarget`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, cast

import numpy as np
import onnx_ir as ir

from onnxsmith.core.captures import ON_CAPTURE
from onnxsmith.graphs.ir_types import array_to_ir, dimensions_of
from onnxsmith.graphs.names import Names
from onnxsmith.graphs.opsets import OpsetVersions
from onnxsmith.graphs.weights import Weight
from onnxsmith.schema.inference.known import NOTHING, Known
from onnxsmith.source import caller_frame
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: The key of a value's own notes, which are in no file, that holds the name of the weight it was made of.
WEIGHT_KEY = "onnxsmith.weight"
#: Arrays up to this many bytes are shared when they are equal, larger ones when they are the same object.
#: Comparing costs a copy of the bytes, which nobody notices here.
_COMPARED_BYTES = 256
#: And only up to this size does what is known of a value carry its content: shapes are computed from small arrays.
_DATA_ELEMENTS = 1024


class Program:
    """The state of one model or function while it is built."""

    def __init__(
        self,
        kind: Literal["model", "function"],
        opsets: OpsetVersions,
        shared: dict[Any, Any] | None = None,
        *,
        is_exact: bool = False,
    ) -> None:
        self.kind: Literal["model", "function"] = kind
        #: Whether the graph has the nodes and types that the user wrote, and nothing that makes it tidier.
        self.is_exact = is_exact
        #: What a front end remembers for as long as a model is made, also for the functions in it.
        self.shared: dict[Any, Any] = {} if shared is None else shared
        self.opsets = opsets
        self.names = Names()
        self.node_names = Names()
        #: Names that the user's variables gave.
        self.named: set[str] = set()
        self.functions: dict[ir.OperatorIdentifier, ir.Function] = {}
        #: The element types of all values.
        self.dtypes: set[DType] = set()
        self.initializers: list[ir.Value] = []
        #: Inputs that a function has besides its parameters, for weights: whoever calls it passes them on.
        self.hidden_inputs: list[tuple[ir.Value, ir.TensorProtocol]] = []
        self._by_content: dict[tuple[Any, ...], tuple[ir.Value, Known]] = {}
        # id -> (array, ...): the array is kept alive here, so that its id stays its own.
        self._by_identity: dict[
            int, tuple[np.ndarray[Any, Any] | Weight | ir.TensorProtocol, ir.Value, Known]
        ] = {}

    def initializer(self, array: np.ndarray[Any, Any]) -> tuple[ir.Value, Known]:
        """The initializer for an array; the same array gives the same one, and only small ones are copied."""
        found = self._by_identity.get(id(array))
        if found is not None:
            return found[1], found[2]
        key: tuple[Any, ...] | None = None
        if array.nbytes <= _COMPARED_BYTES and array.dtype != object:
            key = (array.dtype, array.shape, array.tobytes())
            equal = self._by_content.get(key)
            if equal is not None:
                return equal
        known = known_of_array(array)
        wish = _name_of(array) or ("const" if array.size <= 1 else "weight")
        value = ir.Value(name=self.names.unique(wish))
        if key is not None:
            array = array.copy()  # which the user may change afterwards
        elif (told := ON_CAPTURE.get()) is not None:
            told(array)
        fill(value, array, known)
        self.initializers.append(value)
        if key is not None:
            self._by_content[key] = (value, known)
        else:
            self._by_identity[id(array)] = (array, value, known)
        return value, known

    def weight(self, weight: Weight) -> ir.Value:
        """The initializer for a weight: one, however often it is used."""
        found = self._by_identity.get(id(weight))
        if found is not None:
            return found[1]
        value = ir.Value(
            name=self.names.unique(weight.name),
            type=ir.TensorType(weight.tensor.dtype),
            shape=ir.Shape(weight.shape),
            const_value=weight.tensor,
        )
        value.meta[WEIGHT_KEY] = weight.name
        self.initializers.append(value)
        self._by_identity[id(weight)] = (weight, value, weight.known)
        return value

    def tensor(self, tensor: ir.TensorProtocol, name: str) -> ir.Value:
        """A tensor of another model: an initializer, or an input of a function, one however often it is used."""
        # An array that both models refer to is one initializer.
        raw = cast(object, getattr(tensor, "raw", None))
        array = cast("np.ndarray[Any, Any]", raw) if isinstance(raw, np.ndarray) else None
        held = tensor if array is None else array
        found = self._by_identity.get(id(held))
        if found is not None:
            return found[1]
        value = ir.Value(name=self.names.unique(name))
        if self.kind == "function":
            self.hidden_inputs.append((value, tensor))
        else:
            value.type = ir.TensorType(tensor.dtype)
            value.shape = ir.Shape(dimensions_of(tensor))
            value.const_value = tensor
            self.initializers.append(value)
        known = NOTHING if array is None else known_of_array(array)
        self._by_identity[id(held)] = (held, value, known)
        return value

    def checkpoint(self) -> Callable[[], None]:
        """Remember the state; the function returned brings it back, for an attempt that did not work out."""
        names, node_names = self.names.copy(), self.node_names.copy()
        named, functions = set(self.named), dict(self.functions)
        count, by_content, by_identity = (
            len(self.initializers),
            dict(self._by_content),
            dict(self._by_identity),
        )
        opsets, hidden_count = self.opsets.copy(), len(self.hidden_inputs)

        def roll_back() -> None:
            self.names, self.node_names, self.named = names, node_names, named
            self.functions, self.opsets = functions, opsets
            del self.initializers[count:]
            del self.hidden_inputs[hidden_count:]
            self._by_content, self._by_identity = by_content, by_identity

        return roll_back

    def named_initializer(self, array: np.ndarray[Any, Any], name: str) -> tuple[ir.Value, Known]:
        """An initializer of exactly this name, shared with no other."""
        known = known_of_array(array)
        value = ir.Value(name=self.names.unique(name))
        fill(value, array, known)
        self.initializers.append(value)
        self._by_identity[id(array)] = (array, value, known)
        return value, known


def fill(value: ir.Value, array: np.ndarray[Any, Any], known: Known) -> None:
    """Give an initializer its array, type and shape."""
    value.const_value = array_to_ir(array, value.name)
    value.type = ir.TensorType(ir.DataType(int(_dtype(known))))
    value.shape = ir.Shape(array.shape)


def known_of_array(array: np.ndarray[Any, Any]) -> Known:
    """What is known of a constant: all of it, when it is small."""
    return Known(
        TensorType(DType.from_numpy(array.dtype), array.shape),
        array if array.size <= _DATA_ELEMENTS else None,
    )


def _dtype(known: Known) -> DType:
    assert isinstance(known.type, TensorType)
    assert known.type.dtype is not None
    return known.type.dtype


def _name_of(array: np.ndarray[Any, Any]) -> str | None:
    """The variable that the user's code calls this array by, so that the model calls it so, too."""
    frame = caller_frame()
    if frame is None:
        return None
    for scope in (frame.f_locals, frame.f_globals):
        for name, value in scope.items():
            if value is array and not name.startswith("__"):
                return name
    owner = frame.f_locals.get("self")
    for name, value in getattr(owner, "__dict__", {}).items():
        if value is array:
            return name
    return None
