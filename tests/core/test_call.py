"""Lists as operands: a vector of scalars is one, a list of tensors is refused, the same wherever the call stands."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith
from onnxsmith import FLOAT, INT64, errors, script, tensor, trace
from onnxsmith import opset21 as op

REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "Concat": (lambda x, y: op.Concat([x, y], axis=0), "give them one by one: Concat(a, b, …)"),
    "Concat of a tuple": (lambda x, y: op.Concat((x, y), axis=0), "give them one by one: Concat(a, b, …)"),
    "Max": (lambda x, y: op.Max([x, y]), "give them one by one: Max(a, b, …)"),
    "Relu": (lambda x, y: op.Relu([x, y]), "call Relu for each of them"),
    "Add": (lambda x, y: op.Add(x, [y, y]), "call Add for each of them"),
    "outputs": (lambda x, y: op.Relu(op.Split(x, num_outputs=2)), "take one: outputs[0]"),
    "outputs in Identity": (lambda x, y: op.Identity(op.Split(x, num_outputs=2)), "take one: outputs[0]"),
    "with a number": (lambda x, y: op.Reshape(x, [x, 1]), "call Reshape for each of them"),
    "an array": (lambda x, y: op.Concat([x, np.ones((2, 3), np.float32)], axis=0), "give them one by one"),
    "nested": (lambda x, y: op.Add(x, [[x, 1.0]]), "join them"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_list_of_tensors_is_refused(name: str) -> None:
    function, remedy = REFUSED[name]
    x = np.ones((2, 3), np.float32)
    texts: set[str] = set()
    for call in (
        lambda: function(x, x),
        lambda: function(tensor(x), tensor(x)),
        lambda: trace(function, FLOAT[2, 3], FLOAT[2, 3]),
    ):
        with pytest.raises(errors.InputTypeError, match="a list of tensors") as caught:
            call()
        texts.add(f"{caught.value.message}\n{caught.value.help}")
    assert len(texts) == 1
    assert remedy in texts.pop()


def test_in_a_script_too() -> None:
    def joined(x: FLOAT[2, 3], y: FLOAT[2, 3]):
        return op.Concat([x, y], axis=0)

    def rectified(x: FLOAT[2, 3]):
        halves = op.Split(x, num_outputs=2)
        return op.Relu(halves)

    for function in (joined, rectified):
        with pytest.raises(errors.InputTypeError, match="a list of tensors"):
            script(function)


VECTORS: dict[str, tuple[Callable[..., Any], list[int]]] = {
    "a tensor and a number": (lambda n: op.Identity([n, 4]), [3, 4]),
    "a number and a tensor": (lambda n: op.Identity([4, n]), [4, 3]),
    "a tuple": (lambda n: op.Identity((n, n, 7)), [3, 3, 7]),
    "alone": (lambda n: op.Identity([n]), [3]),
    "a numpy scalar": (lambda n: op.Identity([n, np.int64(5)]), [3, 5]),
    "an array without dimensions": (lambda n: op.Identity([n, np.array(5)]), [3, 5]),
}


@pytest.mark.parametrize("name", VECTORS)
def test_a_vector_of_scalars(name: str) -> None:
    function, expected = VECTORS[name]
    n = np.array(3)
    for result in (function(n), function(tensor(n)), trace(function, INT64)(n)):
        assert np.asarray(result).dtype == np.int64
        np.testing.assert_array_equal(result, expected)


def test_a_shape_is_a_vector_and_no_sequence() -> None:
    x = np.ones((2, 3), np.float32)
    expected = np.array([2, 3])
    np.testing.assert_array_equal(op.Identity(tensor(x).shape), expected)
    for kind in (FLOAT[2, 3], FLOAT["N", 3], FLOAT["N", "M"]):
        model = trace(lambda x: op.Identity(x.shape), kind)
        model.check()
        np.testing.assert_array_equal(model(x), expected)


def test_a_list_is_a_sequence_where_only_that_is_taken() -> None:
    x = np.ones(2, np.float32)
    assert op.SequenceLength([x, x]) == 2
    assert trace(lambda x: op.SequenceLength([x, x]), FLOAT[2])(x) == 2
    assert len(op.Identity([x, x])) == 2


@pytest.mark.parametrize(
    "function",
    [
        lambda n, v: op.Identity([n, v]),
        lambda n, v: op.Reshape(np.ones(3, np.float32), [n, v]),
    ],
)
def test_scalars_of_two_types_do_not_blame_a_concat_that_nobody_wrote(function: Any) -> None:
    n, v = np.array(3), np.array(1.5, np.float32)
    for call in (
        lambda: function(n, v),
        lambda: function(tensor(n), tensor(v)),
        lambda: trace(function, INT64, FLOAT),
    ):
        with pytest.raises(errors.OnnxsmithError) as caught:
            call()
        assert "Concat" not in str(caught.value)
        assert isinstance(caught.value, errors.MixedDTypesError)


def test_a_literal_beside_a_scalar_tensor_is_not_cut() -> None:
    for call in (
        lambda: op.Identity([np.array(3), 2.5]),
        lambda: op.Identity([tensor(3), 2.5]),
        lambda: trace(lambda n: op.Identity([n, 2.5]), INT64),
    ):
        with pytest.raises(
            onnxsmith.errors.LiteralError, match=r"the literal 2\.5 does not fit int64 in Identity"
        ):
            call()
