"""Models that ONNX Runtime ends the process on are refused before it opens them."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxsmith import Model
from onnxsmith.errors import NotRunnableError, OnnxsmithError

_ENDS = "s = Constant<value_ints=[0]>() e = Constant<value_ints=[2]>() a = Constant<value_ints=[2]>()"
_IMAGE = "g (float[1,1,4,4] x) => (float[A,B,C,D] y)"
#: Nodes that give `p` a size below zero.
GIVING = {
    "MaxPool": (_IMAGE, "p = MaxPool<kernel_shape=[9,9]>(x)"),
    "AveragePool": (_IMAGE, "p = AveragePool<kernel_shape=[9,9]>(x)"),
    "LpPool": (_IMAGE, "p = LpPool<kernel_shape=[9,9]>(x)"),
    "Pad": (_IMAGE, "q = Constant<value_ints=[0,0,-9,0,0,0,0,0]>() p = Pad(x, q)"),
    "Expand": (_IMAGE, "q = Constant<value_ints=[1,1,-3,4]>() p = Expand(x, q)"),
    "Split": (_IMAGE, "q = Constant<value_ints=[-2,6]>() p, r = Split<axis=2>(x, q)"),
}


def model_of(head: str, node: str) -> Model:
    text = f'<ir_version: 8, opset_import: ["" : 21]> {head} {{ {node} {_ENDS} y = Slice(p, s, e, a) }}'
    return Model.from_proto(onnx.parser.parse_model(text))


@pytest.mark.parametrize("name", GIVING)
def test_a_slice_of_a_size_below_zero_is_refused(name: str) -> None:
    with pytest.raises(OnnxsmithError):
        model_of(*GIVING[name])(np.ones((1, 1, 4, 4), np.float32))


def test_the_value_and_the_size_are_named() -> None:
    with pytest.raises(NotRunnableError, match="'p' would have the size -4"):
        model_of(*GIVING["MaxPool"])(np.ones((1, 1, 4, 4), np.float32))


def test_windows_that_fit_are_run() -> None:
    model = model_of(_IMAGE, "p = MaxPool<kernel_shape=[2,2]>(x)")
    assert model(np.ones((1, 1, 4, 4), np.float32)).shape == (1, 1, 2, 3)


#: Operators by their domain that a function of the model shares the name of.
SHARED = {"com.microsoft": "Gelu", "ai.onnx.ml": "Normalizer"}


@pytest.mark.parametrize("domain", SHARED)
def test_a_function_of_the_model_hides_the_operator_of_its_name(domain: str) -> None:
    name = SHARED[domain]
    head = f'<ir_version: 10, opset_import: ["": 21, "{domain}": 1, "local": 1]>'
    text = f"""{head} g (float[N] x, bool c) => (float[N] y) {{
        a = {domain}.{name}(x)
        y = If(c) <then_branch = t () => (float[N] p) {{ p = local.twice(a) }},
                   else_branch = e () => (float[N] q) {{ q = {domain}.{name}(a) }}> }}
        <domain: "{domain}", opset_import: ["": 21]> {name}(v) => (w) {{ w = Neg(v) }}
        <domain: "local", opset_import: ["": 21, "{domain}": 1]>
        twice(v) => (w) {{ h = {domain}.{name}(v) w = Add(h, h) }}"""
    model = Model.from_proto(onnx.parser.parse_model(text))
    x = np.float32([1, -2])
    for each in (model, model.optimize(), model.for_runtime()):
        np.testing.assert_array_equal(each.run(x, np.array(True)), 2 * x)
        np.testing.assert_array_equal(each.run(x, np.array(False)), x)
    assert [edit.rule for edit in model.for_runtime().report.edits] == ["own function"]


def _of_two_opsets(operator: str, older: int, newer: int) -> Model:
    head = f'<ir_version: 8, opset_import: ["": {newer}, "local": 1]>'
    body = f'<domain: "local", opset_import: ["": {older}]> f(v) => (w) {{ w = {operator}(v) }}'
    text = f"{head} g (float[2, 3, 2] x) => (float[2, 3, 2] y) {{ y = local.f(x) }} {body}"
    return Model.from_proto(onnx.parser.parse_model(text))


def test_a_function_of_another_opset_is_refused_where_its_operators_are_others() -> None:
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(2, 3, 2)
    model = _of_two_opsets("Softmax", 12, 17)
    with pytest.raises(NotRunnableError, match="Softmax of opset 12, which the function 'f'"):
        model(x)
    flat = np.exp(x.reshape(2, 6))
    wanted = (flat / flat.sum(1, keepdims=True)).reshape(x.shape)
    np.testing.assert_allclose(model.convert_version(17).run(x), wanted, rtol=1e-5)
    np.testing.assert_array_equal(_of_two_opsets("Relu", 12, 17).run(x), np.maximum(x, 0))
