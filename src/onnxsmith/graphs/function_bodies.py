"""The definition of an operator by other operators, as the installed onnx has it, for one node.

Finds a definition and puts a node's names and attributes into it. The caller puts it in the place of the node.
The function says in which opset it is written. onnx has an inliner of its own, which loses the defaults of
attributes.
"""

from __future__ import annotations

from typing import Any

import onnx
from onnx import defs

from onnxsmith.graphs.rewriting.copies import copied_nodes
from onnxsmith.graphs.rewriting.scopes import names_around

#: Names of values that a node's bodies read from around it begin with this while a definition is made, which has names
#: of its own.
_AROUND = "\0around:"


def schema_of(node: onnx.NodeProto, version: int) -> Any:
    """onnx's definition of a node's operator in a version of its domain; None where there is none."""
    try:
        return defs.get_schema(node.op_type, version, node.domain)
    except defs.SchemaError:
        return None


def function_of(
    schema: Any, node: onnx.NodeProto, types: list[onnx.TypeProto], newest: int
) -> onnx.FunctionProto | None:
    """The function that defines an operator, for a node with inputs of these types; for an opset up to `newest`."""
    function = onnx.FunctionProto()
    written = [each for each in schema.function_opset_versions if each <= newest]
    if schema.has_function and written:
        function.ParseFromString(schema.get_function_with_opset_version(max(written)))
        return function
    node = _with_marks(node)
    written = [each for each in schema.context_dependent_function_opset_versions if each <= newest]
    if schema.has_context_dependent_function and written:
        content = schema.get_context_dependent_function_with_opset_version(
            max(written), node.SerializeToString(), [each.SerializeToString() for each in types]
        )
        function.ParseFromString(content)
        return function if function.node else None
    return None


def opsets_of_functions(schema: Any) -> list[int]:
    """The opsets that an operator's function is written in; several where operators that it uses have changed."""
    written = {*(schema.function_opset_versions if schema.has_function else ())}
    if schema.has_context_dependent_function:
        written.update(schema.context_dependent_function_opset_versions)
    return sorted(written)


def body_of(
    node: onnx.NodeProto, function: onnx.FunctionProto, schema: Any, prefix: str
) -> list[onnx.NodeProto]:
    """A function's nodes with a node's names and attributes in place of the formal ones.

    `schema` is that of an operator; a model's own function has none.
    """
    names = dict.fromkeys(function.input, "")  # inputs that were left out become holes
    names.update(zip(function.input, node.input, strict=False))
    passed: list[tuple[str, str]] = []
    for formal, actual in zip(function.output, node.output, strict=False):
        if actual and formal in names:  # it is an input, or given twice
            passed.append((names[formal], actual))
        elif actual:
            names[formal] = actual
    names.update((_AROUND + each, each) for each in names_around(node))
    attributes = {attribute.name: attribute for attribute in _with_marks(node).attribute}
    for default in function.attribute_proto:
        attributes.setdefault(default.name, default)
    for name, formal in () if schema is None else schema.attributes.items():
        if formal.default_value.type != onnx.AttributeProto.UNDEFINED:
            attributes.setdefault(name, formal.default_value)
    copies = copied_nodes(function.node, names, attributes, prefix)
    return copies + [onnx.helper.make_node("Identity", [name], [actual]) for name, actual in passed]


def _with_marks(node: onnx.NodeProto) -> onnx.NodeProto:
    """The node with other names for what its bodies read from around it; the same one if they read nothing."""
    names = names_around(node)
    if not names:
        return node
    (marked,) = copied_nodes([node], {each: _AROUND + each for each in names})
    marked.input[:], marked.output[:] = node.input, node.output
    return marked
