"""Binding: where each argument goes, for positional, keyword, variadic and optional inputs."""

from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, DType, errors
from onnxsmith.schema import registry
from onnxsmith.schema.bind import bind, call_form


def bound(name: str, *args: Any, version: int = 21, domain: str = "", **kwargs: Any) -> Any:
    return bind(registry.lookup(domain, name, version), args, kwargs)


def test_a_keyword_input_after_a_gap_leaves_a_hole_and_does_not_shift() -> None:
    assert bound("Clip", "x", max="m").inputs == ["x", None, "m"]
    assert bound("Clip", input="x", min="m").inputs == ["x", "m"]


def test_trailing_inputs_left_out_are_not_there() -> None:
    assert bound("Clip", "x", None, None).inputs == ["x"]


def test_attributes_are_normalised() -> None:
    call = bound("Cast", "x", to=FLOAT)
    assert call.attributes == {"to": 1}
    for spelling in (FLOAT.dtype, DType.FLOAT, np.float32, "float32", 1):
        assert bound("Cast", "x", to=spelling).attributes == {"to": 1}
    assert bound("Transpose", "x", perm=np.array([1, 0])).attributes == {"perm": (1, 0)}
    assert bound("LeakyRelu", "x", alpha=1).attributes == {"alpha": 1.0}
    assert bound("Softmax", "x", axis=None).attributes == {}


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "count"),
    [
        ("Relu", ("x",), {}, 1),
        ("TopK", ("x", "k"), {}, 2),
        ("MaxPool", ("x",), {"kernel_shape": [2, 2]}, 1),
        ("MaxPool", ("x",), {"kernel_shape": [2, 2], "outputs": 2}, 2),
        ("LSTM", ("x", "w", "r"), {"outputs": 3}, 3),
        ("Split", ("x",), {"num_outputs": 3}, None),
    ],
)
def test_how_many_outputs(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any], count: int | None
) -> None:
    assert bound(name, *args, **kwargs).output_count == count


def test_variadic_inputs_take_the_rest() -> None:
    assert bound("Concat", "a", "b", "c", axis=0).inputs == ["a", "b", "c"]
    assert bound("Loop", None, "c", "v0", "v1", body=lambda: None).inputs == [None, "c", "v0", "v1"]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: bound("MatMul", "a"),
            errors.MissingInputError,
            "MatMul is missing input 'B'; 1 of its inputs was given",
        ),
        (
            lambda: bound("MatMul", None, "b"),
            errors.MissingInputError,
            "MatMul is missing input 'A'; 1 of its inputs was given",
        ),
        (
            lambda: bound("Concat", axis=0),
            errors.MissingInputError,
            "Concat is missing input 'inputs'; 0 of its inputs were given",
        ),
        (
            lambda: bound("Softmax", "x", 1),
            errors.TooManyInputsError,
            "Softmax takes one input (input), got 2",
        ),
        (
            lambda: bound("MatMul", "a", "b", A="c"),
            errors.TooManyInputsError,
            "MatMul got input 'A' twice, by position and by keyword",
        ),
        (
            lambda: bound("Softmax", "x", axes=1),
            errors.UnknownAttributeError,
            "Softmax has no attribute 'axes' in version 13",
        ),
        (
            lambda: bound("Concat", inputs=["a"], axis=0),
            errors.UnknownAttributeError,
            "Concat takes 'inputs' by position",
        ),
        (lambda: bound("Concat", "a"), errors.MissingAttributeError, "Concat needs the attribute 'axis'"),
        (
            lambda: bound("Softmax", "x", axis="last"),
            errors.AttributeTypeError,
            "Softmax needs axis= to be an int, not 'last' (str)",
        ),
        (
            lambda: bound("Softmax", "x", axis=1.0),
            errors.AttributeTypeError,
            "Softmax needs axis= to be an int, not 1.0 (float)",
        ),
        (
            lambda: bound("Softmax", "x", axis=2**63),
            errors.AttributeTypeError,
            f"Softmax needs axis= to be an int, not {2**63} (int)",
        ),
        (
            lambda: bound("Transpose", "x", perm=1),
            errors.AttributeTypeError,
            "Transpose needs perm= to be a list of ints, not 1 (int)",
        ),
        (
            lambda: bound("Cast", "x", to="floaty"),
            errors.AttributeTypeError,
            "Cast needs to= to be an element type, not 'floaty' (str)",
        ),
        (
            lambda: bound("Pad", "x", "p", mode="mirror"),
            errors.AttributeValueError,
            "Pad does not know mode='mirror'",
        ),
        (
            lambda: bound("TopK", "x", "k", outputs=3),
            errors.OutputCountError,
            "TopK has 2 outputs (Values, Indices), not 3",
        ),
        (lambda: bound("Relu", "x", outputs=0), errors.OutputCountError, "Relu has 1 outputs (Y), not 0"),
    ],
)
def test_wrong_calls(call: Any, error: type[errors.OnnxsmithError], message: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert caught.value.message == message


def test_an_operator_of_an_unknown_domain_takes_anything() -> None:
    call = bound(
        "Frobnicate", "x", None, "y", domain="my.domain", version=1, alpha=0.5, ids=[1, 2], outputs=2
    )
    assert call.inputs == ["x", None, "y"]
    assert call.attributes == {"alpha": 0.5, "ids": (1, 2)}
    assert call.output_count == 2


def test_how_a_call_is_written() -> None:
    assert call_form(registry.lookup("", "Clip", 21)) == "Clip(input, min=None, max=None)"
