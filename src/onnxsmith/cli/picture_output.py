"""Where a command writes a page or a picture: `-o`."""

from __future__ import annotations

from pathlib import Path

from onnxsmith.cli.report import Usage
from onnxsmith.cli.streams import STREAM
from onnxsmith.view.writing import FORMATS


def check_picture(output: str | None) -> None:
    """Refuse a file that is neither a page nor a picture, before anything is done."""
    if output == STREAM:
        raise Usage("-o names the file of a page or picture; none goes to standard output")
    if output is not None and Path(output).suffix.lower() not in FORMATS:
        raise Usage(f"-o names a file that ends in .html, .svg or .png, and {output} does not")
