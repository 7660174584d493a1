"""`model.replace_weights`: other values, the same types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import parser

from onnxsmith import FLOAT, Model, Weights, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import CallError, WeightError


def network() -> Model:
    w, b = np.ones((4, 3), np.float32), np.zeros(3, np.float32)
    return trace(lambda x: op.Relu(x @ w + b), FLOAT["N", 4])


X = np.ones((1, 4), np.float32)


def test_by_name() -> None:
    model = network()
    changed = model.replace_weights({"b": np.float32([1, 2, 3])})
    np.testing.assert_array_equal(changed(X), np.float32([[5, 6, 7]]))
    np.testing.assert_array_equal(model(X), np.float32([[4, 4, 4]]))
    mine, theirs = changed.ir.graph.initializers, model.ir.graph.initializers
    assert mine["w"].const_value is theirs["w"].const_value
    assert list(mine) == list(theirs)


def test_by_a_function() -> None:
    seen: list[str] = []

    def halve(name: str, array: np.ndarray) -> np.ndarray | None:
        seen.append(name)
        return array / 2 if name == "w" else None

    np.testing.assert_array_equal(network().replace_weights(halve)(X), np.float32([[2, 2, 2]]))
    assert seen == ["w", "b"]


def test_of_tables_and_literals() -> None:
    weights = Weights({"bias": (FLOAT[3], [1.0, 2.0, 3.0])})
    changed = network().replace_weights({"b": weights["bias"]})
    np.testing.assert_array_equal(changed(X), np.float32([[5, 6, 7]]))
    assert weights["bias"].tensor.name == "bias"  # type: ignore[attr-defined]
    np.testing.assert_array_equal(network().replace_weights({"b": [1, 2, 3]})(X), np.float32([[5, 6, 7]]))


def test_constants_and_nested_graphs() -> None:
    text = """<ir_version: 10, opset_import: ["": 21]>
        g (float[1] x, bool c) => (float[1] y) {
            k = Constant <value = float[1] {2.0}> ()
            a = Mul (x, k)
            y = If (c) <then_branch = t () => (float[1] b) <float[1] w = {3.0}> { b = Add (a, w) },
                        else_branch = e () => (float[1] b) { b = Neg (a) }>
        }"""
    model = Model.from_proto(parser.parse_model(text))
    changed = model.replace_weights({"k": np.float32([5]), "w": np.float32([7])})
    x, c = np.float32([1]), np.array(True)
    np.testing.assert_array_equal(changed(x, c), np.float32([12]))
    np.testing.assert_array_equal(model(x, c), np.float32([5]))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"nix": np.zeros(3)}, "no weight 'nix'"),
        ({"b": np.zeros(3)}, "float32, and was given float64"),
        ({"b": np.zeros(4, np.float32)}, r"shape \(3,\), and was given \(4,\)"),
        ({"w": np.zeros((3, 4), np.float32)}, r"transposed: \.T"),
        ({"b": "text"}, "weight 'b'"),
        ({"b": object()}, "weight 'b'"),
        (lambda name, array: array.astype(np.float16), "given float16"),
    ],
)
def test_what_is_refused(given: object, words: str) -> None:
    with pytest.raises(WeightError, match=words):
        network().replace_weights(given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "function", [lambda: None, lambda name: None, lambda name, array, more: None, lambda *, name: None]
)
def test_a_function_of_other_arguments_is_refused(function: object) -> None:
    with pytest.raises(CallError, match="takes other arguments than two"):
        network().replace_weights(function)  # type: ignore[arg-type]


@pytest.mark.parametrize("function", [int, str, np.add])
def test_a_function_without_lines_that_refuses_its_arguments_is_named(function: Any) -> None:
    with pytest.raises(
        CallError, match=f"calls {function.__name__} with a str and a ndarray, which it refuses"
    ):
        network().replace_weights(function)


def test_what_a_function_of_the_user_raises_is_left_alone() -> None:
    with pytest.raises(ValueError, match="invalid literal") as raised:
        network().replace_weights(lambda name, array: int(name))
    assert type(raised.value) is ValueError


@pytest.mark.parametrize("function", [lambda *given: -given[1], lambda name, array, more=1: -array])
def test_a_function_may_take_more(function: Any) -> None:
    changed = network().replace_weights(function)
    assert changed.equals(network().replace_weights(lambda name, array: -array))


@pytest.mark.parametrize(
    ("name", "help_text"),
    [
        ("a.weight", "it was folded into 'a.weight_scaled' and 'a.weight_bias' when the model was made"),
        ("bn.weight", "it has 'b.weight', 'b.bias', 'head.weight', 'a.weight_scaled', 'a.weight_bias'"),
        ("a.bias", "it has 'b.weight'"),
        ("heda.weight", "did you mean 'head.weight'?"),
        ("b.wieght", "did you mean 'b.weight'?"),
        ("B.weight", "did you mean 'b.weight'?"),
    ],
)
def test_the_weight_of_another_module_is_no_suggestion(name: str, help_text: str) -> None:
    names = ["b.weight", "b.bias", "head.weight", "a.weight_scaled", "a.weight_bias"]
    declared = ", ".join(f'float[3] "{each}" = {{0, 0, 0}}' for each in names)
    text = " ".join(f'y{k + 1} = Mul(y{k}, "{each}")' for k, each in enumerate(names))
    head = '<ir_version: 10, opset_import: ["": 21]> g (float[3] y0) => (float[3] y5)'
    model = Model.from_proto(parser.parse_model(f"{head} <{declared}> {{ {text} }}"))
    with pytest.raises(WeightError) as raised:
        model.replace_weights({name: np.ones(3, np.float32)})
    assert raised.value.help is not None
    assert raised.value.help.startswith(help_text)
