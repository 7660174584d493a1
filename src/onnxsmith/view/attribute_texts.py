"""Attributes as text, the few words that stand on a node, and the tensor that a `Constant` holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import onnx_ir as ir

from onnxsmith.diagnostics import clipped, printable
from onnxsmith.types.dtypes import DType

_LONGEST = 600
_LONGEST_SUMMARY = 34
#: Tensors of as many elements are shown whole.
SMALL_TENSOR = 64

#: The first of these that a node has stand on it, where nothing below says otherwise.
_TELLING = (
    "axis",
    "axes",
    "perm",
    "to",
    "num_heads",
    "equation",
    "mode",
    "alpha",
    "epsilon",
    "keepdims",
    "direction",
    "hidden_size",
    "blocksize",
    "approximate",
)


def attribute_text(attribute: ir.Attr) -> str:
    """The value of an attribute that holds no graph."""
    if attribute.is_ref():
        return f"@{printable(attribute.ref_attr_name or '')}"
    value: Any = attribute.value
    match attribute.type:
        case ir.AttributeType.TENSOR:
            return tensor_text(value)
        case ir.AttributeType.TENSORS:
            return clipped("[" + ", ".join(tensor_text(each) for each in list(value)[:8]) + "]", _LONGEST)
        case ir.AttributeType.FLOAT:
            return _float(value)
        case ir.AttributeType.FLOATS:
            return _sequence([_float(each) for each in value[:200]], len(value))
        case ir.AttributeType.INTS:
            return _sequence([str(each) for each in value[:200]], len(value))
        case ir.AttributeType.STRING:
            return clipped(printable(repr(value)), _LONGEST)
        case ir.AttributeType.STRINGS:
            return _sequence([clipped(printable(repr(each)), 80) for each in value[:40]], len(value))
        case _:
            return clipped(printable(str(value)), _LONGEST)


def _sequence(parts: Sequence[str], count: int) -> str:
    more = f", … {count - len(parts)} more" if count > len(parts) else ""
    return clipped(f"[{', '.join(parts)}{more}]", _LONGEST)


def _float(value: float) -> str:
    return repr(float(np.float32(value))) if abs(value) > 1e-30 and len(repr(value)) < 8 else f"{value:.7g}"


def tensor_text(tensor: ir.TensorProtocol) -> str:
    """Type, shape and, of a small tensor, the elements."""
    dims = [int(each) for each in cast(Any, tensor.shape)]
    head = f"{tensor.dtype.name}{dims}" if dims else tensor.dtype.name
    elements = elements_text(tensor)
    return f"{head} {elements}" if elements else head


def elements_text(tensor: ir.TensorProtocol) -> str:
    """The elements of a small tensor; empty for a large one, and where they cannot be read."""
    if tensor.size > SMALL_TENSOR:
        return ""
    try:
        array = np.asarray(tensor.numpy())
    except Exception:  # a stranger's tensor: its data may be missing or too short
        return ""
    if tensor.dtype == ir.DataType.STRING:
        shown: object = array.tolist()  # bytes, of whatever encoding
    else:
        shown = np.asarray(array, array.dtype if array.dtype.kind in "biuc" else np.float64).tolist()
    return clipped(printable(_nested(shown)), _LONGEST)


def _nested(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_nested(each) for each in cast("list[object]", value)) + "]"
    if isinstance(value, bytes):
        return repr(value.decode("utf-8", "replace"))
    return f"{value:.6g}" if isinstance(value, float | complex) else repr(value)


def constant_of(node: ir.Node) -> ir.TensorProtocol | None:
    """The tensor that a `Constant` holds, whichever attribute says it."""
    if node.op_type != "Constant" or node.domain not in ("", "ai.onnx"):
        return None
    for name, attribute in node.attributes.items():
        if attribute.is_ref():
            return None
        value: Any = attribute.value
        match name:
            case "value":
                return value if attribute.type == ir.AttributeType.TENSOR else None
            case "value_float" | "value_floats":
                return ir.tensor(np.asarray(value, np.float32))
            case "value_int" | "value_ints":
                return ir.tensor(np.asarray(value, np.int64))
            case _:
                return None
    return None


def summary_of(node: ir.Node) -> str:
    """The line under the operator's name: `3×3 /2 pad 1` for a convolution, `axis 1` for many."""
    values = {
        name: each.value
        for name, each in node.attributes.items()
        if not each.is_ref() and each.type in _PLAIN_KINDS
    }
    if "kernel_shape" in values:
        return _window(values)
    for name in _TELLING:
        if name in values:
            value = DType(values[name]).spelling if name == "to" and values[name] in _CODES else values[name]
            text = "×".join(map(str, _many(value))) or _plain(value)
            return clipped(printable(f"{name} {text}" if name != "to" else f"to {text}"), _LONGEST_SUMMARY)
    return ""


_CODES = frozenset(int(each) for each in DType)
_PLAIN_KINDS = (
    ir.AttributeType.INT,
    ir.AttributeType.INTS,
    ir.AttributeType.FLOAT,
    ir.AttributeType.STRING,
)


def _many(value: object) -> list[Any]:
    return list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple | list) else []


def _plain(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _window(values: Mapping[str, Any]) -> str:
    def joined(name: str) -> list[int]:
        return [int(each) for each in _many(values.get(name))]

    parts = ["×".join(map(str, joined("kernel_shape")))]
    strides, pads, dilations = joined("strides"), joined("pads"), joined("dilations")
    if any(each != 1 for each in strides):
        parts.append("/" + "×".join(map(str, dict.fromkeys(strides))))
    if any(pads):
        parts.append("pad " + "×".join(map(str, dict.fromkeys(pads))))
    if any(each != 1 for each in dilations):
        parts.append("dilated " + "×".join(map(str, dict.fromkeys(dilations))))
    if values.get("group", 1) != 1:
        parts.append(f"group {values['group']}")
    return clipped(" ".join(parts), _LONGEST_SUMMARY)
