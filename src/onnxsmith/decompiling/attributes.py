"""Attributes of a node as keyword arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import onnx_ir as ir

from onnxsmith.decompiling.layout import Text, call, listed
from onnxsmith.decompiling.literals import literal, number, text_of, tuple_of, type_text
from onnxsmith.errors import DecompileError
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.schema.definition import OperatorDef
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import MapType, TensorType

if TYPE_CHECKING:
    from onnxsmith.decompiling.script_writer import ScriptWriter

_Kind = ir.AttributeType
#: The texts of plain attributes, and of the items of lists.
_PLAIN: dict[ir.AttributeType, Callable[[Any], Text]] = {
    _Kind.FLOAT: lambda value: number(float(value)),
    _Kind.INT: lambda value: str(int(value)),
    _Kind.STRING: text_of,
}
_LISTED = {_Kind.FLOATS: _PLAIN[_Kind.FLOAT], _Kind.INTS: _PLAIN[_Kind.INT], _Kind.STRINGS: text_of}
_LISTS = (_Kind.INTS, _Kind.FLOATS, _Kind.STRINGS, _Kind.TENSORS, _Kind.TYPE_PROTOS)


def attribute_text(
    script: ScriptWriter, node: ir.Node, attribute: ir.Attr, op: OperatorDef | None
) -> Text | None:
    """The value of an attribute; None where a call cannot say it, and the details do."""
    if attribute.is_ref():
        named = script.parameters.get(attribute.ref_attr_name or "")
        if named is None:
            raise DecompileError(
                f"the attribute {attribute.name!r} of {node.op_type} {node.name or ''!r} is that of a function "
                f"({attribute.ref_attr_name!r}), and no function around it has one",
                help="give the attribute a value, or declare it in the function",
            )
        return named
    value = attribute.value
    is_unchecked = op is None and node.op_identifier() not in script.module.functions
    if is_unchecked and attribute.type in _LISTS and not value:  # nothing in it says what it is a list of
        script.notes.unsaid(node, attribute)
        return None
    formal = None if op is None else op.attributes.get(attribute.name)
    if formal is not None and formal.names_dtype and value in DType._value2member_map_:
        name = DType(value).name
        script.module.used.add(name)
        return name
    return _value(script, node, attribute.name, attribute.type, value)


def _value(script: ScriptWriter, node: ir.Node, name: str, kind: ir.AttributeType, value: Any) -> Text:
    if kind in _PLAIN:
        return _PLAIN[kind](value)
    if kind in _LISTED:
        return listed([_LISTED[kind](each) for each in value])
    match kind:
        case _Kind.TENSOR:
            return _tensor(script, node, name, value)
        case _Kind.TENSORS:
            return listed([_tensor(script, node, f"{name}.{k}", each) for k, each in enumerate(value)])
        case _Kind.TYPE_PROTO:
            return _type(script, node, name, value)
        case _Kind.TYPE_PROTOS:
            return listed([_type(script, node, name, each) for each in value])
        case _:
            return script.module.sparse(node, name, value)


def _type(script: ScriptWriter, node: ir.Node, name: str, value: Any) -> Text:
    kind = innermost = type_from_ir(value.type, value.shape)
    while not isinstance(innermost, TensorType):
        innermost = innermost.value if isinstance(innermost, MapType) else innermost.element
    if innermost.dtype is None:
        raise DecompileError(
            f"the attribute {name!r} of {node.op_type} {node.name or ''!r} is a type without an element type",
            help="give the type an element type",
        )
    return type_text(kind, script.module.used)


def _tensor(script: ScriptWriter, node: ir.Node, name: str, tensor: ir.TensorProtocol) -> Text:
    dtype = DType(int(tensor.dtype))
    said = literal(tensor) if dtype.is_native and not tensor.doc_string else None
    if said is None:
        first = next((value.name for value in node.outputs if value.name), "")
        key = first if node.op_type == "Constant" else f"{first}.{name}"
        return script.module.stored(key or name, tensor)
    script.module.needs_numpy = True
    return call("np.array", [said[1], f"np.{_numpy_name(dtype)}"])


def _numpy_name(dtype: DType) -> str:
    return "bool_" if dtype is DType.BOOL else dtype.spelling


def default_text(kind: ir.AttributeType, value: Any) -> Text | None:
    """The default of an attribute parameter; None for kinds that have no text."""
    if kind in _PLAIN:
        return _PLAIN[kind](value)
    return tuple_of([_LISTED[kind](each) for each in value]) if kind in _LISTED else None
