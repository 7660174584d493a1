"""`model.bind_inputs(x=array)`: inputs that have their values from now on."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir
from numpy.typing import ArrayLike

from onnxsmith.diagnostics import did_you_mean
from onnxsmith.errors import ModelInputError
from onnxsmith.graphs import model_inputs
from onnxsmith.graphs.ir_types import dimensions_of
from onnxsmith.graphs.model import Model, ModelLike, Port, model_of
from onnxsmith.graphs.model_boundary import model_boundary
from onnxsmith.graphs.model_inputs import described_inputs
from onnxsmith.graphs.named_tensors import named_tensor
from onnxsmith.graphs.weights import Weight
from onnxsmith.passes.surgery.dimensions import substitute
from onnxsmith.passes.surgery.holding import ModelContent, finished, read
from onnxsmith.passes.surgery.naming import by_name, tensor_of
from onnxsmith.passes.surgery.part import replace_values
from onnxsmith.schema.inference.broadcasting import contradict
from onnxsmith.types.value_types import TensorType

#: Before this IR version every initializer is an input, which a caller may replace.
_INITIALIZERS_ARE_NO_INPUTS = 4


@model_boundary
def bind_inputs(
    model: ModelLike, inputs: Mapping[str, ArrayLike] | None = None, /, **named: ArrayLike
) -> Model:
    """The model with values for some of its inputs: they are initializers then, and no inputs any more.

    Inputs are given by name, or as a mapping where a name is no identifier. Dimensions that the values decide are those
    sizes in the whole model.

    >>> import numpy as np
    >>> from onnxsmith import FLOAT, opset21 as op, trace
    >>> model = trace(lambda a, b: op.Mul(a, b), FLOAT["N"], FLOAT["N"])
    >>> model.bind_inputs(b=np.float32([1, 2, 3]))
    Model(a: FLOAT[3]) -> mul: FLOAT[3], 1 node, opset 21
    """
    model = model_of(model, "bind_inputs")
    given = by_name(inputs, named, "bind_inputs")
    ports = {port.name: port for port in (*model.inputs, *model.optional_inputs)}
    tensors = {name: _tensor(model, ports, name, value) for name, value in given.items()}
    sizes = _sizes(list(ports.values()), tensors)
    held = read(model).copy()
    for name, tensor in tensors.items():
        _bind(held, name, tensor)
    substitute(held, sizes)
    return finished(held)


def _tensor(model: Model, ports: Mapping[str, Port], name: str, value: object) -> ir.TensorProtocol:
    """The tensor for an input; refused where it is not of the input's type."""
    port = ports.get(name)
    if port is None:
        raise ModelInputError(
            f"the model has no input '{name}'",
            help=did_you_mean(name, ports) or described_inputs(model.inputs, model.optional_inputs),
            culprit=name,
        )
    if not isinstance(port.type, TensorType):
        raise ModelInputError(
            f"input '{name}' is {port.type.described}, and only tensors can be bound", culprit=name
        )
    if value is None:
        raise ModelInputError(f"None is no value for input '{name}'", culprit=name)
    if isinstance(value, Weight) and not contradict(port.type, value.type):
        return named_tensor(value.tensor, name)
    try:
        return tensor_of(model_inputs.feed(port, value), name)
    except ModelInputError as error:
        error.culprit = ("attribute", name)
        raise


def _sizes(ports: list[Port], tensors: Mapping[str, ir.TensorProtocol]) -> dict[str, int]:
    """The sizes of the dimensions that are decided; refused where two values disagree."""
    bound = [port for port in ports if port.name in tensors]
    shapes = [TensorType(None, dimensions_of(tensors[port.name])) for port in bound]
    model_inputs.check_names(bound, shapes, tensors, [])
    return model_inputs.sizes(bound, shapes)


def _bind(held: ModelContent, name: str, tensor: ir.TensorProtocol) -> None:
    graph = held.graph
    value = next(each for each in graph.inputs if each.name == name)
    graph.inputs.remove(value)
    graph.initializers.pop(name, None)
    value.type = value.type or ir.TensorType(tensor.dtype)
    value.shape = ir.Shape(dimensions_of(tensor))
    if held.ir.ir_version >= _INITIALIZERS_ARE_NO_INPUTS:
        value.const_value = tensor
        graph.register_initializer(value)
        return
    node = ir.Node("", "Constant", [], [ir.AttrTensor("value", tensor)], num_outputs=1, name=None)
    made = node.outputs[0]
    made.name, made.type, made.shape = name, value.type, value.shape
    first = next(iter(graph), None)
    if first is None:
        graph.append(node)
    else:
        graph.insert_before(first, node)
    replace_values(graph, {value: made})
