"""A script that names no opset is of the opset of whoever calls it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest

from onnxsmith import FLOAT, Model, Opset, script, trace
from onnxsmith import opset9 as op9
from onnxsmith import opset13 as op13
from onnxsmith import opset21 as op21
from onnxsmith.scripting.functions.definition import named_version


@script
def same(x):
    return x


@script
def one_more(x):
    return x + 1.0


@script
def calling(x):
    return one_more(same(x))


@script
def with_branch(x):
    if x.sum() > 0.0:
        return one_more(x)
    return same(x)


CALLED = [same, one_more, calling, with_branch]
X = np.float32([[1, 2, 3]])


@pytest.mark.parametrize("called", CALLED, ids=lambda each: each.name)
def test_the_opset_of_the_caller_is_the_called_ones(called: Callable[..., object]) -> None:
    @script
    def before(x: FLOAT[1, "N"]):
        return op9.Squeeze(called(x), axes=[0])

    @script
    def behind(x: FLOAT[1, "N"]):
        return called(op9.Squeeze(x, axes=[0]))

    models = [
        before.to_model(),
        behind.to_model(),
        trace(lambda x: op9.Squeeze(called(x), axes=[0]), FLOAT[1, "N"]),
        trace(lambda x: called(x), FLOAT[1, "N"], opset_version=9),
    ]
    for model in models:
        assert model.opset_imports[""] == 9
        onnx.checker.check_model(model.proto)
        assert {
            each.version for f in model.proto.functions for each in f.opset_import if not each.domain
        } == {9}
        np.testing.assert_array_equal(np.squeeze(model(X)), np.squeeze(called(X)))


def test_two_callers_in_one_process_have_one_each() -> None:
    def model(opset: int) -> Model:
        return trace(lambda x: calling(x), FLOAT["N"], opset_version=opset)

    assert [model(opset).opset_imports[""] for opset in (21, 9, 13, 21)] == [21, 9, 13, 21]


def test_a_caller_that_names_none_leaves_the_newest() -> None:
    @script
    def main(x: FLOAT["N"]):
        return calling(x)

    assert main.to_model().opset_imports[""] == one_more.opset_version


def test_one_that_names_an_opset_keeps_it() -> None:
    @script
    def inner(x: FLOAT["N"]):
        return op13.Relu(x) + 1.0

    @script
    def main(x: FLOAT["N"]):
        return calling(inner(x))

    assert main.to_model().opset_imports[""] == 13
    model = trace(lambda x: op21.Neg(inner(x)), FLOAT["N"])
    (inside,) = [each for each in model.proto.functions if each.name == "inner"]
    assert [each.version for each in inside.opset_import if not each.domain] == [13]


def test_it_is_one_function_however_many_call_it() -> None:
    @script
    def first(x: FLOAT["N"]):
        return op21.Relu(same(x))

    @script
    def main(x: FLOAT["N"]):
        return same(op21.Neg(first(x)))

    assert sorted(each.name for each in main.to_model().proto.functions) == ["first", "same"]


def test_a_literal_of_an_open_type_waits_for_the_type_in_an_old_opset() -> None:
    @script
    def more(x):
        return op9.Relu(x) + 1.0

    model = more.to_model(input_types=[FLOAT["N"]])
    assert model.opset_imports[""] == 9
    np.testing.assert_array_equal(model(X[0]), X[0] + 1)


@pytest.mark.parametrize(
    ("named", "version"),
    [
        (21, 21),
        (True, None),
        (None, None),
        ("21", None),
        (op13, 13),
        (op13.Add, 13),
        (op21.Add, 21),
        (Opset("", 17), 17),
        (Opset("com.acme", 2), None),
        (Opset("com.microsoft", 1), None),
        (Opset("ai.onnx.ml", 3).LabelEncoder, None),
        (np, None),
    ],
    ids=str,
)
def test_the_version_of_the_standard_operators_that_something_names(named: Any, version: int | None) -> None:
    assert named_version(named) == version
