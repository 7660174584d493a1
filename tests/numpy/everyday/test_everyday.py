"""Sixty everyday functions of numpy, unchanged, give the same as models: at every size, in float32 and float64."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from onnxsmith.errors import OnnxsmithError
from tests.numpy.everyday.cases import CASES, Case
from tests.numpy.same_results import TOLERANCE, difference

#: The functions that are refused, and what the refusal says.
REFUSED: dict[str, str] = {
    # float32 in gives float64 where nothing varies: np.zeros(n) is of another type than the other path's result.
    "autocorrelation": "the result is float64 when the condition is true and float32 when it is not",
}


def _expected(case: Case, size: int, dtype: Any, options: dict[str, Any]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return case.function(*case.at(size, dtype), **options)


def differences(case: Case) -> list[str]:
    """Where a model differs from the function; raises where the function is refused."""
    found: list[str] = []
    fast = xp.jit(case.function)
    for options in case.options:
        for dtype in (np.float64, np.float32):
            for size in case.sizes:
                expected = _expected(case, size, dtype, options)
                given = fast(*case.at(size, dtype), **options)
                different = difference(expected, given, TOLERANCE[np.dtype(dtype).name])
                if different is not None:
                    found.append(f"{options} {dtype.__name__} size {size}: {different}")
    return found


def test_there_are_sixty():
    assert len({each.name for each in CASES}) == 60


@pytest.mark.parametrize(
    "case", [each for each in CASES if each.name not in REFUSED], ids=lambda each: each.name
)
def test_a_model_gives_what_the_function_gives(case: Case):
    assert not differences(case)


@pytest.mark.parametrize("case", [each for each in CASES if each.name in REFUSED], ids=lambda each: each.name)
def test_a_refusal_names_the_line(case: Case):
    with pytest.raises(OnnxsmithError, match=REFUSED[case.name]) as caught:
        differences(case)
    assert Path(case.function.__code__.co_filename).name in str(caught.value)


def test_few_are_refused():
    assert len(REFUSED) <= 4
