"""`model.summary()`: the formulas by hand-counted cases, functions, branches, what is not counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from onnx import parser

from onnxsmith import FLOAT, Model, Tensor, trace
from onnxsmith import opset21 as op
from onnxsmith.inspection.summary import _SHOWN_OPERATORS, Count, OperatorSummary, Summary


def array(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.ones(shape, np.float32)


W48, W38, W24, K = array(4, 8), array(3, 8), array(2, 4), array(6, 3, 5, 5)
DEPTHWISE, DOWN = array(6, 1, 3, 3), array(3, 2, 2, 2)

COUNTED: list[tuple[Callable[[Tensor], Tensor], tuple[int | str, ...], str]] = [
    (lambda x: x @ W48, ("N", 4), "64*N"),
    (lambda x: op.Gemm(x, W48, array(8)), (2, 4), "144"),
    (lambda x: op.Gemm(x, W38, transA=1), (3, 5), "240"),
    (lambda x: op.Conv(x, K, array(6)), (1, 3, 9, 9), str(2 * 6 * 25 * 75 + 6 * 25)),
    (lambda x: op.Conv(x, DEPTHWISE, group=6), (1, 6, 5, 5), str(2 * 6 * 9 * 9)),
    (lambda x: op.ConvTranspose(x, DOWN, strides=[2, 2]), (1, 3, 4, 4), str(2 * 3 * 16 * 2 * 4)),
    (lambda x: op.ReduceSum(x), (4, 5), "20"),
    (lambda x: op.MaxPool(x, kernel_shape=[2, 2], strides=[2, 2]), (1, 1, 4, 4), "16"),
    (lambda x: op.Softmax(x), ("N", 4), "20*N"),
    (lambda x: op.Einsum(x, W24, equation="ij,jk->ik"), (3, 2), str(2 * 3 * 2 * 4)),
    (lambda x: op.Reshape(op.Transpose(x, perm=[1, 0]), [-1]), (3, 4), "0"),
    (lambda x: x * x + x, ("N", "N"), "2*N**2"),
]


@pytest.mark.parametrize(("function", "shape", "flops"), COUNTED)
def test_formulas(function: Callable[[Tensor], Tensor], shape: tuple[int | str, ...], flops: str) -> None:
    found = trace(function, FLOAT[shape]).summary()
    assert repr(found.flops).replace(",", "") == flops
    assert not found.uncounted


def test_an_lstm_is_two_products_for_each_gate() -> None:
    w, r = array(1, 32, 4), array(1, 32, 8)
    model = trace(lambda x: op.LSTM(x, w, r, hidden_size=8)[0], FLOAT[5, 2, 4])
    products = 2 * 5 * 2 * 32 * (4 + 8)
    assert products <= (model.summary().flops.number or 0) <= products * 1.2


def test_sizes_can_be_given() -> None:
    model = trace(lambda x: x @ W48, FLOAT["N", 4])
    assert model.summary().activation_bytes is None
    found = model.summary(N=10)
    assert found.flops.number == 640
    assert found.activation_bytes == 10 * 4 * 4 + 10 * 8 * 4
    assert (found.parameters, found.weight_bytes) == (32, 128)


def test_functions_count_at_every_call_and_the_larger_branch_counts() -> None:
    text = """
    <ir_version: 9, opset_import: ["" : 21, "l" : 1, "mine" : 1]>
    g (float[10] x, bool c) => (float[10] y)
    {
       a = l.f (x)
       b = l.f (a)
       d = If (c) <then_branch = p () => (float[10] t) { s = Abs (b) t = Neg (s) },
                   else_branch = q () => (float[10] e) { e = Neg (b) }>
       y = mine.Unknown (d)
    }
    <domain: "l", opset_import: ["" : 21]> f (v) => (u) { u = Abs (v) }
    """
    found = Model.from_proto(parser.parse_model(text)).summary()
    assert found.flops.number == 40
    assert dict(found.uncounted) == {"mine::Unknown": 1}
    assert "not counted: mine::Unknown (1)" in str(found)
    assert not found.has_loops


def test_peak_memory_is_of_values_that_live_together() -> None:
    # 4 bytes: the input is dead after the first node, and two values of the chain live at one time.
    model = trace(lambda x: op.Exp(op.Neg(op.Abs(x))), FLOAT[1])
    assert model.summary().activation_bytes == 8
    model = trace(lambda x: op.Exp(op.Neg(op.Abs(x))) + x, FLOAT[1])
    assert model.summary().activation_bytes == 12


def test_a_size_that_is_not_known_is_named() -> None:
    model = trace(lambda a: op.Relu(a), FLOAT["N", 4])
    assert model.summary().activation_bytes is None
    assert "values on the way: not known, since 'a' is FLOAT['N', 4]" in str(model.summary())
    assert model.summary(N=2).activation_unknown == ""


def test_html_is_escaped() -> None:
    proto = trace(lambda x: op.Relu(x), FLOAT[2]).proto
    proto.graph.node[0].op_type, proto.graph.node[0].domain = "<b>", "d"
    proto.opset_import.add(domain="d", version=1)
    assert "<b>" not in Model.from_proto(proto).summary()._repr_html_()


def test_a_node_that_gives_nothing_is_counted() -> None:
    text = '<ir_version: 9, opset_import: ["": 18]> g (float[4] x) => (float[4] y) { y = Relu(x) }'
    proto = parser.parse_model(text)
    del proto.graph.node[0].output[:]
    assert "Relu" in str(Model.from_proto(proto).summary())


def test_the_text_of_a_summary() -> None:
    operators = tuple(OperatorSummary(f"Op{k:02}", 30 - k, Count.of(k)) for k in range(_SHOWN_OPERATORS + 2))
    whole = Summary(
        nodes=1,
        functions=2,
        parameters=1000,
        weight_bytes=4000,
        operators=operators,
        flops=Count.of(7),
        uncounted={"Foo": 2, "Bar": 1},
        has_loops=True,
        activation_unknown="x is not known",
    )
    head, table = str(whole).split("\n\n")
    assert head.splitlines() == [
        "1 node, 2 functions",
        "1,000 parameters, 4,000 bytes of weights",
        "flops: 7 and what is not counted",
        "values on the way: not known, since x is not known",
        "not counted: Foo (2), Bar (1)",
        "a loop counts as one turn",
    ]
    assert len(table.splitlines()) == _SHOWN_OPERATORS + 2
    assert table.splitlines()[-1] == "and 2 operators more"
    assert whole._repr_html_().count("<tr>") == _SHOWN_OPERATORS + 1
    short = str(
        replace(
            whole, operators=operators[:-2], functions=0, activation_bytes=8, uncounted={}, has_loops=False
        )
    )
    assert "more" not in short
    assert short.splitlines()[0] == "1 node"
    assert "flops: 7\nvalues on the way: 8 bytes at the most\n\n" in short
