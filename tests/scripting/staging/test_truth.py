"""`and`, `or` and chained comparisons: what stands on the right is looked at only where Python would.

The law: a generated condition whose parts may fail gives what Python gives, eagerly and as a model; where Python fails,
both do.
"""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from onnxsmith import BOOL, FLOAT, INT64, script
from onnxsmith.errors import OnnxsmithError

# What may fail: an index that is not there, a division by 0. What may not: the rest.
_ATOMS = st.sampled_from(
    [
        "i < len(x)",
        "i >= 0",
        "x[i] > 0",
        "0 <= i < len(x)",
        "0 < x[i] < x[0] < 3",
        "m != 0",
        "i // m > 1",
        "i % m == 0",
        "p",
        "not p",
        "x.sum() > 1",
        "len(x) > 1",
        "i * 2 < 5",
        "len('ab') == 2",
        "len('ab') < 2",
    ]
)
_CONDITIONS = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(
            lambda each: f"({each[0]} {each[1]} {each[2]})"
        ),
        inner.map(lambda each: f"(not {each})"),
    ),
    max_leaves=5,
)
_USES = ("return {}", "if {}:\n        return True\n    return False", "y = {}\n    return y")
_INPUTS = st.tuples(
    st.lists(st.sampled_from([-1.0, 0.5, 2.0, 4.0]), max_size=3).map(np.float32),
    st.integers(-1, 4).map(np.int64),
    st.integers(-1, 2).map(np.int64),
    st.booleans().map(np.bool_),
)


def _defined(body: str) -> Any:
    text = f'def f(x: FLOAT["N"], i: INT64, m: INT64, p: BOOL):\n    {body}\n'
    file = f"<condition {abs(hash(text))}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"FLOAT": FLOAT, "INT64": INT64, "BOOL": BOOL}
    exec(compile(text, file, "exec"), names)
    return names["f"]


def _outcome(run: Any, inputs: tuple[Any, ...]) -> Any:
    try:
        return bool(run(*inputs))
    except (IndexError, ZeroDivisionError, OnnxsmithError):
        return "fails"


@settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(_CONDITIONS, st.sampled_from(_USES), st.lists(_INPUTS, min_size=4, max_size=4))
def test_conditions_that_may_fail(condition: str, use: str, inputs: list[tuple[Any, ...]]) -> None:
    plain = _defined(use.format(condition))
    written = script(plain)
    model = written.to_model()
    for each in inputs:
        in_python = (each[0], int(each[1]), int(each[2]), bool(each[3]))
        expected = _outcome(plain, in_python)
        assert _outcome(written, each) == expected, (condition, each)
        assert _outcome(model, each) == expected, (condition, each)


@script
def leading(x: FLOAT["N"]):
    i = 0
    while i < len(x) and x[i] > 0:
        i = i + 1
    return i


@script
def three(p: BOOL, q: BOOL, r: BOOL):
    return (p and q) or not r


@script
def far_too_much(x: FLOAT["N"], p: BOOL):
    return p and x.sum() > 0


@pytest.mark.parametrize(("values", "expected"), [([1, 2, -3], 2), ([], 0), ([1, 1], 2)])
def test_a_condition_of_while(values: list[float], expected: int) -> None:
    assert leading(np.float32(values)) == leading.to_model()(np.float32(values)) == expected


def test_truth_values_need_no_branch() -> None:
    assert [each.op_type for each in three.to_model_proto().graph.node] == ["And", "Not", "Or"]


def test_what_costs_goes_into_a_branch() -> None:
    assert [each.op_type for each in far_too_much.to_model_proto().graph.node] == ["If"]
