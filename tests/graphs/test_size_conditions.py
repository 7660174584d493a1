"""Conditions on sizes in a model's metadata: read as arithmetic and nothing else, and asked before a run."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, Dim, Model, jit, script, trace
from onnxsmith import opset21 as op
from onnxsmith.errors import AnnotationError, ModelInputError, ShapeError, TracedValueError
from onnxsmith.graphs.size_conditions import SIZES_KEY, SizeCondition, read, spelled, written


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("n <= 4", False),
        ("n > m", True),
        ("n % 2 == 0", True),
        ("2 <= n <= 8", True),
        ("max(n, m) - 2 * m == 2", True),
        ("-n + (n // m) != 0", True),
        ("other > 1", None),
        ("'a name' == 5", True),
        ("n < m or n % 2 == 0 and m > 2", True),
        ("n < m or (n == 8 or m == 8) and m > 3", False),
        ("n > m or other", True),
        ("n < m or other > 1", None),
        ("not n > m", None),
        # What is no comparison of sizes has no meaning.
        ("n", None),
        ("__import__('os') == 1", None),
        ("n ** n ** n ** n > 1", None),
        ("n.bit_length() > 1", None),
        ("n // 0 == 1", False),
        ("n <", None),
        ("(" * 400 + "n" + ")" * 400 + " > 1", None),
    ],
)
def test_what_a_condition_means(text, wanted):
    assert SizeCondition(text).holds({"n": 8, "m": 3, "a name": 5}) is wanted


@pytest.mark.parametrize("text", ["", "nonsense", "{}", "[1, {}]", '[{"condition": 3}]', "[" * 100_000])
def test_metadata_of_another_form_is_passed_over(text):
    assert read({SIZES_KEY: text}) == ()


def test_what_is_written_is_read():
    conditions = (SizeCondition(f"{spelled('a name')} <= 4", "model.py:3"), SizeCondition("n != 1"))
    assert read({SIZES_KEY: written(conditions)}) == conditions


def test_a_model_refuses_other_sizes(tmp_path):
    model: Any = trace(lambda x: x + 1.0, FLOAT["n", 2])
    model.ir.metadata_props[SIZES_KEY] = json.dumps([{"condition": "n <= 4", "because": "model.py:3"}])
    model.save(tmp_path / "small.onnx")
    small = Model.load(tmp_path / "small.onnx")
    assert small(np.ones((4, 2), np.float32)).shape == (4, 2)
    with pytest.raises(ModelInputError, match=r"the model is for n <= 4, and was given n = 5") as caught:
        small(np.ones((5, 2), np.float32))
    assert "model.py:3" in (caught.value.help or "")


def rows(count: int) -> np.ndarray:
    return np.ones((count, 3), np.float32)


def at_least(limit: int):
    def function(x):
        if x.shape[0] < limit:
            raise ValueError("too few")
        return x + 1.0

    return function


def test_a_declared_size_decides_what_a_function_asks():
    model = trace(at_least(1), FLOAT[Dim("N", min=1), 3])
    np.testing.assert_array_equal(model(rows(2)), rows(2) + 1)
    with pytest.raises(ValueError, match="too few"):
        trace(at_least(5), FLOAT[Dim("N", min=1, max=4), 3])


def test_what_the_declared_sizes_leave_open_is_refused():
    with pytest.raises(TracedValueError):
        trace(at_least(2), FLOAT[Dim("N", min=1), 3])
    with pytest.raises(TracedValueError):
        trace(at_least(1), FLOAT[Dim("N"), 3])


def test_what_follows_from_the_sizes_is_decided():
    def function(x, y):
        assert x.shape[0] + y.shape[0] >= 5
        assert x.shape[0] * 2 <= 8
        return x

    trace(function, FLOAT[Dim("N", min=2, max=4)], FLOAT[Dim("M", min=3)])


def test_a_declaration_holds_for_its_own_trace_alone():
    def outer(x):
        with pytest.raises(TracedValueError):
            trace(at_least(1), FLOAT["N", 3])
        return at_least(1)(x)

    trace(outer, FLOAT[Dim("N", min=1), 3])
    with pytest.raises(TracedValueError):
        trace(at_least(1), FLOAT["N", 3])


@pytest.mark.parametrize("count", [0, 5])
def test_the_model_refuses_other_sizes(count: int):
    model = trace(at_least(1), FLOAT[Dim("N", min=1, max=4), 3])
    loaded = Model.from_proto(model.proto)
    for each in (model, loaded):
        with pytest.raises(ModelInputError, match=rf"N (>= 1|<= 4), and was given N = {count}"):
            each(rows(count))


def test_where_types_declare_several_all_hold():
    def function(x, y):
        assert x.shape[0] >= 2
        assert x.shape[0] <= 7
        return x + y

    trace(function, FLOAT[Dim("N", min=2, max=9)], FLOAT[Dim("N", min=1, max=7)])


def test_a_type_keeps_the_declaration():
    kind = FLOAT[Dim("N", min=1), 3]
    assert kind == FLOAT["N", 3]
    assert repr(kind) == "FLOAT['N', 3]"
    for other in (pickle.loads(pickle.dumps(kind)), copy.deepcopy(kind)):
        trace(at_least(1), other)


@pytest.mark.parametrize(
    "limits", [{"min": -1}, {"min": 1.5}, {"max": -1}, {"min": 3, "max": 2}, {"min": True}]
)
def test_limits_are_sizes(limits: dict[str, int]):
    with pytest.raises(AnnotationError):
        Dim("N", **limits)


# -- scripts, and what is listed ---------------------------------------------------------------------------


@script
def grown(x: FLOAT[Dim("N", min=1)]):
    if x.shape[0] > 0:
        y = x + 1.0
    else:
        y = op.Concat(x, [7.0], axis=0)
    return y


@script
def filled(x: FLOAT["N"]):
    if x.shape[0] > 0:
        y = x + 1.0
    else:
        y = op.Concat(x, [7.0], axis=0)
    return y


@pytest.mark.parametrize(
    ("make", "error", "told"),
    [
        (lambda: grown.to_model(), ModelInputError, "the model is for N >= 1"),
        (lambda: jit(grown), ShapeError, r"grown is for Dim\('N', min=1\) in 'x'"),
        (lambda: grown, ShapeError, r"grown is for Dim\('N', min=1\) in 'x'"),
    ],
    ids=["to_model", "jit", "eager"],
)
def test_scripts_decide_by_declared_sizes(make, error, told):
    made = make()
    np.testing.assert_array_equal(made(np.ones(2, np.float32)), [2, 2])
    with pytest.raises(error, match=told):
        made(np.ones(0, np.float32))


def test_no_branch_is_left_of_what_is_decided():
    assert "If" not in [each.operator for each in grown.to_model().nodes]
    assert "If" in [each.operator for each in filled.to_model().nodes]


def test_a_function_has_names_of_its_own():
    """The `N` of a script that is called is not the `N` of who calls it."""
    model = trace(lambda a, b: (a, filled(b)), FLOAT[Dim("N", min=1)], FLOAT["M"])
    _, found = model(np.ones(1, np.float32), np.ones(0, np.float32))
    np.testing.assert_array_equal(found, [7])


@pytest.mark.parametrize(
    "make",
    [
        lambda: trace(lambda x: x + 1 if x.shape[0] > 0 else x, FLOAT[Dim("N", min=1)]),
        lambda: grown.to_model(),
    ],
    ids=["trace", "script"],
)
def test_answers_are_listed(make):
    (condition,) = make().summary().sizes
    assert condition.text == "N >= 1"
    assert condition.because.startswith("Dim('N', min=1), which decides: 0 < N (test_size_conditions.py:")
    assert "only for N >= 1: Dim('N', min=1), which decides" in str(make().summary())


def test_what_needs_no_declaration_is_no_answer():
    (condition,) = trace(lambda x: x + 1 if x.shape[0] >= 0 else x, FLOAT[Dim("N", min=1)]).summary().sizes
    assert condition.because == "Dim('N', min=1)"
