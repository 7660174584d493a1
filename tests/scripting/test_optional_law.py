"""A part of the law of inputs that may be absent; `python3 dev.py laws optionals` takes all of it."""

from __future__ import annotations

from tests.scripting.optional_law import LAW


def test_inputs_that_may_be_absent_give_what_the_eager_run_gives() -> None:
    assert LAW.wrong(seed=1, draws=6) == []
