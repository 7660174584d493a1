"""Attribute values: what users write becomes the plain Python value that both targets take.

Normal forms: int, float, str, tuples of these, a read-only use of numpy arrays for tensors, DType codes as ints;
graphs, types and sparse tensors pass through as given.
"""

from __future__ import annotations

import math
import numbers
import operator
import typing
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from onnxsmith.diagnostics import did_you_mean
from onnxsmith.errors import AttributeTypeError, AttributeValueError, TracedValueError
from onnxsmith.schema.definition import Attribute, AttributeReference, AttributeType, GraphBody, OperatorDef
from onnxsmith.types.annotations import read_dtype, read_value_type
from onnxsmith.types.dtypes import DType, refuse_masked
from onnxsmith.types.value_types import TensorType, ValueType

#: What random numbers are made of.
_SEED = "seed"
_INT64 = range(-(2**63), 2**63)


class _Refused(Exception):
    """A reader does not take the value; `reason` adds to the message."""

    def __init__(self, reason: str = "") -> None:
        self.reason = reason


def read_attribute(op: OperatorDef, attribute: Attribute, value: Any) -> Any:
    """The normal form of an attribute's value."""
    reference = getattr(value, "reference", value)
    if isinstance(reference, AttributeReference):
        return _check_reference(op, attribute, reference)
    if isinstance(value, DType) and attribute.type is AttributeType.STRING:
        value = value.name  # how Cast named element types before opset 6
    try:
        if attribute.names_dtype:
            return _checked_dtype_code(op, attribute, _read_dtype_code(value))
        result: Any = _READERS[attribute.type](value)
    except _Refused as refused:
        raise _type_error(op, attribute, value, refused.reason) from None
    except TracedValueError:  # a tensor whose value is not known now
        raise _type_error(op, attribute, value, "") from None
    _check_choice(op, attribute, result)
    return result


def is_limited(attribute: Attribute) -> bool:
    """True if only some of the values of its type are values that the operator knows."""
    is_seed = attribute.name == _SEED and attribute.type is AttributeType.FLOAT
    return attribute.is_flag or attribute.names_dtype or attribute.choices is not None or is_seed


def _checked_dtype_code(op: OperatorDef, attribute: Attribute, code: int) -> int:
    """Refuse an element type that the operator's result, which it is that of, cannot have."""
    types = op.outputs[0].types if attribute.name == "dtype" and op.outputs else frozenset[str]()
    known = [each for each in DType if f"tensor({each.onnx_name})" in types]
    if code and known and DType(code) not in known:
        raise AttributeValueError(
            f"{op.qualified_name} does not know {attribute.name}={DType(code).name}",
            help=f"it is one of {', '.join(each.name for each in known)}",
            culprit=attribute.name,
        )
    return code


def _check_choice(op: OperatorDef, attribute: Attribute, result: Any) -> None:
    """Refuse a value, in normal form, that is not among those that the operator knows."""
    if attribute.is_flag and result not in (0, 1):
        raise AttributeValueError(
            f"{op.qualified_name} does not know {attribute.name}={result!r}",
            help="it is 0 or 1",
            culprit=attribute.name,
        )
    if attribute.name == _SEED and isinstance(result, float) and math.isinf(result):
        raise AttributeValueError(
            f"{op.qualified_name} does not know {attribute.name}={result!r}",
            help="it is a number; leave it out for other numbers in each run",
            culprit=attribute.name,
        )
    if attribute.choices is not None and not all(each in attribute.choices for each in _each(result)):
        listed = ", ".join(repr(each) for each in attribute.choices)
        raise AttributeValueError(
            f"{op.qualified_name} does not know {attribute.name}={result!r}",
            help=did_you_mean(str(result), attribute.choices) or f"it is one of {listed}",
            culprit=attribute.name,
        )


def _each(result: Any) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", result) if isinstance(result, tuple) else (result,)


def guess_attribute(op: OperatorDef, name: str, value: Any) -> Any:
    """The normal form of an attribute of an operator nobody has a schema for: by the value's own type."""
    value = getattr(value, "reference", value)
    if getattr(value, "is_stored", False) and hasattr(value.tensor, "proto"):
        return value.tensor.proto
    if (
        isinstance(value, AttributeReference | ValueType)
        or callable(value)
        or hasattr(value, "SerializeToString")
    ):
        return value
    if isinstance(value, bool | numbers.Integral) and not getattr(value, "is_symbolic", False):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(cast(Any, value))
    if isinstance(value, str | bytes):
        return _as_text(value)
    if isinstance(value, np.ndarray) or getattr(value, "is_stored", False):
        refuse_masked(cast(object, value))
        return cast("np.ndarray[Any, Any]", value)
    if isinstance(value, Sequence):
        items = cast("Sequence[Any]", value)
        if all(isinstance(each, bool | numbers.Integral) for each in items):
            return tuple(int(each) for each in items)
        if all(isinstance(each, bool | numbers.Real) for each in items):
            return tuple(float(each) for each in items)
        if all(isinstance(each, str | bytes) for each in items):
            return tuple(map(_as_text, cast("Sequence[str | bytes]", items)))
        if all(isinstance(each, np.ndarray) or getattr(each, "is_stored", False) for each in items):
            return tuple(items)
        if all(callable(each) or isinstance(each, ValueType) for each in items):
            return tuple(items)
    raise AttributeTypeError(
        f"{op.qualified_name} cannot take {name}={_describe(value)}: an attribute is a number, a string, an array, "
        "a graph, or a list of these",
        culprit=name,
    )


def attribute_type_of(value: Any) -> AttributeType:
    """The attribute type of a value in normal form."""
    if isinstance(value, int):
        return AttributeType.INT
    if isinstance(value, float):
        return AttributeType.FLOAT
    if isinstance(value, str | bytes):
        return AttributeType.STRING
    if isinstance(value, np.ndarray) or getattr(value, "is_stored", False):
        return AttributeType.TENSOR
    if isinstance(value, AttributeReference):
        return value.type
    if isinstance(value, tuple):
        first = value[0] if value else 0  # pyright: ignore[reportUnknownVariableType]  # an empty list is a list of ints
        if isinstance(first, int):
            return AttributeType.INTS
        if not isinstance(first, float | str | bytes):
            return _list_type_of(first)
        return AttributeType.FLOATS if isinstance(first, float) else AttributeType.STRINGS
    if isinstance(value, ValueType) or type(value).__name__ == "TypeProto":
        return AttributeType.TYPE_PROTO
    if type(value).__name__ == "SparseTensorProto":
        return AttributeType.SPARSE_TENSOR
    return AttributeType.GRAPH


def _list_type_of(first: Any) -> AttributeType:
    kind = attribute_type_of(first)
    lists = {
        AttributeType.TENSOR: AttributeType.TENSORS,
        AttributeType.TYPE_PROTO: AttributeType.TYPE_PROTOS,
        AttributeType.SPARSE_TENSOR: AttributeType.SPARSE_TENSORS,
    }
    return lists.get(kind, AttributeType.GRAPHS)


def _check_reference(op: OperatorDef, attribute: Attribute, value: AttributeReference) -> AttributeReference:
    if value.type != attribute.type:
        raise AttributeTypeError(
            f"{op.qualified_name} needs {attribute.name}= to be {_WORDS[attribute.type]}, "
            f"but the parameter '{value.name}' is {_WORDS[value.type]}",
            culprit=attribute.name,
        )
    return value


def _read_dtype_code(value: Any) -> int:
    dtype = read_dtype(value)
    if dtype is None:
        if isinstance(value, int) and value == 0:
            return 0  # UNDEFINED: several operators spell "as the input" so
        raise _Refused("an element type is FLOAT, FLOAT.dtype, a numpy dtype, or ONNX's code for one")
    return int(dtype)


def _read_int(value: Any) -> int:
    if isinstance(value, float | np.floating | np.ndarray):
        raise _Refused()
    try:
        result = operator.index(value)
    except TypeError:  # a class has the method, too
        raise _Refused() from None
    if result not in _INT64:
        raise _Refused("it does not fit in 64 bits")
    return result


def _read_float(value: Any) -> float:
    if isinstance(value, str | bytes | np.ndarray) or not hasattr(value, "__float__"):
        raise _Refused()
    try:
        return float(value)
    except OverflowError:
        raise _Refused("it does not fit in 64 bits") from None
    except (TypeError, ValueError):  # classes have the method, too, and dates of numpy's
        raise _Refused() from None


def _read_string(value: Any) -> str | bytes:
    if isinstance(value, str):
        try:
            value.encode(errors="surrogateescape")  # which stands for bytes that are no text
        except UnicodeEncodeError:
            raise _Refused("it has characters that UTF-8 does not have") from None
    elif not isinstance(value, bytes):
        raise _Refused()
    return _as_text(value)


def _as_text(value: str | bytes) -> str | bytes:
    """Bytes that are UTF-8 as text; others stay what they are."""
    if isinstance(value, str):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _list_of(read: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    def read_list(value: Any) -> tuple[Any, ...]:
        if isinstance(value, np.ndarray) and cast("np.ndarray[Any, Any]", value).ndim == 1:
            value = cast(Any, value).tolist()
        if isinstance(value, str | bytes) or not isinstance(value, Sequence):
            raise _Refused("one value goes in brackets: [value]")
        return tuple(read(each) for each in cast("Sequence[Any]", value))

    return read_list


def _read_tensor(value: Any) -> Any:
    if getattr(value, "is_stored", False):
        return value
    if hasattr(value, "SerializeToString"):
        import onnx.numpy_helper  # heavy: on first use

        return onnx.numpy_helper.to_array(value)
    refuse_masked(value)
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        raise _Refused("it cannot be read as an array") from None
    if not hasattr(value, "dtype") and array.dtype == np.float64:
        array = array.astype(np.float32)  # Python floats are FLOAT, as everywhere in ONNX
    if DType.from_numpy(array.dtype) is None:
        raise _Refused(f"ONNX has no element type for the numpy dtype {array.dtype}")
    return array


def _read_graph(value: Any) -> Any:
    is_given = callable(value) or type(value).__name__ in ("GraphProto", "Graph", "GraphView")
    if is_given or isinstance(value, GraphBody):
        return value
    raise _Refused("a graph is a function, a GraphProto or an onnx_ir.Graph")


def _read_type(value: Any) -> Any:
    if isinstance(value, ValueType) or type(value).__name__ == "TypeProto":
        return value
    if typing.get_origin(value) is not None:
        return read_value_type(value, "the type")
    raise _Refused("a type is FLOAT[...], Sequence[FLOAT[...]] and so on")


def _read_sparse(value: Any) -> Any:
    if type(value).__name__ == "SparseTensorProto":
        return value
    if getattr(value, "is_stored", False) and hasattr(value.tensor, "proto"):
        return value.tensor.proto
    raise _Refused("a sparse tensor is an onnx.SparseTensorProto")


#: Kinds of attributes, the lists of them, how a value is read, and words for one and for several.
_KINDS: tuple[tuple[AttributeType, AttributeType, Callable[[Any], Any], str, str], ...] = (
    (AttributeType.INT, AttributeType.INTS, _read_int, "an int", "ints"),
    (AttributeType.FLOAT, AttributeType.FLOATS, _read_float, "a float", "floats"),
    (AttributeType.STRING, AttributeType.STRINGS, _read_string, "a string", "strings"),
    (AttributeType.TENSOR, AttributeType.TENSORS, _read_tensor, "an array", "arrays"),
    (AttributeType.GRAPH, AttributeType.GRAPHS, _read_graph, "a graph", "graphs"),
    (
        AttributeType.SPARSE_TENSOR,
        AttributeType.SPARSE_TENSORS,
        _read_sparse,
        "a sparse tensor",
        "sparse tensors",
    ),
    (AttributeType.TYPE_PROTO, AttributeType.TYPE_PROTOS, _read_type, "a type", "types"),
)
_READERS = {one: read for one, _, read, _, _ in _KINDS} | {each[1]: _list_of(each[2]) for each in _KINDS}
_WORDS = {each[0]: each[3] for each in _KINDS} | {each[1]: f"a list of {each[4]}" for each in _KINDS}


def _type_error(op: OperatorDef, attribute: Attribute, value: Any, reason: str) -> AttributeTypeError:
    wanted = "an element type" if attribute.names_dtype else _WORDS[attribute.type]
    message = f"{op.qualified_name} needs {attribute.name}= to be {wanted}, not {_describe(value)}"
    is_symbolic = _holds_symbolic(value)
    if is_symbolic:
        reason = "an attribute is fixed when the model is made, and a tensor has its value only when it runs"
        if attribute.type in _ANNOTATIONS:
            annotated = f"{attribute.name}: {_ANNOTATIONS[attribute.type]}"
            reason += f";\na parameter of a script that is annotated, as in '{annotated}', is an attribute"
    error = AttributeTypeError(message, help=reason or None, culprit=attribute.name)
    # A number may be an attribute of the function that is being made, or computed of one; a tensor never is.
    error.needs_values = is_symbolic and not _holds_tensor(value)
    return error


#: How a parameter of a script is annotated that can be passed on as an attribute.
_ANNOTATIONS = {
    AttributeType.INT: "int",
    AttributeType.FLOAT: "float",
    AttributeType.STRING: "str",
    AttributeType.INTS: "list[int]",
    AttributeType.FLOATS: "list[float]",
    AttributeType.STRINGS: "list[str]",
}


def _holds_symbolic(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(_holds_symbolic(each) for each in cast("Sequence[Any]", value))
    return bool(getattr(value, "is_symbolic", False))


def _holds_tensor(value: Any) -> bool:
    """True if a symbolic value is a tensor, and not one of the numbers that stand for literals."""
    if isinstance(value, list | tuple):
        return any(_holds_tensor(each) for each in cast("Sequence[Any]", value))
    return bool(getattr(value, "is_symbolic", False)) and not hasattr(value, "sample")


def _describe(value: Any) -> str:
    if getattr(value, "is_symbolic", False):
        return f"a tensor ({value.known.type.described})"
    if _holds_symbolic(value):
        return "a list that holds a tensor"
    if isinstance(value, TensorType):
        return f"the type {value!r}"
    text = repr(value)
    shown = text if len(text) <= 60 and "\n" not in text else f"a {type(value).__name__}"
    return (
        f"{shown} ({type(cast(object, value)).__name__})"
        if isinstance(value, str | int | float | list | tuple)
        else shown
    )
