"""Functions are dissolved, attributes and nested functions included, unless that would make a monster of the model."""

from __future__ import annotations

import numpy as np
import onnx.parser

from onnxsmith.graphs.model import Model
from onnxsmith.passes import optimize
from tests.passes.agreement import operators, optimized

HEAD = '<ir_version: 10, opset_import: ["" : 21, "local" : 1]>'
FUNCTION = """
    <opset_import: ["" : 21, "local" : 1], domain: "local">
    twice <alpha: float = 1.0> (x) => (y) { a = Elu<alpha: float = @alpha>(x) y = Add(a, a) }
"""
OUTER = """
    <opset_import: ["" : 21, "local" : 1], domain: "local">
    outer (x) => (y) { a = local.twice<alpha = 2.0>(x) y = local.twice(a) }
"""
X = np.array([[-1, 2, -3, 4]], np.float32)


def test_functions_with_attributes_and_defaults() -> None:
    text = f"{HEAD} g (float[N, 4] x) => (float[N, 4] y) {{ y = local.outer(x) }} {FUNCTION} {OUTER}"
    small = optimized(Model.from_proto(onnx.parser.parse_model(text)), X)
    assert operators(small) == ["Add", "Add", "Elu", "Elu"]
    assert not small.ir.functions
    assert small.report.edits[0].rule == "inlined function"


def test_calls_in_a_branch_of_a_function_that_was_dissolved() -> None:
    chosen = """
        <opset_import: ["" : 21, "local" : 1], domain: "local">
        chosen (x) => (y) {
            d = ReduceMax<keepdims = 0>(x)
            z = Sub(d, d)
            e = Greater(d, z)
            y = If(e) <
                then_branch = t () => (float[N, 4] a) { a = local.twice(x) },
                else_branch = f () => (float[N, 4] b) { b = Neg(x) }
            >
        }
    """
    text = f"{HEAD} g (float[N, 4] x) => (float[N, 4] y) {{ y = local.chosen(x) }} {FUNCTION} {chosen}"
    small = optimized(Model.from_proto(onnx.parser.parse_model(text)), X)
    assert not small.ir.functions
    assert "functions are kept" not in str(small.report)


def test_functions_can_be_kept() -> None:
    text = f"{HEAD} g (float[N, 4] x) => (float[N, 4] y) {{ y = local.outer(x) }} {FUNCTION} {OUTER}"
    small = optimize(Model.from_proto(onnx.parser.parse_model(text)), inline=False)
    assert operators(small) == ["outer"]
    assert len(small.ir.functions) == 2


def test_functions_that_unfold_without_end_are_kept() -> None:
    functions = "".join(
        f'<opset_import: ["" : 21, "local" : 1], domain: "local"> f{k} (x) => (y)'
        f" {{ a = local.f{k + 1}(x) y = local.f{k + 1}(a) }}"
        for k in range(40)
    )
    last = '<opset_import: ["" : 21], domain: "local"> f40 (x) => (y) { y = Neg(x) }'
    text = f"{HEAD} g (float[N, 4] x) => (float[N, 4] y) {{ y = local.f0(x) }} {functions} {last}"
    small = optimize(Model.from_proto(onnx.parser.parse_model(text)))
    assert operators(small) == ["f0"]
    assert "functions are kept" in str(small.report)
