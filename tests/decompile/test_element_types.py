"""The element types that decompiled text gives its values."""

from __future__ import annotations

import onnx
import onnx_ir as ir
import pytest

from onnxsmith.decompiling.element_types import ElementTypes
from onnxsmith.schema import registry
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import TensorType

MODEL = """
<ir_version: 10, opset_import: ["" : 21, "own" : 1]>
g (float[N] x, int64[N] n, bool c, double d) => (float[N] z)
<float16[2] w = {1, 2}>
{
    added = Add(x, x)
    cast = Cast <to = 11> (x)
    like = CastLike(n, d)
    truth = Equal(n, n)
    shape = Shape(x)
    values, places = TopK(x, shape)
    constant = Constant <value = int32 {3}> ()
    floats = Constant <value_float = 1.0> ()
    filled = ConstantOfShape <value = int8 {3}> (shape)
    zeros = ConstantOfShape (shape)
    drawn = RandomNormal <shape = [2]> ()
    doubles = RandomNormal <shape = [2], dtype = 11> ()
    eye = EyeLike <dtype = 7> (x)
    weight = Neg(w)
    first, second = Split <num_outputs = 2> (n)
    chosen = Where(c, n, n)
    branch = If (c) < then_branch = t () => (double p) { p = Cast <to = 11> (x) },
                      else_branch = e () => (double q) { q = Identity(d) } >
    unknown = own.F(x)
    after = Neg(unknown)
    mean = ReduceMean(d)
    z = Identity(x)
}
"""
WANTED = {
    "added": DType.FLOAT,
    "cast": DType.DOUBLE,
    "like": DType.DOUBLE,
    "truth": DType.BOOL,
    "shape": DType.INT64,
    "values": DType.FLOAT,
    "places": DType.INT64,
    "constant": DType.INT32,
    "floats": None,
    "filled": DType.INT8,
    "zeros": DType.FLOAT,
    "doubles": DType.DOUBLE,
    "eye": DType.INT64,
    "weight": DType.FLOAT16,
    "first": DType.INT64,
    "second": DType.INT64,
    "chosen": DType.INT64,
    "branch": DType.DOUBLE,
    "unknown": None,
    "after": None,
    "mean": DType.DOUBLE,
    "z": DType.FLOAT,
}


@pytest.fixture(scope="module")
def found() -> dict[str, tuple[ElementTypes, ir.Value]]:
    graph = ir.from_proto(onnx.parser.parse_model(MODEL)).graph
    types = ElementTypes()
    for value in (*graph.inputs, *graph.initializers.values()):
        types.declare(value)
    result: dict[str, tuple[ElementTypes, ir.Value]] = {}
    for node in graph:
        for body in (
            each.as_graph() for each in node.attributes.values() if each.type is ir.AttributeType.GRAPH
        ):
            for inner in body:
                types.visit(inner, registry.find("", inner.op_type, 21))
        types.visit(node, registry.find(node.domain, node.op_type, 21))
        result.update({each.name or "": (types, each) for each in node.outputs})
    return result


@pytest.mark.parametrize("name", WANTED)
def test_types_of_values(name: str, found: dict[str, tuple[ElementTypes, ir.Value]]) -> None:
    types, value = found[name]
    assert types.of(value) is WANTED[name]
    assert types.type_of(value) == TensorType(WANTED[name], None)


def test_of_values_that_loops_carry(found: dict[str, tuple[ElementTypes, ir.Value]]) -> None:
    types, known = found["added"]
    _, unknown = found["unknown"]
    carried = ir.Value(name="v", type=ir.TensorType(ir.DataType.FLOAT), shape=ir.Shape([]))
    types.declare(carried)
    types.pass_on(None, carried)
    types.pass_on(known, carried)
    assert types.of(carried) is DType.FLOAT
    types.pass_on(unknown, carried)
    assert types.of(carried) is None
    assert types.type_of(None) is None
    sequence = ir.Value(name="s", type=ir.SequenceType(ir.TensorType(ir.DataType.FLOAT)))
    types.declare(sequence)
    assert types.of(sequence) is None
