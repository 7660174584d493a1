"""Weights prepared before the model runs: transposed for the product, and scaled by the batch normalisation behind.

The tensors that stand for them compute when they are written, so that no second copy of a module's weights is held.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx_ir as ir

from onnxsmith.graphs.notes import WEIGHT_KEY
from onnxsmith.torch.fusing import Fuser, dimensions, ints, number, single


def transposed_weight(fuser: Fuser, node: ir.Node) -> Sequence[ir.Node] | None:
    """`Transpose` of a weight that is used in no other way: the weight is stored transposed."""
    weight = node.inputs[0]
    order = ints(node, "perm")
    if weight is None or not _is_weight(weight) or order != [1, 0] or node.outputs[0].is_graph_output():
        return None
    users = [use.node for use in weight.uses()]
    if any(
        each.op_type != "Transpose" or ints(each, "perm") != order or each.graph is not fuser.graph
        for each in users
    ):
        return None
    source = weight.const_value
    assert source is not None
    shape = list(reversed(dimensions(weight)))
    value = _computed(fuser, f"{weight.name}.T", source, shape, lambda: np.transpose(source.numpy()))
    for each in users:
        each.outputs[0].replace_all_uses_with(value)
        fuser.remove(each)
    return None


def normalised_convolution(fuser: Fuser, node: ir.Node) -> Sequence[ir.Node] | None:
    """`BatchNormalization` of a convolution: another weight and bias of the convolution."""
    convolution = single(node.inputs[0], "Conv")
    if convolution is None or len([each for each in node.outputs if each.uses()]) > 1:
        return None
    given = [*convolution.inputs[1:], *node.inputs[1:]]
    if len(node.outputs) != 1 or any(each is None or not _is_stored(each) for each in given):
        return None
    weight = convolution.inputs[1]
    assert weight is not None
    if len(weight.uses()) != 1:
        return None
    tensors = [each.const_value for each in given if each is not None]
    weight_tensor, statistics = tensors[0], tensors[-4:]
    bias = tensors[1] if len(convolution.inputs) > 2 else None
    epsilon = number(node, "epsilon", 1e-5)

    def factor() -> np.ndarray[Any, Any]:
        scale, variance = (each.numpy().astype(np.float64) for each in (statistics[0], statistics[3]))  # type: ignore[union-attr]
        return scale / np.sqrt(variance + epsilon)

    def new_weight() -> np.ndarray[Any, Any]:
        array = weight_tensor.numpy()  # type: ignore[union-attr]
        return (array * factor().reshape(-1, *[1] * (array.ndim - 1))).astype(array.dtype)

    def new_bias() -> np.ndarray[Any, Any]:
        shift, mean = (each.numpy().astype(np.float64) for each in statistics[1:3])  # type: ignore[union-attr]
        before = 0.0 if bias is None else bias.numpy().astype(np.float64)
        return ((before - mean) * factor() + shift).astype(weight_tensor.numpy().dtype)  # type: ignore[union-attr]

    assert weight_tensor is not None
    shape = dimensions(weight)
    values = [
        _computed(fuser, f"{weight.name}.normalised", weight_tensor, shape, new_weight),
        _computed(fuser, f"{weight.name}.normalised_bias", weight_tensor, shape[:1], new_bias),
    ]
    made = fuser.node("Conv", [convolution.inputs[0], *values], node)
    made.attributes.update(convolution.attributes)
    return [made]


def _is_stored(value: ir.Value) -> bool:
    return value.const_value is not None and value.is_initializer() and not value.is_graph_input()


def _is_weight(value: ir.Value) -> bool:
    return _is_stored(value) and WEIGHT_KEY in value.meta


def _computed(
    fuser: Fuser,
    name: str,
    like: ir.TensorProtocol,
    shape: list[Any],
    function: Callable[[], np.ndarray[Any, Any]],
) -> ir.Value:
    """An initializer whose content is computed when it is read."""
    tensor = ir.LazyTensor(
        lambda: ir.Tensor(np.ascontiguousarray(function()), dtype=like.dtype),
        dtype=like.dtype,
        shape=ir.Shape(shape),
        name=name,
    )
    value = fuser.initializer(tensor, name)
    value.meta[WEIGHT_KEY] = name
    return value
