"""The law of sessions on its first rounds: `dev.py laws sessions` has 10,000 calls."""

from __future__ import annotations

from tests.runtime.session_law import LAW


def test_rounds_of_calls() -> None:
    assert not LAW.wrong(seed=0, draws=25)
