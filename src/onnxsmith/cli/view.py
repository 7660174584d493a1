"""`onnxsmith view m.onnx`: a model as a page to click through, or as a picture."""

from __future__ import annotations

import argparse
from pathlib import Path

from onnxsmith.cli.picture_output import check_picture
from onnxsmith.cli.program import read_model
from onnxsmith.cli.report import Report
from onnxsmith.cli.sizes import described_bytes
from onnxsmith.cli.streams import shown
from onnxsmith.cli.terminal import progress
from onnxsmith.view import show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be said after `view`."""
    parser.epilog = (
        "A model is only read; a Python file is run. The page is one file that needs no network:\n"
        "  onnxsmith view net.onnx\n"
        "  onnxsmith view net.onnx -o page.html --statistics full\n"
        "  onnxsmith view net.onnx -o net.svg\n"
        "  onnxsmith view net.py:forward"
    )
    parser.add_argument("model", metavar="MODEL", help="a model file, or file.py:script; - is standard input")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="a page (.html) or a picture (.svg, .png); without it a page is opened in the browser",
    )
    parser.add_argument(
        "--statistics",
        choices=["sample", "full", "none"],
        default="sample",
        help="of weights: from a sample of each, from all elements, or none; sample by default",
    )
    parser.add_argument(
        "--no-source",
        action="store_true",
        help="leave out what the model says of the source it was made from",
    )
    parser.add_argument(
        "--force", action="store_true", help="replace a file that is no page or picture of a model"
    )


def run(options: argparse.Namespace, report: Report) -> int:
    """Write the page or picture, or open it."""
    check_picture(options.output)
    with progress(f"reading {shown(options.model)}"):
        model = read_model(options.model)
    with progress("drawing the model"):
        written = show(
            model,
            options.output,
            source=not options.no_source,
            statistics=options.statistics,
            overwrite=options.force,
        )
    place = Path(str(written))
    size = place.stat().st_size
    report.result(
        {"file": options.model, "written": [str(place)], "bytes": size}, f"{place}: {described_bytes(size)}"
    )
    return 0
