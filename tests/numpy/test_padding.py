"""Padding, in every mode and with all kinds of widths."""

from __future__ import annotations

from tests.numpy.every_argument import disagreements


def test_all_kinds_of_arguments() -> None:
    assert disagreements("padding", {"pad": 1}, count=120) == []
