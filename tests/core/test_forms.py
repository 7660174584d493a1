"""A call of a form that some model has had gives what the first call of it gave, and is checked as that one was."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from onnxsmith import FLOAT, INT64, script, trace
from onnxsmith import opset21 as op
from onnxsmith.core import call, forms
from onnxsmith.core.forms import form_key
from onnxsmith.errors import MixedDTypesError, OnnxsmithError
from onnxsmith.graphs import builder
from tests.scripting.test_snippets import RUN, SNIPPETS, make, model_options


class _Forgetful(forms.CallForms):
    """Answers nothing: every call is bound, promoted and inferred."""

    def get(self, key: forms.Key) -> forms.Form | None:
        return None


@pytest.mark.parametrize("name", RUN)
def test_a_model_is_the_same_without_remembering(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, snippet = SNIPPETS[name]
    inputs = snippet.runs[0][0]

    made = make(function, snippet)

    def compiled() -> onnx.ModelProto | str:
        try:
            return made.to_model(**model_options(made, snippet, inputs), attributes=snippet.runs[0][1]).proto
        except OnnxsmithError as error:
            return error.message

    compiled()
    remembering = compiled()  # every form in it is known by now
    monkeypatch.setattr(call, "forms_cache", _Forgetful())
    assert compiled() == remembering


def test_a_second_call_is_not_bound_again(monkeypatch: pytest.MonkeyPatch) -> None:
    bound: list[str] = []

    def counting(definition: Any, args: Any, kwargs: Any) -> Any:
        bound.append(definition.name)
        return real(definition, args, kwargs)

    real = call.bind
    monkeypatch.setattr(call, "bind", counting)
    monkeypatch.setattr(call, "forms_cache", forms.CallForms())

    def chain(x: Any, y: Any) -> Any:
        for _ in range(10):
            x = op.Softmax(op.Mul(x, y) + 1.0, axis=0)
        return x

    trace(chain, FLOAT["N"], FLOAT["N"])
    assert bound == ["Mul", "Add", "Softmax"]
    trace(chain, FLOAT["N"], FLOAT["N"])
    assert len(bound) == 3  # other models have had it, too


def test_calls_with_arrays_of_one_type_have_one_form(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = forms.CallForms()
    monkeypatch.setattr(call, "forms_cache", cache)
    weights = [np.full((40, 40), k, np.float32) for k in range(4)]

    def chain(x: Any) -> Any:
        for each in weights:
            x = op.Mul(x, each)
        return op.Div(weights[2], x)

    model = trace(chain, FLOAT["N", 40])
    assert len(cache._forms) == 3  # the first call has an input with other dimensions
    inputs = [node.input for node in model.proto.graph.node]
    assert len({each[1] for each in inputs[:4]}) == 4
    assert inputs[4][0] == inputs[2][1]
    x = np.ones((40, 40), np.float32)
    with np.errstate(divide="ignore", invalid="ignore"):
        assert np.array_equal(model(x), weights[2] / (x * 0))


def test_what_a_small_array_holds_may_decide_so_that_it_has_no_form() -> None:
    def reshaped(x: Any) -> Any:
        return op.Reshape(x, np.array([2, -1])), op.Reshape(x, np.array([4, -1]))

    first, second = trace(reshaped, FLOAT[8]).proto.graph.output
    assert first.type.tensor_type.shape.dim[0].dim_value == 2
    assert second.type.tensor_type.shape.dim[0].dim_value == 4


def test_an_exact_graph_has_no_part_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = forms.CallForms()
    monkeypatch.setattr(call, "forms_cache", cache)

    @script(exact=True)
    def exact(x: FLOAT["N"]) -> FLOAT["N"]:
        return op.Relu(op.Relu(x))

    exact.to_model()
    assert not cache._forms


def test_no_more_is_remembered_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "_LIMIT", 8)
    cache = forms.CallForms()
    monkeypatch.setattr(call, "forms_cache", cache)
    monkeypatch.setattr(builder, "forms_cache", cache)
    for size in range(40):
        model = trace(lambda x: op.Relu(op.Concat(x, x, axis=0)), FLOAT[size])
        assert model.proto.graph.output[0].type.tensor_type.shape.dim[0].dim_value == 2 * size
        assert len(cache._forms) <= 8
        assert len(cache._known) <= 8


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda x: x + 0.0, lambda x: x + -0.0),
        (lambda x: op.Add(x, 1), lambda x: op.Add(x, 1.0)),
        (lambda x: op.Softmax(x, axis=0), lambda x: op.Softmax(x, axis=1)),
        (lambda x: op.Transpose(x, perm=[0, 1]), lambda x: op.Transpose(x, perm=[1, 0])),
        (lambda x: op.Cast(x, to=FLOAT), lambda x: op.Cast(x, to=INT64)),
    ],
    ids=["the sign of zero", "kinds of literals", "attributes", "lists", "types"],
)
def test_forms_that_differ_are_told_apart(first: Any, second: Any) -> None:
    alone = trace(second, FLOAT["N", "N"]).proto.graph
    behind = trace(lambda x: (first(x), second(x)), FLOAT["N", "N"]).proto.graph
    assert behind.node[-1].attribute == alone.node[-1].attribute
    assert behind.output[-1].type == alone.output[-1].type
    if alone.initializer:
        used = {each.name: each.raw_data for each in behind.initializer}
        assert used[behind.node[-1].input[1]] == alone.initializer[0].raw_data


def test_a_mistake_is_a_mistake_each_time() -> None:
    def wrong(x: Any, n: Any) -> Any:
        y = op.Add(x, x)
        with pytest.raises(MixedDTypesError):
            op.Add(x, n)
        with pytest.raises(MixedDTypesError):
            op.Add(x, n)
        return y

    trace(wrong, FLOAT["N"], INT64["N"])


def test_what_is_no_type_or_literal_has_no_form() -> None:
    def call(x: Any) -> Any:
        keys = [
            form_key(op.Add, (x, np.float32(1)), {}),
            form_key(op.Add, (x, float("nan")), {}),
            form_key(op.Add, (x, np.ma.array([1.0])), {}),
            form_key(op.Add, (x, x.shape[0]), {}),
            form_key(op.Reshape, (x, [1, 2]), {}),
            form_key(op.Softmax, (x,), {"axis": None}),
        ]
        assert keys == [None] * len(keys)
        return op.Relu(x)

    trace(call, FLOAT["N"])


def test_a_literal_in_a_branch_that_is_tried_twice_is_a_constant_of_the_model() -> None:
    @script
    def counted(x: FLOAT["N"], n: INT64) -> FLOAT["N"]:
        total = 0
        for _ in range(n):
            x = x * 3.0
            total = total + x.sum()
        return x * 3.0 + total

    model = counted.to_model()
    model.check()
    assert np.array_equal(model(np.float32([1]), np.array(2)), np.float32([9 * 3 + 12]))
