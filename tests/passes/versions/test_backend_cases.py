"""ONNX's backend cases in other opsets give their data, or are on the page of what has no form there.

A fixed part of them; `python -m tests.passes.versions` takes all.
"""

from __future__ import annotations

import pytest

from tests.passes.versions.backend_cases import backend_cases, newest, outcome
from tests.passes.versions.page import OLDER, refused_cases

SHARDS = 4
#: One case of so many is taken.
PART = 6


@pytest.mark.parametrize("target", [OLDER, newest()])
@pytest.mark.parametrize("shard", range(SHARDS))
def test_converted_cases_give_their_data(shard: int, target: int) -> None:
    listed = refused_cases()
    wrong: list[str] = []
    for name in list(backend_cases())[PART * shard :: PART * SHARDS]:
        found = outcome(backend_cases()[name], target)
        is_listed = target == OLDER and name in listed
        if found.kind == "wrong" or (found.kind == "refused") != is_listed:
            wrong.append(f"{name}: {found.kind} {found.text}")
    assert not wrong, "\n".join(wrong)


def test_score() -> None:
    """Prints the score; run with -s to see it. It may only rise."""
    total, refused = len(backend_cases()), len(refused_cases())
    print(f"\nbackend cases in opset {OLDER}: {total - refused} of {total}, {refused} listed with a reason")
    assert total >= 2024
    assert refused <= 328
