"""How many arithmetic operations a node takes: one table of formulas by operator.

A multiplication and an addition count one each, so a matrix product counts two for each of its products. A function
such as `Exp` counts one for each element. Operators that only move, compare shapes or convert data count nothing; those
that are in no table are not counted, and said to be so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

from onnxsmith.costs.counts import Count
from onnxsmith.costs.nodes import CostlyNode
from onnxsmith.types.value_types import Shape, TensorType

Formula: TypeAlias = Callable[[CostlyNode], "Count | None"]

#: One operation for each element of the result.
_ELEMENTWISE = """
    Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Ceil Clip Cos Cosh
    Div Elu Equal Erf Exp Floor Greater GreaterOrEqual HardSigmoid HardSwish IsInf IsNaN LeakyRelu Less LessOrEqual
    Log Max Mean Min Mod Mul Neg Not Or PRelu Pow Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh
    Softplus Softsign Sqrt Sub Sum Tan Tanh ThresholdedRelu Where Xor CumSum Celu Mish
    QuantizeLinear DequantizeLinear DynamicQuantizeLinear
"""
#: Several operations for each element of the result.
_PER_ELEMENT = {
    "BatchNormalization": 2,
    "Gelu": 4,
    "GroupNormalization": 7,
    "InstanceNormalization": 7,
    "LayerNormalization": 7,
    "LogSoftmax": 5,
    "LpNormalization": 3,
    "MeanVarianceNormalization": 7,
    "RMSNormalization": 4,
    "RotaryEmbedding": 3,
    "Softmax": 5,
    "Swish": 2,
}
#: One operation for each element that is read.
_REDUCTIONS = """
    ArgMax ArgMin GlobalAveragePool GlobalMaxPool ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean
    ReduceMin ReduceProd ReduceSum ReduceSumSquare
"""
#: Data is moved, looked up or made; nothing is computed.
_MOVERS = """
    Cast CastLike Compress Concat ConcatFromSequence Constant ConstantOfShape DepthToSpace Dropout Expand EyeLike
    Flatten Gather GatherElements GatherND Identity NonZero OneHot Optional OptionalGetElement OptionalHasElement Pad
    Range Reshape ReverseSequence ScatterElements ScatterND SequenceAt SequenceConstruct SequenceEmpty SequenceErase
    SequenceInsert SequenceLength Shape Size Slice SpaceToDepth Split SplitToSequence Squeeze TensorScatter Tile
    Transpose Trilu Unsqueeze
"""
_CONTROL = frozenset({"If", "Loop", "Scan"})


def is_control_flow(node: CostlyNode) -> bool:
    """True if what a node takes is what its bodies take."""
    return not node.domain and node.op_type in _CONTROL


def flops_of(node: CostlyNode) -> Count | None:
    """How many operations a node takes; None where no formula says so, or where its shapes are not known."""
    formula = FORMULAS.get(node.operator)
    return None if formula is None else formula(node)


def has_formula(node: CostlyNode) -> bool:
    """True if an operator is in the table."""
    return node.operator in FORMULAS


def _shape(node: CostlyNode, position: int) -> Shape | None:
    value = node.inputs[position] if position < len(node.inputs) else None
    kind = None if value is None else value.type
    return kind.shape if isinstance(kind, TensorType) else None


def _result_shape(node: CostlyNode) -> Shape | None:
    kind = node.outputs[0].type if node.outputs else None
    return kind.shape if isinstance(kind, TensorType) else None


def _elements(shape: Shape | None) -> Count | None:
    return None if shape is None else Count.product(shape)


def _per_result(factor: int) -> Formula:
    def formula(node: CostlyNode) -> Count | None:
        size = _elements(_result_shape(node))
        return None if size is None else size * factor

    return formula


def _per_operand(node: CostlyNode) -> Count | None:
    return _elements(_shape(node, 0))


def _nothing(node: CostlyNode) -> Count:
    return Count()


def _matmul(left: int) -> Formula:
    """The product of two matrices, the first of which is the input number `left`."""

    def formula(node: CostlyNode) -> Count | None:
        result, shape = _result_shape(node), _shape(node, left)
        return _scaled(result, shape[-1:], 2) if result is not None and shape else None

    return formula


def _scaled(shape: Shape, further: Shape, factor: int) -> Count | None:
    size = Count.product((*shape, *further))
    return None if size is None else size * factor


def _gemm(node: CostlyNode) -> Count | None:
    result, left = _result_shape(node), _shape(node, 0)
    if result is None or left is None or len(left) != 2:
        return None
    inner = left[0] if node.attributes.get("transA") else left[1]
    product = _scaled(result, (inner,), 2)
    added = _elements(result) if len(node.inputs) > 2 and node.inputs[2] is not None else Count()
    return None if product is None or added is None else product + added


def _conv(weight: int, bias: int) -> Formula:
    def formula(node: CostlyNode) -> Count | None:
        result, kernel = _result_shape(node), _shape(node, weight)
        if result is None or not kernel:
            return None
        product = _scaled(result, kernel[1:], 2)
        added = _elements(result) if len(node.inputs) > bias and node.inputs[bias] is not None else Count()
        return None if product is None or added is None else product + added

    return formula


def _conv_transpose(node: CostlyNode) -> Count | None:
    given, kernel = _shape(node, 0), _shape(node, 1)
    return None if given is None or not kernel else _scaled(given, kernel[1:], 2)


def _pool(node: CostlyNode) -> Count | None:
    result, kernel = _result_shape(node), node.attributes.get("kernel_shape")
    if result is None or not isinstance(kernel, tuple):
        return None
    sizes = (each for each in cast("tuple[object, ...]", kernel) if isinstance(each, int))
    return _scaled(result, (math.prod(sizes),), 1)


def _einsum(node: CostlyNode) -> Count | None:
    equation = str(node.attributes.get("equation", "")).replace(" ", "")
    terms = equation.partition("->")[0].split(",")
    sizes: dict[str, int | str | None] = {}
    for position, term in enumerate(terms):
        shape = _shape(node, position)
        if shape is None or "..." in term or len(term) != len(shape):
            return None
        for letter, size in zip(term, shape, strict=True):
            sizes[letter] = size if sizes.get(letter) is None else sizes[letter]
    return _scaled(tuple(sizes.values()), (), max(len(terms), 1))


def _recurrent(gates: int, per_cell: int) -> Formula:
    """A recurrent layer: two matrix products for each gate, and some operations for each element of the state."""

    def formula(node: CostlyNode) -> Count | None:
        given, weight, recurrence = _shape(node, 0), _shape(node, 1), _shape(node, 2)
        if given is None or weight is None or recurrence is None or len(given) != 3 or len(recurrence) != 3:
            return None
        steps, batch, size = given
        directions, hidden = recurrence[0], recurrence[2]
        products = [
            _scaled((steps, batch, directions, hidden), (each,), 2 * gates) for each in (size, hidden)
        ]
        rest = _scaled((steps, batch, directions, hidden), (), gates * 2 + per_cell)
        if products[0] is None or products[1] is None or rest is None:
            return None
        return products[0] + products[1] + rest

    return formula


def _attention(node: CostlyNode) -> Count | None:
    """Scores and their product with the values: for queries (B, H, S, D) or (B, S, H*D), keys of length T."""
    query, key, value = (_shape(node, position) for position in range(3))
    if not query or not key or not value or len(query) not in (3, 4):
        return None
    length, width = query[-2], value[-1]
    if len(query) == 4:
        scores = _scaled(query, (key[-2],), 2)
        mixed = _scaled((*query[:2], length, width), (key[-2],), 2)
    else:
        scores, mixed = _scaled(query, (key[-2],), 2), _scaled((query[0], length, width), (key[-2],), 2)
    return None if scores is None or mixed is None else scores + mixed


def _resize(node: CostlyNode) -> Count | None:
    size = _elements(_result_shape(node))
    mode = node.attributes.get("mode", "nearest")
    return None if size is None else size * {"nearest": 0, "linear": 7, "cubic": 31}.get(str(mode), 0)


#: Operator, with its domain where it is not ONNX's own -> how many operations a node of it takes.
FORMULAS: dict[str, Formula] = {
    **dict.fromkeys(_ELEMENTWISE.split(), _per_result(1)),
    **{name: _per_result(factor) for name, factor in _PER_ELEMENT.items()},
    **dict.fromkeys(_REDUCTIONS.split(), _per_operand),
    **dict.fromkeys(_MOVERS.split(), _nothing),
    **dict.fromkeys(("AveragePool", "MaxPool", "LpPool"), _pool),
    "MatMul": _matmul(0),
    "MatMulInteger": _matmul(0),
    "QLinearMatMul": _matmul(0),
    "Gemm": _gemm,
    "Conv": _conv(1, 2),
    "ConvInteger": _conv(1, 4),
    "QLinearConv": _conv(3, 8),
    "ConvTranspose": _conv_transpose,
    "Einsum": _einsum,
    "LSTM": _recurrent(4, 9),
    "GRU": _recurrent(3, 7),
    "RNN": _recurrent(1, 1),
    "Attention": _attention,
    "Resize": _resize,
    "com.microsoft::FusedMatMul": _matmul(0),
    "com.microsoft::FusedGemm": _gemm,
    "com.microsoft::FusedConv": _conv(1, 2),
    "com.microsoft::Gelu": _per_result(4),
    "com.microsoft::FastGelu": _per_result(6),
    "com.microsoft::BiasGelu": _per_result(5),
    "com.microsoft::QuickGelu": _per_result(3),
    "com.microsoft::SkipLayerNormalization": _per_result(8),
    "com.microsoft::SimplifiedLayerNormalization": _per_result(4),
    "com.microsoft::QLinearAdd": _per_result(3),
    "com.microsoft::QLinearMul": _per_result(2),
}
FORMULAS["SimplifiedLayerNormalization"] = FORMULAS["com.microsoft::SimplifiedLayerNormalization"]


def operators_counted(domain: str = "") -> Sequence[str]:
    """The operators that have a formula, sorted."""
    prefix = f"{domain}::" if domain else ""
    return sorted(name for name in FORMULAS if name.startswith(prefix) and ("::" in name) == bool(domain))
