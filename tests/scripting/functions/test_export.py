"""`to_model`: what its options may say beside what the script says itself."""

from __future__ import annotations

import pytest

from onnxsmith import BOOL, FLOAT, INT64, Model, script
from onnxsmith import opset21 as op
from onnxsmith.errors import CallError
from onnxsmith.types.value_types import AnyValueType, SequenceType


@script
def rectified(x: FLOAT["N"]):
    return op.Relu(x)


@script
def first(items: list[FLOAT["N"]]):
    return op.SequenceAt(items, 0)


@script
def is_there(x: FLOAT["N"] | None):
    return op.OptionalHasElement(x)


@script
def anything(x):
    return op.Identity(x)


@pytest.mark.parametrize("given", [INT64["N"], FLOAT["N", 2], FLOAT[()], SequenceType(FLOAT["N"])], ids=repr)
def test_input_types_do_not_overrule_an_annotation(given: AnyValueType) -> None:
    with pytest.raises(CallError) as caught:
        rectified.to_model(input_types=[given])
    assert "annotated FLOAT['N']" in caught.value.message
    assert f"input_types says {given!r}" in caught.value.message
    with pytest.raises(CallError, match="input_types says"):
        rectified.to_model(input_types={"x": given})


@pytest.mark.parametrize("given", [FLOAT["N"], SequenceType(INT64["N"]), SequenceType(FLOAT[2, 2])], ids=repr)
def test_nor_the_annotation_of_a_sequence(given: AnyValueType) -> None:
    with pytest.raises(CallError, match="input_types says"):
        first.to_model(input_types=[given])


def test_nor_that_of_an_optional() -> None:
    with pytest.raises(CallError, match="input_types says"):
        is_there.to_model(input_types=[INT64["N"]])
    assert is_there.to_model(input_types=[FLOAT["N"]]).outputs[0].type == BOOL


def test_input_types_say_what_annotations_leave_open() -> None:
    assert rectified.to_model(input_types=[FLOAT[3]]).inputs[0].type == FLOAT[3]
    assert first.to_model(input_types=[SequenceType(FLOAT[3])]).outputs[0].type == FLOAT[3]
    for given in (INT64["N"], FLOAT[2, "M"], SequenceType(FLOAT[3])):
        assert anything.to_model(input_types=[given]).inputs[0].type == given


def test_a_name_inside_a_sequence_is_no_size_in_common() -> None:
    """Elements of a sequence may differ in size, so that a model does not say that they share one."""
    model = anything.to_model(input_types=[SequenceType(FLOAT["N"])])
    assert model.inputs[0].type == SequenceType(FLOAT[None])


@pytest.mark.parametrize("inline", [False, True])
def test_what_the_model_says_of_its_producer(inline: bool) -> None:
    @script
    def twice(x: FLOAT["N"]):
        return op.Add(x, x)

    @script
    def four_times(x: FLOAT["N"]):
        return twice(twice(x))

    model = four_times.to_model(producer_name="acme", producer_version="0.1", ir_version=9, inline=inline)
    for proto in (model.proto, Model(model.ir).proto):
        assert (proto.producer_name, proto.producer_version, proto.ir_version) == ("acme", "0.1", 9)
