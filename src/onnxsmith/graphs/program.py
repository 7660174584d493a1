"""The state that the graph and all subgraphs of one model or function under construction share.

Names, opset versions, initializers and called functions; the nodes themselves are in each `GraphTarget`.
Says also which calls may be made where nothing needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from onnxsmith.core.captures import ON_CAPTURE
from onnxsmith.core.value import Value
from onnxsmith.graphs.captured import Captures
from onnxsmith.graphs.identity import array_key
from onnxsmith.graphs.ir_types import as_content, dimensions_of
from onnxsmith.graphs.lazy_ir import ir
from onnxsmith.graphs.names import Names
from onnxsmith.graphs.opsets import OpsetVersions
from onnxsmith.graphs.records import AnyFunction, ValueRecord
from onnxsmith.graphs.weights import Weight
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.schema.inference.known import NOTHING, Known
from onnxsmith.source import caller_frame
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

#: Elementwise operators that give a result for all inputs.
_NAMES = """
Abs Acos Acosh Add And Asin Asinh Atan Atanh BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CastLike Ceil Clip Constant Cos
Cosh Equal Erf Exp Floor Greater GreaterOrEqual Identity IsInf IsNaN Less LessOrEqual Log Max Min Mul Neg Not Or Pow
Reciprocal Relu Round Sigmoid Sign Sin Sinh Softplus Sqrt Sub Sum Tan Tanh Where Xor
"""
_ELEMENTWISE = frozenset(_NAMES.split())


def is_harmless(op: OperatorDef, inputs: Sequence[Value | None], outputs: Sequence[Known]) -> bool:
    """True if a call may be made where its result is not needed."""
    if op.domain:
        return False
    given = [each.known for each in inputs if each is not None]
    if op.name == "Shape":
        return True
    if op.name == "Gather":
        return _is_size(*given)
    if not all(map(_is_single, outputs)):
        return False
    if op.name in ("Reshape", "Squeeze", "Unsqueeze"):
        return _is_single(given[0])
    if not all(map(_is_single, given)):
        return False
    if op.name in ("Div", "Mod"):
        return _has_quotient(*given)
    if op.name == "Cast":
        return not _is_text(given[0]) and not _is_text(outputs[0])
    return op.name in _ELEMENTWISE


def _is_single(known: Known) -> bool:
    """True if a value has certainly one element."""
    kind = known.type
    return isinstance(kind, TensorType) and kind.shape is not None and all(each == 1 for each in kind.shape)


def _is_text(known: Known) -> bool:
    return isinstance(known.type, TensorType) and known.type.dtype is DType.STRING


def _is_size(sizes: Known, index: Known) -> bool:
    """True if this is a dimension that is there, as `len(x)` and `x.shape[1]` read one."""
    if not isinstance(sizes.data, tuple) or not isinstance(index.data, np.ndarray) or index.data.size != 1:
        return False
    return -len(sizes.data) <= int(index.data.item()) < len(sizes.data)


def _has_quotient(dividend: Known, divisor: Known) -> bool:
    """True if there is a quotient: of floats always, of integers over what is known and not 0."""
    dtype = dividend.type.dtype if isinstance(dividend.type, TensorType) else None
    if dtype is None:
        return False
    return dtype.is_float or (isinstance(divisor.data, np.ndarray) and bool(divisor.data.all()))


#: Arrays up to this many bytes are shared when they are equal, larger ones when they are the same object.
#: Comparing costs a copy of the bytes, which nobody notices here.
_COMPARED_BYTES = 256
#: And only up to this size does what is known of a value carry its content: shapes are computed from small arrays.
_DATA_ELEMENTS = 1024


#: A dict that entries are only added to.
_Growing: TypeAlias = dict[Any, Any]


class Program:
    """The state of one model or function while it is built."""

    def __init__(
        self,
        kind: Literal["model", "function"],
        opsets: OpsetVersions,
        shared: dict[Any, Any] | None = None,
        *,
        is_exact: bool = False,
        is_lenient: bool = False,
        mixes_dtypes: bool = False,
    ) -> None:
        self.kind: Literal["model", "function"] = kind
        #: Whether the graph has the nodes and types that the user wrote, and nothing that makes it tidier.
        self.is_exact = is_exact
        #: Whether calls that cannot work are made all the same, with a warning.
        self.is_lenient = is_lenient
        #: Whether the graph is that of a function of numpy's arrays, whose operators take several element types.
        self.mixes_dtypes = mixes_dtypes
        #: What a front end remembers for as long as a model is made, also for the functions in it.
        self.shared: dict[Any, Any] = {} if shared is None else shared
        #: The values of a graph around it that it may read.
        self.captures: Captures | None = None
        self.opsets = opsets
        self.names = Names()
        self.node_names = Names()
        self.functions: dict[ir.OperatorIdentifier, AnyFunction] = {}
        #: The element types of all values.
        self.dtypes: set[DType] = set()
        self.initializers: list[ValueRecord] = []
        #: Inputs that a function has besides its parameters, for weights: whoever calls it passes them on.
        self.hidden_inputs: list[tuple[ValueRecord, ir.TensorProtocol]] = []
        self._by_content: dict[Hashable, tuple[ValueRecord, Known]] = {}
        # id -> (array, ...): the array is kept alive here, so that its id stays its own.
        self._by_identity: dict[
            int, tuple[np.ndarray[Any, Any] | Weight | ir.TensorProtocol, ValueRecord, Known]
        ] = {}

    def initializer(self, array: np.ndarray[Any, Any]) -> tuple[ValueRecord, Known]:
        """The initializer for an array; the same array gives the same one, and only small ones are copied."""
        found = self._by_identity.get(id(array))
        if found is not None:
            return found[1], found[2]
        key: Hashable | None = None
        if array.nbytes <= _COMPARED_BYTES and array.dtype != object:
            key = array_key(array)
            equal = self._by_content.get(key)
            if equal is not None:
                return equal
        known = known_of_array(array)
        wish = name_of(array) or ("const" if array.size <= 1 else "weight")
        value = ValueRecord(self.names.unique(wish), known.type)
        if key is not None:
            array = array.copy()  # which the user may change afterwards
        elif (told := ON_CAPTURE.get()) is not None:
            told(array)
        value.content = as_content(array, value.name)
        self.initializers.append(value)
        if key is not None:
            self._by_content[key] = (value, known)
        else:
            self._by_identity[id(array)] = (array, value, known)
        return value, known

    def weight(self, weight: Weight) -> ValueRecord:
        """The initializer for a weight: one, however often it is used."""
        found = self._by_identity.get(id(weight))
        if found is not None:
            return found[1]
        value = ValueRecord(self.names.unique(weight.name), weight.type)
        value.content = weight.tensor
        value.weight = weight.name
        self.initializers.append(value)
        self._by_identity[id(weight)] = (weight, value, weight.known)
        return value

    def tensor(self, tensor: ir.TensorProtocol, name: str) -> ValueRecord:
        """A tensor of another model: an initializer, or an input of a function, one however often it is used."""
        # An array that both models refer to is one initializer.
        raw = cast(object, getattr(tensor, "raw", None))
        array = cast("np.ndarray[Any, Any]", raw) if isinstance(raw, np.ndarray) else None
        held = tensor if array is None else array
        found = self._by_identity.get(id(held))
        if found is not None:
            return found[1]
        value = ValueRecord(self.names.unique(name))
        if self.kind == "function":
            self.hidden_inputs.append((value, tensor))
        else:
            value.type = TensorType(DType(int(tensor.dtype)), dimensions_of(tensor))
            value.content = tensor
            self.initializers.append(value)
        known = NOTHING if array is None else known_of_array(array)
        self._by_identity[id(held)] = (held, value, known)
        return value

    def checkpoint(self) -> Callable[[], None]:
        """Remember the state; the function returned brings it back, once, for an attempt that did not work out.

        It costs what the attempt made, and not what was there before: the attempts at a loop may be many.
        """
        marks = [(each, each.mark()) for each in (self.names, self.node_names)]
        held: list[_Growing] = [self.functions, self._by_content, self._by_identity]
        sizes = [(each, len(each)) for each in held]
        count, hidden_count = len(self.initializers), len(self.hidden_inputs)
        opsets = self.opsets.copy()  # as long as there are operators of different names

        def roll_back() -> None:
            for names, mark in marks:
                names.back_to(mark)
            for entries, size in sizes:
                while len(entries) > size:
                    entries.popitem()  # the last that was entered; none is ever changed or taken out
            del self.initializers[count:]
            del self.hidden_inputs[hidden_count:]
            self.opsets = opsets

        return roll_back

    def named_initializer(self, array: np.ndarray[Any, Any], name: str) -> tuple[ValueRecord, Known]:
        """An initializer of exactly this name, shared with no other."""
        known = known_of_array(array)
        value = ValueRecord(self.names.unique(name), known.type)
        value.content = as_content(array, value.name)
        self.initializers.append(value)
        self._by_identity.setdefault(id(array), (array, value, known))
        return value, known


def known_of_array(array: np.ndarray[Any, Any]) -> Known:
    """The facts of a constant: all of its content, when it is small."""
    return Known(
        TensorType(DType.from_numpy(array.dtype), array.shape),
        array if array.size <= _DATA_ELEMENTS else None,
    )


def name_of(array: np.ndarray[Any, Any]) -> str | None:
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
