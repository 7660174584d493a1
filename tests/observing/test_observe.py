"""Values inside a model: by name, of one run; and streamed, of many. What has no one value is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import parser

from onnxsmith import FLOAT, INT64, Model, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import (
    AttributeTypeError,
    AttributeValueError,
    ModelInputError,
    OnnxsmithError,
    UnknownNameError,
)
from onnxsmith.observing import ObservedRun, observe

BODIES = """
<ir_version: 9, opset_import: ["" : 21, "l" : 1]>
g (float[N] x, bool c) => (float[N] y)
{
   b = If (c) <then_branch = p () => (float[N] t) { t = Abs (x) }, else_branch = q () => (float[N] e) { e = Neg (x) }>
   y = l.f (b)
}
<domain: "l", opset_import: ["" : 21]> f (v) => (u) { k = Abs (v) u = Neg (k) }
"""


def test_values_weights_and_inputs() -> None:
    scale = np.float32([2, 3])
    model = trace(lambda a: op.Exp(op.Relu(a * scale)), FLOAT["N", 2])
    given = np.float32([[-1, 1]])
    found = model.intermediate({"a": given}, ["relu", "scale", "a", "exp"])
    assert list(found) == ["relu", "scale", "a", "exp"]
    np.testing.assert_array_equal(np.asarray(found["relu"]), [[0, 3]])
    np.testing.assert_array_equal(np.asarray(found["scale"]), scale)
    np.testing.assert_allclose(np.asarray(found["exp"]), np.exp([[0, 3]]), rtol=1e-6)
    assert list(model.intermediate([given], "mul")) == ["mul"]


def test_only_what_is_needed_runs() -> None:
    model = trace(lambda a, b: (op.Relu(a), op.Exp(b)), FLOAT["N"], FLOAT["N"])
    found = model.intermediate({"a": np.float32([1]), "b": np.float32([1])}, ["relu"])
    assert list(found) == ["relu"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("t", "'t' is made by node 0.then_branch.0, each time that the body runs"),
        ("k", "'k' is made by node l::f/0, at every call of the function"),
        ("nothing", "the model has no value 'nothing'"),
    ],
)
def test_values_that_have_no_one_value(name: str, words: str) -> None:
    model = Model.from_proto(parser.parse_model(BODIES))
    inputs = {"x": np.float32([1]), "c": np.array(True)}
    with pytest.raises(UnknownNameError, match=words.replace(".", r"\.")):
        model.intermediate(inputs, [name])


def test_wrong_inputs() -> None:
    model = trace(lambda a: op.Relu(a), FLOAT["N"])
    with pytest.raises(ModelInputError, match="no value for the input 'a'"):
        model.intermediate({}, ["relu"])
    with pytest.raises(ModelInputError, match="no input 'b'"):
        model.intermediate({"a": np.float32([1]), "b": np.float32([1])}, ["relu"])
    with pytest.raises(ModelInputError, match="1 input, and was given 2"):
        model.intermediate([np.float32([1]), np.float32([1])], ["relu"])


@pytest.mark.parametrize("names", [None, 5, [5], b"relu"])
def test_what_is_no_name_is_refused(names: Any) -> None:
    model = trace(lambda a: op.Exp(op.Relu(a)), FLOAT["N"])
    with pytest.raises(AttributeTypeError, match="names are names of values, not"):
        model.intermediate([np.float32([1])], names)


@pytest.mark.parametrize("inputs", [None, 5, "a", np.float32([1])], ids=lambda each: type(each).__name__)
def test_what_are_no_inputs_are_refused(inputs: Any) -> None:
    model = trace(lambda a: op.Exp(op.Relu(a)), FLOAT["N"])
    with pytest.raises(AttributeTypeError, match="inputs are arrays by name or in order, not"):
        model.intermediate(inputs, "relu")


# -- observing -----------------------------------------------------------------------------------------------


def seen_in(model: Model, batches: Any, *wanted: Any, **options: Any) -> list[Any]:
    found: list[Any] = []
    observe(model, batches, found.append, *wanted, **options)
    return found


def test_values_of_all_batches_one_after_the_other() -> None:
    model = trace(lambda a: op.Exp(op.Relu(a)), FLOAT["N"])
    pulled: list[int] = []

    def batches() -> Any:
        for k in range(3):
            pulled.append(k)
            yield [np.float32([k, -k])]

    order: list[tuple[int, int]] = []
    observe(model, batches(), lambda seen: order.append((len(pulled), seen.batch)), {"relu"})
    assert order == [(1, 0), (2, 1), (3, 2)]  # each batch is gone before the next is asked for
    every = seen_in(model, [{"a": np.float32([1])}])
    assert [(each.name, each.node.op_type) for each in every] == [("relu", "Relu"), ("exp", "Exp")]


def test_values_in_bodies_and_functions() -> None:
    model = Model.from_proto(parser.parse_model(BODIES))
    inputs = {"x": np.float32([-1, 2]), "c": np.array(False)}
    seen = seen_in(model, [inputs, {**inputs, "c": np.array(True)}], lambda node, name: node.op_type == "Abs")
    assert [(each.batch, each.name, each.calls) for each in seen] == [
        (0, "k", ("1",)),
        (1, "t", ()),
        (1, "k", ("1",)),
    ]
    assert all(np.array_equal(each.value, [1, 2]) for each in seen)
    by_name = seen_in(model, [inputs], ["b", "y", "e"])
    assert {each.name: np.asarray(each.value).tolist() for each in by_name} == {
        "b": [1, -2],
        "e": [1, -2],
        "y": [-1, -2],
    }


@script
def repeated(x: FLOAT["N"], n: INT64):
    for k in range(n):
        x = op.Sin(x) + op.Cast(k, to=1)
    return x


def test_values_of_every_iteration() -> None:
    seen = seen_in(
        repeated.to_model(), [[np.float32([1]), np.int64(4)]], lambda node, name: node.op_type == "Sin"
    )
    assert [each.turns for each in seen] == [(0,), (1,), (2,), (3,)]
    value = np.float32([1])
    for k, each in enumerate(seen):
        value = np.sin(value)
        np.testing.assert_allclose(np.asarray(each.value), value, rtol=1e-6)
        value = value + k


def test_no_more_is_held_than_is_allowed() -> None:
    def chain(x: Any) -> Any:
        for _ in range(300):
            x = op.Relu(x)
        return x

    model = trace(chain, FLOAT[100_000])
    run = ObservedRun(model, {"x": np.ones(100_000, np.float32)}, memory=2_000_000)
    count = 0

    def take(value: Any, held: Any) -> None:
        nonlocal count
        count += 1

    run.stream(list(run.by_value), take)
    assert count == 300
    assert sum(np.asarray(each).nbytes for each in run._values.values()) <= 2_000_000
    assert run._chunk * 400_000 <= 2_000_000


def test_errors_are_those_of_the_run() -> None:
    model = trace(lambda a, b: op.Exp(a + b), FLOAT["N"], FLOAT["M"])
    inputs = [np.float32([1, 2]), np.float32([1, 2, 3])]
    with pytest.raises(OnnxsmithError) as wanted:
        model(*inputs)
    with pytest.raises(OnnxsmithError) as found:
        seen_in(model, [inputs], ["exp"])
    assert (found.value.message, found.value.span) == (wanted.value.message, wanted.value.span)
    with pytest.raises(OnnxsmithError) as found:
        model.intermediate(inputs, ["exp"])
    assert (found.value.message, found.value.span) == (wanted.value.message, wanted.value.span)


def test_a_name_in_a_function_is_not_one_of_the_model() -> None:
    text = """<ir_version: 9, opset_import: ["" : 21, "l" : 1]>
        g (float[N] x) => (float[N] y) { k = Exp (x) y = l.f (k) }
        <domain: "l", opset_import: ["" : 21]> f (v) => (u) { k = Abs (v) u = Neg (k) }"""
    model = Model.from_proto(parser.parse_model(text))
    assert model.intermediate([np.float32([0])], "k")["k"].tolist() == [1]
    assert [each.calls for each in seen_in(model, [[np.float32([0])]], ["k"])] == [(), ("1",)]


def test_a_value_is_seen_where_it_is_made_first() -> None:
    """The first NaN is that of the node in the body, and not that of the loop around it, which gives the same."""
    seen = seen_in(repeated.to_model(), [[np.float32([1]), np.int64(2)]])
    assert [(each.node.op_type, each.turns) for each in seen if each.name in {"add", "x_1", "x_2"}] == [
        ("Add", (0,)),
        ("Add", (1,)),
        ("Loop", ()),
    ]


def test_a_name_is_one_name() -> None:
    model = trace(lambda a: op.Exp(op.Relu(op.Abs(a)) + 1.0), FLOAT["N"])
    renamed = model.rename({"relu": "add_of_relu"})
    assert [each.name for each in seen_in(renamed, [[np.float32([1])]], "add_of_relu")] == ["add_of_relu"]
    with pytest.raises(UnknownNameError, match="no node gives a value 'rleu'") as caught:
        seen_in(model, [], ["rleu"])
    assert caught.value.help == "did you mean 'relu'?"


@pytest.mark.parametrize("batches", [{"a": np.float32([1])}, np.float32([1]), 3])
def test_batches_are_several(batches: Any) -> None:
    with pytest.raises(AttributeTypeError, match="batches are the inputs of one run after the other"):
        observe(trace(lambda a: op.Exp(a), FLOAT["N"]), batches, print)


def test_an_amount_of_memory_is_text_or_bytes() -> None:
    model = trace(lambda a: op.Exp(a), FLOAT["N"])
    assert len(seen_in(model, [[np.float32([1])]], memory="1 MB")) == 1
    with pytest.raises(AttributeValueError, match="memory is a number of bytes or an amount"):
        seen_in(model, [[np.float32([1])]], memory="much")
