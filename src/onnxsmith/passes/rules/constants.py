"""Constants of a model, compared with the literals of a pattern: by value, within their precision."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx_ir as ir

from onnxsmith.graphs.agreement import Tolerance, as_wide, disagreeing
from onnxsmith.graphs.elements import differing
from onnxsmith.passes.cleanup.constants import constant_tensor
from onnxsmith.passes.editor import Editor
from onnxsmith.passes.rules.pattern import Literal
from onnxsmith.passes.values import Array, made_by
from onnxsmith.types.annotations import AttributeAnnotation

#: A constant may be this many steps of its own precision away from a literal: 0.7071 was computed, and rounded.
_STEPS = 2
#: Operators whose inputs are broadcast, where a constant of one element may have any rank that is not the largest.
BROADCASTING = frozenset(
    {
        "Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater",
        "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean", "Min", "Mod", "Mul", "Or", "PRelu", "Pow", "Sub",
        "Sum", "Where", "Xor",
    }
)  # fmt: skip


def tensor_of(edit: Editor, value: ir.Value | None) -> ir.TensorProtocol | None:
    """The tensor of a constant: an initializer that is no input, or what a Constant node gives, however it says it.

    A weight that may get other content one day is none.
    """
    if value is not None and not edit.is_fixed(value):
        return None
    found = edit.tensor(value)
    if found is None:
        node = made_by(value, "Constant")
        found = None if node is None else constant_tensor(node)
    return found


def array_of(edit: Editor, value: ir.Value | None, most: int | None = None) -> Array | None:
    """The content of a constant; None for what is none, or has more elements than `most`."""
    tensor = tensor_of(edit, value)
    if tensor is None or (most is not None and tensor.size > most):
        return None
    return (
        edit.array(value)
        if edit.tensor(value) is tensor and tensor.dtype != ir.DataType.STRING
        else tensor.numpy()
    )


def read_only(array: Array) -> Array:
    """The same array for people who must not change it: a weight is shared with the model that was given."""
    view = array.view()
    view.flags.writeable = False
    return view


def number_of(edit: Editor, value: ir.Value | None, most: int) -> Array | None:
    """The same, also behind the cast that a literal has where its type is that of another value."""
    cast_node = made_by(value, "CastLike")
    return array_of(edit, cast_node.inputs[0] if cast_node is not None else value, most)


def is_same(literal: Literal, found: Array) -> bool:
    """True if a constant is what a pattern says; its shape is looked at by who knows what it is for."""
    expected = literal.array
    if expected.ndim and not literal.is_open:
        return (
            expected.dtype == found.dtype
            and expected.shape == found.shape
            and not differing(expected.reshape(-1), found.reshape(-1)).any()
        )
    if expected.ndim and expected.shape != found.shape:
        return False
    if not _is_number(expected) or not _is_number(found):
        return expected.dtype.kind == found.dtype.kind and bool(np.all(expected == found))
    if _is_float(expected) and not _is_float(found):
        return False
    if not _is_float(found):
        return expected.reshape(-1).tolist() == found.reshape(-1).tolist()
    wanted, given = as_wide(expected).reshape(-1), as_wide(found).reshape(-1)
    return not disagreeing(wanted, given, Tolerance(own=_STEPS * _precision(found))).any()


def captured_value(kind: AttributeAnnotation, found: Array) -> object | None:
    """A constant as the Python value that a parameter captures; None where it is another kind of value."""
    if kind.is_list:
        if found.ndim != 1:
            return None
        items = [_captured_scalar(kind.scalar, each) for each in found]
        return None if any(each is None for each in items) else items
    return _captured_scalar(kind.scalar, found.reshape(-1)[0]) if found.size == 1 else None


def _captured_scalar(wanted: type, found: np.generic) -> object | None:
    array = np.asarray(found)
    if wanted is bool:
        return bool(found) if array.dtype.kind == "b" else None
    if wanted is str:
        text: object = found
        if isinstance(text, bytes):
            return text.decode(errors="replace")
        return text if isinstance(text, str) else None
    if not _is_number(array):
        return None
    if wanted is int:
        number = float(array) if _is_float(array) else int(array)
        return int(number) if number == number and abs(number) != np.inf and int(number) == number else None
    return float(array) if wanted is float and _is_float(array) else None


def _is_float(array: Array) -> bool:
    # What numpy lacks (bfloat16, float8) is of kind V.
    return array.dtype.kind in "fV"


def _is_number(array: Array) -> bool:
    return array.dtype.kind in "iufV"


def _precision(array: Array) -> float:
    return float(ml_dtypes.finfo(array.dtype).eps)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]  # has no types
