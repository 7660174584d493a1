"""Every node case of the installed onnx, run eagerly operator by operator, gives the case's data.

`known_unrunnable.toml` holds the exceptions with their reasons, `overruled.py` the cases whose data is less right than
the specification; the score may only rise.
"""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path
from typing import Any

import pytest

from onnxsmith.runtime import using
from onnxsmith.runtime.settings import current
from tests.backend.node_cases import all_cases, check_equal, run_case
from tests.backend.overruled import OVERRULED

#: Cases are dealt out to this many tests: enough to spread over processes, few enough that collecting stays cheap.
SHARDS = 24

KNOWN: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("known_unrunnable.toml").read_text()
)


def is_expected_to_pass(name: str) -> bool:
    if name not in KNOWN:
        return True
    module = KNOWN[name].get("installed")
    return module is not None and importlib.util.find_spec(module) is not None


def is_random(name: str) -> bool:
    """Whether only the form of a result can be compared."""
    return KNOWN.get(name, {}).get("reason", "").startswith("random")


def failure(case: Any) -> str | None:
    """What is wrong with a case's result, or None."""
    try:
        pairs, tolerance = run_case(case), None
        if case.name in OVERRULED and current().runtime == "onnxruntime":
            oracle, tolerance = OVERRULED[case.name]
            pairs = [(actual, expected) for (actual, _), expected in zip(pairs, oracle(case), strict=True)]
        for actual, expected in pairs:
            if is_random(case.name):
                assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
            else:
                check_equal(actual, expected, tolerance or case.rtol, case.atol)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


@pytest.mark.parametrize("shard", range(SHARDS))
def test_cases_give_their_data(shard: int) -> None:
    wrong: list[str] = []
    for name, case in sorted(all_cases().items())[shard::SHARDS]:
        found = failure(case)
        if (is_expected_to_pass(name) or is_random(name)) and found is not None:
            wrong.append(f"{name}: {found}")
        elif not is_expected_to_pass(name) and not is_random(name) and found is None:
            wrong.append(f"{name} passes now: remove it from known_unrunnable.toml")
    assert not wrong, "\n".join(wrong)


#: Known cases that fail on ONNX Runtime only.
ONLY_ON_ONNX_RUNTIME = frozenset({"test_attention_4d_causal_fp16_expanded"})


@pytest.mark.parametrize("shard", range(SHARDS))
def test_cases_on_the_reference_evaluator_alone(shard: int) -> None:
    wrong: list[str] = []
    with using(runtime="reference"):
        for name, case in sorted(all_cases().items())[shard::SHARDS]:
            is_expected = is_expected_to_pass(name) or is_random(name) or name in ONLY_ON_ONNX_RUNTIME
            if is_expected and (found := failure(case)) is not None:
                wrong.append(f"{name}: {found}")
    assert not wrong, "\n".join(wrong)


def test_known_cases_exist_and_say_why() -> None:
    assert not set(KNOWN) - set(all_cases())
    assert all(entry["reason"] for entry in KNOWN.values())


def test_score() -> None:
    """Prints the score; run with -s to see it."""
    total = len(all_cases())
    print(
        f"\nbackend node cases: {total - len(KNOWN)} of {total} give their data; {len(KNOWN)} listed with a reason"
    )
    assert total >= 1884
    assert len(KNOWN) <= 16
