"""What a report of passes says."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from onnxsmith import FLOAT, trace
from onnxsmith import opset21 as op
from onnxsmith.graphs.edits import Edit
from onnxsmith.graphs.report import Report


def test_the_end_of_a_cell_shows_a_report_as_print_does() -> None:
    report = trace(lambda x: op.Neg(op.Neg(x)) + 1.0, FLOAT["N"]).optimize().report
    assert repr(report) == str(report)
    shipped = trace(lambda x: op.Round(x), FLOAT["N"]).for_runtime().report
    assert repr(shipped) == str(shipped)


#: Each has a text of several lines, or many items.
REPORTS = {
    "onnxsmith.comparing.result": "Comparison",
    "onnxsmith.diffing.difference": "Difference",
    "onnxsmith.graphs.report": "Report",
    "onnxsmith.inspection.summary": "Summary",
    "onnxsmith.passes.rules.explaining": "MatchExplanation",
    "onnxsmith.profiling.comparison": "ProfileComparison",
    "onnxsmith.profiling.profile": "Profile",
    "onnxsmith.runtime.for_runtime": "RuntimeReport",
    "onnxsmith.scripting.dialects.numpy.reports": "ModelReport",
    "onnxsmith.sklearn.verifying": "ConversionReport",
    "onnxsmith.torch.reporting": "ExportReport",
}


@pytest.mark.parametrize("module", REPORTS)
def test_no_report_shows_all_its_fields(module: str) -> None:
    shown = getattr(importlib.import_module(module), REPORTS[module]).__repr__
    assert not hasattr(shown, "__wrapped__")  # what a dataclass makes: every field, whole


@pytest.mark.parametrize(
    ("rules", "last"),
    [(20, "       1 x rule 19"), (21, "  and 1 more rule"), (23, "  and 3 more rules")],
)
def test_rules_past_the_twentieth_are_counted(rules: int, last: str) -> None:
    edits = tuple(Edit("rules", f"rule {number}", (), ()) for number in range(rules))
    assert str(Report(edits=edits)).splitlines()[-1] == last


def test_the_report_of_passes_counts_what_they_made() -> None:
    before = trace(lambda x: op.Relu(op.Neg(op.Neg(x @ np.ones((3, 4), np.float32)))), FLOAT["N", 3]).ir
    after = trace(lambda x: op.Relu(x), FLOAT["N", 3], opset_version=22).ir
    report = Report.of(before)
    edits = (Edit("cleanup", "two", (), ()), Edit("rules", "one", (), ()), Edit("cleanup", "two", (), ()))
    report.close(after, edits)
    assert report.edits == edits
    assert report.rules == {"two": 2, "one": 1}
    assert (report.nodes_before, report.nodes_after) == (4, 1)
    assert (report.opset_before, report.opset_after) == (21, 22)
    assert (report.weight_bytes_before, report.weight_bytes_after) == (48, 0)
    assert dict(report.operators_before) == {"MatMul": 1, "Neg": 2, "Relu": 1}
    assert dict(report.operators_after) == {"Relu": 1}
    report.verification = "verified"
    report.notes.append("a note")
    assert str(report).splitlines() == [
        "4 nodes before, 1 after",
        "opset 21 before, 22 after",
        "weights 48 bytes before, 0 after",
        "       2 x two",
        "       1 x one",
        "verified",
        "a note",
    ]


def test_a_report_does_not_name_what_stayed() -> None:
    model = trace(lambda x: op.Relu(x), FLOAT["N"]).ir
    report = Report.of(model)
    report.close(model, ())
    assert str(report) == "1 node before, 1 after"
