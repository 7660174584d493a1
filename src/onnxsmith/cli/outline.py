"""`onnxsmith outline m.onnx -o layered.onnx`: parts of a model as functions that it calls."""

from __future__ import annotations

import argparse

from onnxsmith.cli.model_output import beside, check_output, made_of, write_model
from onnxsmith.cli.report import Report
from onnxsmith.passes.outlining.outlining import outline


def run(options: argparse.Namespace, report: Report) -> int:
    """Outline the model and write it."""
    check_output(options, report)
    outlined = made_of(options, "outlining", lambda model: outline(model, by=options.by))
    told = outlined.report
    said = {
        "file": options.model,
        "nodes": {"before": told.nodes_before, "after": told.nodes_after},
        "rules": told.rules,
        "notes": told.notes,
    }
    return write_model(outlined, options, report, beside(options.model, "outlined"), said, str(told))
