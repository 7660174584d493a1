"""The law of sessions on its first rounds: `dev.py laws sessions` has 10,000 calls."""

from __future__ import annotations

import gc

from tests.runtime.session_law import LAW


def test_rounds_of_calls() -> None:
    # Rounds collect garbage. What other tests of the process have left is none of theirs, and takes seconds each time.
    gc.freeze()
    try:
        assert not LAW.wrong(seed=0, draws=25)
    finally:
        gc.unfreeze()
