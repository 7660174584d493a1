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
from onnxsmith.graphs.soundness import refuse_endless_calls
from onnxsmith.view import show


def run(options: argparse.Namespace, report: Report) -> int:
    """Write the page or picture, or open it."""
    check_picture(options.output)
    with progress(f"reading {shown(options.model)}"):
        model = read_model(options.model)
    # `show` draws such a model as far as one sees; a command that says nothing of it would call it good.
    refuse_endless_calls(model.proto if model.is_proto_only else model.ir)
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
