"""`onnxsmith decompile m.onnx -o folder`: a model as a Python module, with its weights beside it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from onnxsmith.cli.report import Report, Usage
from onnxsmith.cli.sizes import described_bytes
from onnxsmith.cli.streams import STREAM, check_words, read_input, read_proto, shown
from onnxsmith.cli.terminal import progress
from onnxsmith.decompiling import decompile, decompile_to


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be said after `decompile`."""
    parser.epilog = (
        "The model is only read. The module gives it back: read it, change it, and make a model of it again.\n"
        "  onnxsmith decompile net.onnx -o net\n"
        "  onnxsmith build net/net.py -o changed.onnx"
    )
    parser.add_argument("models", nargs="+", metavar="MODEL", help="model files; - is standard input")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        help="where the module goes; a folder with the name of the model by default; - prints it, and writes no files",
    )
    parser.add_argument(
        "--weights",
        choices=["safetensors", "inline", "external"],
        help="in a file beside the module, in its text, or where the model has them; "
        "safetensors by default, with -o - inline",
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
    """Write the modules, or print them."""
    check_words(options.models)
    if options.output == STREAM and options.weights == "safetensors":
        raise Usage("-o - writes no files: the weights can be inline or external, not safetensors")
    work = _print if options.output == STREAM else _write
    return report.each(options.models, lambda word: work(word, options))


def _given(word: str) -> Any:
    return read_proto(read_input()) if word == STREAM else word


def _print(word: str, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    with progress(f"reading {shown(word)}"):
        text = decompile(_given(word), weights=options.weights or "inline", group=options.group)
    return {"text": text}, text.removesuffix("\n")


def _write(word: str, options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    folder = Path(options.output or ("model" if word == STREAM else Path(word).stem))
    before = _written_in(folder)
    with progress(f"writing {folder}"):
        module = decompile_to(
            _given(word),
            folder,
            weights=options.weights or "safetensors",
            group=options.group,
            overwrite=options.force,
        )
    data = module.with_suffix(".safetensors")
    written = [module] if _written_in(folder).get(data) == before.get(data) else [module, data]
    text = "\n".join(f"{each}: {described_bytes(each.stat().st_size)}" for each in written)
    return {"written": [str(each) for each in written], "bytes": module.stat().st_size}, text


def _written_in(folder: Path) -> dict[Path, int]:
    """When the weights there were written: a file that stays as it was is of another model."""
    return {each: each.stat().st_mtime_ns for each in folder.glob("*.safetensors")}
