"""What a report of passes says."""

from __future__ import annotations

import pytest

from onnxsmith.graphs.edits import Edit
from onnxsmith.graphs.report import Report


@pytest.mark.parametrize(
    ("rules", "last"),
    [(20, "       1 x rule 19"), (21, "  and 1 more rule"), (23, "  and 3 more rules")],
)
def test_rules_past_the_twentieth_are_counted(rules: int, last: str) -> None:
    edits = tuple(Edit("rules", f"rule {number}", (), ()) for number in range(rules))
    assert str(Report(edits=edits)).splitlines()[-1] == last
