"""Arrays that are joined, stacked, repeated and split, with all kinds of arguments."""

from __future__ import annotations

from tests.numpy.every_argument import disagreements


def test_all_kinds_of_arguments() -> None:
    assert disagreements("joining", {"repeat": 2}) == []
