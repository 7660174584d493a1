"""Polynomials, with all kinds of coefficients."""

from __future__ import annotations

from tests.numpy.every_argument import disagreements


def test_all_kinds_of_arguments() -> None:
    assert disagreements("polynomials", {"polyadd": 4, "polysub": 4, "polyval": 3}) == []
