"""What is not known stays unknown: element types, ranks, attributes by reference, operators nobody has a schema for."""

from __future__ import annotations

import numpy as np
import pytest

from onnxsmith.errors import InferenceError
from onnxsmith.schema import registry
from onnxsmith.schema.definition import AttributeReference, AttributeType
from onnxsmith.schema.inference import Known, infer
from onnxsmith.types.dtypes import DType
from onnxsmith.types.value_types import UNKNOWN_TENSOR, OptionalType, SequenceType, TensorType
from tests.schema.inference.calls import ANY, BOOL, FLOAT, INT64, LATEST, C, R, T, call, dtype, shape

N4 = ("N", 4)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (call("Relu", T(*N4, dtype=None)), TensorType(None, N4)),
        (call("Add", T(*N4, dtype=None), T(4)), TensorType(FLOAT, N4)),
        (call("Add", T(4), T(*N4, dtype=None)), TensorType(FLOAT, N4)),
        (call("Equal", T(*N4, dtype=None), T(4, dtype=None)), TensorType(BOOL, N4)),
        (call("MatMul", T(*N4, dtype=None), T(4, 2)), TensorType(FLOAT, ("N", 2))),
        (call("Concat", T(*N4, dtype=None), T(*N4), axis=1), TensorType(FLOAT, ("N", 8))),
        (call("Where", T(dtype=None), T(*N4, dtype=None), T(*N4)), TensorType(FLOAT, N4)),
        (call("CastLike", T(*N4), T(dtype=None)), TensorType(None, N4)),
        (call("Shape", R(None)), TensorType(INT64, (None,))),
        (call("Relu", ANY), UNKNOWN_TENSOR),
        (call("Add", R(), T(4)), TensorType(FLOAT, None)),
        (call("Transpose", R(), perm=(1, 0)), TensorType(FLOAT, (None, None))),
        (call("Conv", R(), T(8, 3, 3, 3)), TensorType(FLOAT, (None, 8, None, None))),
        (call("Gemm", R(), R()), TensorType(FLOAT, (None, None))),
        (call("GlobalAveragePool", R()), TensorType(FLOAT, None)),
        (call("ReduceMean", R(), keepdims=0), TensorType(FLOAT, ())),
        (call("ReduceMean", T("N", 4, 1), T(1, dtype=INT64), keepdims=0), TensorType(FLOAT, (None, None))),
        (call("ReduceMean", T("N", 4, 1), T(2, dtype=INT64), keepdims=0), TensorType(FLOAT, None)),
        (call("ReduceMean", T("N", 4, 1), T("K", dtype=INT64), keepdims=0), TensorType(FLOAT, None)),
        (call("ReduceMean", T("N", 4, 1), R(INT64), keepdims=0), TensorType(FLOAT, None)),
        (call("ReduceMean", T("N", 4, 1), T(1, dtype=INT64), keepdims=1), TensorType(FLOAT, (None, None, 1))),
        (call("ReduceMean", R(), T(1, dtype=INT64), keepdims=0), TensorType(FLOAT, None)),
        (call("NonZero", R()), TensorType(INT64, (None, None))),
        # through onnx's own inference, with a stand-in for the unknown element type
        (call("StringSplit", T("N", dtype=None), outputs=2)[:1], TensorType(DType.STRING, ("N", None))),
        (call("Binarizer", T("N", 3, dtype=None), version=1, domain="ai.onnx.ml"), TensorType(None, ("N", 3))),
        (call("Momentum", T(dtype=None), T(dtype=INT64), T(2, dtype=None), T(2, dtype=None), T(2, dtype=None),
              alpha=0.9, beta=0.1, mode="standard", norm_coefficient=0.1, outputs=2,
              version=1, domain="ai.onnx.preview.training")[:1], TensorType(None, (2,))),
    ],
)  # fmt: skip
def test_what_is_known_of_outputs_of_unknown_inputs(found: tuple[Known, ...], expected: TensorType) -> None:
    assert [each.type for each in found] == [expected]


AXIS = AttributeReference("axis", AttributeType.INT)


@pytest.mark.parametrize(
    ("name", "inputs", "options", "expected"),
    [
        ("Concat", (T(2, 3), T(2, 3)), {"axis": AXIS}, TensorType(FLOAT, None)),
        ("Softmax", (T(2, 3),), {"axis": AXIS}, TensorType(FLOAT, None)),
        ("Cast", (T(2, 3),), {"to": AttributeReference("to", AttributeType.INT)}, UNKNOWN_TENSOR),
        (
            "Transpose",
            (T(2, 3),),
            {"perm": AttributeReference("p", AttributeType.INTS)},
            TensorType(FLOAT, None),
        ),
        (
            "Constant",
            (),
            {"value_float": AttributeReference("v", AttributeType.FLOAT)},
            TensorType(FLOAT, ()),
        ),
        (
            "LeakyRelu",
            (T(2, 3),),
            {"alpha": AttributeReference("a", AttributeType.FLOAT)},
            TensorType(FLOAT, (2, 3)),
        ),
        (
            "StringSplit",
            (T("N", dtype=DType.STRING),),
            {"delimiter": AttributeReference("d", AttributeType.STRING)},
            TensorType(DType.STRING, None),
        ),
    ],
)
def test_an_attribute_by_reference_leaves_open_what_hangs_on_it(
    name: str, inputs: tuple[Known, ...], options: dict[str, object], expected: TensorType
) -> None:
    assert call(name, *inputs, **options)[0].type == expected


def test_nothing_is_known_of_an_operator_without_a_schema() -> None:
    op = registry.lookup("my.domain", "Mystery", 1)
    assert [each.type for each in infer(op, 1, [T(2)], {"anything": 1}, 3)] == [UNKNOWN_TENSOR] * 3


def test_an_operator_without_inference_gets_types_by_its_signature() -> None:
    known = call("BeamSearch", domain="com.microsoft", version=1, outputs=2)
    assert [each.type for each in known] == [TensorType(DType.INT32, None), UNKNOWN_TENSOR]
    assert call("IsAllFinite", T(2), domain="com.microsoft", version=1)[0].type == TensorType(BOOL, None)


def test_as_many_outputs_as_asked_for() -> None:
    assert len(call("LayerNormalization", T(2, 3), T(3))) == 1
    assert len(call("LayerNormalization", T(2, 3), T(3), outputs=3)) == 3
    assert [each.type for each in call("MaxPool", T(1, 1, 4), kernel_shape=(2,), outputs=2)] == [
        TensorType(FLOAT, (1, 1, 3)),
        TensorType(INT64, (1, 1, 3)),
    ]
    assert len(call("Split", T(9), num_outputs=3, outputs=3)) == 3


def test_onnx_refuses_what_has_no_rule_here() -> None:
    with pytest.raises(InferenceError, match=r"^StringNormalizer: \w") as caught:
        call("StringNormalizer", T(2, 3, dtype=DType.STRING))
    assert "[ShapeInferenceError]" not in str(caught.value)


def test_onnx_is_not_believed_when_it_refuses_a_symbolic_shape() -> None:
    assert call("StringNormalizer", T("N", "M", dtype=DType.STRING))[0].type == TensorType(DType.STRING, None)


def test_sequences_and_optionals() -> None:
    sequence = Known(SequenceType(TensorType(FLOAT, ("N", 2))))
    assert call("SequenceAt", sequence, C(0))[0].type == TensorType(FLOAT, ("N", 2))
    assert call("SequenceConstruct", T(2, 3), T(4, 3))[0].type == SequenceType(TensorType(FLOAT, (None, 3)))
    assert call("SequenceInsert", sequence, T(5, 2))[0].type == SequenceType(TensorType(FLOAT, (None, 2)))
    assert call("ConcatFromSequence", sequence, axis=1)[0].type == TensorType(FLOAT, ("N", None))
    assert call("ConcatFromSequence", sequence, axis=-1, new_axis=1)[0].type == TensorType(
        FLOAT, ("N", 2, None)
    )
    assert call("SplitToSequence", T(6, 2), C(2))[0].type == SequenceType(TensorType(FLOAT, (2, 2)))
    assert call("SplitToSequence", T(7, 2), C(2))[0].type == SequenceType(TensorType(FLOAT, (None, 2)))
    assert call("SplitToSequence", T(7, 2), keepdims=0)[0].type == SequenceType(TensorType(FLOAT, (2,)))
    (optional,) = call("Optional", sequence)
    assert optional.type == OptionalType(SequenceType(TensorType(FLOAT, ("N", 2))))
    assert call("OptionalGetElement", optional)[0].type == sequence.type
    assert call("OptionalHasElement", optional)[0].type == TensorType(BOOL, ())
    assert call("Optional", type=TensorType(INT64, (3,)))[0].type == OptionalType(TensorType(INT64, (3,)))


def test_element_types_that_versions_changed() -> None:
    assert dtype("Dropout", T(2), version=7, outputs=2) is FLOAT
    masks = [call("Dropout", T(2), version=version, outputs=2)[1].type for version in (7, 12)]
    assert masks == [TensorType(FLOAT, (2,)), TensorType(BOOL, (2,))]
    half = T(2, dtype=DType.FLOAT16)
    eight = T(2, dtype=DType.INT8)
    assert dtype("DequantizeLinear", eight, T(), version=13) is FLOAT
    assert dtype("DequantizeLinear", eight, T(dtype=DType.FLOAT16), version=19) is DType.FLOAT16
    assert dtype("QuantizeLinear", half, T(dtype=DType.FLOAT16), output_dtype=int(DType.INT4)) is DType.INT4
    assert dtype("QuantizeLinear", half, T(dtype=DType.FLOAT16)) is DType.UINT8
    assert dtype("Cast", T(2), version=1, to="DOUBLE") is DType.DOUBLE
    assert dtype("Constant", value=np.array([1.0])) is DType.DOUBLE
    assert dtype("Constant", value_string="a") is DType.STRING
    assert shape("Constant", value_floats=(1.0, 2.0)) == (2,)
    assert LATEST >= 28


def test_axes_to_be_squeezed_may_be_the_same() -> None:
    data, one, two = T(1, 3, 1, 5), T(1, dtype=DType.INT64), T(2, dtype=DType.INT64)
    assert call("Squeeze", data, one)[0].type == TensorType(DType.FLOAT, (None, None, None))
    assert call("Squeeze", data, two)[0].type == TensorType(DType.FLOAT, None)
