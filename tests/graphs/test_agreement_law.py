"""The first draws of the law of agreement; `dev.py laws agreement` has more."""

from __future__ import annotations

import pytest

from tests.graphs import agreement_law

pytest.importorskip("torch")
pytest.importorskip("sklearn")


def test_what_one_calls_equal_all_call_equal() -> None:
    assert not agreement_law.LAW.wrong(0, 500)
