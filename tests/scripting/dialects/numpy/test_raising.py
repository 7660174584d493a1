"""`raise` in numpy code on a path that only the model knows to be taken."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import DOUBLE
from onnxsmith.errors import ConditionError, OnnxsmithError, UnsupportedSyntaxError
from tests.scripting.dialects.numpy.agreeing import same


def a_check_at_the_start(x):
    if x.min() < 0:
        raise ValueError(f"negative: {x.min()}")
    return np.sqrt(x)


def the_last_of_several_ways(x):
    if x.shape[0] > 5:
        y = x
    elif x.shape[0] > 2:
        y = x * 2
    else:
        raise TypeError("too short")
    return y


def in_a_loop(x):
    for v in x:
        if v < 0:
            raise ValueError("negative element")
    return x.sum()


def in_an_endless_loop(x):
    i = 0
    while True:
        if x[i] < 0:
            raise ValueError("negative element")
        if x[i] > 10:
            break
        i += 1
    return i


def seven(x):
    if x[0] == 7:
        return x
    raise KeyError("seven")


def before_what_cannot_run_then(x):
    if x.sum() > 20:
        y = x * 2
    else:
        raise ValueError("too little")
    y[2] = 5
    return y


def in_a_helper(x):
    if x.sum() > 0:
        return seven(x)
    return -x


def on_both_ways(x):
    if x[0] > 0:
        if x[0] > 5:
            raise ValueError("large")
        raise KeyError("small")
    return x


@pytest.mark.parametrize(
    "function",
    [
        a_check_at_the_start,
        the_last_of_several_ways,
        in_a_loop,
        in_an_endless_loop,
        before_what_cannot_run_then,
        in_a_helper,
        on_both_ways,
    ],
)
def test_the_error_is_raised_where_the_code_raises_it(function: Callable[..., Any]):
    jitted, model = xp.jit(function), xp.to_model(function, DOUBLE["N"])
    optimized = model.optimize()
    for given in ([1.0, 2, 3, 11], [1.0, -2, 3, 11], [7.0, 1, 12, 1, 1, 1, 1], [11.0], [-1.0, -1, -2]):
        x = np.array(given)
        try:
            expected = function(x)
        except Exception as error:
            with pytest.raises(type(error), match=str(error)[:5]):
                jitted(x)
            with pytest.raises(OnnxsmithError) as told:
                model(x)
            # What follows the error may fail before the node that has its text.
            is_told = f"it raises {type(error).__name__}" in str(told.value)
            assert is_told or function is before_what_cannot_run_then
            with pytest.raises(OnnxsmithError, match="it raises" if is_told else None):
                optimized(x)
        else:
            same(jitted(x), expected)
            same(model(x), np.asarray(expected))


def test_what_a_try_would_catch_is_refused():
    def caught(x):
        try:
            if x[0] > 0:
                raise ValueError("positive")
        except ValueError:
            return -x
        return x

    with pytest.raises(UnsupportedSyntaxError, match="only the model knows whether this is raised"):
        xp.jit(caught)(np.ones(2))


def test_an_output_keeps_its_shape_where_the_model_may_raise():
    model = xp.to_model(lambda x: x / x.max(), DOUBLE["N"])
    assert model.outputs[0].type == DOUBLE["N"]
    assert model.optimize().outputs[0].type == DOUBLE["N"]
    with pytest.raises(OnnxsmithError, match="it raises ValueError: zero-size array"):
        model(np.array([]))


class Extremes(NamedTuple):
    low: Any
    high: Any


@pytest.mark.parametrize(
    "result",
    [
        lambda x: {"low": x.sum(), "high": x * 2},
        lambda x: Extremes(x.sum(), x * 2),
        lambda x: (x.sum(), x * 2),
        lambda x: x * 2,
        lambda x: x,
        lambda x: {"same": x, "twice": [x * 2, x * 2]},
        lambda x: (lambda y: (y, y))(x * 2),
    ],
)
def test_a_check_changes_no_name_of_an_output(result: Callable[..., Any]):
    def checked(x):
        if x[0] < 0:
            raise ValueError("negative")
        return result(x)

    plain = xp.to_model(result, DOUBLE["N"])
    model = xp.to_model(checked, DOUBLE["N"])
    assert [each.name for each in model.outputs] == [each.name for each in plain.outputs]
    with pytest.raises(OnnxsmithError, match="it raises ValueError: negative"):
        model(np.array([-1.0, 2.0]))


def test_results_of_functions_that_check_have_their_names():
    model = xp.to_model(lambda x: {"low": x.min(), "high": x.max()}, DOUBLE["N"])
    assert [each.name for each in model.outputs] == ["low", "high"]


# -- 'except' that raises ------------------------------------------------------------------------------------


def first_or_an_error(x):
    try:
        return float(x[0])
    except IndexError:
        raise ValueError("no elements") from None


def root_or_an_error(x):
    try:
        root = math.sqrt(x[0] - 3)
    except ValueError as error:
        raise RuntimeError(f"no root: {type(error).__name__}") from error
    except IndexError:
        raise
    else:
        root += 1
    return root


def asked_twice(x):
    try:
        try:
            assert x.sum() > 4, "too small"
            return x / x.sum()
        except AssertionError as error:
            raise ValueError(str(error)) from error
    except ValueError:
        raise KeyError("small") from None


def columns(x):
    try:
        count = x.shape[1]
    except IndexError:
        count = 1
    return x * count


def as_often(x):
    try:
        counts = tuple(2)
    except TypeError:
        counts = (2,)
    return x * counts[0]


@pytest.mark.parametrize("function", [first_or_an_error, root_or_an_error, asked_twice, columns, as_often])
def test_an_except_that_raises_another_error_raises_that(function: Callable[..., Any]):
    """The law: the error that leaves the code leaves the jitted function, at every size."""
    fast = xp.jit(function)
    for size in (4, 0, 1, 7):
        x = np.arange(size) + 1.5
        expected = _outcome(function, x)
        found = _outcome(fast, x)
        if not isinstance(expected, Exception):
            same(found, expected)
            continue
        assert isinstance(found, type(expected))
        assert isinstance(found, OnnxsmithError) or str(found) == str(expected)


def _outcome(function: Callable[..., Any], x: Any) -> Any:
    try:
        return function(x)
    except Exception as error:
        return error


def test_an_except_that_goes_on_is_refused_at_its_line():
    def first(x):
        try:
            return x[0]
        except IndexError:
            return -1.0

    with pytest.raises(UnsupportedSyntaxError, match="only the model knows whether this is raised") as caught:
        xp.jit(first)(np.ones(2))
    assert "return x[0]" in str(caught.value)


def test_an_array_of_several_elements_has_no_truth_value() -> None:
    def chosen(x):
        return 1 if x > 0 else 0

    jitted = xp.jit(chosen)
    assert jitted(np.array([1.0])) == 1
    with pytest.raises(ValueError, match=r"Use a\.any\(\) or a\.all\(\)"):
        jitted(np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="ambiguous"):
        jitted(np.zeros(0))
    with pytest.raises(OnnxsmithError) as caught:
        xp.to_model(chosen, DOUBLE[2])
    assert "1 if x > 0 else 0" in str(caught.value)


def test_an_error_shows_the_line_that_raises_it() -> None:
    """It has a note with the place in the function, and no frame of ours; a second call says the same."""
    jitted, lines = xp.jit(in_a_loop), None
    for _ in range(2):
        with pytest.raises(ValueError, match="negative element") as caught:
            jitted(np.array([1.0, -1.0]))
        frames = traceback.extract_tb(caught.value.__traceback__)
        assert {each.filename for each in frames} == {__file__}
        (note,) = caught.value.__notes__
        assert lines in (None, note)
        lines = note
    assert "in in_a_loop" in str(lines)
    assert 'raise ValueError("negative element")' in str(lines)


def test_a_vectorised_function_shows_no_frame_of_ours() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        xp.vectorize(lambda n: 1 // n)(np.arange(3))
    assert {each.filename for each in traceback.extract_tb(caught.value.__traceback__)} == {__file__}


def test_a_choice_by_several_elements_is_told_how_numpy_makes_it() -> None:
    def absolute(x):
        return x if x > 0 else -x

    with pytest.raises(ConditionError) as caught:
        xp.to_model(absolute, DOUBLE["N"])
    assert "np.where(condition, a, b)" in str(caught.value.help)
