"""Asking a number that only the model knows for its type or identity: as Python answers, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnxsmith import FLOAT, script
from onnxsmith.errors import OnnxsmithError


@script
def kind_of_a_length(x: FLOAT["N"]):
    return x * 10 if isinstance(len(x), int) else x


@script
def kind_of_a_float(x: FLOAT["N"]):
    n = float(x.sum())
    return x * 10 if isinstance(n, (str, float)) and not isinstance(n, int) else x


@script
def type_of_a_length(x: FLOAT["N"]):
    return x * 10 if type(len(x)) is int else x


@script
def found_is_true(x: FLOAT["N"]):
    found = False
    for v in x:
        if v > 2:
            found = True
    return x * 2 if found is True else x * 3


@script
def found_is_not_false(x: FLOAT["N"]):
    found = False
    for v in x:
        if v > 2:
            found = True
    return x * 2 if found is not False else x * 3


@pytest.mark.parametrize(
    "function", [kind_of_a_length, kind_of_a_float, type_of_a_length, found_is_true, found_is_not_false]
)
@pytest.mark.parametrize("values", [[1, 3], [1, 1]])
def test_as_python_answers(function: Any, values: list[float]) -> None:
    x = np.array(values, np.float32)
    wanted = np.asarray(function(x))
    np.testing.assert_array_equal(np.asarray(function.to_model()(x)), wanted)
    np.testing.assert_array_equal(np.asarray(function.jit(x)), wanted)


def same_number(x: FLOAT["N"], y: FLOAT["N", 2]):
    return x * 2 if len(x) is y.shape[0] - 1 else x


def test_identity_of_numbers_is_refused() -> None:
    with pytest.raises(OnnxsmithError, match="one object") as caught:
        script(same_number)
    assert "==" in str(caught.value)
