"""`try` in plain code: errors that Python raises while the model is made are caught, others never."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith import script
from onnxsmith.errors import OnnxsmithError, UnsupportedSyntaxError


def counted(x: Any, k: Any) -> Any:
    try:
        n = len(k)
        y = x + n
    except TypeError:
        y = x * 2
    else:
        y = y * 10
    return y


def renamed(x: Any, k: Any) -> Any:
    try:
        return x * {"a": 2.0}[k]
    except (ValueError, KeyError) as error:
        return x + len(error.args)
    finally:
        pass


def raised_again(x: Any, k: Any) -> Any:
    try:
        try:
            first = x + 1
            raise ValueError("inner")
        except ValueError:
            if k:
                raise
            return first
    except ValueError as error:
        return x * len(str(error))


def in_a_loop(x: Any, k: Any) -> Any:
    for each in k:
        try:
            x = x * int(each)
        except ValueError:
            continue
        x = x + 1
    return x


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (counted, [3, (1, 2)]),
        (renamed, ["a", "b"]),
        (raised_again, [True, False]),
        (in_a_loop, [("1", "two", "3"), ()]),
    ],
)
def test_errors_that_are_certain_are_caught_as_python_does(
    function: Callable[..., Any], options: list[Any]
) -> None:
    x = np.arange(3.0)
    for each in options:
        np.testing.assert_array_equal(xp.jit(function)(x, each), function(x, each))


def test_what_a_model_cannot_do_is_not_caught() -> None:
    def sizes(x: Any) -> Any:
        try:
            return x.tolist()
        except Exception:
            return x

    with pytest.raises(OnnxsmithError):
        xp.jit(sizes)(np.arange(3.0))


def test_an_attribute_that_only_numpys_arrays_have_is_not_taken_for_a_missing_one() -> None:
    def shared(x: Any) -> Any:
        try:
            return x.ctypes.data * x
        except AttributeError:
            return x

    with pytest.raises(UnsupportedSyntaxError, match="ctypes"):
        xp.jit(shared)(np.arange(3.0))


def test_an_error_on_a_path_that_only_the_model_takes_is_not_caught() -> None:
    def perhaps(x: Any) -> Any:
        try:
            if x.shape[0] > 2:
                int("text")
            return x
        except ValueError:
            return -x

    with pytest.raises(UnsupportedSyntaxError, match="only the model"):
        xp.jit(perhaps)(np.arange(3.0))


def test_a_script_cannot_contain_it() -> None:
    def guarded(x):
        try:
            return x
        except ValueError:
            return -x

    with pytest.raises(UnsupportedSyntaxError, match="cannot contain 'try'"):
        script(guarded).to_model()
