"""Weights of a model that does not say which they are, by what reads them: a kernel, a bias, an embedding, a gain.

An array is a weight where an operator of layers reads it as its parameter, where it is added to a product of one, or
where it scales and shifts what was normalised. Single numbers, the mean and the scale of an input, running statistics
and first states are none. What may be one, such as positions that are added, is left to the user.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import onnx_ir as ir

from onnxsmith.graphs.ir_types import dimensions_of
from onnxsmith.passes.values import made_by

#: The inputs of operators that are parameters of layers.
_PARAMETERS: Mapping[tuple[str, str], tuple[int, ...]] = {
    **{("", each): (0, 1) for each in ("MatMul", "Einsum")},
    **{("", each): (1, 2) for each in ("Conv", "ConvTranspose", "BatchNormalization")},
    **{("", each): (1, 2) for each in ("LayerNormalization", "GroupNormalization", "InstanceNormalization")},
    **{("", each): (1, 2, 3, 7) for each in ("LSTM", "GRU", "RNN")},
    ("", "Gemm"): (0, 1, 2),
    ("", "DeformConv"): (1, 3),
    ("", "RMSNormalization"): (1,),
    ("", "PRelu"): (1,),
    ("com.microsoft", "FusedMatMul"): (0, 1),
    ("com.microsoft", "FusedGemm"): (0, 1, 2),
    ("com.microsoft", "FusedConv"): (1, 2),
    ("com.microsoft", "Attention"): (1, 2),
    ("com.microsoft", "SkipLayerNormalization"): (2, 3, 4),
    ("com.microsoft", "EmbedLayerNormalization"): (2, 3, 4, 5, 6),
    ("com.microsoft", "BiasGelu"): (1,),
    ("com.microsoft", "FastGelu"): (1,),
}
#: The inputs that are first states or running statistics.
_STATES: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("LSTM", "GRU", "RNN"), (5, 6)),
    "BatchNormalization": (3, 4),
}
#: Operators whose result a bias is added to.
_PRODUCTS = (
    *("MatMul", "Gemm", "Conv", "ConvTranspose", "Einsum", "DeformConv", "FusedMatMul", "FusedConv"),
    "FusedGemm",
)
_NORMALISATIONS = (
    *("InstanceNormalization", "LayerNormalization", "BatchNormalization", "GroupNormalization"),
    *("RMSNormalization", "MeanVarianceNormalization", "SimplifiedLayerNormalization"),
)
#: Operators that keep the elements of their first input.
_LAYOUTS = ("Transpose", "Reshape", "Unsqueeze", "Squeeze", "Identity", "Cast", "CastLike", "Flatten")
#: The same, which may take a part of a weight or repeat it.
_PARTS = (*_LAYOUTS, "Slice", "Split", "Expand")
#: Operators that a parameter may be an operand of, and a constant as well.
_OPEN = ("Add", "Mul", "Concat", "Expand", "Gather", "Where")
#: How far back a product or a normalisation is looked for.
_FAR = 12


@dataclass(slots=True)
class Roles:
    """The arrays of a model that are weights, and those that may be."""

    weights: list[str] = field(default_factory=list[str])
    open: list[str] = field(default_factory=list[str])


def roles_of(model: ir.Model, arrays: Mapping[str, tuple[ir.Value, ir.TensorProtocol]]) -> Roles:
    """The roles of named arrays, by what reads them."""
    found = Roles()
    for name, (value, tensor) in arrays.items():
        dimensions = dimensions_of(tensor)
        if not tensor.dtype.is_floating_point() or not dimensions or not tensor.size:
            continue
        uses = list(_uses(model, value, set()))
        if any(_is_parameter(node, place, value, len(dimensions)) for value, node, place in uses):
            found.weights.append(name)
        elif any(place in _STATES.get(node.op_type, ()) for _, node, place in uses):
            continue
        elif tensor.size > 1 and any(node.op_type in _OPEN for _, node, _ in uses):
            found.open.append(name)
    return found


def _uses(model: ir.Model, value: ir.Value, seen: set[ir.Value]) -> Iterator[tuple[ir.Value, ir.Node, int]]:
    """The nodes that read a value, also where it is turned, cut or an argument of a function."""
    if value in seen:
        return
    seen.add(value)
    for use in value.uses():
        node, place = use.node, use.idx
        function = model.functions.get(node.op_identifier())
        if function is not None:
            if place < len(function.inputs):
                yield from _uses(model, function.inputs[place], seen)
            continue
        yield value, node, place
        if not node.domain and node.op_type in _PARTS and not place:
            for output in node.outputs:
                yield from _uses(model, output, seen)


def _is_parameter(node: ir.Node, place: int, value: ir.Value, rank: int) -> bool:
    places = _PARAMETERS.get((node.domain, node.op_type))
    if places is not None:
        # A group normalisation that is taken apart normalises instances by ones and zeros, and scales afterwards.
        is_part = node.op_type == "InstanceNormalization" and made_by(node.inputs[0], "Reshape") is not None
        return place in places and not is_part
    if node.domain:
        return False
    if node.op_type == "Gather":
        return not place and rank > 1
    if node.op_type not in ("Add", "Mul") or len(node.inputs) != 2:
        return False
    other = node.inputs[1 - place]
    if other is value:
        return False
    if node.op_type == "Mul":
        return _is_normalised(other, _FAR)
    return _is_product(other, _FAR) or _is_scaled(other)


def _source(value: ir.Value | None) -> ir.Node | None:
    """The node that a value comes from, before its layout."""
    node = None if value is None else value.producer()
    for _ in range(_FAR):
        if node is None or node.domain or node.op_type not in _LAYOUTS:
            break
        first = node.inputs[0] if node.inputs else None
        node = None if first is None else first.producer()
    return node


def _is_product(value: ir.Value | None, far: int) -> bool:
    """True for a product of a layer, and for sums of these."""
    node = _source(value)
    if node is None:
        return False
    if node.op_type in _PRODUCTS:
        return True
    is_sum = node.op_type in ("Add", "Sum") and not node.domain and far > 0
    return is_sum and any(_is_product(each, far - 1) for each in node.inputs)


def _is_scaled(value: ir.Value | None) -> bool:
    """True for a normalised value times something."""
    node = _source(value)
    return (
        node is not None and node.op_type == "Mul" and any(_is_normalised(each, _FAR) for each in node.inputs)
    )


def _is_normalised(value: ir.Value | None, far: int) -> bool:
    """True for what a normalisation gives, also one that is written with other operators."""
    node = _source(value)
    if node is None:
        return False
    if node.op_type in _NORMALISATIONS:
        return True
    if node.domain or node.op_type not in ("Div", "Mul"):
        return False
    if node.op_type == "Div":
        return _is_deviation(node.inputs[1], far)
    return any(
        (made := _source(each)) is not None
        and (
            made.op_type == "Reciprocal"
            or made.op_type == "Pow"
            or (made.op_type == "Div" and _is_deviation(made.inputs[1], far))
        )
        and _comes_of_mean(each, far)
        for each in node.inputs
    )


def _is_deviation(value: ir.Value | None, far: int) -> bool:
    """True for the root of a mean, or of a sum over an axis."""
    node = _source(value)
    if node is None or node.op_type not in ("Sqrt", "Pow", "ReduceL2", "Max", "Clip", "Add"):
        return False
    return node.op_type == "ReduceL2" or _comes_of_mean(value, far)


def _comes_of_mean(value: ir.Value | None, far: int) -> bool:
    """True if a mean or a sum over an axis stands a few steps before a value."""
    node = _source(value)
    if node is None or far <= 0:
        return False
    if node.op_type in ("ReduceMean", "ReduceSum", "ReduceSumSquare", "ReduceL2"):
        return True
    if node.op_type not in ("Sqrt", "Add", "Reciprocal", "Pow", "Div", "Max", "Clip", "Mul"):
        return False
    return any(_comes_of_mean(each, far - 1) for each in node.inputs)
