"""A part of the law of numbers that Python consumes; `python3 dev.py laws numbers` takes all of it."""

from __future__ import annotations

from tests.scripting.number_law import LAW, uses


def test_what_python_consumes_has_the_models_value_or_is_refused() -> None:
    assert LAW.wrong(seed=1, draws=160) == []


def test_the_expressions_differ() -> None:
    every = [each.expression for each in uses()]
    assert len(set(every)) == len(every) > 500
