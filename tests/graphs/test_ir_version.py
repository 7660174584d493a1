"""A model that passes have made has the lowest IR version that it needs, and imports what it uses."""

from __future__ import annotations

import onnx
import pytest
from onnx import parser

from onnxsmith import Model, Rule
from onnxsmith import opset13 as op

RULE = Rule(lambda x: op.Relu(x), lambda x: op.Max(x, 0.0))

FUNCTIONS = """<ir_version: 10, opset_import: ["" : 13, "local" : 1, "unused" : 3]>
    g (float[N] x) => (float[N] y) { z = local.f (x) y = Relu (z) }
    <domain: "local", opset_import: ["" : 13]> f (a) => (r) { r = Neg (a) }"""


def read(text: str) -> Model:
    return Model.from_proto(parser.parse_model(text))


def test_optimising_dissolves_functions_and_needs_less() -> None:
    small = read(FUNCTIONS).optimize(opset="keep")
    assert small.opset_imports == {"": 13}
    assert small.ir.ir_version == 7
    onnx.checker.check_model(small.proto, full_check=True)
    kept = read(FUNCTIONS).optimize(opset="keep", inline=False)
    assert kept.opset_imports == {"": 13, "local": 1}


def test_an_older_opset_has_its_ir_version() -> None:
    model = read('<ir_version: 10, opset_import: ["" : 21]> g (float[N] x) => (float[N] y) { y = Relu (x) }')
    assert [model.convert_version(each).ir.ir_version for each in (7, 13, 15, 21, 23)] == [4, 7, 8, 10, 11]
    assert model.rewrite(RULE).ir.ir_version == 10


@pytest.mark.parametrize(("opset", "version"), [(9, 3), (13, 7)])
def test_weights_that_are_inputs_stay_those(opset: int, version: int) -> None:
    text = """<ir_version: 3, opset_import: ["" : 8]>
        g (float[2] x, float[2] w = {1, 2}) => (float[2] y) { y = Add (x, w) }"""
    newer = read(text).convert_version(opset)
    assert newer.ir.ir_version == version
    assert [port.name for port in newer.optional_inputs] == ["w"]


def test_attributes_with_defaults_need_version_9() -> None:
    model = parser.parse_model(FUNCTIONS)
    model.functions[0].attribute_proto.add(name="alpha", type=onnx.AttributeProto.FLOAT, f=0.5)
    model.opset_import[0].version = 21
    model.functions[0].opset_import[0].version = 21
    assert Model.from_proto(model).convert_version(13).ir.ir_version == 9


def test_a_version_that_somebody_chose_stays_where_nothing_else_is_needed() -> None:
    text = '<ir_version: 9, opset_import: ["" : 13]> g (float[N] x) => (float[N] y) { z = Identity (x) y = Relu (z) }'
    model = read(text)
    for made in (model.rewrite(RULE), model.optimize(opset="keep"), model.convert_version(13)):
        assert made.ir.ir_version == 9
