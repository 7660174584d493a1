"""Values of a model as Python expressions: numbers, strings, types, small tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import onnx_ir as ir

from onnxsmith.decompiling.layout import Bracketed, Text, listed, string
from onnxsmith.errors import DecompileError
from onnxsmith.graphs.ir_types import dimensions_of
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import AnyValueType, MapType, OptionalType, SequenceType, TensorType

#: Tensors up to this many elements may stand in the code itself.
MOST_ELEMENTS = 16


def number(value: float | int | bool, dtype: DType | None = None) -> str:
    """A number; a float in the fewest digits that give the same value in its own precision."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | np.integer):
        return str(int(value))
    plain = float(value)
    if not math.isfinite(plain):
        sign = "-" if math.isnan(plain) and math.copysign(1, plain) < 0 else ""
        return f'float("{sign}{plain}")'
    precision = (
        np.float32 if dtype in (None, DType.FLOAT) else np.float16 if dtype is DType.FLOAT16 else np.float64
    )
    text = str(precision(plain))
    with np.errstate(over="ignore"):
        # The largest float32 in the fewest digits is a little more than it, and would not be taken for one.
        is_beyond = abs(float(text)) > float(np.finfo(precision).max)
        if is_beyond or precision(float(text)) != precision(plain):
            text = repr(plain)
    return text.replace("e+", "e")


def type_text(kind: AnyValueType, used: set[str]) -> str:
    """A type as an annotation; `used` collects the names that must be imported."""
    if isinstance(kind, TensorType):
        assert kind.dtype is not None
        used.add(kind.dtype.name)
        if kind.shape is None:
            return f"{kind.dtype.name}[...]"
        if not kind.shape:
            return kind.dtype.name
        # A name that is no name stands among the details.
        names = [None if isinstance(each, str) and not each.strip() else each for each in kind.shape]
        dimensions = [string(each) if isinstance(each, str) else str(each) for each in names]
        return f"{kind.dtype.name}[{', '.join(dimensions)}]"
    if isinstance(kind, MapType):
        used.add(kind.key.name)
        return f"dict[{kind.key.name}, {type_text(kind.value, used)}]"
    if isinstance(kind, SequenceType):
        return f"list[{type_text(kind.element, used)}]"
    assert isinstance(kind, OptionalType)
    return f"{type_text(kind.element, used)} | None"


def elements(array: np.ndarray[Any, Any], dtype: DType) -> Text:
    """The elements of a small array as nested lists."""
    if array.ndim == 0:
        return element(array.item() if array.dtype != object else array[()], dtype)
    return listed([elements(each, dtype) if array.ndim > 1 else _item(each, dtype) for each in array])


def _item(value: Any, dtype: DType) -> str:
    return element(
        value.item() if isinstance(value, np.generic) and dtype is not DType.STRING else value, dtype
    )


def element(value: Any, dtype: DType) -> str:
    """One element."""
    if dtype is DType.STRING:
        return text_of(value)
    if isinstance(value, complex):
        return repr(value)
    if dtype.is_integer:
        return str(int(value))
    if dtype.is_float:
        return number(float(value), dtype)
    return number(value, dtype)


def text_of(value: str | bytes) -> str:
    """A string; bytes that are no UTF-8 as bytes."""
    if isinstance(value, bytes):
        try:
            value = value.decode("utf-8")
        except UnicodeDecodeError:
            return _bytes(value)
    if any("\ud800" <= character <= "\udfff" for character in value):
        return _bytes(value.encode("utf-8", "surrogateescape"))
    return string(value)


def _bytes(value: bytes) -> str:
    return 'b"' + repr(value + b'"')[2:-2].replace("\\'", "'").replace('"', '\\"') + '"'


def is_small(tensor: ir.TensorProtocol) -> bool:
    """True if a tensor may be written element by element."""
    dimensions = dimensions_of(tensor)
    return math.prod(dimensions) <= MOST_ELEMENTS and len(dimensions) <= 3


def array_of(tensor: ir.TensorProtocol) -> np.ndarray[Any, Any]:
    """The elements of a tensor; strings as bytes."""
    try:
        return np.asarray(tensor.numpy())
    except (
        TypeError,
        ValueError,
    ) as error:  # what onnx-ir says of bytes that are not as long as they should be
        raise DecompileError(
            f"the tensor {tensor.name!r} is damaged: {error}", help="get the file again, whole"
        ) from None


def literal(tensor: ir.TensorProtocol) -> tuple[Any, Text] | None:
    """A tensor as a Python number or list, with its text, if one says exactly what the tensor holds."""
    dtype = DType(int(tensor.dtype))
    if not is_small(tensor) or dtype.kind in ("string", "complex"):
        return None
    array = array_of(tensor)
    if not array.size:
        return None
    text = elements(array, dtype)
    value = _evaluated(text)
    again = np.array(value, dtype.numpy)
    if again.shape != array.shape or again.tobytes() != array.tobytes():
        return None
    return value, text


def _evaluated(text: Text) -> Any:
    """The value of a text of `elements`: digits, brackets, True, False and `float("inf")`, and nothing from a model."""
    return eval(str(text), {"__builtins__": {}, "float": float})


def typed_elements(tensor: ir.TensorProtocol, used: set[str]) -> tuple[str, Text]:
    """A tensor's type and elements, as `Weights` takes them."""
    dtype = DType(int(tensor.dtype))
    kind = TensorType(dtype, dimensions_of(tensor))
    array = array_of(tensor)
    if dtype is DType.STRING:
        return type_text(kind, used), listed([text_of(each) for each in array.reshape(-1)])
    return type_text(kind, used), elements(array, dtype)


def says_exactly(tensor: ir.TensorProtocol) -> bool:
    """True if the elements of a tensor, written out, give the same bits again."""
    dtype = DType(int(tensor.dtype))
    if dtype is DType.STRING:
        return True
    if not is_small(tensor) or dtype.kind == "complex":
        return False
    array = array_of(tensor)
    if array.size == 0:
        return True
    again = np.array(_evaluated(elements(array, dtype)), dtype.numpy)
    return again.reshape(array.shape).tobytes() == array.tobytes()


def tuple_of(items: list[Text]) -> Bracketed:
    """`(a, b)`"""
    return Bracketed("(", tuple(items), ")")
