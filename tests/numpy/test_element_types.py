"""Functions of element types."""

from __future__ import annotations

from tests.numpy.every_argument import disagreements


def test_all_kinds_of_arguments() -> None:
    assert disagreements("element_types") == []
