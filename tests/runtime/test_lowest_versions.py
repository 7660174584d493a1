"""Versions are only lowered as far as every operator keeps its definition."""

from __future__ import annotations

import onnx
import pytest

from onnxsmith.runtime.single_node import Call, make_model
from onnxsmith.runtime.versions import lower_opsets, lowest_ir_version
from onnxsmith.types.dtypes import DType
from tests.runtime.calls import find


@pytest.mark.parametrize(
    ("nodes", "before", "after"),
    [
        ("y = Add(x, x)", 28, 14),
        ("t = Add(x, x) y = Relu(t)", 28, 14),
        ("t = Add(x, x) y = Softmax(t)", 28, 14),
        ("y = Softmax(x)", 12, 11),
        ("t = Cast <to = 1> (x) y = Add(t, t)", 28, 28),
        ("y = Identity(x)", 28, 25),
    ],
)
def test_opsets(nodes, before, after) -> None:
    model = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : {before}]> g (float[N] x) => (float[N] y) {{ {nodes} }}'
    )
    lower_opsets(model)
    assert [entry.version for entry in model.opset_import] == [after]


def test_bodies_count() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 28]> g (bool c, float[N] x) => (float[N] y) {'
        " y = If(c) <then_branch = t () => (float[N] a) { a = Gelu(x) },"
        " else_branch = e () => (float[N] b) { b = Neg(x) }> }"
    )
    lower_opsets(model)
    assert model.opset_import[0].version == max(20, onnx.defs.get_schema("If", 28, "").since_version)


def test_what_is_unknown_stays() -> None:
    text = '<ir_version: 8, opset_import: ["" : 28, "my" : 5]> g (float[N] x) => (float[N] y) { y = my.F(x) }'
    model = onnx.parser.parse_model(text)
    lower_opsets(model)
    assert {entry.domain: entry.version for entry in model.opset_import} == {"": 1, "my": 5}


@pytest.mark.parametrize(
    ("dtype", "version"),
    [
        (DType.FLOAT, 8),
        (DType.BFLOAT16, 8),
        (DType.FLOAT8E5M2, 9),
        (DType.INT4, 10),
        (DType.FLOAT4E2M1, 11),
        (DType.INT2, 13),
    ],
)
def test_ir_version(dtype, version) -> None:
    model = make_model(Call(find("Identity", 25), (dtype,), {}, 1))
    assert model.ir_version == lowest_ir_version(model) == version
