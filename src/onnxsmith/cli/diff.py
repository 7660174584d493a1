"""`onnxsmith diff a.onnx b.onnx`: what differs between two models; the exit code is 1 when something does."""

from __future__ import annotations

import argparse
from typing import Any

from onnxsmith.cli import terminal
from onnxsmith.cli.exit_codes import FINDINGS, GOOD
from onnxsmith.cli.picture_output import check_picture
from onnxsmith.cli.program import read_model
from onnxsmith.cli.report import Report
from onnxsmith.cli.standard_output import results
from onnxsmith.cli.streams import check_words, shown
from onnxsmith.diagnostics import printable
from onnxsmith.diffing import Difference
from onnxsmith.diffing import diff as find_difference
from onnxsmith.graphs.model import Model

_STYLES: dict[str, terminal.Style] = {"+": "green", "-": "red", "~": "blue"}


def run(options: argparse.Namespace, report: Report) -> int:
    """Print what differs; 1 when something does."""
    check_picture(options.output)
    words: tuple[str, str] = (options.model, options.other)
    check_words([*words])
    models: list[Model] = []
    for word in words:
        with terminal.progress(f"reading {shown(word)}"):
            models.append(read_model(word))
    with terminal.progress("comparing"):
        found = find_difference(models[0], models[1], names=options.names)
    content: dict[str, Any] = {"file": words[0], "other": words[1], **found.as_dict(), "written": []}
    text = _text(found, options.limit or None)
    if options.output is not None:
        with terminal.progress("drawing the models"):
            content["written"].append(str(found.show(options.output, overwrite=options.force)))
        text += f"\n\nwrote {content['written'][0]}"
    report.result(content, text)
    return FINDINGS if found else GOOD


def _text(found: Difference, limit: int | None) -> str:
    lines: list[str] = []
    for line in found.lines(limit):
        style = _STYLES.get(line.strip()[:1]) if line.startswith("  ") else None
        text = printable(line)
        lines.append(text if style is None else terminal.styled(text, style, results()))
    return "\n".join(lines)
