"""The table of what differs, in the page for people who write numpy: it is made here."""

from __future__ import annotations

from pathlib import Path

import pytest

import onnxsmith.numpy as xp
from tests.scripting.dialects.numpy.differences import DIFFERENCES, Difference, outcome, table

PLACE = Path(__file__).parents[4] / "docs" / "how-to" / "generated" / "numpy-differences.md"


@pytest.mark.parametrize("each", DIFFERENCES, ids=lambda each: each.function.__name__)
def test_there_is_a_difference(each: Difference):
    assert outcome(each.function, each.arguments) != outcome(xp.jit(each.function), each.arguments)


def test_the_page_has_the_table(update_golden: bool):
    if update_golden:
        PLACE.write_text(table(), encoding="utf-8")
    assert PLACE.read_text(encoding="utf-8") == table()
