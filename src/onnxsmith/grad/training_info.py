"""Training information of a file, as a model: the graph and the algorithm in one, and what is updated as outputs.

Works on the ModelProto, as the information stands beside the graph. Its nodes are `preview`'s.
"""

from __future__ import annotations

import onnx

from onnxsmith.diagnostics import did_you_mean
from onnxsmith.errors import AttributeValueError, UnknownNameError


def combined(model: onnx.ModelProto, stage: int) -> onnx.ModelProto:
    """One step of training as a model; the model itself where it has no training information."""
    if not model.training_info:
        return model
    if not 0 <= stage < len(model.training_info):
        raise AttributeValueError(
            f"the model has {len(model.training_info)} stages of training, and no stage {stage}",
            culprit=("attribute", "stage"),
        )
    info = model.training_info[stage]
    made = onnx.ModelProto()
    made.CopyFrom(model)
    del made.training_info[:]
    graph, algorithm = made.graph, info.algorithm
    outputs = [*model.graph.output, *algorithm.output]
    graph.node.extend(algorithm.node)
    graph.input.extend(algorithm.input)
    graph.initializer.extend(algorithm.initializer)
    graph.sparse_initializer.extend(algorithm.sparse_initializer)
    graph.value_info.extend(algorithm.value_info)
    del graph.output[:]
    bound = {entry.key: entry.value for entry in info.update_binding}
    graph.output.extend(each for each in outputs if each.name not in bound.values())
    _bind(graph, bound, outputs)
    return made


def _bind(graph: onnx.GraphProto, bound: dict[str, str], outputs: list[onnx.ValueInfoProto]) -> None:
    """Make what is updated an input with its value as the default, and what it becomes an output."""
    held = {each.name: each for each in graph.initializer}
    taken = {each.name for each in graph.input}
    types = {each.name: each.type for each in outputs}
    for name, value in bound.items():
        if name not in held:
            raise UnknownNameError(
                f"the training information updates '{name}', which is no initializer",
                help=did_you_mean(name, held),
            )
        tensor = held[name]
        kind = onnx.helper.make_tensor_type_proto(tensor.data_type, tensor.dims)
        if name not in taken:
            graph.input.append(onnx.helper.make_value_info(name, kind))
        graph.node.add(op_type="Identity", input=[value], output=[f"{name}_next"])
        graph.output.append(onnx.helper.make_value_info(f"{name}_next", types.get(value, kind)))
