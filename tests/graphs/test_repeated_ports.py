"""Ports of one value have one type, and it says all that either of them says."""

from __future__ import annotations

import onnx
import pytest
from onnx import helper, parser

import onnxsmith


def ports(proto: onnx.ModelProto) -> list[str]:
    return [
        helper.printable_value_info(each).split(",", 1)[-1].strip(" ]")
        for each in (*proto.graph.input, *proto.graph.output)
    ]


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        ("float[N]", "float[3]", "3"),
        ("float[3]", "float[N]", "3"),
        ("float[3, M]", "float[N, 4]", "3x4"),
        ("float[N]", "float[M]", "M"),
        ("float[N]", "float[]", "N"),
        ("float[]", "float[N]", "N"),
        ("float[3]", "float[4]", "4"),
        ("float[N]", "float[2, 2]", "2x2"),
    ],
)
@pytest.mark.parametrize("form", ["(float z) => ({0} y, {1} y) {{ y = Neg(z) }}", "({0} y) => ({1} y) {{ }}"])
def test_types_of_one_value(form: str, first: str, second: str, both: str) -> None:
    given = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> g {form.format(first, second)}')
    content = given.SerializeToString()
    assert ports(onnxsmith.Model.from_proto(given).proto)[-2:] == [both, both]
    assert given.SerializeToString() == content, "the given proto was changed"


def test_words_of_one_value() -> None:
    given = parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 21]> g (float[N] x) => (float[N] y, float[N] y) { y = Neg(x) }'
    )
    given.graph.output[0].doc_string = "twice"
    given.graph.output[0].type.denotation = "IMAGE"
    given.graph.output[1].type.tensor_type.shape.dim[0].denotation = "DATA_BATCH"
    for each in onnxsmith.Model.from_proto(given).proto.graph.output:
        assert each.doc_string == "twice"
        assert each.type.denotation == "IMAGE"
        assert each.type.tensor_type.shape.dim[0].denotation == "DATA_BATCH"


def test_in_a_body() -> None:
    given = parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 21]> g (float x, float[2] s) => (float y, float[2] z) {
            y, z = Scan <num_scan_inputs = 1, body = b (float state, float part) => (float[] next, float next)
                         { next = Add(state, part) }> (x, s)
        }"""
    )
    proto = onnxsmith.recompile(onnxsmith.decompile(given)).proto
    body = next(each.g for each in proto.graph.node[0].attribute if each.name == "body")
    assert all(each.type.tensor_type.HasField("shape") for each in body.output)
