"""Functions of installed packages as models: a sample of those of `benchmarks/numpy_code` that are equal there.

The sample is taken by a hash of names. What the functions are given, for which sizes and types, and how results are
compared, stands there.
"""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onnxsmith.numpy as xp
from benchmarks.numpy_code import rule, run
from onnxsmith.errors import UnsupportedSyntaxError
from tests.scripting.dialects.numpy.agreeing import check

_EQUAL = Path(run.__file__).with_name("equal.txt")
_MODULES = {"numpy": ("numpy", 24), "scipy": ("scipy", 4), "scikit-learn": ("sklearn", 4)}
#: numpy's own code differs from version to version, and the list was made with one.
_IS_LISTED = tuple(map(int, np.__version__.split(".")[:2])) >= (2, 3)

pytestmark = pytest.mark.skipif(not _IS_LISTED, reason="the list was made with numpy 2.4")


def _sample() -> list[dict[str, Any]]:
    equal = set(_EQUAL.read_text().split())
    entries = sorted(run.listed(), key=lambda each: hashlib.sha256(each["name"][::-1].encode()).hexdigest())
    found: list[dict[str, Any]] = []
    for package, (module, count) in _MODULES.items():
        if importlib.util.find_spec(module) is not None:
            found += [each for each in entries if each["package"] == package and each["name"] in equal][
                :count
            ]
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("entry", _sample(), ids=lambda each: each["name"])
def test_the_model_gives_what_the_function_gives(entry: dict[str, Any]) -> None:
    with np.errstate(all="ignore"):
        found = run.outcome(entry)
    assert found.verdict == "equal", found


def test_the_list_is_what_the_rule_makes_of_its_functions() -> None:
    both = [*run.listed("functions"), *run.listed("held out")]
    parted = rule.parted(both)
    assert {each["name"] for each in parted["functions"]} == {each["name"] for each in run.listed()}
    assert len(run.listed()) >= 300


@pytest.mark.parametrize("name", ["eigvalsh", "inv", "solve", "cholesky"])
def test_numpys_own_code_for_matrices_may_say_what_lapack_calls(name: str):
    """It has an error function called where LAPACK fails, by `errstate(call=…, invalid="call")`."""
    function = getattr(np.linalg, name).__wrapped__
    matrix = np.array([[4.0, 1.0], [1.0, 3.0]])
    given = (matrix, np.ones(2)) if name == "solve" else (matrix,)
    check(function, *given)


def test_a_function_of_the_users_that_floating_errors_call_is_refused():
    def stopped(x):
        with np.errstate(call=print, divide="call"):
            return 1 / x

    with pytest.raises(UnsupportedSyntaxError, match="divide='call' makes numpy stop"):
        xp.jit(stopped)(np.ones(2))
