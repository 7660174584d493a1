"""Casts of single numbers that a rewrite put in, done at once: the model then holds the number in the other type."""

from __future__ import annotations

import onnx_ir as ir

from onnxsmith.types.dtypes import DType

#: The first IR version in which an initializer need not be an input.
_OLDEST_IR_VERSION = 4


def cast_constants(model: ir.Model, given: ir.Model) -> None:
    """Replace the casts of single constants that a model has and the one that it was made of does not.

    Larger constants stay as they are: they may be weights, which are not copied, and are known by their names.
    """
    if model.ir_version < _OLDEST_IR_VERSION:
        return
    graph = model.graph
    before = {each.name for node in given.graph for each in node.outputs}
    replaceable = {each.name for each in graph.inputs}
    sources: dict[str, ir.Value] = {}
    for node in list(graph):
        result = node.outputs[0]
        source = node.inputs[0] if node.op_type == "Cast" and not node.domain else None
        if source is None or result.name in before or source.name in replaceable:
            continue
        if (
            source.name not in graph.initializers
            or source.const_value is None
            or source.const_value.size != 1
        ):
            continue
        dtype = DType(node.attributes["to"].as_int())
        array = source.const_value.numpy().astype(dtype.numpy)
        tensor = ir.tensor(array, dtype=ir.DataType(int(dtype)), name=result.name)
        value = ir.Value(
            name=result.name, type=ir.TensorType(tensor.dtype), shape=source.shape, const_value=tensor
        )
        ir.convenience.replace_all_uses_with(result, value)
        graph.remove(node, safe=True)
        graph.register_initializer(value)
        sources[source.name or ""] = source
    outputs = {each.name for each in graph.outputs}
    for name, source in sources.items():
        if not source.uses() and name not in outputs:
            del graph.initializers[name]
