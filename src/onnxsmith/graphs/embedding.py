"""An existing model called where a graph is being made: it becomes a function of that graph's program.

Its weights become constants of the function, and share their memory with the model's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import onnx_ir as ir

from onnxsmith.errors import ModelInputError
from onnxsmith.graphs.builder import GraphTarget
from onnxsmith.graphs.function import FunctionBody, call_function
from onnxsmith.graphs.ir_types import type_from_ir
from onnxsmith.graphs.opsets import OpsetVersions
from onnxsmith.schema import registry
from onnxsmith.schema.inference.known import Known
from onnxsmith.types.value_types import AnyValueType, TensorType

#: The domain of functions that were models.
DOMAIN = "this.models"


def call_model(scope: GraphTarget, model: ir.Model, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of a model, called on values of a graph being made."""
    wanted = [each for each in model.graph.inputs if each.name not in model.graph.initializers]
    lifted = [scope.lift(each) for each in inputs]
    for value, given in zip(wanted, lifted, strict=True):
        _check(value.name or "", type_from_ir(value.type, value.shape), given.known.type)
    held: dict[int, tuple[ir.Model, FunctionBody]] = scope.program.models
    if id(model) not in held:
        held[id(model)] = (model, _make_body(scope, model))
    outputs = [Known(_without_names(type_from_ir(each.type, each.shape))) for each in model.graph.outputs]
    return call_function(scope, held[id(model)][1], lifted, {}, outputs)


def _check(name: str, wanted: AnyValueType, given: AnyValueType) -> None:
    if (
        isinstance(wanted, TensorType)
        and isinstance(given, TensorType)
        and None not in (wanted.dtype, given.dtype)
    ) and wanted.dtype is not given.dtype:
        raise ModelInputError(
            f"input '{name}' of the model is {wanted.described}, and was given {given.described}"
        )


def _without_names(kind: AnyValueType) -> AnyValueType:
    """Names of dimensions mean something in their own model only."""
    if not isinstance(kind, TensorType) or kind.shape is None:
        return kind
    return TensorType(kind.dtype, tuple(each if isinstance(each, int) else None for each in kind.shape))


def _make_body(scope: GraphTarget, model: ir.Model) -> FunctionBody:
    graph = model.graph.clone()
    graph.opset_imports.update(model.opset_imports)
    constants: list[ir.Node] = []
    for name, value in list(graph.initializers.items()):
        assert value.const_value is not None  # an initializer has a value
        constant = ir.Node(
            "", "Constant", [], [ir.AttrTensor("value", value.const_value)], name=f"{name}_constant"
        )
        constant.outputs[0].name = name
        constant.outputs[0].type, constant.outputs[0].shape = value.type, value.shape
        ir.convenience.replace_all_uses_with(value, constant.outputs[0])
        constants.append(constant)
        if value in graph.inputs:
            graph.inputs.remove(value)
        del graph.initializers[name]
    first = next(iter(graph), None)
    if first is not None:
        graph.insert_before(first, constants)
    else:
        graph.extend(constants)
    function = ir.Function(DOMAIN, _name(scope, graph), graph=graph, attributes=[])
    return FunctionBody(function, dict(model.functions), _opsets(model))


def _name(scope: GraphTarget, graph: ir.Graph) -> str:
    wish = re.sub(r"\W+", "_", graph.name or "model").strip("_") or "model"
    taken = {name for domain, name, _ in scope.program.functions if domain == DOMAIN}
    number, name = 0, wish
    while name in taken:
        number += 1
        name = f"{wish}_{number}"
    return name


def _opsets(model: ir.Model) -> OpsetVersions:
    """The versions that the model's operators agree with."""
    opsets = OpsetVersions(model.opset_imports.get("", 1))
    used = {(node.domain, node.op_type): None for node in model.graph.all_nodes()}
    if model.graph.initializers:
        used["", "Constant"] = None  # what the weights become
    for domain, name in used:
        version = model.opset_imports.get(domain)
        definition = None if version is None else registry.find(domain, name, version)
        if definition is not None:
            opsets.use(definition, version)
    return opsets
