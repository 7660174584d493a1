"""`model.run`: inputs however they are given, and limits that make sense."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onnxsmith import FLOAT, Model, trace
from onnxsmith.errors import AttributeTypeError, AttributeValueError, ModelInputError
from onnxsmith.graphs.isolation import Isolation, isolation, told_amount

X, Y = np.float32([1, 2]), np.float32([10, 20])


def difference() -> Model:
    return trace(lambda a, b: a - b, FLOAT["N"], FLOAT["N"])


def test_run_is_a_call() -> None:
    model = difference()
    want = (X - Y).tolist()
    assert model.run(X, Y).tolist() == want
    assert model.run(X, b=Y).tolist() == want
    assert model.run(b=Y, a=X).tolist() == want
    assert model.run({"b": Y, "a": X}).tolist() == want


def test_inputs_that_are_called_like_options() -> None:
    model = trace(lambda timeout, memory: timeout - memory, FLOAT["N"], FLOAT["N"])
    assert model.run({"timeout": X, "memory": Y}).tolist() == (X - Y).tolist()
    assert model.run({"timeout": X, "memory": Y}, isolated=True, timeout=60).tolist() == (X - Y).tolist()


def test_a_map_is_a_value_where_the_model_takes_one() -> None:
    text = """<ir_version: 8, opset_import: ["ai.onnx.ml" : 1]>
        g (map(int64, float) m) => (float[1, N] y) { y = ai.onnx.ml.DictVectorizer <int64_vocabulary = [1, 2]> (m) }"""
    model = Model.from_proto(onnx.parser.parse_model(text))
    given = {1: 0.5, 2: 0.25}
    assert model(given).tolist() == [[0.5, 0.25]]
    assert model.run(given).tolist() == [[0.5, 0.25]]
    assert model.run({"m": given}).tolist() == [[0.5, 0.25]]


@pytest.mark.parametrize("options", [{}, {"isolated": True}])
def test_wrong_inputs_are_told_alike(options) -> None:
    model = difference()
    with pytest.raises(ModelInputError, match="input 'b' is missing"):
        model.run(X, **options)
    with pytest.raises(ModelInputError, match="no input 'c'"):
        model.run({"a": X, "c": Y}, **options)
    with pytest.raises(ModelInputError, match="is float32"):
        model.run(X, Y.astype(np.float64), **options)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"timeout": 1}, AttributeValueError, "the model runs in this one"),
        ({"memory": "1 GB"}, AttributeValueError, "the model runs in this one"),
        ({"isolated": True, "timeout": 0}, AttributeValueError, "positive"),
        ({"isolated": True, "timeout": float("nan")}, AttributeValueError, "positive"),
        ({"isolated": True, "timeout": float("inf")}, AttributeValueError, "positive"),
        ({"isolated": True, "timeout": "1"}, AttributeTypeError, "number of seconds"),
        ({"isolated": True, "timeout": True}, AttributeTypeError, "number of seconds"),
        ({"isolated": True, "memory": 0}, AttributeValueError, "positive"),
        ({"isolated": True, "memory": "0 MB"}, AttributeValueError, "positive"),
        ({"isolated": True, "memory": "lots"}, AttributeTypeError, "2 GB"),
        ({"isolated": True, "memory": 1.5}, AttributeTypeError, "2 GB"),
        ({"isolated": True, "memory": True}, AttributeTypeError, "2 GB"),
    ],
)
def test_limits_that_make_no_sense(options, error, words) -> None:
    with pytest.raises(error, match=words):
        difference().run(X, Y, **options)


def test_limits() -> None:
    assert isolation(isolated=False, timeout=None, memory=None) is None
    assert isolation(isolated=True, timeout=2, memory="1.5GB") == Isolation(2.0, 1_500_000_000)
    assert isolation(isolated=True, timeout=None, memory=4096) == Isolation(None, 4096)


@pytest.mark.parametrize(("amount", "told"), [(12, "12 bytes"), (50_000_000, "50 MB"), (2 * 10**9, "2 GB")])
def test_amounts_in_words(amount, told) -> None:
    assert told_amount(amount) == told


def test_a_graph_has_no_process() -> None:
    model = difference()
    with pytest.raises(AttributeValueError, match="becomes part of it"):
        trace(lambda x: model.run(x, x, isolated=True), FLOAT["N"])
    assert trace(lambda x: model.run(x, x), FLOAT["N"])(X).tolist() == [0, 0]
