"""The first draws of the law of agreement, and faults that it finds; `dev.py laws agreement` has more draws."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onnxsmith
from onnxsmith.graphs import agreement
from tests.graphs import agreement_law

pytest.importorskip("torch")
pytest.importorskip("sklearn")

SOURCE = Path(onnxsmith.__file__).parent
DISTANCES, ALLOWED = agreement.distances, agreement.Tolerance.allowed


def test_what_one_calls_equal_all_call_equal() -> None:
    assert not agreement_law.LAW.wrong(0, 500)


def _infinities_without_sign(left: Any, right: Any) -> Any:
    found = DISTANCES(left, right)
    with np.errstate(all="ignore"):
        both = np.isinf(agreement.as_wide(left)) & np.isinf(agreement.as_wide(right))
    return np.where(both, 0.0, found)


def _nan_equals_all(left: Any, right: Any) -> Any:
    either = np.isnan(agreement.as_wide(left)) | np.isnan(agreement.as_wide(right))
    return np.where(either, 0.0, DISTANCES(left, right))


def _whole_numbers_one_off(left: Any, right: Any) -> Any:
    found = DISTANCES(left, right)
    return np.where(found == 1, 0.0, found) if left.dtype.kind in "iu" else found


def _more_allowed(self: Any, array: Any, noise: Any = None, scale: float = 0.0) -> Any:
    return 1000 * ALLOWED(self, array, noise, scale)


FAULTS = {
    "infinities without their sign": ("distances", _infinities_without_sign),
    "NaN equals all": ("distances", _nan_equals_all),
    "whole numbers may be one off": ("distances", _whole_numbers_one_off),
    "a thousand times as much is allowed": ("allowed", _more_allowed),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_the_comparison_is_seen_through_every_user(name, monkeypatch) -> None:
    where, fault = FAULTS[name]
    monkeypatch.setattr(agreement if where == "distances" else agreement.Tolerance, where, fault)
    missing = {"agreement", "passes", "numpy", "torch", "sklearn", "compare"}
    for tolerance in ("converted", "part"):
        for _, wanted, got in islice(agreement_law.pairs(5), 3000):
            found = agreement_law.verdicts_of_users(wanted, got, tolerance)
            missing -= {who for who, verdict in found.items() if verdict and not found["definition"]}
            if not missing:
                return
    assert not missing


# -- one comparison, one source of inputs -------------------------------------------------------------------

#: Who may draw numbers: inputs to try, the projections that signatures are made of, and the operators that draw.
DRAWING = {
    *("graphs/trial_inputs.py", "comparing/signatures.py", "runtime/facts/drawing.py"),
    "training/shuffling.py",  # orders of a user's rows
}
#: The rooms that compare results. A number of theirs that is small, and no count, is a tolerance of its own.
COMPARING = (
    "*/verifying.py",
    "scripting/dialects/numpy/verifying.py",
    "comparing/*.py",
    "sklearn/rows.py",
    "torch/trying.py",
)
#: Numbers there that are no tolerance: what is divided by instead of 0, and how well a line fits points.
NO_TOLERANCE = {
    *((f"comparing/{name}.py", 1e-30) for name in ("outputs", "search", "signatures", "weights")),
    ("comparing/search.py", 1e-12),
    ("comparing/search.py", 1e-3),
}
#: Who tells constants apart, which are no results: a scale that is written out, and what scikit-learn itself does.
CONSTANTS = {("passes/fusions/attention.py", "math.isclose"), ("sklearn/families/clusters.py", "np.isclose")}


def _calls(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


def test_nothing_else_draws_inputs_or_compares_elements() -> None:
    drawing, comparing = set(), set()
    for path in SOURCE.rglob("*.py"):
        place = path.relative_to(SOURCE).as_posix()
        for name in _calls(ast.parse(path.read_text(encoding="utf-8"))):
            if re.search(
                r"(^|\.)(default_rng|RandomState|Generator)$|^torch\.(rand|randn|randint|randperm)$", name
            ):
                drawing.add(place)
            if re.search(r"(^|\.)(allclose|isclose|array_almost_equal)$", name) and not place.startswith(
                ("numpy/", "torch/library/", "sklearn/stand_ins")
            ):
                comparing.add((place, name))
    assert drawing <= DRAWING
    assert comparing <= CONSTANTS


def test_no_other_tolerance_is_written_down() -> None:
    found = {
        (path.relative_to(SOURCE).as_posix(), node.value)
        for pattern in COMPARING
        for path in SOURCE.glob(pattern)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, float) and 0 < node.value < 0.01
    }
    assert found <= NO_TOLERANCE, found - NO_TOLERANCE
