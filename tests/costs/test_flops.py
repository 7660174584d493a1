"""The formulas of all operators: on shapes whose counts are known by hand, with sizes that are open, and without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import onnx
import pytest

from onnxsmith.costs.flops import FORMULAS, flops_of, has_formula, is_control_flow, operators_counted
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

Sizes = tuple[int | str, ...] | None


@dataclass
class Value:
    type: Any


@dataclass
class Node:
    """A node of an operator, by the shapes of its values; None for an input that is left out."""

    operator: str
    given: Sequence[Sizes]
    result: Sizes
    attributes: dict[str, object] = field(default_factory=dict)

    @property
    def domain(self) -> str:
        return self.operator.rpartition("::")[0]

    @property
    def op_type(self) -> str:
        return self.operator.rpartition("::")[2]

    @property
    def inputs(self) -> list[Value | None]:
        return [None if each is None else Value(TensorType(DType.FLOAT, each)) for each in self.given]

    @property
    def outputs(self) -> list[Value]:
        return [Value(TensorType(DType.FLOAT, self.result))]


#: Operators whose operations are several for each element of the result.
SEVERAL = {
    "BatchNormalization": 2, "Gelu": 4, "GroupNormalization": 7, "InstanceNormalization": 7, "LayerNormalization": 7,
    "LogSoftmax": 5, "LpNormalization": 3, "MeanVarianceNormalization": 7, "RMSNormalization": 4, "RotaryEmbedding": 3,
    "Softmax": 5, "Swish": 2, "SimplifiedLayerNormalization": 4, "com.microsoft::Gelu": 4, "com.microsoft::FastGelu": 6,
    "com.microsoft::BiasGelu": 5, "com.microsoft::QuickGelu": 3, "com.microsoft::SkipLayerNormalization": 8,
    "com.microsoft::SimplifiedLayerNormalization": 4, "com.microsoft::QLinearAdd": 3, "com.microsoft::QLinearMul": 2,
}  # fmt: skip
#: Operators of ONNX without a formula.
NOT_COUNTED = {
    "AffineGrid", "Bernoulli", "BitCast", "BlackmanWindow", "CausalConvWithState", "CenterCropPad", "Col2Im",
    "CumProd", "DFT", "DeformConv", "Det", "GlobalLpPool", "GridSample", "HammingWindow", "HannWindow", "Hardmax",
    "If", "ImageDecoder", "LRN", "LinearAttention", "Loop", "MaxRoiPool", "MaxUnpool", "MelWeightMatrix",
    "Multinomial", "NegativeLogLikelihoodLoss", "NonMaxSuppression", "RandomNormal", "RandomNormalLike",
    "RandomUniform", "RandomUniformLike", "RegexFullMatch", "RoiAlign", "STFT", "Scan", "Scatter", "SequenceMap",
    "SoftmaxCrossEntropyLoss", "StringConcat", "StringNormalizer", "StringSplit", "SwiGLU", "TfIdfVectorizer",
    "TopK", "Unique", "Upsample",
}  # fmt: skip
#: Operators that came with opset 23 or later: an older onnx does not know them.
LATER = {"Attention", "RMSNormalization", "RotaryEmbedding", "Swish", "TensorScatter"}
COUNTED: list[tuple[Node, int | str]] = [
    (Node("MatMul", [(2, 3, 4), (4, 5)], (2, 3, 5)), 2 * 2 * 3 * 5 * 4),
    (Node("MatMulInteger", [(3, 4), (4, 5)], (3, 5)), 2 * 3 * 5 * 4),
    (Node("QLinearMatMul", [(3, 4)], (3, 5)), 2 * 3 * 5 * 4),
    (Node("com.microsoft::FusedMatMul", [(3, 4)], (3, 5)), 2 * 3 * 5 * 4),
    (Node("Gemm", [("N", 4), (4, 5)], ("N", 5)), "40*N"),
    (Node("Gemm", [(4, 3), (4, 5), (5,)], (3, 5), {"transA": 1}), 2 * 3 * 5 * 4 + 15),
    (Node("com.microsoft::FusedGemm", [(3, 4), (4, 5), None], (3, 5)), 2 * 3 * 5 * 4),
    (Node("Conv", [(1, 3, 9), (6, 3, 5)], (1, 6, 5)), 2 * 30 * 15),
    (Node("Conv", [(1, 3, 9), (6, 3, 5), (6,)], (1, 6, 5)), 2 * 30 * 15 + 30),
    (Node("com.microsoft::FusedConv", [(1, 3, 9), (6, 3, 5), (6,)], (1, 6, 5)), 2 * 30 * 15 + 30),
    (Node("ConvInteger", [(1, 3, 9), (6, 3, 5), (), ()], (1, 6, 5)), 2 * 30 * 15),
    (Node("QLinearConv", [(1, 3, 9), (), (), (6, 3, 5), *[()] * 4, (6,)], (1, 6, 5)), 2 * 30 * 15 + 30),
    (Node("QLinearConv", [(1, 3, 9), (), (), (6, 3, 5), *[()] * 4], (1, 6, 5)), 2 * 30 * 15),
    (Node("ConvTranspose", [(1, 3, 4), (3, 2, 5)], (1, 2, 8)), 2 * 12 * 10),
    (Node("Einsum", [(2, 3), (3, 4)], (2, 4), {"equation": "ij, jk -> ik"}), 2 * 2 * 3 * 4),
    (Node("Einsum", [(2, 3)], (2,), {"equation": "ij->i"}), 6),
    (Node("LSTM", [(5, 2, 4), (1, 32, 4), (1, 32, 8)], None), 5 * 2 * 8 * (2 * 4 * (4 + 8) + 4 * 2 + 9)),
    (Node("GRU", [(5, 2, 4), (2, 24, 4), (2, 24, 8)], None), 5 * 2 * 2 * 8 * (2 * 3 * (4 + 8) + 3 * 2 + 7)),
    (Node("RNN", [(5, 2, 4), (1, 8, 4), (1, 8, 8)], None), 5 * 2 * 8 * (2 * (4 + 8) + 2 + 1)),
    (Node("Attention", [(1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 6)], None), 2 * 24 * 5 + 2 * 36 * 5),
    (Node("Attention", [(1, 3, 8), (1, 5, 8), (1, 5, 12)], None), 2 * 24 * 5 + 2 * 36 * 5),
    (Node("Resize", [(1, 1, 2)], (1, 1, 4)), 0),
    (Node("Resize", [(1, 1, 2)], (1, 1, 4), {"mode": "linear"}), 28),
    (Node("Resize", [(1, 1, 2)], (1, 1, 4), {"mode": "cubic"}), 124),
    *((Node(f"{each}Pool", [(1, 1, 4)], (1, 1, 2), {"kernel_shape": (3,)}), 6) for each in ("Max", "Average", "Lp")),
]  # fmt: skip


@pytest.mark.parametrize(("node", "count"), COUNTED, ids=lambda each: getattr(each, "operator", None))
def test_formulas(node: Node, count: int | str) -> None:
    found = flops_of(node)
    assert found is not None
    assert (found.number if isinstance(count, int) else repr(found)) == count


UNKNOWN: list[Node] = [
    *(
        Node(name, [None], None)
        for name in ("Relu", "ReduceSum", "MatMul", "Gemm", "Conv", "MaxPool", "Resize", "GRU")
    ),
    *(Node(name, [None, None, None], None) for name in ("ConvTranspose", "Attention", "Einsum")),
    Node("MaxPool", [(1, 1, 4)], (1, 1, 2)),
    Node("Gemm", [(4,)], (2, 3)),
    Node("Einsum", [(2, 3), (3, 4)], (2, 4), {"equation": "...j,jk->...k"}),
    Node("Einsum", [(2, 3, 4)], (2,), {"equation": "ij->i"}),
    Node("Attention", [(2, 3), (2, 3), (2, 3)], None),
    Node("LSTM", [(2, 4), (1, 32, 4), (1, 32, 8)], None),
    Node("Unheard", [(2,)], (2,)),
]


@pytest.mark.parametrize("node", UNKNOWN, ids=lambda each: each.operator)
def test_what_cannot_be_counted(node: Node) -> None:
    assert flops_of(node) is None


def test_every_operator_of_onnx_is_counted_or_listed() -> None:
    names = {each.name for each in onnx.defs.get_all_schemas() if not each.domain}
    counted = set(operators_counted()) - {"SimplifiedLayerNormalization"}  # ONNX Runtime's, in ONNX's domain
    assert counted - names <= LATER
    assert names - counted <= NOT_COUNTED
    assert set(operators_counted()) | set(operators_counted("com.microsoft")) == set(FORMULAS)
    assert all(has_formula(Node(each, [], None)) for each in counted)


def test_each_element_counts_as_often_as_the_table_says() -> None:
    """Elements that are written count once or several times, those that are read once, those that are moved not."""
    by_result: dict[str, int] = {}
    for name in FORMULAS:
        found = flops_of(Node(name, [(100,)], (7,)))
        if found is not None and found.number is not None and name not in {"MatMul", "Conv", "Gemm"}:
            by_result[name] = found.number
    assert {name: count // 7 for name, count in by_result.items() if name in SEVERAL} == SEVERAL
    rest = {name: count for name, count in by_result.items() if name not in SEVERAL}
    assert rest["Add"] == rest["CumSum"] == rest["Where"] == rest["QuantizeLinear"] == 7
    assert rest["ReduceSum"] == rest["ArgMax"] == rest["GlobalMaxPool"] == 100
    assert rest["Reshape"] == rest["Gather"] == rest["Dropout"] == 0


def test_control_flow_takes_what_its_bodies_take() -> None:
    assert [is_control_flow(Node(name, [], None)) for name in ("If", "Loop", "Scan", "Add")] == [True] * 3 + [
        False
    ]
    assert not is_control_flow(Node("own::If", [], None))
