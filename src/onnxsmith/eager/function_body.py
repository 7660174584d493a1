"""An operator's own definition in terms of other operators, as a model that a runtime can run instead of it.

Expands what the installed onnx defines as a function; runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import onnx
from onnx import defs, inliner

from onnxsmith.eager import versions
from onnxsmith.eager.single_node import Call, feed_types, make_model, make_node


def expanded_model(call: Call) -> onnx.ModelProto | None:
    """The model of a call with the operator replaced by its function body; None when it has none."""
    function = _function(call)
    if function is None:
        return None
    model = make_model(call)
    node = model.graph.node[0]
    names = _renaming(function, node)
    attributes = {attribute.name: attribute for attribute in node.attribute}
    for default in function.attribute_proto:
        attributes.setdefault(default.name, default)
    for name, attribute in _schema_defaults(call).items():
        attributes.setdefault(name, attribute)
    del model.graph.node[:]
    model.graph.node.extend(_renamed(function.node, names, attributes, "body_"))
    del model.opset_import[:]
    model.opset_import.extend(function.opset_import)
    versions.lower_opsets(model)
    model.ir_version = versions.lowest_ir_version(model)
    return model


def _schema(call: Call) -> defs.OpSchema | None:
    try:
        return defs.get_schema(call.op.name, call.op.since_version, call.op.domain)
    except defs.SchemaError:
        return None


def _schema_defaults(call: Call) -> dict[str, onnx.AttributeProto]:
    schema = _schema(call)
    if schema is None:
        return {}
    found = {name: attribute.default_value for name, attribute in schema.attributes.items()}
    return {name: value for name, value in found.items() if value.type != onnx.AttributeProto.UNDEFINED}


def _function(call: Call) -> onnx.FunctionProto | None:
    schema: Any = _schema(call)  # onnx's stubs do not know what its schemas say of functions
    if schema is None:
        return None
    function = onnx.FunctionProto()
    if schema.has_function:
        version = max(schema.function_opset_versions)
        function.ParseFromString(schema.get_function_with_opset_version(version))
        return function
    if schema.has_context_dependent_function:
        node = make_node(call)
        types = [
            onnx.TypeProto() if each is None else each for each in feed_types(call)[: len(call.input_types)]
        ]
        version = max(schema.context_dependent_function_opset_versions)
        content = schema.get_context_dependent_function_with_opset_version(
            version, node.SerializeToString(), [each.SerializeToString() for each in types]
        )
        function.ParseFromString(content)
        return function if function.node else None
    return None


def _renaming(function: onnx.FunctionProto, node: onnx.NodeProto) -> dict[str, str]:
    """Formal names of inputs and outputs to the node's; inputs that were left out become holes."""
    names = dict.fromkeys(function.input, "")
    names.update(zip(function.input, node.input, strict=False))
    names.update(zip(function.output, node.output, strict=False))
    return names


def _renamed(
    nodes: Iterable[onnx.NodeProto],
    names: Mapping[str, str],
    attributes: Mapping[str, onnx.AttributeProto],
    prefix: str,
) -> list[onnx.NodeProto]:
    """Copies of a function's nodes with the call's names and attributes in place of the formal ones."""
    copies: list[onnx.NodeProto] = []

    def name_of(name: str) -> str:
        return names[name] if name in names else (prefix + name if name else "")

    for node in nodes:
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        copy.input[:] = [name_of(each) for each in node.input]
        copy.output[:] = [name_of(each) for each in node.output]
        del copy.attribute[:]
        for attribute in node.attribute:
            if attribute.ref_attr_name:
                given = attributes.get(attribute.ref_attr_name)
                if given is None:
                    continue
                fresh = copy.attribute.add()
                fresh.CopyFrom(given)
                fresh.name = attribute.name
                continue
            fresh = copy.attribute.add()
            fresh.CopyFrom(attribute)
            if attribute.type == onnx.AttributeProto.GRAPH:
                del fresh.g.node[:]
                fresh.g.node.extend(_renamed(attribute.g.node, names, attributes, prefix))
                for infos, originals in (
                    (fresh.g.input, attribute.g.input),
                    (fresh.g.output, attribute.g.output),
                ):
                    for info, original in zip(infos, originals, strict=True):
                        info.name = name_of(original.name)
                for tensor in fresh.g.initializer:
                    tensor.name = name_of(tensor.name)
        copies.append(copy)
    return copies


def inlined_model(model: onnx.ModelProto) -> onnx.ModelProto:
    """A model with every operator that has a function body replaced, as deep as they go."""
    inlined = inliner.inline_selected_functions(model, [], exclude=True, inline_schema_functions=True)
    versions.lower_opsets(inlined)
    return inlined
