"""`onnxsmith decompile m.onnx -o folder`: a model as a Python module, with its weights beside it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from onnxsmith.cli.report import Report, Usage
from onnxsmith.cli.sizes import described_bytes
from onnxsmith.cli.terminal import progress
from onnxsmith.decompiling import decompile, decompile_to


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be said after `decompile`."""
    parser.epilog = (
        "The model is only read. The module gives it back: read it, change it, and make a model of it again.\n"
        "  onnxsmith decompile net.onnx -o net\n"
        "  onnxsmith build net/net.py -o changed.onnx"
    )
    parser.add_argument("model", help="a model file")
    place = parser.add_mutually_exclusive_group()
    place.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        help="where the module goes; a folder with the name of the model by default",
    )
    place.add_argument("--stdout", action="store_true", help="print the module; write no files")
    parser.add_argument(
        "--weights",
        choices=["safetensors", "inline", "external"],
        help="in a file beside the module, in its text, or where the model has them; "
        "safetensors by default, with --stdout inline",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace a module or weights that are there already and say something else",
    )
    parser.add_argument(
        "--group", action="store_true", help="write what repeats, such as equal layers, once, as a function"
    )


def run(options: argparse.Namespace, report: Report) -> int:
    """Write the module, or print it."""
    if options.stdout:
        if options.weights == "safetensors":
            raise Usage("--stdout writes no files: the weights can be inline or external, not safetensors")
        with progress(f"reading {options.model}"):
            text = decompile(options.model, weights=options.weights or "inline", group=options.group)
        report.result({"text": text}, text.removesuffix("\n"))
        return 0
    folder = Path(options.output or Path(options.model).stem)
    before = _written_in(folder)
    with progress(f"writing {folder}"):
        module = decompile_to(
            options.model,
            folder,
            weights=options.weights or "safetensors",
            group=options.group,
            overwrite=options.force,
        )
    data = module.with_suffix(".safetensors")
    written = [module] if _written_in(folder).get(data) == before.get(data) else [module, data]
    content: dict[str, Any] = {
        "module": str(module),
        "bytes": module.stat().st_size,
        "weights": str(data) if data in written else None,
    }
    report.result(content, "\n".join(f"{each}: {described_bytes(each.stat().st_size)}" for each in written))
    return 0


def _written_in(folder: Path) -> dict[Path, int]:
    """When the weights there were written: a file that stays as it was is of another model."""
    return {each: each.stat().st_mtime_ns for each in folder.glob("*.safetensors")}
