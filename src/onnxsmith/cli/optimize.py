"""`onnxsmith optimize m.onnx -o small.onnx`: the same model with fewer nodes."""

from __future__ import annotations

import argparse
from typing import Literal

from onnxsmith.cli.model_output import beside, check_output, write_model
from onnxsmith.cli.reading import load_model
from onnxsmith.cli.report import Report, Usage
from onnxsmith.cli.streams import shown
from onnxsmith.cli.terminal import progress
from onnxsmith.passes import optimize


def run(options: argparse.Namespace, report: Report) -> int:
    """Optimise the model and write it."""
    check_output(options, report)
    model = load_model(options.model)
    with progress(f"optimising {shown(options.model)}"):
        small = optimize(
            model,
            inline=not options.keep_functions,
            opset=_opset(options.opset),
            unroll=options.unroll,
            domains=options.domain,
            verify=options.verify,
        )
    told = small.report
    said = {
        "file": options.model,
        "nodes": {"before": told.nodes_before, "after": told.nodes_after},
        "rules": told.rules,
        "verification": told.verification,
        "notes": told.notes,
    }
    return write_model(small, options, report, beside(options.model, "optimized"), said, str(told))


def _opset(word: str | None) -> int | Literal["runtime", "keep"]:
    if word is None or word == "runtime":
        return "runtime"
    if word == "keep":
        return "keep"
    if not word.isdecimal():
        raise Usage(f"--opset is runtime, keep or a version, not {word}")
    return int(word)
