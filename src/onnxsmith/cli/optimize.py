"""`onnxsmith optimize m.onnx -o small.onnx`: the same model with fewer nodes."""

from __future__ import annotations

import argparse
from typing import Literal

from onnxsmith.cli.model_output import add_output_arguments, beside, check_output, write_model
from onnxsmith.cli.numbers import whole
from onnxsmith.cli.report import Report, Usage
from onnxsmith.cli.streams import load_model, shown
from onnxsmith.cli.terminal import progress
from onnxsmith.passes import optimize


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be said after `optimize`."""
    parser.epilog = (
        "The model is only read; the new one computes the same.\n"
        "  onnxsmith optimize net.onnx -o small.onnx --verify"
    )
    parser.add_argument("model", metavar="MODEL", help="a model file; - is standard input")
    parser.add_argument("--keep-functions", action="store_true", help="do not dissolve the model's functions")
    parser.add_argument(
        "--opset",
        metavar="N",
        help="runtime, keep, or a version; runtime, which raises it where that is of use, by default",
    )
    parser.add_argument(
        "--unroll",
        metavar="N",
        type=whole(0),
        default=0,
        help="write out the turns of loops that have at most N, if their number is known",
    )
    parser.add_argument(
        "--domain",
        metavar="NAME",
        action="append",
        default=[],
        help="let fusions use operators of com.microsoft, for a model that ONNX Runtime alone runs",
    )
    parser.add_argument(
        "--verify", action="store_true", help="run both models on made-up inputs and compare what they give"
    )
    add_output_arguments(parser, "<model>_optimized.onnx")


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
